// title: On whose behalf
// question: For which sessions, and at last for whom, did this session act, step by step upward?
// :param session: string - id of the session
// :column edges - edges between the session and this one on the shortest way; 0: the session itself
// :column above - id of a session that it acted for
// :column agent - its program
// :column status - how it ended
// :column delegated_by - the call, or session, that delegated to it; null: nobody is recorded
// :column approval - approval setting it ran under
// :column permission_mode - permission mode it ran under
// :column sandbox - sandbox setting it ran under
// :column granted_by - who gave it that authority; null: not recorded
MATCH path = (s:Session {id: $session})-[:DELEGATED_BY|PART_OF*0..24]->(x:Session)
WITH x, min(length(path)) AS edges
OPTIONAL MATCH (x)-[:DELEGATED_BY]->(by)
OPTIONAL MATCH (x)-[:AUTHORISED_BY]->(a:Authority)
OPTIONAL MATCH (a)-[:GRANTED_BY]->(p:Principal)
RETURN edges, x.id AS above, x.agent AS agent, x.status AS status, by.id AS delegated_by, a.approval AS approval,
       a.permission_mode AS permission_mode, a.sandbox AS sandbox, p.name AS granted_by
ORDER BY edges, above, delegated_by, approval, permission_mode, sandbox, granted_by
