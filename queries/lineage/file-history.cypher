// title: History of a file
// question: Which versions did this file have, and which process and tool call made each of them?
// :param path: string - absolute path
// :column version - its number within one trace; 0: what was there before the trace
// :column class - file, absent ...
// :column how - GENERATED_BY (content) or NAMED_BY (rename, link, unlink)
// :column rule - system call
// :column command - command line of the process
// :column call - tool call that the process or the version is attributed to
// :column artifact - id of the version
MATCH (a:Artifact)
WHERE a.path = $path
OPTIONAL MATCH (a)-[e:GENERATED_BY|NAMED_BY]->(p:Process)
OPTIONAL MATCH (p)-[:ATTRIBUTED_TO]->(c:ToolCall)
OPTIONAL MATCH (a)-[:ATTRIBUTED_TO]->(d:ToolCall)
RETURN DISTINCT a.version AS version, a.class AS class, type(e) AS how, e.rule AS rule, p.command AS command,
       coalesce(c.id, d.id) AS call, a.id AS artifact
ORDER BY artifact, version, how, call, command
