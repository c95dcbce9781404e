"""Real runs, ingested whole, against counts that were made independently of this project's code (`truth.json`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.ingested import Ingested, ingested, recording, recordings

WORKSPACE = "/home/agent/ws/"


@pytest.fixture(params=recordings(), ids=lambda path: path.name)
def run(request: pytest.FixtureRequest) -> Ingested:
    return ingested(request.param)


def trace_text(folder: Path) -> str:
    packed = folder / "syscalls.strace.zst"
    if packed.exists():
        with packed.open("rb") as file:
            return zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8", "surrogateescape")
    return (folder / "syscalls.strace").read_text("utf-8", "surrogateescape")


def inside(path: str) -> bool:
    return path.startswith(WORKSPACE) and not path.startswith(f"{WORKSPACE}.git/")


def test_tool_calls(run: Ingested) -> None:
    assert run.value("MATCH (c:ToolCall) RETURN count(*) AS n") == run.truth["counts"]["tool_calls"]


def test_tool_names(run: Ingested) -> None:
    names = sorted(row[0] for row in run.rows("MATCH (c:ToolCall) RETURN c.tool AS tool"))
    assert names == sorted(run.truth["counts"]["tool_names"])


def test_one_session_of_two_sources(run: Ingested) -> None:
    """A rollout and a stream, or a transcript and a stream, are one session."""
    roots = [row[0] for row in run.rows("MATCH (s:Session) RETURN s.id AS id") if row[0].count("/") == 0]
    assert len(roots) == 1
    sources = run.value(
        "MATCH (s:Session)-[:RECORDED_IN]->(f:Source) WHERE s.id = $id RETURN count(*) AS n", id=roots[0]
    )
    assert sources >= 2


def test_successful_execs(run: Ingested) -> None:
    count = run.value("MATCH (p:Process) WHERE p.began = 'exec' RETURN count(*) AS n")
    assert count == run.truth["counts"]["successful_execs"]


def test_files_opened_for_writing(run: Ingested) -> None:
    written = run.rows(
        "MATCH (a:Artifact)-[:GENERATED_BY]->(p:Process) WHERE a.class = 'file' RETURN DISTINCT a.path AS path"
    )
    opened = run.rows(
        "MATCH (p:Process)-[e:CONSULTED]->(a:Artifact) WHERE e.rule = 'open_write' RETURN DISTINCT a.path AS path"
    )
    made = run.rows(
        "MATCH (a:Artifact)-[e:NAMED_BY]->(p:Process) WHERE e.rule IN ['create', 'open_truncate'] RETURN DISTINCT a.path AS path"
    )
    paths = {path.removeprefix(WORKSPACE) for (path,) in written + opened + made if inside(path)}
    assert sorted(paths) == sorted(run.truth["counts"]["workspace_files_opened_for_writing"])


def test_renames(run: Ingested) -> None:
    """The truth lists renames by absolute names; those by relative names are counted in the text."""
    rows = run.rows("MATCH (a:Artifact)-[e:RENAMED_FROM]->(b:Artifact) WHERE e.rule = 'rename' RETURN a.path AS target")
    counts = run.truth["counts"]
    relative = counts.get("renames_by_relative_names")
    if relative is None:
        calls = re.findall(
            r'\brename(?:at2?)?\((?:AT_FDCWD<[^>]*>, )?"([^/"][^"]*)".* = 0$', trace_text(run.path), re.MULTILINE
        )
        relative = [name for name in calls if not name.startswith(".git/")]
    assert len([path for (path,) in rows if inside(path)]) == len(counts["renames_in_workspace"]) + len(relative)


def test_copies_inside_the_kernel(run: Ingested) -> None:
    rows = run.rows(
        "MATCH (a:Artifact)-[e:DERIVED_FROM]->(b:Artifact) WHERE e.basis = 'observed' "
        "RETURN e.rule AS call, b.path AS source, a.path AS target, e.bytes AS bytes"
    )
    copies = sorted(list(row) for row in rows if inside(row[2]))
    assert copies == sorted(run.truth["counts"]["in_kernel_copies_in_workspace"])


def test_destinations_and_bytes(run: Ingested) -> None:
    rows = run.rows("MATCH (f:Flow)-[:SENT_TO]->(e:Endpoint) RETURN e.address AS address, sum(f.bytes) AS bytes")
    counts = run.truth["counts"]
    sent = {address: size for address, size in rows if address in counts["tcp_bytes_sent_to"]}
    assert sent == counts["tcp_bytes_sent_to"]
    assert {address for address, _ in rows} == {*counts["tcp_connects_to"], *counts["tcp_bytes_sent_to"]}


def test_every_shell_call_has_its_processes(run: Ingested) -> None:
    """Attributed to a process whose arguments hold the command; nothing else is."""
    calls = run.rows(
        "MATCH (c:ToolCall) WHERE c.action = 'shell' AND c.status <> 'refused' RETURN c.id AS id, c.command AS command"
    )
    for identity, command in calls:
        roots = run.rows(
            "MATCH (p:Process)-[e:ATTRIBUTED_TO]->(c:ToolCall) WHERE c.id = $id AND p.began = 'exec' RETURN p.argv AS argv, e.rule AS rule",
            id=identity,
        )
        assert roots, f"{identity} has no process"
        assert any(_holds(argv, command) for argv, rule in roots if not rule.endswith("descendant")), identity
    assert run.summary.unmatched == 0


def _holds(argv: list[str], command: str) -> bool:
    plain = "".join(argv).replace("'\"'\"'", "'")
    return command in plain or command.replace("'", "'\\''") in plain


def test_no_call_shares_processes_unless_ambiguous(run: Ingested) -> None:
    rows = run.rows(
        "MATCH (p:Process)-[e:ATTRIBUTED_TO]->(c:ToolCall) RETURN p.id AS process, c.id AS call, e.confidence AS confidence"
    )
    owners: dict[str, list[float]] = {}
    for process, _, confidence in rows:
        owners.setdefault(process, []).append(confidence)
    for confidences in owners.values():
        assert len(confidences) == 1 or all(confidence < 0.6 for confidence in confidences)


def test_all_of_the_agents_processes_belong_to_something(run: Ingested) -> None:
    loose = run.value(
        "MATCH (p:Process) WHERE NOT EXISTS { MATCH (p)-[:ATTRIBUTED_TO]->(c:ToolCall) } "
        "AND NOT EXISTS { MATCH (p)-[:ATTRIBUTED_TO]->(s:Session) } AND p.role IS NOT NULL RETURN count(*) AS n"
    )
    assert loose == 0


def _by_name(name: str) -> Ingested:
    return ingested(recording(name))


def test_killed_turn() -> None:
    run = _by_name("codex-killed-mid-turn")
    assert run.rows("MATCH (t:Turn) RETURN t.status AS status") == [("killed",)]
    assert run.rows("MATCH (s:Session) RETURN s.status AS status") == [("killed",)]
    statuses = dict(run.rows("MATCH (c:ToolCall) RETURN c.call AS call, c.status AS status"))
    assert statuses == {"call_0": "completed", "call_1": "killed"}


def test_terminated_turn_names_the_signal() -> None:
    run = _by_name("codex-killed-shell")
    assert run.rows("MATCH (t:Turn) RETURN t.status AS status, t.reason AS reason") == [("killed", "SIGTERM")]


def test_outcome_mismatch() -> None:
    run = _by_name("codex-outcome-mismatch")
    rows = run.rows(
        "MATCH (a:Outcome)-[:CONTRADICTS]->(b:Outcome) "
        "RETURN a.type AS t, a.subject AS s, a.verdict AS v, b.type AS t2, b.subject AS s2, b.verdict AS v2"
    )
    assert rows == [("checked", "test", "fail", "claimed", "test", "pass")]
    failing = run.value("MATCH (t:Turn) RETURN t.failing_step AS step")
    assert run.rows("MATCH (c:ToolCall) WHERE c.id = $id RETURN c.tool AS tool, c.status AS status", id=failing) == [
        ("apply_patch", "refused")
    ]


def test_sub_agents_work_is_the_sub_agents() -> None:
    run = _by_name("claude-subagent")
    child = next(row[0] for row in run.rows("MATCH (s:Session) RETURN s.id AS id") if row[0].count("/") == 1)
    prefix = f"toolcall:{child.removeprefix('session:')}/"
    tests = run.rows(
        "MATCH (p:Process)-[:ATTRIBUTED_TO]->(c:ToolCall) WHERE p.command CONTAINS 'unittest' RETURN DISTINCT c.id AS id"
    )
    assert tests and all(identity.startswith(prefix) for (identity,) in tests)
    edits = run.rows(
        "MATCH (a:Artifact)-[:ATTRIBUTED_TO]->(c:ToolCall) WHERE a.path ENDS WITH 'src/app.py' RETURN c.id AS id, a.version AS v"
    )
    assert [(identity.startswith(prefix), version) for identity, version in edits] == [(True, 1)]
    delegated = run.rows("MATCH (s:Session)-[:DELEGATED_BY]->(c:ToolCall) RETURN s.id AS id, c.tool AS tool")
    assert delegated == [(child, "Agent")]


def test_parallel_calls_are_told_apart() -> None:
    run = _by_name("claude-parallel-tools")
    rows: list[tuple[Any, ...]] = run.rows(
        "MATCH (p:Process)-[e:ATTRIBUTED_TO]->(c:ToolCall) WHERE p.name = 'cat' AND p.began = 'exec' "
        "RETURN c.command AS command, p.argv AS argv, e.confidence AS confidence"
    )
    found = {(command.split(";")[0], " ".join(argv)) for command, argv, confidence in rows if confidence > 0.9}
    assert found == {("cat README.md", "cat README.md"), ("cat config.yaml", "cat config.yaml")}


def test_identical_parallel_calls_keep_both_candidates() -> None:
    run = _by_name("claude-identical-parallel")
    rows = run.rows("MATCH (p:Process)-[e:ATTRIBUTED_TO]->(c:ToolCall) RETURN p.id AS p, c.id AS c, e.confidence AS k")
    assert rows and all(confidence < 1 for _, _, confidence in rows)
    assert {len({call for process, call, _ in rows if process == one}) for one, _, _ in rows} == {2}
    assert run.value("MATCH (g:Gap) WHERE g.reason = 'ambiguous' RETURN count(*) AS n") == 2
