// title: Authority behind each tool call
// question: Under whose authority did each tool call run, with which settings, and was it decided upon?
// :param session: string = "" - only of this session (id); empty: all
// :column session - the session of the call
// :column call - id of the tool call
// :column action - what kind of call
// :column status - how it ended
// :column approval - approval setting in force
// :column permission_mode - permission mode in force
// :column sandbox - sandbox setting in force
// :column decision - approved or refused, where somebody decided about this call
// :column reason - why
// :column granted_by - who gave the authority
// :column confidence - how sure that is, where it was concluded; null: it was reported
// :column authority - id; null: no authority is recorded
MATCH (c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE $session = '' OR s.id = $session
OPTIONAL MATCH (c)-[:AUTHORISED_BY]->(a:Authority)
OPTIONAL MATCH (a)-[g:GRANTED_BY]->(p:Principal)
RETURN s.id AS session, c.id AS call, c.action AS action, c.status AS status, a.approval AS approval,
       a.permission_mode AS permission_mode, a.sandbox AS sandbox, a.decision AS decision, a.reason AS reason,
       p.name AS granted_by, g.confidence AS confidence, a.id AS authority
ORDER BY session, call, authority, granted_by
