// The last check that fits the claim passed.
MATCH (x:Outcome {id: $check_outcome})
WHERE $check_verdict = 'pass'
RETURN x.id AS anchor, 'the last check before the claim passed: ' + coalesce(x.statement, x.verdict) AS what
