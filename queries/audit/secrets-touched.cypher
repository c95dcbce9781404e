// title: Secrets touched
// question: Who read or wrote what is labelled secret?
// :column path - the secret
// :column did - read or wrote
// :column command - command line of the process; for a call's own reads the tool
// :column origin - tool call, else session, that it is attributed to
// :column role - part the process plays
// :column bytes - bytes that moved, where known
// :column artifact - id of the version
MATCH (p:Process)-[e:USED]->(a:Artifact)
WHERE a.label = 'secret'
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(s:Session)
RETURN a.path AS path, 'read' AS did, p.command AS command, coalesce(c.id, s.id) AS origin, p.role AS role, e.bytes AS bytes,
       a.id AS artifact
UNION
MATCH (c:ToolCall)-[e:USED]->(a:Artifact)
WHERE a.label = 'secret'
RETURN a.path AS path, 'read' AS did, c.tool AS command, c.id AS origin, c.action AS role, e.bytes AS bytes, a.id AS artifact
UNION
MATCH (a:Artifact)-[e:GENERATED_BY]->(p:Process)
WHERE a.label = 'secret'
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(s:Session)
RETURN a.path AS path, 'wrote' AS did, p.command AS command, coalesce(c.id, s.id) AS origin, p.role AS role, e.bytes AS bytes,
       a.id AS artifact
