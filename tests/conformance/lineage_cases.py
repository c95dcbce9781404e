"""Cases of the catalogue's folder `lineage`: query, graph, rows. Nothing but data."""

from __future__ import annotations

from tests.conformance.forms import Asked

CASES = [
    Asked(
        "lineage/artifact-sources",
        "handmade",
        [
            (
                "DERIVED_FROM",
                "artifact:h:/home/a/ws/notes.txt@t.1",
                "notes.txt",
                "copy_file_range",
                37,
                "observed",
                None,
            ),
            ("GENERATED_BY", "process:h/3@1/1", None, "create", 37, None, None),
            ("REVISION_OF", "artifact:h:/home/a/ws/upload.txt@t.0", "upload.txt", None, None, None, None),
        ],
        given={"artifact": "artifact:h:/home/a/ws/upload.txt@t.1"},
    ),
    Asked(
        "lineage/artifact-sources",
        "handmade",
        [
            ("REVISION_OF", "artifact:h:/home/a/ws/run.log@t.2", None),
        ],
        given={"artifact": "artifact:h:/home/a/ws/run.log@t.3"},
        columns="how source confidence",
    ),
    Asked(
        "lineage/artifact-sources",
        "handmade",
        [],
        given={"artifact": "artifact:none"},
    ),
    Asked(
        "lineage/artifact-sources",
        "claude-build-break-source",
        [
            (
                "RENAMED_FROM",
                "artifact:local:/home/agent/ws/src/app.py.tmp.18359.bb2edb08691f@t.1",
                "rename",
                "observed",
            ),
            ("REVISION_OF", "artifact:local:/home/agent/ws/src/app.py@t.1", "rename", "observed"),
        ],
        given={"artifact": "artifact:local:/home/agent/ws/src/app.py@8b3008cb.2"},
        columns="how source rule basis",
    ),
    Asked(
        "lineage/call-context",
        "governed",
        [
            (1, "tool_output", None, "toolcall:w/test", 2, "output: OK", "artifact:w/output/test"),
            (2, "message", "user", None, 7, "user: post it", "artifact:w/message/1"),
        ],
        given={"call": "toolcall:w/again"},
    ),
    Asked(
        "lineage/call-context",
        "handmade",
        [
            (1, "tool_output", None, "toolcall:s1/c0", 40, "artifact:s1/output/c0"),
            (2, "message", "user", None, 30, "artifact:s1/message/1"),
        ],
        given={"call": "toolcall:s1/c2"},
        columns="responses class role from_call bytes artifact",
    ),
    Asked(
        "lineage/call-context",
        "codex-egress-secret-typed",
        [
            (0, "tool_output", None, "toolcall:S/call_1"),
            (1, "tool_output", None, "toolcall:S/call_0"),
            (2, "message", "harness", None),
            (2, "message", "harness", None),
            (2, "message", "user", None),
        ],
        given={"call": "toolcall:01a22fae-3835-7ff1-98c4-4303746b833d/call_2"},
        columns="responses class role from_call",
    ),
    Asked(
        "lineage/call-touched",
        "handmade",
        [
            ("read", "/home/a/ws/notes.txt", "file", 37, "/bin/cp"),
            ("read", "/home/a/ws/script.sh", "file", 9, "/bin/bash"),
            ("read", "/home/a/ws/upload.txt", "file", 37, "/usr/bin/curl"),
            ("read", None, "toolchain", None, "/bin/cp"),
            ("read", None, "toolchain", None, "/usr/bin/curl"),
            ("received", "10.0.0.9:80", "tcp", 5, None),
            ("sent", "10.0.0.9:80", "tcp", 192, "/usr/bin/curl"),
            ("wrote", "/home/a/ws/upload.txt", "file", 37, "/bin/cp"),
        ],
        given={"call": "toolcall:s1/c1"},
        columns="did what class bytes command",
    ),
    Asked(
        "lineage/call-touched",
        "handmade",
        [
            ("read", "/home/a/ws/src/app.py", 1, "file", None, 60, None, "artifact:h:/home/a/ws/src/app.py@t.1"),
            ("wrote", "/home/a/ws/src/app.py", 2, "file", None, None, None, "artifact:h:/home/a/ws/src/app.py@t.2"),
        ],
        given={"call": "toolcall:s1/c2"},
    ),
    Asked(
        "lineage/call-touched",
        "governed",
        [
            ("read", "/home/b/.ssh/key", "secret", None, "artifact:h:/home/b/.ssh/key@u.0"),
            ("read", "/home/b/ws/a.py", None, 12, "artifact:h:/home/b/ws/a.py@u.2"),
            ("sent", "10.0.0.9:80", "private", 12, "flow:u/10.0.0.9:80/out/2"),
            ("wrote", "/etc/hosts", "protected", 5, "artifact:h:/etc/hosts@u.1"),
            ("wrote", "/home/b/ws/out.log", None, 4, "artifact:h:/home/b/ws/out.log@u.2"),
        ],
        given={"call": "toolcall:w/again"},
        columns="did what label bytes target",
    ),
    Asked(
        "lineage/file-history",
        "handmade",
        [
            (1, "file", None, None, None, None, "artifact:h:/home/a/ws/src/app.py@t.1"),
            (2, "file", None, None, None, "toolcall:s1/c2", "artifact:h:/home/a/ws/src/app.py@t.2"),
        ],
        given={"path": "/home/a/ws/src/app.py"},
    ),
    Asked(
        "lineage/file-history",
        "claude-build-break-source",
        [
            (0, "file", None, None, "artifact:local:/home/agent/ws/src/app.py@t.0"),
            (1, "file", "NAMED_BY", "toolcall:S/toolu_1_0", "artifact:local:/home/agent/ws/src/app.py@t.1"),
            (2, "file", "NAMED_BY", "toolcall:S/toolu_4_0", "artifact:local:/home/agent/ws/src/app.py@t.2"),
        ],
        given={"path": "/home/agent/ws/src/app.py"},
        columns="version class how call artifact",
    ),
    Asked(
        "lineage/file-history",
        "codex-egress-overwritten",
        [
            (0, "absent", None, None, None, None),
            (1, "file", "GENERATED_BY", "write", "cp .env upload.txt", "toolcall:S/call_0"),
            (1, "file", "NAMED_BY", "create", "cp .env upload.txt", "toolcall:S/call_0"),
            (2, "file", "GENERATED_BY", "write", "cat README.md", "toolcall:S/call_1"),
            (2, "file", "NAMED_BY", "open_truncate", None, "toolcall:S/call_1"),
        ],
        given={"path": "/home/agent/ws/upload.txt"},
        columns="version class how rule command call",
    ),
    Asked(
        "lineage/versions-between",
        "governed",
        [
            (1, "toolcall:w/edit", "/home/b/ws/a.py", 2, "file", 12, "a2"),
            (1, "toolcall:w/post", "/home/b/ws/out.log", 1, "file", None, None),
            (2, "toolcall:w/again", "/etc/hosts", 1, "file", None, None),
            (2, "toolcall:w/again", "/home/b/ws/out.log", 2, "file", None, None),
        ],
        given={"session": "session:w"},
        columns="turn call path version class size digest",
    ),
    Asked(
        "lineage/versions-between",
        "governed",
        [
            (1, "/home/b/ws/a.py", 2),
            (1, "/home/b/ws/out.log", 1),
        ],
        given={"session": "session:w", "to": 1},
        columns="turn path version",
    ),
    Asked(
        "lineage/versions-between",
        "governed",
        [
            (2, "/etc/hosts", 1),
            (2, "/home/b/ws/out.log", 2),
        ],
        given={"session": "session:w", "from": 2, "to": 2},
        columns="turn path version",
    ),
    Asked(
        "lineage/versions-between",
        "governed",
        [
            (1, "/home/b/ws/a.py", 2),
        ],
        given={"session": "session:w", "path": "/home/b/ws/a.py"},
        columns="turn path version",
    ),
    Asked(
        "lineage/versions-between",
        "governed",
        [
            (2, "/etc/hosts", 1),
        ],
        given={"session": "session:w", "path": "/etc/"},
        columns="turn path version",
    ),
    Asked(
        "lineage/versions-between",
        "governed",
        [],
        given={"session": "session:w", "path": "/etc"},
        columns="turn path version",
    ),
    Asked(
        "lineage/versions-between",
        "claude-build-break-source",
        [
            (1, "toolcall:S/toolu_1_0", "/home/agent/ws/src/app.py", 1),
            (1, "toolcall:S/toolu_4_0", "/home/agent/ws/src/app.py", 2),
        ],
        given={"session": "session:d123aadf-6d8e-4ce1-ba7c-62de866d08dd", "path": "/home/agent/ws/src/app.py"},
        columns="turn call path version",
    ),
]
