// title: Gaps by cause
// question: How much is missing, for which reason, and about how many nodes?
// :column reason - why it is missing
// :column about - what it is about, in words
// :column gaps - gaps of this kind
// :column times - how many times all together
// :column subjects - nodes that they are about
// :column policies - policies that caused them
MATCH (g:Gap)
WITH g, coalesce(g.count, 1) AS times
OPTIONAL MATCH (g)-[:ABOUT]->(n)
WITH g, times, count(DISTINCT n.id) AS subjects
RETURN g.reason AS reason, g.about AS about, count(g) AS gaps, sum(times) AS times, sum(subjects) AS subjects,
       collect(DISTINCT g.policy) AS policies
ORDER BY reason, about
