// title: Sub-agents
// question: Which sessions were delegated, by which call of which session, and how did they end?
// :column session - the sub-agent's session
// :column agent - its program
// :column status - how it ended
// :column calls - tool calls in it
// :column delegated_by - the tool call, or the session, that delegated
// :column parent - the session that this belongs to
MATCH (s:Session)-[:DELEGATED_BY]->(by)
OPTIONAL MATCH (s)-[:PART_OF]->(parent:Session)
OPTIONAL MATCH (c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s)
RETURN s.id AS session, s.agent AS agent, s.status AS status, count(DISTINCT c) AS calls, by.id AS delegated_by,
       parent.id AS parent
ORDER BY session, delegated_by
