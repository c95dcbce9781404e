// title: What a session changed
// question: Which files did the tool calls of each session write, rename or remove?
// :param session: string = "" - only of this session (id); empty: all
// :param git: integer = 0 - 1: with the files that git keeps for itself (.git/)
// :column session - the session
// :column path - the file
// :column label - its classification
// :column versions - versions that its calls made or named
// :column first - lowest of these
// :column last - highest of these
// :column removed - of these, names that went away
// :column calls - tool calls that did it
// :column inside - below the session's folder; null: the folder is not known
MATCH (s:Session)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(c:ToolCall)
WHERE $session = '' OR s.id = $session
MATCH (c)<-[:GENERATED_BY|NAMED_BY|ATTRIBUTED_TO*1..2]-(a:Artifact)
WITH DISTINCT s, c, a
WHERE a.path IS NOT NULL AND NOT a.path STARTS WITH '/dev/'
  AND coalesce(a.label, '') <> 'agent_state' AND ($git = 1 OR NOT a.path CONTAINS '/.git/')
RETURN s.id AS session, a.path AS path, a.label AS label, count(DISTINCT a.id) AS versions, min(a.version) AS first,
       max(a.version) AS last, count(DISTINCT CASE WHEN a.class = 'absent' OR a.deleted IS NOT NULL THEN a.id END) AS removed,
       count(DISTINCT c.id) AS calls,
       CASE WHEN s.cwd IS NOT NULL THEN a.path STARTS WITH (s.cwd + '/') END AS inside
ORDER BY session, path, label
