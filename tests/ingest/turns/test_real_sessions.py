"""Public session files of other people: counts against an independent counter's.

The files stay outside the project; their index has the true counts as JSON in its last column.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from reading import only, read

from ingest.interface import Head
from ingest.registry import detect
from provenance.errors import SourceError
from provenance.records import (
    MessageSaid,
    ModelResponded,
    SessionDescribed,
    Skipped,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)
from tests.shared import shared, shared_folder

ENTRY = re.compile(r"`((claude-code|codex-rollout|codex-exec-json)/[^`]+)` \|.*\| (\S.*)$")
CUT = re.compile(r'"(\w+(?:[./]\w+)*)":(\d+)(?=[,}])')  # what is still readable in a count that the index cuts short

NO_FORMAT = {
    "claude-code/simonw/sample_session.json": "one pretty-printed document of an exporter, not a transcript",
    "codex-rollout/codex-session-view/AGENTS.session-coach.parsed.json": "a viewer's parse of AGENTS.md",
    "codex-rollout/codex-session-view/session-large.json": "a viewer's own document",
    "codex-rollout/codex-session-view/session.misalignment-basic.json": "a viewer's own document",
    "codex-rollout/codex-session-view/session.misalignment-basic.misalignments.json": "a viewer's own document",
    "codex-rollout/codexbar/Issue2037/archived-fork-33ce-3869/manifest.json": "a fixture's manifest",
    "codex-rollout/codexbar/codex-historical-usage-real-legacy.jsonl": "rate-limit samples, no session",
}

DIFFERENT: dict[tuple[str, str], tuple[int, str]] = {
    ("claude-code/agent-sessions/claude/schema_drift.jsonl", "tool_calls"): (
        1,
        "a tool_use row without a message is a call too",
    ),
    ("claude-code/agent-sessions/claude/schema_drift.jsonl", "tool_results"): (1, "and its tool_result row an answer"),
    ("codex-rollout/agent-sessions/codex/large.jsonl", "tool_calls"): (
        1,
        "the counter left out items of type tool_call",
    ),
    ("codex-rollout/agent-sessions/codex/large.jsonl", "tool_results"): (1, "and of type tool_result"),
    ("codex-rollout/agent-sessions/session_branch.jsonl", "tool_calls"): (
        1,
        "the counter left out bare tool_call rows",
    ),
    ("codex-rollout/agent-sessions/session_branch.jsonl", "tool_results"): (1, "and bare tool_result rows"),
    ("codex-rollout/agent-sessions/session_toolcall.jsonl", "tool_calls"): (
        1,
        "the counter left out bare tool_call rows",
    ),
    ("codex-rollout/agent-sessions/session_toolcall.jsonl", "tool_results"): (1, "and bare tool_result rows"),
    ("codex-rollout/agent-sessions/codex/schema_drift.jsonl", "tool_results"): (
        1,
        "function_result is matched by its tool's name",
    ),
    ("codex-rollout/agent-sessions/codex/schema_drift.jsonl", "unanswered"): (
        0,
        "function_result is matched by its tool's name",
    ),
}
COUNTS_CUT_SHORT = {
    "claude-code/agent-sessions/claude/small.jsonl": {"tool_calls": 2, "tool_results": 2, "tool_errors": 1},
    "codex-rollout/agent-sessions/codex/small.jsonl": {"tool_calls": 8, "tool_results": 8, "tool_errors": 1},
    "codex-rollout/agentsview/traex/rollout_subagent.jsonl": {"tool_calls": 3, "tool_results": 3},
}
"""The index cuts these files' counts; the expected ones were counted by hand."""


def entries() -> dict[str, dict[str, Any]]:
    """File: true counts, of the three kinds."""
    index = shared_folder() / "real" / "INDEX.md"
    found: dict[str, dict[str, Any]] = {}
    if not index.exists():
        return found
    for line in index.read_text().splitlines():
        match = ENTRY.match(line)
        if match:
            try:
                found[match[1]] = json.loads(match[3])
            except ValueError:
                found[match[1]] = {name: int(count) for name, count in CUT.findall(match[3])} | COUNTS_CUT_SHORT[
                    match[1]
                ]
    return found


ENTRIES = entries()


def test_real_sessions_are_there() -> None:
    assert shared("real", "INDEX.md").exists()
    assert len(ENTRIES) > 80
    assert {name.partition("/")[0] for name in ENTRIES} == {"claude-code", "codex-rollout", "codex-exec-json"}


def source(name: str) -> tuple[Path, bytes]:
    path = shared("real", name)
    return path, path.read_bytes()


