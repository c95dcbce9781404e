// title: Everything a tool call touched
// question: What did the processes of this call, and the call itself, read, write and send?
// :param call: string - id of the tool call
// :column did - read, wrote, named (rename, link, unlink), sent or received
// :column what - path or address; for other things the name
// :column version - version of the artifact
// :column class - what it is
// :column label - its classification
// :column bytes - bytes that moved, where known
// :column command - command line of the process; null: inside the agent's own process
// :column target - id
MATCH (c:ToolCall {id: $call})<-[:ATTRIBUTED_TO]-(p:Process)-[e:USED]->(a:Artifact)
RETURN 'read' AS did, coalesce(a.path, a.name) AS what, a.version AS version, a.class AS class, a.label AS label,
       e.bytes AS bytes, p.command AS command, a.id AS target
UNION
MATCH (c:ToolCall {id: $call})-[e:USED]->(a:Artifact)
RETURN 'read' AS did, coalesce(a.path, a.name) AS what, a.version AS version, a.class AS class, a.label AS label,
       e.bytes AS bytes, c.command AS command, a.id AS target
UNION
MATCH (c:ToolCall {id: $call})<-[:ATTRIBUTED_TO]-(p:Process)<-[e:GENERATED_BY]-(a:Artifact)
RETURN 'wrote' AS did, coalesce(a.path, a.name) AS what, a.version AS version, a.class AS class, a.label AS label,
       e.bytes AS bytes, p.command AS command, a.id AS target
UNION
MATCH (c:ToolCall {id: $call})<-[e:ATTRIBUTED_TO]-(a:Artifact)
RETURN 'wrote' AS did, coalesce(a.path, a.name) AS what, a.version AS version, a.class AS class, a.label AS label,
       e.bytes AS bytes, c.command AS command, a.id AS target
UNION
MATCH (c:ToolCall {id: $call})<-[:ATTRIBUTED_TO]-(p:Process)<-[e:NAMED_BY]-(a:Artifact)
RETURN 'named' AS did, coalesce(a.path, a.name) AS what, a.version AS version, a.class AS class, a.label AS label,
       e.bytes AS bytes, p.command AS command, a.id AS target
UNION
MATCH (c:ToolCall {id: $call})<-[:ATTRIBUTED_TO]-(p:Process)<-[e:GENERATED_BY]-(f:Flow)-[:SENT_TO]->(x:Endpoint)
RETURN 'sent' AS did, x.address AS what, f.version AS version, f.protocol AS class, x.scope AS label,
       f.bytes AS bytes, p.command AS command, f.id AS target
UNION
MATCH (c:ToolCall {id: $call})<-[:ATTRIBUTED_TO]-(p:Process)-[e:USED]->(f:Flow)-[:RECEIVED_FROM]->(x:Endpoint)
RETURN 'received' AS did, x.address AS what, f.version AS version, f.protocol AS class, x.scope AS label,
       f.bytes AS bytes, p.command AS command, f.id AS target
