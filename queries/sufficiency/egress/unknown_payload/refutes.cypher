// Files that are classified explain what was sent; or the model wrote it.
UNWIND $known AS x
MATCH (a:Artifact {id: x})
WHERE $n_unexplained = 0
RETURN a.id AS anchor, 'the content came from ' + a.path AS what
UNION
UNWIND $told_secrets AS x
MATCH (a:Artifact {id: x})
WHERE $n_files = 0 AND $n_outside = 0
RETURN a.id AS anchor, 'the model wrote what was sent into the command' AS what
