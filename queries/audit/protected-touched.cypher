// title: Protected files touched
// question: Who read, wrote, renamed or removed what is labelled protected?
// :param session: string = "" - only processes attributed to this session's calls (id); empty: all
// :column path - the file
// :column did - USED (read), GENERATED_BY (written) or NAMED_BY (renamed, linked, removed)
// :column rule - system call
// :column executable - program
// :column origin - tool call, else session, that the process is attributed to; null: none
// :column role - part the process plays
// :column inside - below the folder of the call's session; null: no call, or the folder is not known
// :column artifact - id of the version
MATCH (a:Artifact)-[e:USED|GENERATED_BY|NAMED_BY]-(p:Process)
WHERE a.label = 'protected'
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (c)-[:PART_OF]->(:Turn)-[:PART_OF]->(w:Session)
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(s:Session)
WITH a, e, p, c, w, s
WHERE $session = '' OR w.id = $session
RETURN DISTINCT a.path AS path, type(e) AS did, e.rule AS rule, p.executable AS executable, coalesce(c.id, s.id) AS origin,
       p.role AS role, CASE WHEN w.cwd IS NOT NULL THEN a.path STARTS WITH (w.cwd + '/') END AS inside, a.id AS artifact
ORDER BY path, did, rule, executable, origin, role, artifact
