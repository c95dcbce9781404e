// A secret came into the model's context, wide enough to be passed on, and no file explains what was sent.
UNWIND $told_secrets AS x
MATCH (a:Artifact {id: x})
WHERE $n_known = 0 AND $n_unexplained = 0
RETURN a.id AS anchor, 'the model had ' + a.path + ' in its context, and wrote what was sent' AS what, $call AS step
