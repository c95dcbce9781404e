"""Laws that hold for all four formats, whatever the bytes."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.interface import Format, Head, Record
from ingest.jsonl import BOM
from ingest.registry import formats
from ingest.turns.lines import LineParser, LineState
from provenance.records import AnyTurnRecord, Skipped

TURNS = [known for known in formats() if known.family == "turns"]
STORABLE = msgspec.msgpack.Decoder(AnyTurnRecord | None)

# Rows are made of the words that the formats know, in any combination, with values of any kind.
TYPES = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "token_usage_record",
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "task_started",
    "task_complete",
    "turn_aborted",
    "token_count",
    "exec_command_end",
    "patch_apply_end",
    "mcp_tool_call_end",
    "item_completed",
    "CommandExecution",
    "FileChange",
    "Plan",
    "AgentMessage",
    "UserMessage",
    "guardian_assessment",
    "collab_agent_spawn_end",
    "agent_message",
    "user_message",
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.completed",
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "todo_list",
    "error",
    "user",
    "assistant",
    "system",
    "attachment",
    "tool_use",
    "tool_result",
    "text",
    "thinking",
    "init",
    "result",
    "task_started",
    "turn_duration",
    "compact_boundary",
    "queued_command",
    "permission-mode",
    "fork-context-ref",
    "control_response",
    "success",
    "nothing-known",
]
WORDS = [
    *TYPES,
    "a",
    "b",
    "\ud800",
    "",
    "exec_command",
    "apply_patch",
    "Bash",
    "Task",
    "TodoWrite",
    "update_plan",
    "write_stdin",
    "2026-11-30T22:51:37.299Z",
    "[trimmed for fixture]",
    "Process exited with code 1\nOutput:\nx",
    "Exit code 2\nx",
    "[Request interrupted by user]",
    "/bin/bash -lc 'echo \"hi\"'",
    '{"cmd": "ls"}',
    '{"output": "x", "metadata": {"exit_code": 1, "duration_seconds": 0.5}}',
    "*** Begin Patch\n*** Update File: a.py\n*** End Patch",
    "01a22ea8-14d1-7d80-9e03-15a7907963bc",
    "end_turn",
    "failed",
    "completed",
]
KEYS = [
    "type",
    "payload",
    "timestamp",
    "message",
    "content",
    "role",
    "id",
    "session_id",
    "sessionId",
    "uuid",
    "parentUuid",
    "isSidechain",
    "agentId",
    "tool_use_id",
    "parent_tool_use_id",
    "call_id",
    "name",
    "arguments",
    "input",
    "output",
    "item",
    "info",
    "usage",
    "turn_id",
    "thread_id",
    "status",
    "exit_code",
    "command",
    "cwd",
    "changes",
    "is_error",
    "toolUseResult",
    "tool_use_result",
    "subtype",
    "attachment",
    "result",
    "text",
    "summary",
    "last_token_usage",
    "total_token_usage",
    "input_tokens",
    "forked_from_id",
    "source",
    "git",
    "stop_reason",
    "permissionMode",
    "approval_policy",
    "sandbox_policy",
    "plan",
    "todos",
    "error",
    "duration",
    "secs",
    "nanos",
    "started_at_ms",
    "task_id",
    "aggregated_output",
    "isCompactSummary",
    "isMeta",
    "promptId",
    "origin",
    "kind",
    "duration_ms",
    "total_cost_usd",
]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(WORDS),
    st.sampled_from(WORDS),
    st.text(max_size=8),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)),
    max_leaves=12,
)
rows = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES)},
    optional={
        "payload": st.dictionaries(st.sampled_from(KEYS), values, max_size=6),
        "message": st.dictionaries(st.sampled_from(KEYS), values, max_size=6),
        "item": st.dictionaries(st.sampled_from(KEYS), values, max_size=6),
        "uuid": st.sampled_from("abc"),
        "parentUuid": st.sampled_from("abc"),
        "isSidechain": st.booleans(),
        "session_id": st.sampled_from("st"),
        "sessionId": st.sampled_from("st"),
        "timestamp": st.sampled_from(WORDS),
        "subtype": st.sampled_from(TYPES),
        "parent_tool_use_id": st.sampled_from("ab"),
        "toolUseResult": values,
    },
)
sources = st.lists(st.one_of(rows, rows, values), max_size=12).map(
    lambda made: b"".join(json.dumps(row).encode() + b"\n" for row in made)
)


def parser_of(known: Format) -> Any:
    return known.parser(Head("rollout-2026-11-30T22-51-37-x.jsonl", b""))


def check(records: list[Record | Skipped], parser: LineParser[LineState], data: bytes) -> None:
    expected = {number for number, line in enumerate(data.split(b"\n"), 1) if line.replace(BOM, b"").strip()}
    spoken = {record.line for record in records}
    assert spoken <= expected
    assert len(expected - spoken) <= parser.state.quiet
    for record in records:
        if isinstance(record, Skipped):
            assert len(record.detail) <= 200
            msgspec.msgpack.encode(record)
        else:
            assert STORABLE.decode(msgspec.msgpack.encode(record)) == record


@pytest.mark.parametrize("known", TURNS, ids=lambda known: known.name)
@given(data=st.binary())
def test_no_bytes_raise(known: Format, data: bytes) -> None:
    parser = parser_of(known)
    check([*parser.feed(data, 1), *parser.finish()], parser, data)
    assert 0 <= known.score(Head("x", data)) <= 1


@pytest.mark.parametrize("known", TURNS, ids=lambda known: known.name)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=sources)
def test_no_rows_raise_and_every_line_is_accounted_for(known: Format, data: bytes) -> None:
    parser = parser_of(known)
    check([*parser.feed(data, 1), *parser.finish()], parser, data)
    assert 0 <= known.score(Head("x", data)) <= 1


@pytest.mark.parametrize("known", TURNS, ids=lambda known: known.name)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=sources, cuts=st.sets(st.integers(0, 12), max_size=4))
def test_fed_in_pieces_and_restored_between_gives_the_same(known: Format, data: bytes, cuts: set[int]) -> None:
    whole = parser_of(known)
    expected = [*whole.feed(data, 1), *whole.finish()]
    lines = data.split(b"\n")[:-1]
    parser = parser_of(known)
    records: list[Record | Skipped] = []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(lines)], strict=True):
        block = b"".join(line + b"\n" for line in lines[start:end])
        records += parser.feed(block, start + 1)
        state = parser.save()
        parser = parser_of(known)
        parser.restore(state)
    records += parser.finish()
    assert records == expected
    assert parser.state == whole.state


@pytest.mark.parametrize("known", TURNS, ids=lambda known: known.name)
def test_every_format_says_what_it_is(known: Format) -> None:
    assert known.name
    assert known.description
    assert known.family == "turns"
    assert known.score(Head("x", b"")) == 0
