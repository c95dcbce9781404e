// title: What may have been sent
// question: What could the sending programs have read before they sent, by class and label? It may have been sent; that it was is not said.
// :param address: string = "" - only to this destination (host:port); empty: all
// :column address - where bytes were sent
// :column origin - tool call, else session, that the sending process is attributed to
// :column way - read: by the sender; source: by who wrote what the sender read; unseen: the sender read nothing that was seen; agent: from an agent's memory
// :column class - class of what may have been sent
// :column label - its classification; null: none
// :column what - its path, else its name
// :column transfers - transfers that may hold it
// :column bytes - bytes of these transfers, whatever they hold
MATCH (e:Endpoint)<-[:SENT_TO]-(f:Flow)-[:GENERATED_BY]->(p:Process)
WHERE $address = '' OR e.address = $address
OPTIONAL MATCH (p)-[:CONTINUES*0..20]->(q:Process)-[:USED]->(a:Artifact)
WHERE coalesce(q.role, '') <> 'agent_runtime' AND a.class <> 'toolchain'
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(s:Session)
WITH DISTINCT e.address AS address, coalesce(c.id, s.id) AS origin,
     CASE WHEN p.role = 'agent_runtime' THEN 'agent' WHEN a.id IS NULL THEN 'unseen' ELSE 'read' END AS way,
     a.class AS class, a.label AS label, coalesce(a.path, a.name) AS what, f
RETURN address, origin, way, class, label, what, count(f) AS transfers, sum(coalesce(f.bytes, 0)) AS bytes
UNION
MATCH (e:Endpoint)<-[:SENT_TO]-(f:Flow)-[:GENERATED_BY]->(p:Process)-[:CONTINUES*0..20]->(:Process)-[:USED]->(r:Artifact)
WHERE ($address = '' OR e.address = $address) AND coalesce(p.role, '') <> 'agent_runtime' AND r.class <> 'toolchain'
MATCH (r)-[:GENERATED_BY]->(w:Process)-[:CONTINUES*0..20]->(:Process)-[:USED]->(a:Artifact)
WHERE coalesce(w.role, '') <> 'agent_runtime' AND a.class <> 'toolchain'
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(s:Session)
WITH DISTINCT e.address AS address, coalesce(c.id, s.id) AS origin, a.class AS class, a.label AS label,
     coalesce(a.path, a.name) AS what, f
RETURN address, origin, 'source' AS way, class, label, what, count(f) AS transfers, sum(coalesce(f.bytes, 0)) AS bytes
