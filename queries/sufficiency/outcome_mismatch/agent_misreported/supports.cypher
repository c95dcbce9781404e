// The last check that fits the claim failed before it was made. The step: a change that was refused before, else the check.
MATCH (x:Outcome {id: $check_outcome})-[:OUTCOME_OF]->(c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE $check_verdict = 'fail'
OPTIONAL MATCH (s)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(r:ToolCall)
WHERE r.status IN ['refused', 'failed'] AND r.action IN ['edit', 'write', 'patch'] AND r.start < c.start
WITH x, c, max(r.ordinal) AS last, s
OPTIONAL MATCH (s)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(q:ToolCall)
WHERE q.ordinal = last
RETURN x.id AS anchor, 'the last check before the claim failed: ' + coalesce(x.statement, x.verdict) AS what,
       coalesce(q.id, c.id) AS step
