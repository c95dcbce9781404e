// A file of the workspace that was there before, and no secret, is where the content came from.
UNWIND $origins AS x
MATCH (a:Artifact {id: x})
WHERE a.class = 'file' AND a.version = 0 AND a.path STARTS WITH ($cwd + '/') AND $n_secrets = 0 AND $n_unexplained = 0
  AND NOT coalesce(a.label, '') IN ['secret', 'toolchain', 'agent_state', 'protected']
RETURN a.id AS anchor, 'the content came from ' + a.path AS what, $call AS step
