"""Cases of the catalogue's folder `population`: query, graph, rows. Nothing but data."""

from __future__ import annotations

from tests.conformance.forms import Asked

CASES = [
    Asked(
        "population/delegation",
        "handmade",
        [
            ("session:s1/sub", "codex", "failed", 0, "toolcall:s1/c2", "session:s1"),
        ],
    ),
    Asked(
        "population/delegation",
        "governed",
        [
            ("session:w/a", "claude-code", "completed", 1, "toolcall:w/task", "session:w"),
            ("session:w/a/b", "claude-code", "killed", 0, "toolcall:w/a/task", "session:w/a"),
        ],
    ),
    Asked(
        "population/delegation",
        "claude-subagent",
        [
            ("session:S/a16f375b632ae9291", "claude-code", "completed", 3, "toolcall:S/toolu_0_0", "session:S"),
        ],
    ),
    Asked(
        "population/environments",
        "governed",
        [
            (
                "session:w",
                "claude-code",
                "2.1",
                "m-1",
                "p",
                "cli",
                "c0ffee",
                "main",
                "/home/b/ws",
                "workspace-write",
                "restricted",
                ["/home/b/ws", "/tmp"],
                "e",
                '{"os":"linux"}',
            ),
            ("session:w/a", "claude-code", None, None, None, None, None, None, None, None, None, None, None, None),
            (
                "session:w/a/b",
                "claude-code",
                None,
                None,
                None,
                None,
                None,
                None,
                "/home/b/other",
                None,
                None,
                None,
                None,
                None,
            ),
        ],
    ),
    Asked(
        "population/environments",
        "codex-outcome-mismatch",
        [
            (
                "codex",
                "0.171.0",
                "gpt-5.1-codex",
                "mock",
                "exec",
                "master",
                "/home/agent/ws",
                "danger-full-access",
                None,
            ),
        ],
        columns="agent version model provider entrypoint git_branch cwd sandbox network",
    ),
    Asked(
        "population/gap-causes",
        "governed",
        [
            ("expired", "a trace", 1, 2, 1, []),
            ("redacted", "arguments", 2, 4, 2, ["p-1"]),
        ],
    ),
    Asked(
        "population/gap-causes",
        "codex-killed-shell",
        [
            ("never_captured", "memory-mapped write of the agent's own files", 1, 6, 1),
            ("never_captured", "the answer to the call", 1, 1, 1),
            ("unattributed", "processes that the agent started by itself", 1, 70, 1),
        ],
        columns="reason about gaps times subjects",
    ),
    Asked(
        "population/policies",
        "governed",
        [
            ("policy:approval/1", "approval", '{"approval":"on-request"}', 1, 1, 4, 1, 0),
            ("policy:approval/2", "approval", '{"approval":"never"}', 1, 1, 2, 1, 1),
            ("policy:sandbox/3", "sandbox", '{"sandbox":"workspace-write"}', 1, 2, 6, 2, 1),
        ],
    ),
    Asked(
        "population/policies",
        "codex-outcome-mismatch",
        [
            ("policy:approval/a3f86f7f", 1, 1, 4, 0, 1),
            ("policy:permission/27823e2c", 1, 1, 4, 0, 1),
            ("policy:sandbox/19402016", 1, 1, 4, 0, 1),
            ("policy:settings/d1af0f79", 1, 1, 4, 0, 1),
        ],
        columns="policy sessions turns calls approved refused",
    ),
    Asked(
        "population/sessions",
        "handmade",
        [
            ("session:s1", "codex", None, None, "completed", "/home/a/ws", 1, 90, "wall", 1, 3, 0, 1, 1),
            ("session:s1/sub", "codex", None, None, "failed", "/home/a/ws", 5, None, None, 0, 0, 0, 0, 0),
        ],
    ),
    Asked(
        "population/sessions",
        "codex-outcome-mismatch",
        [
            ("codex", "0.171.0", "completed", 1, 4, 1, 1, 1),
        ],
        columns="agent version status turns calls troubled contradicted covered",
    ),
    Asked(
        "population/usage",
        "governed",
        [
            ("session:w", "claude-code", "m-1", 2, 3, 6, 900, 300, 70, 20, 0.25, 53, 9),
            ("session:w/a", "claude-code", None, 1, 0, 1, None, None, None, None, None, 0, 0),
            ("session:w/a/b", "claude-code", None, 0, 0, 0, None, None, None, None, None, 0, 0),
        ],
    ),
    Asked(
        "population/usage",
        "handmade",
        [
            ("session:s1", 1, 3, 3, 522, 70),
            ("session:s1/sub", 0, 0, 0, 0, 0),
        ],
        columns="session turns model_calls tool_calls argument_bytes context_bytes",
    ),
    Asked(
        "population/usage",
        "claude-subagent",
        [
            ("session:S", 3, 2, 6110, 180, 0.03380999999999999),
            ("session:S/a16f375b632ae9291", 4, 3, 8100, 240, None),
        ],
        columns="session model_calls tool_calls input_tokens output_tokens cost_usd",
    ),
]
