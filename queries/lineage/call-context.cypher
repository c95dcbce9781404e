// title: What the model had seen
// question: Which messages and tool outputs were in the model's context when it asked for this call?
// :param call: string - id of the tool call
// :column responses - model responses between the call and what it saw; 0: it came just before
// :column class - message or tool_output
// :column role - of a message: who spoke
// :column from_call - of a tool output: the call that gave it
// :column bytes - bytes that came into the context
// :column name - its beginning, redacted
// :column artifact - id
MATCH path = (c:ToolCall {id: $call})-[:FORMED_BY|FOLLOWS*1..25]->(m:ModelCall)
WITH m, min(length(path)) - 1 AS responses
MATCH (m)-[e:INFORMED_BY]->(a:Artifact)
OPTIONAL MATCH (a)-[:GENERATED_BY]->(x:ToolCall)
RETURN responses, a.class AS class, a.role AS role, x.id AS from_call, e.bytes AS bytes, a.name AS name, a.id AS artifact
ORDER BY responses, artifact, from_call
