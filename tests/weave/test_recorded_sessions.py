"""Recorded runs of real agents: each woven from both of its sources, against what is known to have happened."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pytest

from ingest.interface import Head
from ingest.turns import claude_stream, claude_transcript, codex_exec, codex_rollout
from provenance.changes import validate
from provenance.records import Skipped
from provenance.weave.sessions import RuntimeEnd, SessionLog, Subgraph, weave_session
from tests.shared import ROOT, shared, shared_files
from tests.weave.turn_records import dangling, heads, is_acyclic, of_kind, outcomes

RECORDINGS = ROOT / "tests" / "data" / "recordings"
FOLDERS = {path.parent.name: path.parent for path in shared_files("recordings/*/truth.json")} | {
    path.parent.name: path.parent for path in RECORDINGS.glob("*/truth.json")
}
NAMES = sorted(FOLDERS)
FORMATS = (codex_rollout.FORMAT, codex_exec.FORMAT, claude_transcript.FORMAT, claude_stream.FORMAT)
KILLED = RuntimeEnd(time=1, signal="SIGKILL", source="trace:1")


@lru_cache
def logs(name: str) -> dict[str, SessionLog]:
    """The session logs of a recording, from all its turn sources."""
    found: dict[str, SessionLog] = {}
    folder = FOLDERS[name]
    for path in [*sorted(folder.glob("*.jsonl")), *sorted(folder.glob("subagents/*.jsonl"))]:
        data = path.read_bytes()
        head = Head(path.name, data[:65536])
        kind = max(FORMATS, key=lambda form: form.score(head))
        parser = kind.parser(head)
        for record in [*parser.feed(data, 1), *parser.finish()]:
            assert not isinstance(record, Skipped)
            session: str = record.session  # type: ignore[union-attr]
            found.setdefault(session, SessionLog(session)).add(path.stem, kind.name, [record])  # type: ignore[list-item]
    return found


@lru_cache
def graphs(name: str) -> dict[str, Subgraph]:
    end = KILLED if truth(name)["process_outcome"] in ("killed", "terminated") else None
    return {session: weave_session(log, end) for session, log in logs(name).items()}


def main(name: str) -> Subgraph:
    return min(graphs(name).values(), key=lambda graph: len(graph.session))


@lru_cache
def truth(name: str) -> Any:
    return json.loads((FOLDERS[name] / "truth.json").read_text())


def test_recordings_are_there() -> None:
    assert len(NAMES) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_every_recording(name: str) -> None:
    calls: list[str] = []
    for graph in graphs(name).values():
        validate(graph.changes())
        assert is_acyclic(graph.edges)
        assert not dangling(graph)
        assert len(of_kind(graph, "turn")) == 1
        assert {gap["reason"] for gap in of_kind(graph, "gap").values()} <= {"never_captured"}  # type: ignore[misc]
        calls += [str(fields["tool"]) for fields in of_kind(graph, "toolcall").values()]
        assert len(heads(graph, "RECORDED_IN", f"session:{graph.session}")) == 2
    assert sorted(calls) == sorted(truth(name)["counts"]["tool_names"])
    ended = truth(name)["process_outcome"]
    status = main(name).nodes[f"session:{main(name).session}"]["status"]
    assert status == ("completed" if ended == "exited" else "killed")


@pytest.mark.parametrize("name", NAMES)
def test_poorer_sources_add_no_calls(name: str) -> None:
    for session, log in logs(name).items():
        if len(log.sources) < 2:
            continue
        richest = log.ordered()[0]
        alone = SessionLog(session)
        alone.add(richest.key, richest.format, richest.records)
        for kind in ("toolcall", "modelcall", "turn", "plan"):
            assert of_kind(weave_session(alone), kind).keys() == of_kind(graphs(name)[session], kind).keys()


def test_outcome_mismatch() -> None:
    graph = main("codex-outcome-mismatch")
    assert outcomes(graph, "checked", f"turn:{graph.session}/1") == {"test": "fail", "commit": "changed"}
    assert outcomes(graph, "claimed", f"turn:{graph.session}/1") == {"test": "pass", "run": "pass"}
    step = f"toolcall:{graph.session}/call_2"
    assert graph.nodes[step]["status"] == "refused"
    assert graph.nodes[f"turn:{graph.session}/1"]["failing_step"] == step
    assert graph.nodes[f"session:{graph.session}"]["failing_step"] == step
    checked, claimed = f"outcome:{graph.session}/call_3/test", f"outcome:{graph.session}/turn/1/claimed/test"
    assert ("CONTRADICTS", checked, claimed) in graph.edges
    assert graph.nodes[checked]["statement"] == "FAILED (failures=1)"
    assert graph.nodes[f"outcome:{graph.session}/call_1/test"]["verdict"] == "unknown"  # pytest is not installed


def test_killed_mid_turn() -> None:
    graph = main("codex-killed-mid-turn")
    for node in (f"session:{graph.session}", f"turn:{graph.session}/1", f"toolcall:{graph.session}/call_1"):
        assert graph.nodes[node]["status"] == "killed"
        assert outcomes(graph, "checked", node) == {"run": "killed"}
    log = logs("codex-killed-mid-turn")[graph.session]
    assert weave_session(log).nodes[f"session:{graph.session}"]["status"] == "unknown"


def test_clean_fix_claims_what_was_checked() -> None:
    shared("recordings", "claude-clean-fix")
    graph = main("claude-clean-fix")
    turn = f"turn:{graph.session}/1"
    assert outcomes(graph, "checked", turn) == {"test": "pass", "build": "pass", "commit": "changed"}
    assert outcomes(graph, "claimed", turn) == {"test": "pass", "build": "pass", "run": "pass"}
    commit = f"outcome:{graph.session}/toolu_5_0/commit"
    assert truth("claude-clean-fix")["git_log"].startswith(str(graph.nodes[commit]["digest"])[:7])


def test_failed_commands_reported_honestly() -> None:
    shared("recordings", "codex-command-fails")
    graph = main("codex-command-fails")
    for call in ("call_0", "call_1", "call_2"):
        assert outcomes(graph, "checked", f"toolcall:{graph.session}/{call}") == {"command": "fail"}
    assert outcomes(graph, "claimed", f"turn:{graph.session}/1") == {"lint": "unknown", "run": "unchanged"}
    assert not [key for key in graph.edges if key[0] == "CONTRADICTS"]


def test_long_build() -> None:
    shared("recordings", "codex-long-build")
    graph = main("codex-long-build")
    builds = [call for call in of_kind(graph, "toolcall").values() if call.get("check") == "build"]
    assert len(builds) == 9
    turn = f"turn:{graph.session}/1"
    assert outcomes(graph, "checked", turn) == {"build": "pass", "run": "changed"}
    assert outcomes(graph, "claimed", turn) == {"build": "pass"}


@pytest.mark.parametrize("name", ["claude-build-break-source", "claude-build-break-environment"])
def test_build_break(name: str) -> None:
    graph = main(name)
    turn = f"turn:{graph.session}/1"
    assert outcomes(graph, "checked", turn) == outcomes(graph, "claimed", turn) == {"build": "fail"}
    assert graph.nodes[turn]["failing_step"] == f"toolcall:{graph.session}/toolu_5_0"
    assert outcomes(graph, "checked", f"toolcall:{graph.session}/toolu_2_0") == {"build": "pass"}
    attempts = [call["attempt"] for call in of_kind(graph, "toolcall").values() if call.get("check") == "build"]
    assert attempts == [1, 2]


def test_parallel_calls_come_from_one_response() -> None:
    graph = main("claude-parallel-tools")
    formed = {heads(graph, "FORMED_BY", f"toolcall:{graph.session}/toolu_0_{nth}")[0] for nth in range(3)}
    assert len(formed) == 1
    (last,) = [node for node in graph.nodes if node.startswith("modelcall:") and node.endswith("/2")]
    assert len(heads(graph, "INFORMED_BY", last)) == 3


def test_sub_agent() -> None:
    parent, child = sorted(graphs("claude-subagent").values(), key=lambda graph: len(graph.session))
    assert child.session.startswith(parent.session + "/")
    assert heads(parent, "DELEGATED_BY", f"session:{child.session}") == [f"toolcall:{parent.session}/toolu_0_0"]
    assert heads(child, "PART_OF", f"session:{child.session}") == [f"session:{parent.session}"]
    assert (len(of_kind(parent, "toolcall")), len(of_kind(child, "toolcall"))) == (2, 3)
    assert outcomes(child, "checked", f"turn:{child.session}/1") == {"test": "pass"}
    call = f"toolcall:{parent.session}/toolu_0_0"
    known = weave_session(logs("claude-subagent")[child.session], delegated_by=call)
    assert heads(known, "GENERATED_BY", f"artifact:{child.session}/message/1") == [call]


@pytest.mark.parametrize("name", NAMES)
def test_no_failing_step_without_an_incident(name: str) -> None:
    graph = main(name)
    found = graph.nodes[f"session:{graph.session}"].get("failing_step")
    assert (found is not None) == (truth(name)["incident"] in ("build failure", "outcome mismatch", "killed mid-turn"))
