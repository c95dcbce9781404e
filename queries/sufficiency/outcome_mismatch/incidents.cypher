// A claim of success that a check contradicts.
MATCH (x:Outcome)-[:CONTRADICTS]->(o:Outcome)-[:OUTCOME_OF]->(t:Turn)-[:PART_OF]->(s:Session)
WHERE o.type = 'claimed' AND o.verdict = 'pass'
RETURN DISTINCT o.id AS incident, s.id AS session, o.statement AS what
