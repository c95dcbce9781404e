// title: Writes outside the workspace
// question: Which files did tool calls write, name or remove outside their session's folder?
// :param session: string = "" - only of this session (id); empty: all
// :column path - the file
// :column version - its version
// :column how - GENERATED_BY (content), NAMED_BY (rename, link, unlink) or ATTRIBUTED_TO (by the agent's own process)
// :column label - its classification
// :column command - command line of the process
// :column call - the tool call
// :column cwd - the session's folder
// :column artifact - id of the version
MATCH (a:Artifact)-[e:GENERATED_BY|NAMED_BY]->(p:Process)-[:ATTRIBUTED_TO]->(c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE ($session = '' OR s.id = $session) AND a.path IS NOT NULL AND s.cwd IS NOT NULL
  AND NOT a.path STARTS WITH (s.cwd + '/') AND NOT a.path STARTS WITH '/dev/' AND coalesce(a.label, '') <> 'agent_state'
RETURN DISTINCT a.path AS path, a.version AS version, type(e) AS how, a.label AS label, p.command AS command, c.id AS call,
       s.cwd AS cwd, a.id AS artifact
UNION
MATCH (a:Artifact)-[e:ATTRIBUTED_TO]->(c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE ($session = '' OR s.id = $session) AND a.path IS NOT NULL AND s.cwd IS NOT NULL
  AND NOT a.path STARTS WITH (s.cwd + '/') AND NOT a.path STARTS WITH '/dev/' AND coalesce(a.label, '') <> 'agent_state'
RETURN DISTINCT a.path AS path, a.version AS version, type(e) AS how, a.label AS label, c.command AS command, c.id AS call,
       s.cwd AS cwd, a.id AS artifact
