// title: Effects without a tool call
// question: Which files were written and which transfers made by processes that no tool call explains?
// :column kind - file or transfer
// :column what - path or address
// :column bytes - bytes that moved, where known
// :column command - command line of the process
// :column session - session that the process belongs to; null: none
// :column role - part the process plays; agent_runtime is the agent itself
// :column target - id
MATCH (a:Artifact)-[e:GENERATED_BY]->(p:Process)
WHERE a.class = 'file' AND coalesce(a.label, '') <> 'agent_state'
  AND NOT EXISTS { MATCH (p)-[:ATTRIBUTED_TO]->(:ToolCall) } AND NOT EXISTS { MATCH (a)-[:ATTRIBUTED_TO]->(:ToolCall) }
  AND NOT EXISTS { MATCH (a)<-[:RENAMED_FROM]-(:Artifact)-[:ATTRIBUTED_TO]->(:ToolCall) }
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(s:Session)
RETURN 'file' AS kind, a.path AS what, e.bytes AS bytes, p.command AS command, s.id AS session, p.role AS role, a.id AS target
UNION
MATCH (x:Endpoint)<-[:SENT_TO]-(f:Flow)-[:GENERATED_BY]->(p:Process)
WHERE NOT EXISTS { MATCH (p)-[:ATTRIBUTED_TO]->(:ToolCall) } AND NOT EXISTS { MATCH (f)-[:ATTRIBUTED_TO]->(:ToolCall) }
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(s:Session)
RETURN 'transfer' AS kind, x.address AS what, f.bytes AS bytes, p.command AS command, s.id AS session, p.role AS role,
       f.id AS target
