"""Codex rollouts, shape by shape."""

from __future__ import annotations

import pytest
from reading import Row, lines, named, one, only, read

from ingest.turns.codex_context import uuid_milliseconds
from ingest.turns.codex_rollout import FORMAT
from ingest.turns.results import codex_answer
from provenance.records import (
    ApprovalDecided,
    ContextCompacted,
    EnvironmentStated,
    MessageSaid,
    ModelResponded,
    PlanDeclared,
    PolicyStated,
    SessionDescribed,
    Skipped,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)

T = "2026-11-30T22:51:37.299Z"
NS = 1_796_079_097_299_000_000
PARENT = "01a22ea8-0000-7d80-9e03-15a7907963bc"
CHILD = "01a22ea9-0000-7d80-9e03-15a7907963bc"
OLD_TURN = "01a22ea8-1577-7293-9426-dc1371ed94da"
NEW_TURN = "01a22ea9-1577-7293-9426-dc1371ed94da"


def row(kind: str, /, **payload: object) -> Row:
    return {"timestamp": T, "type": kind, "payload": payload}


def item(kind: str, /, **payload: object) -> Row:
    return row("response_item", type=kind, **payload)


def event(kind: str, /, **payload: object) -> Row:
    return row("event_msg", type=kind, **payload)


def call(name: str, arguments: object, call_id: str = "c1") -> Row:
    return item("function_call", name=name, arguments=arguments, call_id=call_id)


def output(text: object, call_id: str = "c1") -> Row:
    return item("function_call_output", call_id=call_id, output=text)


META = row(
    "session_meta", id="s1", cwd="/w", cli_version="1.0", source="cli", git={"commit_hash": "abc", "branch": "main"}
)


def test_session_and_exact_time() -> None:
    described = one(read(FORMAT, lines(META)), SessionDescribed)
    assert (described.session, described.cwd, described.git_commit, described.entrypoint) == ("s1", "/w", "abc", "cli")
    assert described.time == NS


def test_time_that_is_no_time() -> None:
    assert one(read(FORMAT, lines({**META, "timestamp": "[trimmed for fixture]"})), SessionDescribed).time is None


def test_said_twice_is_given_once() -> None:
    records = read(
        FORMAT,
        lines(
            META,
            event("task_started", turn_id="t1"),
            item("message", role="user", content=[{"type": "input_text", "text": "do it"}]),
            event("user_message", message="do it"),
            event("agent_message", message="done"),
            item("message", role="assistant", content=[{"type": "output_text", "text": "done"}]),
            event("agent_message", message="done"),
            item("message", role="assistant", content=[{"type": "output_text", "text": "done"}]),
            event("task_complete", turn_id="t1", last_agent_message="done"),
        ),
    )
    assert [(m.role, m.origin, m.content.preview) for m in only(records, MessageSaid)] == [
        ("user", "human", "do it"),
        ("assistant", "agent", "done"),
        ("assistant", "agent", "done"),
    ]
    end = one(records, TurnEnded)
    assert (end.turn, end.status) == ("t1", "completed")
    assert end.final_message is not None and end.final_message.preview == "done"


