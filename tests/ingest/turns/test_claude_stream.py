"""The stream of `claude -p --output-format stream-json`, shape by shape."""

from __future__ import annotations

import pytest
from reading import Row, lines, one, only, read

from ingest.turns.claude_stream import FORMAT
from provenance.records import (
    ApprovalDecided,
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

INIT: Row = {
    "type": "system",
    "subtype": "init",
    "session_id": "s",
    "cwd": "/w",
    "model": "m",
    "tools": ["Bash"],
    "permissionMode": "default",
    "claude_code_version": "2",
}


def row(kind: str, /, **fields: object) -> Row:
    return {"type": kind, "session_id": "s", "parent_tool_use_id": None, **fields}


def use(name: str, call: str, message: str = "m1", /, **fields: object) -> Row:
    block = {"type": "tool_use", "id": call, "name": name, "input": {"command": "ls", "prompt": "go"}}
    usage = {"input_tokens": 4, "output_tokens": 1}
    return row("assistant", message={"id": message, "content": [block], "usage": usage, "stop_reason": None}, **fields)


def result(call: str, /, **fields: object) -> Row:
    return row(
        "user",
        message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "x"}]},
        **fields,
    )


def test_init_and_result() -> None:
    denial = {"tool_name": "Bash", "tool_use_id": "c9"}
    end = row(
        "result",
        subtype="success",
        is_error=False,
        result="done",
        total_cost_usd=0.5,
        usage={"output_tokens": 3},
        permission_denials=[denial],
    )
    records = read(FORMAT, lines(INIT, use("Bash", "c1"), result("c1"), end))
    described = one(records, SessionDescribed)
    assert (described.model, described.cwd, described.tools, described.agent_version) == ("m", "/w", ("Bash",), "2")
    assert one(records, PolicyStated).permission_mode == "default"
    assert len(only(records, TurnStarted)) == 1
    ended = one(records, SessionEnded)
    assert (ended.status, ended.cost_usd, ended.usage) == ("completed", 0.5, {"output": 3})
    assert one(records, TurnEnded).final_message == ended.final_message
    assert one(records, ApprovalDecided).call == "c9"
    assert one(records, ModelResponded).usage == {"input": 4}


@pytest.mark.parametrize("subtype", ["error_max_turns", "error_during_execution", "error_new"])
def test_failed_runs(subtype: str) -> None:
    ended = one(read(FORMAT, lines(INIT, row("result", subtype=subtype, is_error=True))), SessionEnded)
    assert (ended.status, ended.reason) == ("failed", subtype)


@pytest.mark.parametrize("told", [True, False])
def test_rows_of_a_sub_agent(told: bool) -> None:
    started = {"type": "system", "subtype": "task_started", "session_id": "s", "task_id": "g1", "tool_use_id": "c1"}
    prompt = row("user", message={"role": "user", "content": [{"type": "text", "text": "go"}]}) | {
        "parent_tool_use_id": "c1"
    }
    child = use("Bash", "c2", "m2") | {"parent_tool_use_id": "c1"}
    answered = result("c2") | {"parent_tool_use_id": "c1"}
    records = read(
        FORMAT, lines(INIT, use("Agent", "c1"), *([started] if told else []), prompt, child, answered, result("c1"))
    )
    session = "s/g1" if told else "s/c1"
    assert [(call.call, call.session) for call in only(records, ToolCalled)] == [("c1", "s"), ("c2", session)]
    assert [(back.session, back.child_session) for back in only(records, ToolReturned)] == [
        (session, None),
        ("s", session),
    ]
    assert (one(records, MessageSaid).session, one(records, MessageSaid).origin) == (session, "parent_agent")
    assert [d.parent_session for d in only(records, SessionDescribed)] == [None, "s"]


def test_permission_prompts() -> None:
    answer = {"response": {"behavior": "deny", "message": "not now", "toolUseID": "c1"}}
    decided = one(read(FORMAT, lines(INIT, {"type": "control_response", "response": answer})), ApprovalDecided)
    assert (decided.call, decided.decision, decided.by, decided.reason) == ("c1", "refused", "human", "not now")


def test_partial_messages_are_quiet_and_unknown_rows_counted() -> None:
    records = read(FORMAT, lines(row("stream_event", event={}), row("news"), row("system", subtype="news")))
    assert [skip.detail for skip in only(records, Skipped)] == ["news", "system/news"]
