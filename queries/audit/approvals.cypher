// title: Approvals and refusals
// question: Which tool calls were approved or refused, by whom, why, and under which policy?
// :param session: string = "" - only of this session (id); empty: all
// :param policy: string = "" - only of turns that this policy version governed (id); empty: all
// :param decision: string = "" - approved or refused; empty: both
// :column call - id of the tool call
// :column action - what kind of call
// :column what - command line, else arguments
// :column decision - approved or refused
// :column by - who decided
// :column by_kind - human, agent or service
// :column reason - why
// :column at - when, ns; null: not recorded
// :column status - how the call ended
// :column policies - policy versions in force in the turn
// :column authority - id of the decision
MATCH (c:ToolCall)-[:AUTHORISED_BY]->(a:Authority)
WHERE a.decision IS NOT NULL AND ($decision = '' OR a.decision = $decision)
MATCH (c)-[:PART_OF]->(t:Turn)-[:PART_OF]->(s:Session)
WHERE ($session = '' OR s.id = $session)
  AND ($policy = '' OR EXISTS { MATCH (t)-[:GOVERNED_BY]->(:Policy {id: $policy}) })
OPTIONAL MATCH (a)-[:GRANTED_BY]->(p:Principal)
OPTIONAL MATCH (t)-[:GOVERNED_BY]->(x:Policy)
RETURN c.id AS call, c.action AS action, coalesce(c.command, c.arguments) AS what, a.decision AS decision, p.name AS by,
       p.type AS by_kind, a.reason AS reason, a.start AS at, c.status AS status, collect(DISTINCT x.id) AS policies,
       a.id AS authority
ORDER BY call, authority, by
