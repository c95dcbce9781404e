// The check failed, so no stale artifact made it pass; or nothing that it read was stale.
MATCH (x:Outcome {id: $check_outcome})
WHERE $check_verdict = 'fail' OR $n_stale = 0
RETURN x.id AS anchor, CASE WHEN $check_verdict = 'fail' THEN 'the check itself failed: nothing stale made it pass'
       ELSE 'nothing that the check read was built from a version that was no longer the last' END AS what
