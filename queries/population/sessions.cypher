// title: Sessions
// question: Which sessions are there, and what happened in each, in numbers?
// :column session - id
// :column agent - program
// :column version - its version
// :column model - model first used
// :column status - how it ended
// :column cwd - its folder
// :column start - begin, ns
// :column finish - end, ns
// :column clock - what these times mean
// :column turns - requests
// :column calls - tool calls
// :column troubled - calls that did not complete, or ended with an error
// :column contradicted - claims that a check contradicts
// :column covered - sources that could see its effects
MATCH (s:Session)
OPTIONAL MATCH (t:Turn)-[:PART_OF]->(s)
WITH s, count(DISTINCT t) AS turns
OPTIONAL MATCH (c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s)
WITH s, turns, count(DISTINCT c) AS calls,
     count(DISTINCT CASE WHEN c.status <> 'completed' OR coalesce(c.exit_code, 0) <> 0 THEN c END) AS troubled
OPTIONAL MATCH (x:Outcome)-[:CONTRADICTS]->(:Outcome)-[:OUTCOME_OF]->(:Turn)-[:PART_OF]->(s)
WITH s, turns, calls, troubled, count(DISTINCT x) AS contradicted
OPTIONAL MATCH (s)-[:COVERED_BY]->(v:Coverage)
RETURN s.id AS session, s.agent AS agent, s.agent_version AS version, s.model AS model, s.status AS status, s.cwd AS cwd,
       s.start AS start, s.end AS finish, s.clock AS clock, turns, calls, troubled, contradicted,
       count(DISTINCT v) AS covered
ORDER BY start, session
