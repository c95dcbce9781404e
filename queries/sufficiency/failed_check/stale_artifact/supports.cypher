// A built file, no longer of the last source, differs from the last pass and reached the failing program. The step: who wrote this version.
UNWIND $stale_causes AS x
MATCH (a:Artifact {id: x})
OPTIONAL MATCH (a)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (a)-[:GENERATED_BY|NAMED_BY]->(:Process)-[:ATTRIBUTED_TO]->(d:ToolCall)
RETURN DISTINCT a.id AS anchor, a.path + ' was built from a version that is no longer the last, and reached the failing program' AS what,
       coalesce(c.id, d.id) AS step
