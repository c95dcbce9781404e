// title: Changed after the check
// question: Which files of the workspace did later tool calls write after a check of the same session had been asked for?
// :param session: string = "" - only of this session (id); empty: all
// :column session - the session
// :column check - the call that checked
// :column subject - what was checked
// :column verdict - what the check said
// :column changed_by - the later call that wrote the file
// :column path - the file
// :column version - the version it wrote
// :column artifact - id of that version
MATCH (o:Outcome)-[:OUTCOME_OF]->(k:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE o.type = 'checked' AND o.subject IN ['test', 'build', 'lint', 'type_check'] AND ($session = '' OR s.id = $session)
MATCH (s)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(c:ToolCall)
WHERE c.ordinal > k.ordinal
MATCH (c)<-[:GENERATED_BY|NAMED_BY|ATTRIBUTED_TO*1..2]-(a:Artifact)
WITH DISTINCT s, k, o, c, a
WHERE s.cwd IS NOT NULL AND a.path STARTS WITH (s.cwd + '/') AND a.class = 'file'
  AND coalesce(a.label, '') <> 'agent_state' AND NOT a.path CONTAINS '/.git/' AND NOT a.path CONTAINS '/__pycache__/'
RETURN s.id AS session, k.id AS check, o.subject AS subject, o.verdict AS verdict, c.id AS changed_by,
       a.path AS path, a.version AS version, a.id AS artifact
ORDER BY session, check, subject, changed_by, path, artifact
