// title: Effects that happened twice
// question: Which file was written, or which destination sent to, by two tool calls of one session?
// :param session: string = "" - only of this session (id); empty: all
// :column effect - wrote or sent
// :column what - path or address
// :column first - the earlier call
// :column again - the later call
// :column same_command - both ran the same command line
// :column earlier - versions or transfers of the earlier call
// :column later - versions or transfers of the later call
// :column same_size - of the later, those with as many bytes as one of the earlier
MATCH (s:Session)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(c:ToolCall)<-[:ATTRIBUTED_TO]-(:Process)<-[g:GENERATED_BY]-(a:Artifact)
WHERE $session = '' OR s.id = $session
WITH s, c, g, a
WHERE a.class = 'file' AND coalesce(a.label, '') <> 'agent_state'
MATCH (s)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(d:ToolCall)<-[:ATTRIBUTED_TO]-(:Process)<-[h:GENERATED_BY]-(b:Artifact)
WITH c, g, a, d, h, b
WHERE b.path = a.path AND b.class = 'file' AND a.id <> b.id AND c.ordinal < d.ordinal
RETURN 'wrote' AS effect, a.path AS what, c.id AS first, d.id AS again,
       coalesce(c.command_digest = d.command_digest, false) AS same_command, count(DISTINCT a.id) AS earlier,
       count(DISTINCT b.id) AS later, count(DISTINCT CASE WHEN g.bytes = h.bytes THEN b.id END) AS same_size
UNION
MATCH (s:Session)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(c:ToolCall)<-[:ATTRIBUTED_TO]-(:Process)<-[:GENERATED_BY]-(f:Flow)
WHERE $session = '' OR s.id = $session
MATCH (f)-[:SENT_TO]->(x:Endpoint)
WITH s, c, f, x
MATCH (s)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(d:ToolCall)<-[:ATTRIBUTED_TO]-(:Process)<-[:GENERATED_BY]-(g:Flow)
MATCH (g)-[:SENT_TO]->(y:Endpoint)
WITH c, f, x, d, g, y
WHERE y.id = x.id AND f.id <> g.id AND c.ordinal < d.ordinal
RETURN 'sent' AS effect, x.address AS what, c.id AS first, d.id AS again,
       coalesce(c.command_digest = d.command_digest, false) AS same_command, count(DISTINCT f.id) AS earlier,
       count(DISTINCT g.id) AS later, count(DISTINCT CASE WHEN f.bytes = g.bytes THEN g.id END) AS same_size
