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
MATCH (s:Session)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(c:ToolCall)
WHERE $session = '' OR s.id = $session
OPTIONAL MATCH (c)<-[:ATTRIBUTED_TO]-(p:Process)
OPTIONAL MATCH (p)<-[:GENERATED_BY]-(x:Artifact|Flow)
WITH c, count(DISTINCT p.process) AS processes,
     count(DISTINCT CASE WHEN p.exit_code <> 0 OR p.signal IS NOT NULL THEN p.process END) AS failed,
     count(DISTINCT CASE WHEN x.class = 'file' THEN x.id END) AS generated,
     sum(CASE WHEN x.direction = 'out' THEN coalesce(x.bytes, 0) ELSE 0 END) AS sent
OPTIONAL MATCH (c)<-[:ATTRIBUTED_TO]-(b:Artifact)
WITH c, processes, failed, generated, count(DISTINCT b.id) AS own, sent
RETURN c.id AS call, c.action AS action, c.command AS command, c.status AS status, c.exit_code AS exit_code,
       processes, failed, generated + own AS wrote, sent
ORDER BY call
