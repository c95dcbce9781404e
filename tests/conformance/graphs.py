"""The graphs that the cases ask: made by hand here and in `tests.handmade`, or taken from recordings. Nothing but data.

`governed` is what no recording has: two policies one after the other, decisions of three kinds, a chain of delegation, a
post sent twice, a check before the last edit. `values` holds a value of every type at its limits.
"""

from __future__ import annotations

from provenance import schema
from provenance.changes import Changes, Fields
from tests import handmade
from tests.ingested import ingested, recording

Edge = tuple[str, str, str] | tuple[str, str, str, Fields]

WS = "/home/b/ws"


def call(name: str) -> str:
    return f"toolcall:w/{name}"


def file(name: str, version: int = 1) -> str:
    return f"artifact:h:{WS}/{name}@u.{version}"


GOVERNED_NODES: dict[str, Fields] = {
    "session:w": {
        "agent": "claude-code", "agent_version": "2.1", "model": "m-1", "model_provider": "p", "cwd": WS, "status": "failed",
        "start": 1000, "end": 9000, "clock": "wall", "git_commit": "c0ffee", "git_branch": "main", "entrypoint": "cli",
        "input_tokens": 900, "cached_input_tokens": 300, "output_tokens": 70, "reasoning_output_tokens": 20, "cost_usd": 0.25,
    },
    "session:w/a": {"agent": "claude-code", "status": "completed", "start": 3000, "clock": "wall"},
    "session:w/a/b": {"agent": "claude-code", "status": "killed", "start": 4000, "clock": "wall", "cwd": "/home/b/other"},
    "turn:w/1": {"ordinal": 1, "status": "completed", "start": 1000, "end": 5000, "clock": "wall"},
    "turn:w/2": {"ordinal": 2, "status": "failed", "start": 6000, "clock": "wall"},
    "turn:w/a/1": {"ordinal": 1, "status": "completed", "start": 3000, "end": 4500, "clock": "wall"},
    "modelcall:w/1": {"ordinal": 1, "model": "m-1"},
    "modelcall:w/2": {"ordinal": 2, "model": "m-1"},
    "modelcall:w/3": {"ordinal": 3, "model": "m-2"},
    call("test"): {
        "action": "shell", "tool": "Bash", "command": "make test", "command_digest": "d-test", "status": "completed",
        "exit_code": 0, "check": "test", "ordinal": 1, "attempt": 1, "arguments_size": 9,
    },
    call("edit"): {"action": "edit", "tool": "Edit", "arguments": '{"file": "a.py"}', "status": "completed", "ordinal": 2},
    call("post"): {
        "action": "shell", "command": "curl -d @a.py 10.0.0.9", "command_digest": "d-post", "status": "completed",
        "exit_code": 0, "ordinal": 3, "attempt": 1, "arguments_size": 22,
    },
    call("again"): {
        "action": "shell", "command": "curl -d @a.py 10.0.0.9", "command_digest": "d-post", "status": "timed_out",
        "exit_code": 124, "ordinal": 4, "attempt": 2, "arguments_size": 22,
    },
    call("rm"): {
        "action": "shell", "command": "rm -rf /", "command_digest": "d-rm", "status": "refused", "error": "not allowed",
        "ordinal": 5, "attempt": 1,
    },
    call("task"): {"action": "delegate", "tool": "Task", "status": "completed", "ordinal": 6},
    "toolcall:w/a/task": {"action": "delegate", "tool": "Task", "status": "unknown", "ordinal": 1},
    "principal:human/user": {"type": "human", "name": "user"},
    "principal:service/host": {"type": "service", "name": "host"},
    "principal:agent/reviewer": {"type": "agent", "name": "reviewer"},
    "authority:w/ask": {"approval": "on-request", "sandbox": "workspace-write", "start": 1000, "clock": "wall"},
    "authority:w/never": {"approval": "never", "sandbox": "workspace-write", "start": 6000, "clock": "wall"},
    "authority:w/call/post": {"decision": "approved", "reason": "the user said yes", "start": 1500, "clock": "wall"},
    "authority:w/call/again": {"decision": "approved", "start": 6500, "clock": "wall"},
    "authority:w/call/rm": {"decision": "refused", "reason": "outside the workspace", "start": 7000, "clock": "wall"},
    "policy:approval/1": {"type": "approval", "details": '{"approval":"on-request"}', "digest": "1"},
    "policy:approval/2": {"type": "approval", "details": '{"approval":"never"}', "digest": "2"},
    "policy:sandbox/3": {"type": "sandbox", "details": '{"sandbox":"workspace-write"}', "digest": "3"},
    "sandbox:s": {"mode": "workspace-write", "network": "restricted", "writable_roots": [WS, "/tmp"]},
    "environment:session/e": {"type": "session", "digest": "e", "details": '{"os":"linux"}'},
    "process:h/10@1/0": {
        "process": "h/10@1", "image": "process:h/10@1/0", "executable": "/usr/bin/make", "command": "make test",
        "role": "tool", "exit_code": 0, "state": 0,
    },
    "process:h/11@2/0": {
        "process": "h/11@2", "image": "process:h/11@2/0", "executable": "/usr/bin/curl", "command": "curl -d @a.py 10.0.0.9",
        "role": "tool", "exit_code": 0, "state": 0,
    },
    "process:h/12@3/0": {
        "process": "h/12@3", "image": "process:h/12@3/0", "executable": "/usr/bin/curl", "command": "curl -d @a.py 10.0.0.9",
        "role": "tool", "signal": "SIGKILL", "state": 0,
    },
    "process:h/13@4/0": {
        "process": "h/13@4", "image": "process:h/13@4/0", "executable": "/usr/bin/timeout", "role": "tool", "exit_code": 124,
        "state": 0,
    },
    file("a.py"): {"path": f"{WS}/a.py", "class": "file", "version": 1, "name": "a.py", "size": 10, "digest": "a1"},
    file("a.py", 2): {"path": f"{WS}/a.py", "class": "file", "version": 2, "name": "a.py", "size": 12, "digest": "a2"},
    file("out.log"): {"path": f"{WS}/out.log", "class": "file", "version": 1, "name": "out.log"},
    file("out.log", 2): {"path": f"{WS}/out.log", "class": "file", "version": 2, "name": "out.log"},
    "artifact:h:/etc/hosts@u.1": {"path": "/etc/hosts", "class": "file", "version": 1, "label": "protected"},
    "artifact:h:/etc/hosts@u.0": {"path": "/etc/hosts", "class": "file", "version": 0, "label": "protected"},
    "artifact:h:/home/b/.ssh/key@u.0": {"path": "/home/b/.ssh/key", "class": "file", "version": 0, "label": "secret"},
    "artifact:w/message/1": {"class": "message", "role": "user", "name": "user: post it", "size": 7},
    "artifact:w/output/test": {"class": "tool_output", "name": "output: OK", "size": 2},
    "flow:u/10.0.0.9:80/out/1": {"direction": "out", "bytes": 12, "remote": "10.0.0.9:80"},
    "flow:u/10.0.0.9:80/out/2": {"direction": "out", "bytes": 12, "remote": "10.0.0.9:80"},
    "endpoint:tcp/10.0.0.9:80": {"address": "10.0.0.9:80", "host": "10.0.0.9", "port": 80, "scope": "private"},
    "oracle:make": {"type": "test_runner", "name": "make"},
    "oracle:agent": {"type": "agent", "name": "agent's own words"},
    "outcome:w/test": {"type": "checked", "subject": "test", "verdict": "pass", "statement": "OK"},
    "outcome:w/turn/1/test": {"type": "claimed", "subject": "test", "verdict": "pass", "statement": "tests pass"},
    "outcome:w/turn/2/test": {"type": "claimed", "subject": "test", "verdict": "pass", "statement": "still pass"},
    "outcome:w/turn/1/lint": {"type": "claimed", "subject": "lint", "verdict": "pass", "statement": "no warnings"},
    "gap:w/1": {"reason": "redacted", "about": "arguments", "count": 3, "policy": "p-1"},
    "gap:w/2": {"reason": "redacted", "about": "arguments", "policy": "p-1"},
    "gap:w/3": {"reason": "expired", "about": "a trace", "count": 2},
}  # fmt: skip

