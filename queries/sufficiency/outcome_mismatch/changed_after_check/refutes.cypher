// The check failed already; or nothing that it read was written anew before the claim.
MATCH (x:Outcome {id: $check_outcome})
WHERE $check_verdict = 'fail' OR $n_changed = 0
RETURN x.id AS anchor, CASE WHEN $check_verdict = 'fail' THEN 'the check had failed before anything was changed after it'
       ELSE 'nothing that the check read was written between it and the claim' END AS what
