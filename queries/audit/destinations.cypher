// title: Destinations
// question: Where were bytes sent, how many, and by which tool call or session?
// :param scope: string = "" - only loopback, private, public or local; empty: all
// :column address - host:port or socket path
// :column scope - where that is
// :column origin - tool call, else session, that the sending process is attributed to; null: none
// :column command - command that was asked for; null: the agent itself
// :column programs - programs that sent
// :column transfers - number of transfers
// :column bytes - bytes sent
MATCH (f:Flow)-[:SENT_TO]->(e:Endpoint)
WHERE $scope = '' OR e.scope = $scope
MATCH (f)-[:GENERATED_BY]->(p:Process)
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(s:Session)
RETURN e.address AS address, e.scope AS scope, coalesce(c.id, s.id) AS origin, c.command AS command,
       collect(DISTINCT p.executable) AS programs, count(DISTINCT f) AS transfers, sum(coalesce(f.bytes, 0)) AS bytes
ORDER BY address, origin
