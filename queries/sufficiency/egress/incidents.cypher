// A transfer that left what was observed, by a process of a tool call, after a tool call took in a secret, or with file content.
MATCH (e:Endpoint)<-[:SENT_TO]-(f:Flow)-[:GENERATED_BY]->(p:Process)-[:ATTRIBUTED_TO]->(c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE coalesce(e.role, '') <> 'model_endpoint' AND coalesce(f.bytes, 1) > 0 AND f.protocol = 'tcp'
  AND NOT EXISTS { MATCH (:Flow)-[:RECEIVED_FROM]->(f) }
  AND (EXISTS {
         MATCH (q:Process)-[:USED]->(a:Artifact)
         WHERE q.process = p.process AND a.class IN ['file', 'pipe']
           AND NOT coalesce(a.label, '') IN ['toolchain', 'agent_state', 'protected']
       } OR EXISTS {
         MATCH (s)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(:ToolCall)<-[:ATTRIBUTED_TO]-(:Process)-[:USED]->(x:Artifact)
         WHERE x.label = 'secret'
       } OR EXISTS {
         MATCH (s)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(:ToolCall)-[:USED]->(y:Artifact)
         WHERE y.label = 'secret'
       })
RETURN min(f.id) AS incident, s.id AS session, 'transfer to ' + e.address AS what, c.id AS call, coalesce(s.cwd, '') AS cwd