@pytest.mark.parametrize("name", [name for name in ENTRIES if name in NO_FORMAT])
def test_what_is_no_session_is_refused(name: str) -> None:
    path, data = source(name)
    with pytest.raises(SourceError, match=re.escape(path.name)):
        detect(Head(path.name, data[:65536]))


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in NO_FORMAT])
def test_counts(name: str) -> None:
    path, data = source(name)
    found = detect(Head(path.name, data[:65536]))
    expected_format = {
        "claude-code": "claude-transcript",
        "codex-rollout": "codex-rollout",
        "codex-exec-json": "codex-exec",
    }
    assert found.name == expected_format[name.partition("/")[0]]
    records = read(found, data, path.name)
    calls, results = only(records, ToolCalled), only(records, ToolReturned)
    asked, answered = {call.call for call in calls}, {result.call for result in results}
    skipped = only(records, Skipped)
    told = {response.response or "" for response in only(records, ModelResponded)}
    counted = {
        "llm_responses": len({response for response in told if response and not response.startswith("line-")}),
        "tool_calls": len(asked),
        "tool_results": len(answered),
        "tool_errors": sum(result.status not in ("completed", "running") for result in results),
        "unanswered": len(asked - answered),
        "orphan_results": len(answered - asked),
        "bad_lines": len({skip.line for skip in skipped if skip.reason in ("invalid json", "torn line")}),
    }
    true = ENTRIES[name]
    if "events" in true:
        events = true["events"]
        commands = events.get("item.completed/command_execution", 0)
        true = true | {"tool_calls": events.get("item.started/command_execution", 0), "tool_results": commands}
        assert len(only(records, TurnStarted)) == events.get("turn.started", 0)
        assert len(only(records, TurnEnded)) == events.get("turn.completed", 0) + events.get("turn.failed", 0)
        assert len(only(records, MessageSaid)) == events.get("item.completed/agent_message", 0)
        statuses = true.get("command_status", {})
        assert sum(statuses.values()) == len(results)
        assert {result.exit_code for result in results} == {int(status.partition(":")[2]) for status in statuses}
    else:
        sessions = {record.session.partition("/")[0] for record in only(records, SessionDescribed)}
        if name.startswith("claude-code") and "sessions" in true and name not in COUNTS_CUT_SHORT and sessions:
            assert len(sessions) == true["sessions"]
    if "llm_responses" not in true:
        counted.pop("llm_responses")  # rows without a message id: nothing says which are one response
    if name.startswith("codex-rollout"):
        started = true.get("records", {}).get("event_msg/task_started")
        assert started is None or len(only(records, TurnStarted)) == started
    for what, count in counted.items():
        expected = DIFFERENT.get((name, what), (true.get(what, 0),))[0]
        if what in true or not name.startswith("claude-code") or name not in COUNTS_CUT_SHORT:
            assert count == expected, what
    reasons = {skip.reason for skip in skipped}
    known = {"invalid json", "torn line", "not an object", "unknown record type", "replayed history"}
    assert reasons <= known
    assert ("not an object" in reasons) == ("non-dict" in true.get("record_types", {}))


FORKS = [name for name in ENTRIES if name.endswith(("child.jsonl", "sibling-b.jsonl"))]


@pytest.mark.parametrize("name", FORKS)
def test_replayed_history_is_not_the_forks_doing(name: str) -> None:
    """These fixtures name no turn, so nothing in them tells the fork's own part from its parent's: all is left out."""
    path, data = source(name)
    records = read(detect(Head(path.name, data[:65536])), data, path.name)
    described = only(records, SessionDescribed)
    assert len(described) == 1
    assert described[0].parent_session in ("parent-session", "missing-parent-session")
    assert not only(records, ModelResponded)
    assert [skip.reason for skip in only(records, Skipped)] == ["replayed history"]


def test_usage_adds_up_to_the_hosts_own_total() -> None:
    """135 token counts, two of them repeats without a response between: the host's own sum leaves these out too."""
    name = "codex-rollout/codexbar/Issue2037/archived-fork-33ce-3869/codex-home/archived_sessions/parent.jsonl"
    path, data = source(name)
    records = read(detect(Head(path.name, data[:65536])), data, path.name)
    responses = only(records, ModelResponded)
    assert len({response.response for response in responses}) == 133
    last = json.loads(data.splitlines()[-1])["payload"]["info"]["total_token_usage"]["total_tokens"]
    assert sum((response.usage or {}).get("total", 0) for response in responses) == last
