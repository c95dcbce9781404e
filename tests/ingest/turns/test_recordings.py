"""The recordings of real agents: what the formats read against what is known to have happened."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from reading import only, read

from ingest.interface import Head, Record
from ingest.registry import detect
from provenance.records import (
    MessageSaid,
    ModelResponded,
    PolicyStated,
    SessionDescribed,
    SessionEnded,
    Skipped,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)
from tests.shared import ROOT, shared, shared_files

OWN = sorted(path.parent for path in (ROOT / "tests" / "data" / "recordings").glob("*/truth.json"))
RECORDINGS = {path.name: path for path in [*(path.parent for path in shared_files("recordings/*/truth.json")), *OWN]}


def test_recordings_outside_the_project() -> None:
    assert list(shared("recordings").glob("*/truth.json"))


@cache
def records_of(path: Path) -> list[Record | Skipped]:
    data = path.read_bytes()
    return read(detect(Head(path.name, data[:65536])), data, path.name)


def truth(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "truth.json").read_text())["counts"]


def sources(folder: Path) -> list[Path]:
    """The session files of a recording (not the stream)."""
    return [path for path in folder.rglob("*.jsonl") if path.name != "stream.jsonl"]


@pytest.mark.parametrize("name", RECORDINGS)
def test_formats_are_recognised(name: str) -> None:
    folder = RECORDINGS[name]
    for path in folder.rglob("*.jsonl"):
        data = path.read_bytes()
        found = detect(Head("stdin", data[:65536])).name
        agent = "codex" if name.startswith("codex") else "claude"
        expected = {"codex": ("codex-exec", "codex-rollout"), "claude": ("claude-stream", "claude-transcript")}[agent]
        assert found == expected[0 if path.name == "stream.jsonl" else 1]


@pytest.mark.parametrize("name", RECORDINGS)
def test_sessions_hold_the_calls_that_were_made(name: str) -> None:
    folder, counts = RECORDINGS[name], truth(RECORDINGS[name])
    records = [record for path in sources(folder) for record in records_of(path)]
    calls, results = only(records, ToolCalled), only(records, ToolReturned)
    assert Counter(call.name for call in calls) == Counter(counts["tool_names"])
    assert len(calls) == counts["tool_calls"]
    assert sum(result.status == "failed" for result in results) == counts["tool_results_marked_error"]
    assert {result.call for result in results} <= {call.call for call in calls}
    assert not only(records, Skipped)
    for call in calls:
        assert call.turn is not None
        assert call.time is not None
        assert call.response in {response.response for response in only(records, ModelResponded)}


@pytest.mark.parametrize("name", [name for name in RECORDINGS if name.startswith("codex")])
def test_codex_streams_tell_the_same_commands(name: str) -> None:
    rollout, stream = (records_of(RECORDINGS[name] / f"{kind}.jsonl") for kind in ("rollout", "stream"))
    executed = [call for call in only(rollout, ToolCalled) if call.action == "shell"]
    told = [call for call in only(stream, ToolCalled) if call.action == "shell"]
    assert [call.command for call in told] == [call.command for call in executed]
    assert all(call.positional and call.argv[1:] == ("-lc", call.command) for call in told)
    assert {call.session for call in told} == {call.session for call in executed}
    ids = {call.call for call in executed}
    ended = [result for result in only(rollout, ToolReturned) if result.call in ids and result.exit_code is not None]
    reported = [result for result in only(stream, ToolReturned) if result.exit_code is not None]
    assert [(result.exit_code, result.output) for result in reported] == [
        (result.exit_code, result.output) for result in ended
    ]


@pytest.mark.parametrize("name", [name for name in RECORDINGS if name.startswith("claude")])
def test_claude_streams_tell_the_same_calls_and_sessions(name: str) -> None:
    stream = records_of(RECORDINGS[name] / "stream.jsonl")
    records = [record for path in sources(RECORDINGS[name]) for record in records_of(path)]

    def calls(source: list[Record | Skipped]) -> set[tuple[object, ...]]:
        return {
            (call.session, call.call, call.name, call.command, call.paths, call.response)
            for call in only(source, ToolCalled)
        }

    def results(source: list[Record | Skipped]) -> set[tuple[object, ...]]:
        return {(result.session, result.call, result.status, result.output) for result in only(source, ToolReturned)}

    assert calls(stream) == calls(records)
    assert results(stream) == results(records)
    ended = only(stream, SessionEnded)
    assert [end.status for end in ended] == ["completed"]
    assert ended[0].cost_usd is not None
    assert only(stream, PolicyStated)[0].permission_mode == only(records, PolicyStated)[0].permission_mode


@pytest.mark.parametrize("name", RECORDINGS)
def test_each_session_has_one_human_prompt_and_one_turn(name: str) -> None:
    document = json.loads((RECORDINGS[name] / "truth.json").read_text())
    for path in sources(RECORDINGS[name]):
        records = records_of(path)
        asked = [message for message in only(records, MessageSaid) if message.origin in ("human", "parent_agent")]
        assert len(asked) == 1
        assert len(only(records, TurnStarted)) == 1
        ended = only(records, TurnEnded)
        if document["process_outcome"] == "exited":
            assert [end.status for end in ended] == ["completed"]
            assert ended[0].final_message is not None
        if path.parent.name != "subagents":
            assert asked[0].content.preview == document["prompt"]


def test_killed_turn_has_no_end_and_its_call_no_answer() -> None:
    records = records_of(RECORDINGS["codex-killed-mid-turn"] / "rollout.jsonl")
    assert not only(records, TurnEnded)
    assert {call.call for call in only(records, ToolCalled)} - {
        result.call for result in only(records, ToolReturned)
    } == {"call_1"}


def test_refused_patch() -> None:
    records = records_of(RECORDINGS["codex-outcome-mismatch"] / "rollout.jsonl")
    refused = [result for result in only(records, ToolReturned) if result.status == "refused"]
    assert [result.error for result in refused] == ["unsupported custom tool call: apply_patch"]
    patch = next(call for call in only(records, ToolCalled) if call.call == refused[0].call)
    assert (patch.action, patch.paths) == ("edit", ("src/app.py",))


def test_sub_agent_is_a_session_of_its_own() -> None:
    folder = RECORDINGS["claude-subagent"]
    main, child = records_of(folder / "transcript.jsonl"), records_of(next((folder / "subagents").iterdir()))
    parent = only(main, SessionDescribed)[0].session
    session = only(child, SessionDescribed)[0].session
    assert session.startswith(f"{parent}/")
    assert {described.parent_session for described in only(child, SessionDescribed)} == {parent}
    assert [result.child_session for result in only(main, ToolReturned) if result.child_session] == [session]


@pytest.mark.parametrize("name", [name for name in RECORDINGS if name.startswith("codex")])
def test_codex_usage_and_times(name: str) -> None:
    records = records_of(RECORDINGS[name] / "rollout.jsonl")
    responses = only(records, ModelResponded)
    with_usage = [response for response in responses if response.usage is not None]
    assert {response.response for response in with_usage} == {response.response for response in responses}
    assert len(with_usage) == len({response.response for response in responses})
    for result in only(records, ToolReturned):
        if result.exit_code is not None:
            assert result.time is not None
            assert result.duration is not None