@pytest.mark.parametrize(
    "text", ["<environment_context>\n<cwd>/w</cwd></environment_context>", "# AGENTS.md instructions for /w"]
)
def test_what_the_harness_says_in_a_users_place(text: str) -> None:
    records = read(FORMAT, lines(META, item("message", role="user", content=[{"type": "input_text", "text": text}])))
    assert one(records, MessageSaid).origin == "harness"
    assert not only(records, TurnStarted)
    assert [e.details for e in only(records, EnvironmentStated)] == (['{"cwd":"/w"}'] if "cwd" in text else [])


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("exec_command", '{"cmd": "ls", "workdir": "sub"}', ("shell", "ls", (), (), "/w/sub")),
        ("shell", {"command": ["bash", "-lc", "ls -l"]}, ("shell", "ls -l", ("bash", "-lc", "ls -l"), (), "/w")),
        ("shell", '{"command": ["git", "status"]}', ("shell", "git status", ("git", "status"), (), "/w")),
        ("write_stdin", {"chars": "y", "session_id": 7}, ("shell_input", None, (), (), None)),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Add File: a\n*** Update File: b\n*** Move to: c\n"},
            ("edit", None, (), ("a", "b", "c"), None),
        ),
        ("view_image", {"path": "/p.png"}, ("read", None, (), ("/p.png",), None)),
        ("update_plan", '{"plan": [{"step": "one", "status": "pending"}]}', ("plan", None, (), (), None)),
        ("spawn_agent", "{}", ("delegate", None, (), (), None)),
        ("mcp__srv__tool", "{}", ("mcp", None, (), (), None)),
        ("mystery", None, ("other", None, (), (), None)),
    ],
)
def test_calls(name: str, arguments: object, expected: tuple[object, ...]) -> None:
    records = read(FORMAT, lines(META, call(name, arguments)))
    asked = one(records, ToolCalled)
    assert (asked.action, asked.command, asked.argv, asked.paths, asked.cwd) == expected
    assert asked.response == one(records, ModelResponded).response == "line-2"
    assert [plan.steps for plan in only(records, PlanDeclared)] == ([("one",)] if name == "update_plan" else [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Chunk ID: 1\nWall time: 0.6171 seconds\nProcess exited with code 3\nOutput:\nx",
            ("completed", 3, "x", 617_100_000),
        ),
        ("Exit code: 2\nWall time: 1 seconds\nOutput:\nx", ("completed", 2, "x", 1_000_000_000)),
        ('{"output": "x", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}', ("completed", 1, "x", 100_000_000)),
        ("Wall time: 1.0 seconds\nProcess running with session ID 9\nOutput:\n", ("running", None, "", 1_000_000_000)),
        ("unsupported custom tool call: apply_patch", ("refused", None, None, None)),
        ("exec command rejected by user", ("refused", None, None, None)),
        (
            'exec_command failed for `x`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
            ("refused", None, None, None),
        ),
        ("aborted by user after 1.2s", ("interrupted", None, None, None)),
        ("apply_patch verification failed: no such file", ("failed", None, None, None)),
        ("the log says: Process exited with code 5", ("completed", None, None, None)),
        (
            "Process exited with code 0\nOutput:\nProcess exited with code 9\n",
            ("completed", 0, "Process exited with code 9\n", None),
        ),
    ],
)
def test_answers(text: str, expected: tuple[object, ...]) -> None:
    answer = codex_answer(text)
    body = text if expected[2] is None else expected[2]
    assert (answer.status, answer.exit_code, answer.body, answer.duration) == (
        expected[0],
        expected[1],
        body,
        expected[3],
    )


def test_host_account_goes_into_the_answer() -> None:
    records = read(
        FORMAT,
        lines(
            META,
            call("exec_command", '{"cmd": "ls"}'),
            event(
                "exec_command_end",
                call_id="c1",
                exit_code=1,
                aggregated_output="all\n",
                duration={"secs": 1, "nanos": 5},
            ),
            output("Process exited with code 1\nOutput:\ncut"),
        ),
    )
    result = one(records, ToolReturned)
    assert (result.line, result.status, result.exit_code, result.duration) == (4, "completed", 1, 1_000_000_005)
    assert result.output is not None and result.output.preview == "all\n"


def test_running_command_is_answered_again_when_it_ends() -> None:
    records = read(
        FORMAT,
        lines(
            META,
            call("exec_command", '{"cmd": "make"}'),
            output("Process running with session ID 42\nOutput:\n"),
            call("write_stdin", {"session_id": 42, "chars": ""}, "c2"),
            event("exec_command_end", call_id="c1", exit_code=0, aggregated_output="built"),
            output("Process exited with code 0\nOutput:\nbuilt", "c2"),
        ),
    )
    results = only(records, ToolReturned)
    assert [(r.call, r.status, r.exit_code, r.running) for r in results] == [
        ("c1", "running", None, "42"),
        ("c1", "completed", 0, None),
        ("c2", "completed", 0, None),
    ]
    assert only(records, ToolCalled)[1].continues == "42"


