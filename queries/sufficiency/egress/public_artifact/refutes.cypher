// A secret is in the content; or no file of the workspace is.
UNWIND $secrets AS x
MATCH (a:Artifact {id: x})
RETURN a.id AS anchor, 'the content came from ' + a.path + ', which is labelled secret' AS what
UNION
MATCH (f:Flow {id: $incident})
WHERE $n_known = 0
RETURN f.id AS anchor, 'no file of the workspace that was there before went into it' AS what
