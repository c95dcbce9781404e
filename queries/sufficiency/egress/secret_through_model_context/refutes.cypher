// No secret came into the model's context that wide; or files explain what was sent, and the model wrote none of them.
UNWIND $known AS x
MATCH (a:Artifact {id: x})
WHERE $n_model_written = 0
RETURN a.id AS anchor, 'the content came from ' + a.path + ' without passing through the model' AS what
UNION
MATCH (f:Flow {id: $incident})
WHERE $n_told_secrets = 0
RETURN f.id AS anchor, "no secret came into the model's context before" AS what