def test_patch_events() -> None:
    change = {"/w/a": {"type": "update"}, "/w/b": {"add": {"content": ""}}}
    patch = item("custom_tool_call", name="apply_patch", input="*** Update File: a\n", call_id="c1")
    done = item("custom_tool_call_output", call_id="c1", output=[{"type": "input_text", "text": "ok"}])
    records = read(
        FORMAT,
        lines(META, patch, event("patch_apply_end", call_id="c1", success=False, stderr="bad", changes=change), done),
    )
    result = one(records, ToolReturned)
    assert (result.status, result.error, result.changes) == ("failed", "bad", (("/w/a", "update"), ("/w/b", "add")))


def test_execution_without_a_call_is_a_call_and_its_answer() -> None:
    done = {"type": "CommandExecution", "id": "x", "command": ["bash", "-lc", "ls"], "cwd": "file:///w", "exit_code": 0}
    records = read(FORMAT, lines(META, event("item_completed", item=done, started_at_ms=5, completed_at_ms=9)))
    asked, result = one(records, ToolCalled), one(records, ToolReturned)
    assert (asked.command, asked.cwd, asked.response) == ("ls", "/w", None)
    assert (result.exit_code, result.started) == (0, 5_000_000)


def test_usage_belongs_to_the_response_before_and_repeats_are_none() -> None:
    def count(last: int, total: int) -> Row:
        return event(
            "token_count",
            info={"last_token_usage": {"input_tokens": last}, "total_token_usage": {"input_tokens": total}},
        )

    records = read(
        FORMAT,
        lines(
            META,
            call("exec_command", "{}"),
            output("x"),
            count(5, 5),
            count(5, 5),
            call("exec_command", "{}", "c2"),
            count(7, 12),
        ),
    )
    used = [(response.response, response.usage) for response in only(records, ModelResponded) if response.usage]
    assert used == [("line-2", {"input": 5}), ("line-6", {"input": 7})]


def test_usage_records_go_before_token_counts() -> None:
    info = {"last_token_usage": {"input_tokens": 1}, "total_token_usage": {"input_tokens": 1}}
    usage = row("token_usage_record", thread_id="s1", usage={"input_tokens": 9, "output_tokens": 2})
    records = read(FORMAT, lines(META, call("exec_command", "{}"), usage, event("token_count", info=info)))
    assert [response.usage for response in only(records, ModelResponded)] == [None, {"input": 9, "output": 2}]


def test_policy_is_stated_when_it_changes() -> None:
    context = {
        "turn_id": "t",
        "approval_policy": "on-request",
        "sandbox_policy": {"type": "workspace-write", "network_access": False, "writable_roots": ["/w"]},
    }
    records = read(
        FORMAT,
        lines(
            META,
            row("turn_context", **context),
            row("turn_context", **context),
            row("turn_context", **{**context, "approval_policy": "never"}),
        ),
    )
    stated = only(records, PolicyStated)
    assert [(p.line, p.approval, p.sandbox, p.network, p.writable_roots) for p in stated] == [
        (2, "on-request", "workspace-write", "restricted", ("/w",)),
        (4, "never", "workspace-write", "restricted", ("/w",)),
    ]


def test_interruption_review_and_compaction() -> None:
    records = read(
        FORMAT,
        lines(
            META,
            event("task_started", turn_id="t"),
            row("compacted", message="so far"),
            event("context_compacted"),
            event("guardian_assessment", target_item_id="c9", status="denied", rationale="no"),
            event("turn_aborted", turn_id="t", reason="interrupted"),
        ),
    )
    assert [c.summary.preview for c in only(records, ContextCompacted) if c.summary] == ["so far"]
    assert len(only(records, ContextCompacted)) == 1
    decided = one(records, ApprovalDecided)
    assert (decided.call, decided.decision, decided.by, decided.reason) == ("c9", "refused", "agent", "no")
    assert (one(records, TurnEnded).status, one(records, TurnEnded).reason) == ("interrupted", "interrupted")


def test_sub_agent_is_linked_and_its_user_is_an_agent() -> None:
    records = read(
        FORMAT,
        lines(
            META,
            call("spawn_agent", "{}"),
            output('{"agent_id": "s2"}'),
            event("collab_agent_spawn_end", call_id="c1", new_thread_id="s2"),
        ),
    )
    assert one(records, ToolReturned).child_session == "s2"
    meta = row("session_meta", id="s2", source={"subagent": {"thread_spawn": {"parent_thread_id": "s1"}}})
    said = item("message", role="user", content=[{"type": "input_text", "text": "go"}])
    child = read(FORMAT, lines(meta, said))
    assert one(child, SessionDescribed).parent_session == "s1"
    assert one(child, MessageSaid).origin == "parent_agent"


