"""The stream of `codex exec --json`, shape by shape."""

from __future__ import annotations

import pytest
from reading import Row, lines, named, one, only, read

from ingest.turns.codex_exec import FORMAT
from ingest.turns.tools import split_command, typed_command
from provenance.records import (
    MessageSaid,
    ModelResponded,
    PlanDeclared,
    SessionEnded,
    Skipped,
    ToolCalled,
    ToolReturned,
    TurnEnded,
)

THREAD: Row = {"type": "thread.started", "thread_id": "t"}


def item(event: str, /, **fields: object) -> Row:
    return {"type": f"item.{event}", "item": fields}


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("/bin/bash -lc 'ls -l'", ("/bin/bash", "-lc", "ls -l")),
        ('/bin/bash -lc "echo \\$HOME \\`id\\` \\"q\\""', ("/bin/bash", "-lc", 'echo $HOME `id` "q"')),
        ("bash -lc 'a'\\''b'", ("bash", "-lc", "a'b")),
        ("git status  -s", ("git", "status", "-s")),
        ('x "a\\b" \'\' ""', ("x", "a\\b", "", "")),
        ("open 'quote", ()),
        ('open "quote', ()),
        ("", ()),
    ],
)
def test_command_lines_are_split_as_a_shell_would(line: str, argv: tuple[str, ...]) -> None:
    assert split_command(line) == argv


def test_what_the_model_typed() -> None:
    assert typed_command(("/usr/bin/zsh", "-lc", "ls | wc")) == "ls | wc"
    assert typed_command(("bash", "-l", "-c", "ls")) == "ls"
    assert typed_command(("git", "-c", "x")) is None
    assert typed_command(("bash", "script.sh")) is None


def test_command() -> None:
    started = {"id": "item_0", "type": "command_execution", "command": "/bin/bash -lc 'false && echo x'"}
    records = read(
        FORMAT,
        lines(
            THREAD,
            {"type": "turn.started"},
            item("started", **started, status="in_progress", exit_code=None),
            item("completed", **started, status="failed", exit_code=1, aggregated_output="no\n"),
            item("completed", id="item_1", type="agent_message", text="failed"),
            {"type": "turn.completed", "usage": {"input_tokens": 3, "cached_input_tokens": 1, "output_tokens": 2}},
        ),
    )
    assert named(records) == [
        "SessionDescribed",
        "TurnStarted",
        "ToolCalled",
        "ToolReturned",
        "MessageSaid",
        "TurnEnded",
        "SessionEnded",
    ]
    call, result, end = one(records, ToolCalled), one(records, ToolReturned), one(records, SessionEnded)
    assert (call.session, call.call, call.command, call.argv) == (
        "t",
        "item_0",
        "false && echo x",
        ("/bin/bash", "-lc", "false && echo x"),
    )
    assert call.positional and result.positional and call.time is None
    assert (result.status, result.exit_code) == ("completed", 1)
    assert end.usage == {"input": 3, "cached_input": 1, "output": 2}
    assert end.final_message is not None and end.final_message.preview == "failed"


def test_item_that_never_started_and_item_that_never_ended() -> None:
    records = read(
        FORMAT,
        lines(
            THREAD,
            item("completed", id="a", type="file_change", changes=[{"path": "/x", "kind": "add"}], status="completed"),
            item("started", id="b", type="command_execution", command="sleep 9"),
        ),
    )
    calls = only(records, ToolCalled)
    assert [(call.action, call.paths, call.command) for call in calls] == [
        ("edit", ("/x",), None),
        ("shell", (), "sleep 9"),
    ]
    assert one(records, ToolReturned).changes == (("/x", "add"),)


def test_ids_begin_again_with_each_thread() -> None:
    command = item("completed", id="item_0", type="command_execution", command="ls", exit_code=0, status="completed")
    records = read(FORMAT, lines(THREAD, command, command, {"type": "thread.started", "thread_id": "u"}, command))
    assert [(call.session, call.call) for call in only(records, ToolCalled)] == [("t", "item_0"), ("u", "item_0")]


def test_failures_declined_and_unknown() -> None:
    api = '{"type": "error", "error": {"message": "no such model"}}'
    records = read(
        FORMAT,
        lines(
            THREAD,
            item("completed", id="a", type="command_execution", command="rm x", status="declined", exit_code=None),
            item(
                "completed",
                id="b",
                type="mcp_tool_call",
                server="s",
                tool="t",
                status="failed",
                error={"message": "gone"},
            ),
            item("completed", id="c", type="error", message="careful"),
            item("completed", id="d", type="novelty"),
            {"type": "error", "message": api},
            {"type": "turn.failed", "error": {"message": api}},
        ),
    )
    assert [(r.status, r.error) for r in only(records, ToolReturned)] == [("refused", None), ("failed", "gone")]
    assert only(records, ToolCalled)[1].name == "mcp__s__t"
    assert one(records, MessageSaid).origin == "harness"
    assert one(records, ModelResponded).error == "no such model"
    assert (one(records, TurnEnded).status, one(records, TurnEnded).reason) == ("failed", "no such model")
    assert one(records, Skipped).detail == "item.completed/novelty"


def test_plan_is_declared_when_it_changes() -> None:
    todo = [{"text": "one", "completed": False}, {"text": "two", "completed": False}]
    done = [{"text": "one", "completed": True}, {"text": "two", "completed": False}]
    rows = [
        item("started", id="p", type="todo_list", items=todo),
        item("updated", id="p", type="todo_list", items=done),
    ]
    records = read(FORMAT, lines(THREAD, *rows, item("completed", id="p", type="todo_list", items=done)))
    assert [plan.line for plan in only(records, PlanDeclared)] == [2, 3]
    assert only(records, PlanDeclared)[0].steps == ("one", "two")