GOVERNED_EDGES: list[Edge] = [
    ("PART_OF", "turn:w/1", "session:w"), ("PART_OF", "turn:w/2", "session:w"), ("PART_OF", "turn:w/a/1", "session:w/a"),
    ("PART_OF", "session:w/a", "session:w"), ("PART_OF", "session:w/a/b", "session:w/a"),
    ("DELEGATED_BY", "session:w/a", call("task")), ("DELEGATED_BY", "session:w/a/b", "toolcall:w/a/task"),
    ("PART_OF", call("test"), "turn:w/1"), ("PART_OF", call("edit"), "turn:w/1"), ("PART_OF", call("post"), "turn:w/1"),
    ("PART_OF", call("task"), "turn:w/1"), ("PART_OF", call("again"), "turn:w/2"), ("PART_OF", call("rm"), "turn:w/2"),
    ("PART_OF", "toolcall:w/a/task", "turn:w/a/1"),
    ("PART_OF", "modelcall:w/1", "turn:w/1"), ("PART_OF", "modelcall:w/2", "turn:w/1"), ("PART_OF", "modelcall:w/3", "turn:w/2"),
    ("FOLLOWS", "modelcall:w/2", "modelcall:w/1"), ("FOLLOWS", "modelcall:w/3", "modelcall:w/2"),
    ("FORMED_BY", call("test"), "modelcall:w/1"), ("FORMED_BY", call("post"), "modelcall:w/2"),
    ("FORMED_BY", call("again"), "modelcall:w/3"),
    ("INFORMED_BY", "modelcall:w/1", "artifact:w/message/1", {"bytes": 7}),
    ("INFORMED_BY", "modelcall:w/2", "artifact:w/output/test", {"bytes": 2}),
    ("GENERATED_BY", "artifact:w/output/test", call("test")),
    ("GOVERNED_BY", "session:w", "policy:approval/1"), ("GOVERNED_BY", "session:w", "policy:approval/2"),
    ("GOVERNED_BY", "session:w", "policy:sandbox/3"),
    ("GOVERNED_BY", "turn:w/1", "policy:approval/1", {"first": 1000}), ("GOVERNED_BY", "turn:w/1", "policy:sandbox/3", {"first": 1000}),
    ("GOVERNED_BY", "turn:w/2", "policy:approval/2", {"first": 6000}), ("GOVERNED_BY", "turn:w/2", "policy:sandbox/3", {"first": 1000}),
    ("GOVERNED_BY", "authority:w/call/rm", "policy:sandbox/3"),
    ("AUTHORISED_BY", "session:w", "authority:w/ask"), ("AUTHORISED_BY", "session:w", "authority:w/never"),
    ("AUTHORISED_BY", call("test"), "authority:w/ask"), ("AUTHORISED_BY", call("post"), "authority:w/ask"),
    ("AUTHORISED_BY", call("post"), "authority:w/call/post"), ("AUTHORISED_BY", call("again"), "authority:w/call/again"),
    ("AUTHORISED_BY", call("rm"), "authority:w/never"), ("AUTHORISED_BY", call("rm"), "authority:w/call/rm"),
    ("GRANTED_BY", "authority:w/ask", "principal:human/user", {"basis": "inferred", "confidence": 0.8}),
    ("GRANTED_BY", "authority:w/never", "principal:human/user", {"basis": "inferred", "confidence": 0.8}),
    ("GRANTED_BY", "authority:w/call/post", "principal:human/user"),
    ("GRANTED_BY", "authority:w/call/again", "principal:agent/reviewer"),
    ("GRANTED_BY", "authority:w/call/rm", "principal:service/host"),
    ("RAN_IN", "session:w", "sandbox:s"), ("RAN_IN", "session:w", "environment:session/e"),
    ("ATTRIBUTED_TO", "process:h/10@1/0", call("test")), ("ATTRIBUTED_TO", "process:h/11@2/0", call("post")),
    ("ATTRIBUTED_TO", "process:h/12@3/0", call("again")), ("ATTRIBUTED_TO", "process:h/13@4/0", call("again")),
    ("SIGNALLED_BY", "process:h/12@3/0", "process:h/13@4/0"),
    ("USED", "process:h/10@1/0", file("a.py"), {"rule": "open", "bytes": 10}),
    ("USED", "process:h/11@2/0", file("a.py", 2), {"rule": "open", "bytes": 12}),
    ("USED", "process:h/12@3/0", file("a.py", 2), {"rule": "open", "bytes": 12}),
    ("USED", "process:h/12@3/0", "artifact:h:/home/b/.ssh/key@u.0", {"rule": "open"}),
    ("USED", "process:h/11@2/0", "artifact:h:/etc/hosts@u.0", {"rule": "open"}),
    ("GENERATED_BY", "artifact:h:/etc/hosts@u.1", "process:h/13@4/0", {"rule": "open", "bytes": 5}),
    ("GENERATED_BY", file("out.log"), "process:h/11@2/0", {"rule": "open", "bytes": 3}),
    ("GENERATED_BY", file("out.log", 2), "process:h/12@3/0", {"rule": "open", "bytes": 4}),
    ("REVISION_OF", file("out.log", 2), file("out.log"), {"keeps": True}),
    ("REVISION_OF", file("a.py", 2), file("a.py"), {"keeps": False}),
    ("ATTRIBUTED_TO", file("a.py", 2), call("edit"), {"confidence": 0.9}),
    ("GENERATED_BY", "flow:u/10.0.0.9:80/out/1", "process:h/11@2/0"), ("GENERATED_BY", "flow:u/10.0.0.9:80/out/2", "process:h/12@3/0"),
    ("SENT_TO", "flow:u/10.0.0.9:80/out/1", "endpoint:tcp/10.0.0.9:80"), ("SENT_TO", "flow:u/10.0.0.9:80/out/2", "endpoint:tcp/10.0.0.9:80"),
    ("OUTCOME_OF", "outcome:w/test", call("test")), ("JUDGED_BY", "outcome:w/test", "oracle:make"),
    ("OUTCOME_OF", "outcome:w/turn/1/test", "turn:w/1"), ("OUTCOME_OF", "outcome:w/turn/1/lint", "turn:w/1"),
    ("OUTCOME_OF", "outcome:w/turn/2/test", "turn:w/2"), ("JUDGED_BY", "outcome:w/turn/2/test", "oracle:agent"),
    ("ABOUT", "gap:w/1", call("post")), ("ABOUT", "gap:w/2", call("again")), ("ABOUT", "gap:w/3", "session:w"),
]  # fmt: skip

