"""Texts that no catalogue has: values, limits, and what is answered by an error."""

from __future__ import annotations

from tests.conformance.forms import Read, Refused
from tests.conformance.graphs import BIG, TEXT
from tests.handmade import AGENT, CAT, CP, CURL, CURL2, SHELL, call, file

READS = [
    Read("empty", "MATCH (n:Session) RETURN n.id AS id", []),
    Read("empty", "MATCH (n:Session) RETURN count(n) AS n", [(0,)]),
    Read("handmade", "MATCH (n:Session) RETURN n.id AS id, n.model AS model ORDER BY id", [("session:s1", None), ("session:s1/sub", None)]),
    Read("handmade", "RETURN $big AS big, $small AS small", [(BIG, -BIG - 1)], {"big": BIG, "small": -BIG - 1}),
    Read("handmade", "RETURN $absent AS absent", [(None,)], {"absent": None}),
    Read("handmade", "RETURN $text AS text", [(TEXT,)], {"text": TEXT}),
    Read("handmade", "RETURN $ids AS ids", [(["a", "b"],)], {"ids": ["a", "b"]}),
    Read("handmade", "MATCH (s:Session) WHERE s.id IN $ids RETURN s.id AS id", [], {"ids": []}),
    Read("handmade", "RETURN true AS yes, false AS no, 1.5 AS half, -3 AS less", [(True, False, 1.5, -3)]),
    Read("handmade", "RETURN \"it's\" AS a", [("it's",)]),
    Read("handmade", "UNWIND [3, 1, 2] AS x RETURN x ORDER BY x DESC", [(3,), (2,), (1,)]),
    Read("handmade", "UNWIND [1, 2, 3] AS x RETURN x ORDER BY x SKIP 1 LIMIT 1", [(2,)]),
    Read("handmade", "UNWIND [1, 2, 3, 4] AS x RETURN x ORDER BY x", [(1,), (2,)], limit=2, truncated=True),
    Read("handmade", "UNWIND [1, 2] AS x RETURN x ORDER BY x", [(1,), (2,)], limit=2),
    Read("handmade", "UNWIND [1, 2] AS x RETURN x ORDER BY x", [], limit=0, truncated=True),
    Read("handmade", "MATCH (c:ToolCall) RETURN c.id AS id ORDER BY c.ordinal DESC", [(call("c2"),), (call("c1"),), (call("c0"),)]),
    Read("handmade", "MATCH (c:ToolCall) WHERE c.command CONTAINS 'curl' RETURN c.id AS id", [(call("c1"),)]),
    Read("handmade", "MATCH (c:ToolCall {id: $id}) RETURN c.status AS status", [("completed",)], {"id": call("c1")}),
    Read("handmade", "MATCH (c:ToolCall {id: $id}) RETURN c.status AS status", [], {"id": "toolcall:s1/none"}),
    Read("handmade", "MATCH (p:Process) WHERE p.began = 'exec' RETURN p.id AS id", [(CP,), (CURL,), (CAT,), (SHELL,)], ordered=False),
    Read("handmade", "MATCH (p:Process) WHERE p.role = 'agent_runtime' RETURN p.id AS id", [(AGENT,)]),
    Read("handmade", "MATCH (p:Process {id: $id}) RETURN p.image AS image, p.command AS command", [(CURL, None)], {"id": CURL2}),
    Read("handmade", "MATCH (a:Artifact)-[:GENERATED_BY]->(c:ToolCall) RETURN c.id AS id, a.class AS class",
         [(call("c0"), "tool_output")]),
    Read("handmade", "MATCH (a:Artifact {id: $id})<-[:USED]-(p:Process) RETURN p.id AS id", [(CP,)], {"id": file("notes.txt")}),
    Read("handmade", "MATCH (p:Process) WITH p.began AS began, count(*) AS n WHERE n > 2 RETURN began, n", [("exec", 4)]),
    Read("handmade", "RETURN CASE WHEN null = null THEN 'equal' ELSE 'unknown' END AS a", [("unknown",)]),
]  # fmt: skip

REFUSED = [
    Refused("MATCH (n:Session RETURN n", ""),
    Refused("RETURN", ""),
    Refused("MATCH (n:Session) RETURN m.id", ""),
    Refused("RETURN $missing AS x", "missing"),
    Refused("RETURN noSuchFunction(1) AS x", ""),
    Refused("MATCH (n:Session) WITH n.id RETURN 1 AS x, n.id AS y", ""),
]
