// A younger version of what the check read, or of what that was built from, older than the claim.
UNWIND $changed AS x
MATCH (a:Artifact {id: x})
WHERE $check_verdict = 'pass'
OPTIONAL MATCH (a)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (a)-[:GENERATED_BY|NAMED_BY]->(:Process)-[:ATTRIBUTED_TO]->(d:ToolCall)
RETURN DISTINCT a.id AS anchor, a.path + ' was written after the check and before the claim' AS what, coalesce(c.id, d.id) AS step