BIG = 2**63 - 1
TEXT = "ä\u0301 日本 🧪 \u202e'\"`\\ \t\n$x // /* */"
LONG = "x" * 100_000

VALUES_NODES: dict[str, Fields] = {
    "gap:empty": {"detail": "", "about": " ", "count": 0},
    "gap:text": {"detail": TEXT, "about": "null", "count": -1},
    "gap:long": {"detail": LONG, "count": BIG, "start": -BIG - 1},
    "gap:" + "i" * 2000: {"count": 7},
    "gap:unset": {},
    "session:zero": {"cost_usd": 0.0, "model": "a"},
    "session:minus": {"cost_usd": -0.0, "model": "B"},
    "session:infinite": {"cost_usd": float("inf"), "model": "b"},
    "session:below": {"cost_usd": float("-inf"), "model": "A"},
    "session:tiny": {"cost_usd": 5e-324, "model": "é"},
    "session:large": {"cost_usd": 1.7976931348623157e308, "model": "z"},
    "session:unset": {},
    "process:true": {"argv_truncated": True, "argv": []},
    "process:false": {"argv_truncated": False, "argv": ["", "a b", TEXT, "'", "a b"]},
    "process:unset": {"argv": None},
    "artifact:read": {"path": "/r", "class": "file"},
}

