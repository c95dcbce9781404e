// title: Refused, failed and repeated calls
// question: Which tool calls did not simply succeed at the first attempt?
// :param session: string = "" - only of this session (id); empty: all
// :column call - id of the tool call
// :column action - what kind of call
// :column what - command line, else arguments
// :column status - how it ended
// :column exit_code - exit code as reported
// :column attempt - 2 for the first repetition with the same arguments
// :column error - why
MATCH (c:ToolCall)-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session)
WHERE ($session = '' OR s.id = $session)
  AND (c.status <> 'completed' OR coalesce(c.exit_code, 0) <> 0 OR coalesce(c.attempt, 1) > 1)
RETURN c.id AS call, c.action AS action, coalesce(c.command, c.arguments) AS what, c.status AS status,
       c.exit_code AS exit_code, c.attempt AS attempt, c.error AS error
ORDER BY call
