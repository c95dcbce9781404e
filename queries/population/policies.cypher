// title: Policies
// question: Which policy versions are there, what ran under each, and what was decided under it?
// :column policy - id; its last part names the version
// :column type - what it governs
// :column details - its settings
// :column sessions - sessions that it governed at some time
// :column turns - turns that it governed
// :column calls - tool calls in these turns
// :column approved - of these, approved by somebody
// :column refused - of these, refused by somebody
MATCH (p:Policy)
OPTIONAL MATCH (s:Session)-[:GOVERNED_BY]->(p)
WITH p, count(DISTINCT s) AS sessions
OPTIONAL MATCH (t:Turn)-[:GOVERNED_BY]->(p)
WITH p, sessions, count(DISTINCT t) AS turns
OPTIONAL MATCH (c:ToolCall)-[:PART_OF]->(:Turn)-[:GOVERNED_BY]->(p)
WITH p, sessions, turns, count(DISTINCT c) AS calls
OPTIONAL MATCH (a:Authority)<-[:AUTHORISED_BY]-(d:ToolCall)-[:PART_OF]->(:Turn)-[:GOVERNED_BY]->(p)
RETURN p.id AS policy, p.type AS type, p.details AS details, sessions, turns, calls,
       count(DISTINCT CASE WHEN a.decision = 'approved' THEN d.id END) AS approved,
       count(DISTINCT CASE WHEN a.decision = 'refused' THEN d.id END) AS refused
ORDER BY policy
