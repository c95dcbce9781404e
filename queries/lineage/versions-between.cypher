// title: Versions between two turns
// question: Which versions did the calls of these turns give a file, or the files of a folder, in one session?
// :param session: string - id of the session
// :param path: string = "" - absolute path of the file, or a folder's with a slash at its end; empty: all files
// :param from: integer = 1 - first turn
// :param to: integer = 1000000 - last turn
// :column turn - position of the turn
// :column call - tool call that made or named the version
// :column path - the file
// :column version - its number within one trace
// :column class - file, absent ...
// :column size - bytes; null: unknown
// :column digest - digest of the content; null: not all bytes were seen
// :column deleted - time the name went away, ns
// :column artifact - id of the version
MATCH (s:Session {id: $session})<-[:PART_OF]-(t:Turn)<-[:PART_OF]-(c:ToolCall)
WHERE t.ordinal >= $from AND t.ordinal <= $to
MATCH (c)<-[:GENERATED_BY|NAMED_BY|ATTRIBUTED_TO*1..2]-(a:Artifact)
WITH DISTINCT t, c, a
WHERE a.path IS NOT NULL AND coalesce(a.label, '') <> 'agent_state'
  AND ($path = '' OR a.path = $path OR ($path ENDS WITH '/' AND a.path STARTS WITH $path))
RETURN t.ordinal AS turn, c.id AS call, a.path AS path, a.version AS version, a.class AS class, a.size AS size,
       a.digest AS digest, a.deleted AS deleted, a.id AS artifact
ORDER BY turn, path, version, artifact, call
