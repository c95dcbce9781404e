// The check passed, and read what was no longer of the last source.
UNWIND $stale AS x
MATCH (a:Artifact {id: x})
WHERE $check_verdict = 'pass'
RETURN a.id AS anchor, 'the check that passed read ' + a.path + ', built from a version that was no longer the last' AS what,
       $check AS step