def test_fork_leaves_its_parents_history_out() -> None:
    records = read(
        FORMAT,
        lines(
            row("session_meta", id=CHILD, forked_from_id=PARENT),
            row("session_meta", id=PARENT),
            event("task_started", turn_id=OLD_TURN),
            call("exec_command", '{"cmd": "rm -rf x"}', "old"),
            output("Process exited with code 0\nOutput:\n", "old"),
            event("task_started", turn_id=NEW_TURN),
            call("exec_command", '{"cmd": "ls"}', "new"),
        ),
    )
    assert [asked.command for asked in only(records, ToolCalled)] == ["ls"]
    assert {described.session for described in only(records, SessionDescribed)} == {CHILD}
    skip = one(records, Skipped)
    assert (skip.line, skip.reason, skip.detail) == (2, "replayed history", f"lines 2 to 5 repeat {PARENT}")


def test_sub_agent_with_a_second_header_replays_too() -> None:
    meta = row("session_meta", id=CHILD, source={"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}})
    own = row("turn_context", turn_id=NEW_TURN)
    records = read(
        FORMAT, lines(meta, row("session_meta", id=PARENT), call("shell", "{}"), own, call("shell", "{}", "c2"))
    )
    assert [asked.call for asked in only(records, ToolCalled)] == ["c2"]


def test_time_in_a_uuid() -> None:
    assert uuid_milliseconds("01a22ea8-14d1-7d80-9e03-15a7907963bc") == 0x01A22EA814D1
    assert uuid_milliseconds("01a22ea8-14d1-4d80-9e03-15a7907963bc") is None


def test_oldest_shape_without_envelope() -> None:
    records = read(
        FORMAT,
        lines(
            {"id": "s0", "timestamp": T, "instructions": None, "git": {"branch": "b"}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["bash", "-lc", "ls"]}},
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": '{"output":"x","metadata":{"exit_code":0,"duration_seconds":1.5}}',
            },
        ),
    )
    assert named(records) == [
        "SessionDescribed",
        "TurnStarted",
        "MessageSaid",
        "ModelResponded",
        "ToolCalled",
        "ToolReturned",
    ]
    assert one(records, ToolCalled).command == "ls"
    assert one(records, ToolReturned).duration == 1_500_000_000


def test_calls_without_ids_are_paired_by_name_and_marked() -> None:
    records = read(
        FORMAT,
        lines(
            {"created_at": T, "role": "user", "content": "hi", "model": "m"},
            {"created_at": T, "type": "function_call", "function": {"name": "f"}, "arguments": {"a": 1}},
            {"created_at": T, "type": "function_result", "name": "f", "result": "r"},
        ),
        "rollout-2025-09-10T12-00-00-01a22ea8-14d1-7d80-9e03-15a7907963bc.jsonl",
    )
    asked, result = one(records, ToolCalled), one(records, ToolReturned)
    assert asked.call == result.call == "line-2"
    assert asked.positional and result.positional
    assert asked.session == "01a22ea8-14d1-7d80-9e03-15a7907963bc"


def test_unknown_rows_are_counted() -> None:
    records = read(
        FORMAT,
        lines(
            META, row("new_kind"), event("new_event"), item("new_item"), event("item_completed", item={"type": "New"})
        ),
    )
    details = ["new_kind", "event_msg/new_event", "response_item/new_item", "item_completed/New"]
    assert [(skip.reason, skip.detail) for skip in only(records, Skipped)] == [
        ("unknown record type", detail) for detail in details
    ]


def test_secrets_in_commands_and_output() -> None:
    secret = "ghp_" + "a" * 36
    records = read(FORMAT, lines(META, call("exec_command", {"cmd": f"curl -H x:{secret}"}), output(f"got {secret}")))
    assert secret not in repr(records)
    result = one(records, ToolReturned)
    assert result.output is not None and result.output.redactions == 1
