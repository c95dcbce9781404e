// title: Repeated commands
// question: Which command lines did a session run more than once, and how did the runs end?
// :param session: string = "" - only of this session (id); empty: all
// :column session - the session
// :column command - the command line
// :column times - how often
// :column completed - of these, completed with exit code 0 or none told
// :column first - position of the first call in the session
// :column last - position of the last
// :column wrote - versions of files that their processes wrote, all together
// :column sent - transfers that their processes made, all together
// :column command_digest - digest of the command line as typed
MATCH (c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE c.command_digest IS NOT NULL AND ($session = '' OR s.id = $session)
OPTIONAL MATCH (c)<-[:ATTRIBUTED_TO]-(:Process)<-[:GENERATED_BY]-(a:Artifact)
WHERE a.class = 'file'
WITH s, c, count(DISTINCT a) AS made
OPTIONAL MATCH (c)<-[:ATTRIBUTED_TO]-(:Process)<-[:GENERATED_BY]-(f:Flow)-[:SENT_TO]->(:Endpoint)
WITH s, c, made, count(DISTINCT f) AS gone
WITH s, c.command_digest AS command_digest, min(c.command) AS command, count(c) AS times,
     count(CASE WHEN c.status = 'completed' AND coalesce(c.exit_code, 0) = 0 THEN 1 END) AS completed,
     min(c.ordinal) AS first, max(c.ordinal) AS last, sum(made) AS wrote, sum(gone) AS sent
WHERE times > 1
RETURN s.id AS session, command, times, completed, first, last, wrote, sent, command_digest
ORDER BY session, first, command_digest
