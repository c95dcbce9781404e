// title: Reported against done
// question: What did each tool call report, and what did its processes do?
// :param session: string = "" - only of this session (id); empty: all
// :column call - id of the tool call
// :column action - what kind of call
// :column command - command line as reported
// :column status - status as reported
// :column exit_code - exit code as reported
// :column processes - processes seen for it
// :column failed - of these, how many ended with an error or a signal
// :column wrote - artifacts that they, or the agent for this call, generated
// :column sent - bytes that they sent
MATCH (c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE $session = '' OR s.id = $session
OPTIONAL MATCH (c)<-[:ATTRIBUTED_TO]-(p:Process)
WITH c, count(DISTINCT p.process) AS processes,
     count(DISTINCT CASE WHEN p.exit_code <> 0 OR p.signal IS NOT NULL THEN p.process END) AS failed
OPTIONAL MATCH (c)<-[:ATTRIBUTED_TO]-(:Process)<-[:GENERATED_BY]-(a:Artifact)
WHERE a.class = 'file'
WITH c, processes, failed, count(DISTINCT a) AS generated
OPTIONAL MATCH (c)<-[:ATTRIBUTED_TO]-(b:Artifact)
WITH c, processes, failed, generated, count(DISTINCT b) AS own
WITH c, processes, failed, generated + own AS wrote
OPTIONAL MATCH (c)<-[:ATTRIBUTED_TO]-(:Process)<-[:GENERATED_BY]-(f:Flow)
RETURN c.id AS call, c.action AS action, c.command AS command, c.status AS status, c.exit_code AS exit_code,
       processes, failed, wrote, sum(coalesce(f.bytes, 0)) AS sent
ORDER BY call
