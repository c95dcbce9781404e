// title: Gaps
// question: What is missing, about what, and why?
// :param session: string = "" - only about this session, its steps, or the sources and coverage that tell of it (id); empty: all
// :column reason - why it is missing
// :column about - what it is about, in words
// :column count - how many times
// :column detail - place and particulars
// :column subject - the node that it is about
// :column gap - id
MATCH (g:Gap)-[:ABOUT]->(n)
WHERE $session = '' OR n.id = $session
   OR EXISTS { MATCH (n)-[:PART_OF]->(:Session {id: $session}) }
   OR EXISTS { MATCH (n)-[:PART_OF]->(:Turn)-[:PART_OF]->(:Session {id: $session}) }
   OR EXISTS { MATCH (n)<-[:RECORDED_IN|COVERED_BY]-(:Session {id: $session}) }
   OR EXISTS { MATCH (n)<-[:RECORDED_IN]-(:Coverage)<-[:COVERED_BY]-(:Session {id: $session}) }
RETURN g.reason AS reason, g.about AS about, g.count AS count, g.detail AS detail, n.id AS subject, g.id AS gap
ORDER BY reason, gap, subject
