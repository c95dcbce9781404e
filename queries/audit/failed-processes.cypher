// title: Processes that failed or were killed
// question: Which processes ended with an error or a signal, for which call, and who sent the signal?
// :param session: string = "" - only of this session and its calls (id); empty: all
// :column process - key of the process
// :column command - its last command line
// :column exit_code - exit status; null: a signal ended it
// :column signal - signal that ended it
// :column sender - executable of who sent the signal, where that was seen; else its key
// :column origin - tool call, else session, that it is attributed to; null: none
// :column role - part it plays
// :column session - the session
MATCH (p:Process)
WHERE p.exit_code <> 0 OR p.signal IS NOT NULL
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (c)-[:PART_OF]->(:Turn)-[:PART_OF]->(w:Session)
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(s:Session)
OPTIONAL MATCH (p)-[:SIGNALLED_BY]->(k:Process)
WITH p, c, k, coalesce(w.id, s.id) AS session
WHERE $session = '' OR session = $session
RETURN DISTINCT p.process AS process, p.command AS command, p.exit_code AS exit_code, p.signal AS signal,
       coalesce(k.executable, k.process) AS sender, coalesce(c.id, session) AS origin, p.role AS role, session
ORDER BY session, process, command, origin, sender
