// title: Claimed against checked
// question: What was claimed, what was checked, and where do the two contradict each other?
// :column type - claimed or checked
// :column subject - what was judged
// :column verdict - what the judge said
// :column judge - who judged
// :column statement - the words or the status it rests on
// :column about - the call, else the turn, else the session that it is about
// :column contradicts - ids of verdicts that it contradicts, or that contradict it
// :column outcome - id
MATCH (o:Outcome)
OPTIONAL MATCH (o)-[:JUDGED_BY]->(j:Oracle)
OPTIONAL MATCH (o)-[:OUTCOME_OF]->(c:ToolCall)
OPTIONAL MATCH (o)-[:OUTCOME_OF]->(t:Turn)
OPTIONAL MATCH (o)-[:OUTCOME_OF]->(s:Session)
OPTIONAL MATCH (o)-[:CONTRADICTS]->(x:Outcome)
OPTIONAL MATCH (y:Outcome)-[:CONTRADICTS]->(o)
WITH o, j, coalesce(c.id, t.id, s.id) AS about, collect(DISTINCT x.id) AS against, collect(DISTINCT y.id) AS contradicted
RETURN o.type AS type, o.subject AS subject, o.verdict AS verdict, j.name AS judge, o.statement AS statement,
       about, against + contradicted AS contradicts, o.id AS outcome
ORDER BY about, outcome
