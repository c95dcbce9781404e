"""Two phrasings of one question, whose answers must agree on every graph."""

from __future__ import annotations

from tests.conformance.forms import Pair

CASES = [
    Pair(
        "a direction is read from either end",
        "MATCH (a:Turn)-[:PART_OF]->(b:Session) RETURN a.id AS a, b.id AS b",
        "MATCH (b:Session)<-[:PART_OF]-(a:Turn) RETURN a.id AS a, b.id AS b",
    ),
    Pair(
        "a property in the pattern or in WHERE",
        "MATCH (c:ToolCall {action: 'shell'}) RETURN c.id AS id",
        "MATCH (c:ToolCall) WHERE c.action = 'shell' RETURN c.id AS id",
    ),
    Pair(
        "IN or OR",
        "MATCH (c:ToolCall) WHERE c.action IN ['shell', 'edit'] RETURN c.id AS id",
        "MATCH (c:ToolCall) WHERE c.action = 'shell' OR c.action = 'edit' RETURN c.id AS id",
    ),
    Pair(
        "NOT IN leaves unknown values out as <> does",
        "MATCH (c:ToolCall) WHERE NOT c.exit_code IN [0] RETURN c.id AS id",
        "MATCH (c:ToolCall) WHERE c.exit_code <> 0 RETURN c.id AS id",
    ),
    Pair(
        "unknown is neither equal nor different",
        "MATCH (c:ToolCall) WHERE c.exit_code = 0 OR c.exit_code <> 0 RETURN c.id AS id",
        "MATCH (c:ToolCall) WHERE c.exit_code IS NOT NULL RETURN c.id AS id",
    ),
    Pair(
        "EXISTS or OPTIONAL MATCH with a count",
        "MATCH (c:ToolCall) WHERE EXISTS { MATCH (c)<-[:ATTRIBUTED_TO]-(:Process) } RETURN c.id AS id",
        "MATCH (c:ToolCall) OPTIONAL MATCH (c)<-[:ATTRIBUTED_TO]-(p:Process) WITH c, count(p) AS n WHERE n > 0 RETURN c.id AS id",
    ),
    Pair(
        "NOT EXISTS or a count of nothing",
        "MATCH (a:Artifact) WHERE NOT EXISTS { MATCH (a)-[:GENERATED_BY]->() } RETURN a.id AS id",
        "MATCH (a:Artifact) OPTIONAL MATCH (a)-[e:GENERATED_BY]->() WITH a, count(e) AS n WHERE n = 0 RETURN a.id AS id",
    ),
    Pair(
        "COUNT of a subquery or count of rows",
        "MATCH (s:Session) RETURN s.id AS id, COUNT { MATCH (s)<-[:PART_OF]-(:Turn) } AS turns",
        "MATCH (s:Session) OPTIONAL MATCH (s)<-[:PART_OF]-(t:Turn) RETURN s.id AS id, count(t) AS turns",
    ),
    Pair(
        "one pattern or two",
        "MATCH (c:ToolCall)-[:PART_OF]->(t:Turn)-[:PART_OF]->(s:Session) RETURN c.id AS c, s.id AS s",
        "MATCH (c:ToolCall)-[:PART_OF]->(t:Turn) MATCH (t)-[:PART_OF]->(s:Session) RETURN c.id AS c, s.id AS s",
    ),
    Pair(
        "a pattern with a comma or two clauses",
        "MATCH (c:ToolCall)-[:PART_OF]->(t:Turn), (c)-[:FORMED_BY]->(m:ModelCall) RETURN c.id AS c, m.id AS m, t.id AS t",
        "MATCH (c:ToolCall)-[:PART_OF]->(t:Turn) MATCH (c)-[:FORMED_BY]->(m:ModelCall) RETURN c.id AS c, m.id AS m, t.id AS t",
    ),
    Pair(
        "kinds with | or a UNION ALL",
        "MATCH (a:Process)-[:USED|STARTED_BY]->(b) RETURN a.id AS a, b.id AS b",
        "MATCH (a:Process)-[:USED]->(b) RETURN a.id AS a, b.id AS b "
        "UNION ALL MATCH (a:Process)-[:STARTED_BY]->(b) RETURN a.id AS a, b.id AS b",
    ),
    Pair(
        "UNION or DISTINCT",
        "MATCH (p:Process)-[:USED]->(a:Artifact) RETURN a.id AS id UNION MATCH (p:Process)-[:USED]->(a:Artifact) RETURN a.id AS id",
        "MATCH (p:Process)-[:USED]->(a:Artifact) RETURN DISTINCT a.id AS id",
    ),
    Pair(
        "DISTINCT or grouping",
        "MATCH (p:Process) RETURN DISTINCT p.executable AS executable",
        "MATCH (p:Process) WITH p.executable AS executable, count(*) AS n RETURN executable",
    ),
    Pair(
        "a bounded walk or its lengths one by one",
        "MATCH (a:Process {began: 'exec'})-[:STARTED_BY*1..2]->(b:Process) RETURN a.id AS a, b.id AS b",
        "MATCH (a:Process {began: 'exec'})-[:STARTED_BY]->(b:Process) RETURN a.id AS a, b.id AS b "
        "UNION ALL MATCH (a:Process {began: 'exec'})-[:STARTED_BY]->(:Process)-[:STARTED_BY]->(b:Process) "
        "RETURN a.id AS a, b.id AS b",
    ),
    Pair(
        "count or the size of a collection",
        "MATCH (p:Process) WITH p.executable AS executable, count(p.id) AS n RETURN executable, n",
        "MATCH (p:Process) WITH p.executable AS executable, size(collect(p.id)) AS n RETURN executable, n",
    ),
    Pair(
        "collect and UNWIND give back what was there",
        "MATCH (f:Flow) RETURN f.id AS id",
        "MATCH (f:Flow) WITH collect(f.id) AS ids UNWIND ids AS id RETURN id",
    ),
    Pair(
        "UNWIND of a list or IN of it",
        "UNWIND $wanted AS wanted MATCH (a:Artifact) WHERE a.class = wanted RETURN a.id AS id",
        "MATCH (a:Artifact) WHERE a.class IN $wanted RETURN a.id AS id",
        {"wanted": ["file", "pipe", "message"]},
    ),
    Pair(
        "a parameter or a literal",
        "MATCH (a:Artifact) WHERE a.class = $class RETURN a.id AS id",
        "MATCH (a:Artifact) WHERE a.class = 'file' RETURN a.id AS id",
        {"class": "file"},
    ),
    Pair(
        "coalesce or CASE",
        "MATCH (c:ToolCall) RETURN c.id AS id, coalesce(c.exit_code, -1) AS code",
        "MATCH (c:ToolCall) RETURN c.id AS id, CASE WHEN c.exit_code IS NULL THEN -1 ELSE c.exit_code END AS code",
    ),
    Pair(
        "STARTS WITH or the left of it",
        "MATCH (a:Artifact) WHERE a.id STARTS WITH 'artifact:h' RETURN a.id AS id",
        "MATCH (a:Artifact) WHERE left(a.id, 10) = 'artifact:h' RETURN a.id AS id",
    ),
    Pair(
        "ENDS WITH of lower case or ENDS WITH either case",
        "MATCH (p:Process) WHERE lower(p.executable) ENDS WITH '/bash' RETURN p.id AS id",
        "MATCH (p:Process) WHERE p.executable ENDS WITH '/bash' OR p.executable ENDS WITH '/BASH' RETURN p.id AS id",
    ),
    Pair(
        "De Morgan",
        "MATCH (c:ToolCall) WHERE NOT (c.action = 'shell' AND c.status = 'completed') RETURN c.id AS id",
        "MATCH (c:ToolCall) WHERE c.action <> 'shell' OR c.status <> 'completed' RETURN c.id AS id",
    ),
    Pair(
        "min and max or the ends of an order",
        "MATCH (c:ToolCall) WHERE c.ordinal IS NOT NULL WITH c.ordinal AS n ORDER BY n LIMIT 1 RETURN n",
        "MATCH (c:ToolCall) WITH min(c.ordinal) AS n WHERE n IS NOT NULL RETURN n",
    ),
    Pair(
        "ascending with SKIP or descending with LIMIT",
        "MATCH (a:Artifact) WITH a.id AS id ORDER BY id DESC LIMIT 3 RETURN id",
        "MATCH (a:Artifact) WITH collect(a.id) AS ids UNWIND ids AS id "
        "WITH id, COUNT { MATCH (b:Artifact) WHERE b.id > id } AS above WHERE above < 3 RETURN id",
        graphs=("handmade", "governed", "values", "empty"),
    ),
    Pair(
        "a filter before or after WITH",
        "MATCH (f:Flow) WHERE f.direction = 'out' RETURN f.id AS id",
        "MATCH (f:Flow) WITH f WHERE f.direction = 'out' RETURN f.id AS id",
    ),
    Pair(
        "sums of parts or of all",
        "MATCH (f:Flow) RETURN sum(f.bytes) AS total",
        "MATCH (f:Flow) WITH f.direction AS direction, sum(f.bytes) AS part RETURN sum(part) AS total",
    ),
    Pair(
        "a difference of integers keeps all bits",
        "MATCH (c:ToolCall) WHERE c.end IS NOT NULL AND c.start IS NOT NULL RETURN c.id AS id, c.end - c.start AS took",
        "MATCH (c:ToolCall) WHERE (c.end - c.start) IS NOT NULL RETURN c.id AS id, 0 - (c.start - c.end) AS took",
    ),
    Pair(
        "any edge or the edges of each kind",
        "MATCH (a:ToolCall)-[e]->(b) RETURN a.id AS a, b.id AS b",
        "MATCH (b)<-[e]-(a:ToolCall) RETURN a.id AS a, b.id AS b",
    ),
]