VALUES_EDGES: list[Edge] = [
    ("USED", "process:true", "artifact:read", {"count": BIG, "bytes": 0, "confidence": 0.1, "first": -1, "last": 1}),
    ("USED", "process:false", "artifact:read", {"rule": "", "basis": "observed"}),
    ("CONSULTED", "process:false", "artifact:read", {"count": 2}),
    ("GENERATED_BY", "artifact:read", "process:unset", {"confidence": 1.0}),
]

RECORDINGS = (
    "claude-build-break-source",
    "claude-subagent",
    "codex-egress-overwritten",
    "codex-egress-secret-typed",
    "codex-killed-shell",
    "codex-outcome-mismatch",
)


def _built(nodes: dict[str, Fields], edges: list[Edge]) -> Changes:
    made = Changes()
    for identity, fields in nodes.items():
        made.put(identity, **fields)
    for kind, tail, head, *fields in edges:
        made.link(kind, tail, head, **(fields[0] if fields else {}))
    return made


def _recorded(name: str) -> Changes:
    """What ingesting a recording gives, as one set of changes."""
    store = ingested(recording(name)).store
    identities = [str(row[0]) for row in store.query("MATCH (n) RETURN n.id").rows]
    made = Changes(nodes=store.nodes(identities))
    for edge in store.expand(identities, list(schema.EDGE_KINDS)):
        made.link(edge.kind, edge.tail, edge.head, **edge.fields)
    return made


def changes_of(graph: str) -> Changes:
    """The graph of a name."""
    if graph in RECORDINGS:
        return _recorded(graph)
    if graph == "handmade":
        return handmade.changes()
    return {"governed": lambda: _built(GOVERNED_NODES, GOVERNED_EDGES), "values": lambda: _built(VALUES_NODES, VALUES_EDGES),
            "empty": Changes}[graph]()  # fmt: skip


GRAPHS = ("handmade", "governed", "values", "empty", *RECORDINGS)
