// A check that fails after the same command passed in the same folder, and that did not pass again later.
MATCH (o:Outcome)-[:OUTCOME_OF]->(c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE o.type = 'checked' AND o.verdict = 'fail' AND o.subject IN ['test', 'build', 'lint', 'type_check']
  AND c.command_digest IS NOT NULL
MATCH (b:ToolCall {command_digest: c.command_digest})
WHERE b.start < c.start AND b.cwd = c.cwd AND b.status = 'completed' AND coalesce(b.exit_code, 0) = 0
  AND NOT EXISTS { MATCH (x:Outcome)-[:OUTCOME_OF]->(b) WHERE x.type = 'checked' AND x.verdict = 'fail' }
  AND NOT EXISTS {
    MATCH (l:ToolCall {command_digest: c.command_digest})-[:PART_OF]->(:Turn)-[:PART_OF]->(s)
    WHERE l.start > c.start AND l.cwd = c.cwd AND l.status = 'completed' AND coalesce(l.exit_code, 0) = 0
      AND NOT EXISTS { MATCH (y:Outcome)-[:OUTCOME_OF]->(l) WHERE y.type = 'checked' AND y.verdict = 'fail' }
  }
RETURN DISTINCT c.id AS incident, s.id AS session, c.command AS what
