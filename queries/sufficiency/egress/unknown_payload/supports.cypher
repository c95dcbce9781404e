// The content came from a transfer, from a file outside the workspace that has no label, or out of a program that read no file.
UNWIND $origins AS x
MATCH (e:Endpoint {id: x})
WHERE $n_known = 0 AND $n_secrets = 0
RETURN e.id AS anchor, 'the content was received from ' + e.address AS what, $call AS step
UNION
UNWIND $origins AS x
MATCH (a:Artifact {id: x})
WHERE $n_known = 0 AND $n_secrets = 0 AND a.class = 'file' AND a.version = 0 AND NOT a.path STARTS WITH ($cwd + '/')
  AND NOT coalesce(a.label, '') IN ['toolchain', 'agent_state', 'protected']
RETURN a.id AS anchor, 'the content came from ' + a.path + ', of which nothing is known' AS what, $call AS step
UNION
UNWIND $files AS x
MATCH (a:Artifact {id: x})
WHERE $n_known = 0 AND $n_secrets = 0 AND $n_outside = 0 AND $n_model_written = 0 AND a.version > 0
RETURN a.id AS anchor, a.path + ' was written by a program that took in no file' AS what, $call AS step
