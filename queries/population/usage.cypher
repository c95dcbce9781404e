// title: What sessions consumed
// question: How many tokens, model calls, tool calls and bytes did each session take?
// :column session - id
// :column agent - program
// :column model - model first used
// :column turns - requests
// :column model_calls - model responses
// :column tool_calls - tool calls
// :column input_tokens - tokens read, cached ones included
// :column cached_input_tokens - of these, read from cache
// :column output_tokens - tokens written, reasoning included
// :column reasoning_output_tokens - of these, reasoning
// :column cost_usd - cost as the host reported it; null: not reported
// :column argument_bytes - bytes of arguments that the model wrote for tool calls
// :column context_bytes - bytes of messages and tool outputs that came into the model's context
MATCH (s:Session)
OPTIONAL MATCH (t:Turn)-[:PART_OF]->(s)
WITH s, count(DISTINCT t) AS turns
OPTIONAL MATCH (m:ModelCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s)
WITH s, turns, count(DISTINCT m) AS model_calls
OPTIONAL MATCH (c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s)
WITH s, turns, model_calls, count(DISTINCT c) AS tool_calls, sum(coalesce(c.arguments_size, 0)) AS argument_bytes
OPTIONAL MATCH (s)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(:ModelCall)-[e:INFORMED_BY]->(:Artifact)
RETURN s.id AS session, s.agent AS agent, s.model AS model, turns, model_calls, tool_calls, s.input_tokens AS input_tokens,
       s.cached_input_tokens AS cached_input_tokens, s.output_tokens AS output_tokens,
       s.reasoning_output_tokens AS reasoning_output_tokens, s.cost_usd AS cost_usd, argument_bytes,
       sum(coalesce(e.bytes, 0)) AS context_bytes
ORDER BY session
