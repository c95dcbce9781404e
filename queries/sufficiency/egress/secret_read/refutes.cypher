// All that the content came from is known, and no secret is among it.
UNWIND $origins AS x
MATCH (a:Artifact {id: x})
WHERE $n_secrets = 0 AND a.class = 'file' AND NOT coalesce(a.label, '') IN ['toolchain', 'agent_state', 'protected']
RETURN a.id AS anchor, 'the content came from ' + a.path + ', and from no secret' AS what
UNION
MATCH (f:Flow {id: $incident})
WHERE $n_secrets = 0 AND $n_known = 0
RETURN f.id AS anchor, 'no secret is among what the content came from' AS what
