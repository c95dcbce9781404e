// title: Claims that nothing checked
// question: What did agents claim for which no check of the same subject is recorded in the turn?
// :param session: string = "" - only of this session (id); empty: all
// :column session - the session
// :column turn - position of the turn in it
// :column subject - what was claimed about
// :column verdict - what was claimed
// :column statement - in which words
// :column other_checks - verdicts of other subjects that were checked in the turn
// :column outcome - id of the claim
MATCH (o:Outcome)-[:OUTCOME_OF]->(t:Turn)-[:PART_OF]->(s:Session)
WHERE o.type = 'claimed' AND ($session = '' OR s.id = $session) AND NOT EXISTS {
  MATCH (k:Outcome)-[:OUTCOME_OF]->(:ToolCall)-[:PART_OF]->(t) WHERE k.type = 'checked' AND k.subject = o.subject
}
OPTIONAL MATCH (x:Outcome)-[:OUTCOME_OF]->(:ToolCall)-[:PART_OF]->(t)
WHERE x.type = 'checked'
RETURN s.id AS session, t.ordinal AS turn, o.subject AS subject, o.verdict AS verdict, o.statement AS statement,
       count(DISTINCT x.id) AS other_checks, o.id AS outcome
ORDER BY session, turn, outcome
