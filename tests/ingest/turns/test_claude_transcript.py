"""Claude Code transcripts, shape by shape."""

from __future__ import annotations

import pytest
from reading import Row, lines, one, only, read

from ingest.turns.claude_transcript import FORMAT
from ingest.turns.results import claude_answer
from provenance.records import (
    ApprovalDecided,
    ContextCompacted,
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

BASE: Row = {
    "sessionId": "s",
    "cwd": "/w",
    "version": "2.1.0",
    "timestamp": "2026-11-30T22:52:07.865Z",
    "isSidechain": False,
}


def user(content: object, uuid: str = "u", /, **fields: object) -> Row:
    return {**BASE, "type": "user", "uuid": uuid, "message": {"role": "user", "content": content}, **fields}


def assistant(
    block: Row | str, uuid: str, message: str = "m1", /, stop: str | None = None, output: int = 1, **fields: object
) -> Row:
    inner = {"id": message, "role": "assistant", "model": "claude-x", "content": [block], "stop_reason": stop}
    return {
        **BASE,
        "type": "assistant",
        "uuid": uuid,
        "message": inner | {"usage": {"input_tokens": 2, "output_tokens": output}},
        **fields,
    }


def use(name: str, arguments: object, call: str = "c1") -> Row:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def result(content: object, call: str = "c1", /, **fields: object) -> list[Row]:
    return [{"type": "tool_result", "tool_use_id": call, "content": content, **fields}]


def text(said: str) -> Row:
    return {"type": "text", "text": said}


def test_a_turn_from_prompt_to_end() -> None:
    records = read(
        FORMAT,
        lines(
            user("fix it", "u1", promptId="p1", permissionMode="default"),
            assistant({"type": "thinking", "thinking": "hm"}, "a1", stop="tool_use"),
            assistant(use("Bash", {"command": "make"}), "a2", stop="tool_use", output=9),
            user(result("Exit code 2\nboom", is_error=True), "u2", promptId="p1"),
            assistant(text("broken"), "a3", "m2", stop="end_turn"),
            {**BASE, "type": "system", "subtype": "turn_duration", "uuid": "x", "durationMs": 5},
        ),
    )
    assert [(t.turn, t.line) for t in only(records, TurnStarted)] == [("p1", 1)]
    responses = only(records, ModelResponded)
    assert [(r.response, r.usage) for r in responses[:2]] == [
        ("m1", {"input": 2, "output": 1}),
        ("m1", {"input": 2, "output": 9}),
    ]
    assert responses[0].reasoning is not None and responses[0].reasoning.preview == "hm"
    call, answer, end = one(records, ToolCalled), one(records, ToolReturned), one(records, TurnEnded)
    assert (call.name, call.action, call.command, call.response, call.turn, call.cwd) == (
        "Bash",
        "shell",
        "make",
        "m1",
        "p1",
        "/w",
    )
    assert (answer.status, answer.exit_code, answer.turn) == ("failed", 2, "p1")
    assert (end.turn, end.status, end.line) == ("p1", "completed", 5)
    assert end.final_message is not None and end.final_message.preview == "broken"
    assert one(records, PolicyStated).permission_mode == "default"


def test_rows_repeated_by_a_resume_are_read_once() -> None:
    rows = [user("go", "u1"), assistant(use("Read", {"file_path": "/w/a"}), "a1"), user(result("x"), "u2")]
    records = read(FORMAT, lines(*rows, *rows, assistant(use("Read", {"file_path": "/w/a"}), "a9")))
    assert len(only(records, ToolCalled)) == len(only(records, ToolReturned)) == len(only(records, TurnStarted)) == 1
    assert one(records, ToolCalled).paths == ("/w/a",)
    assert not only(records, Skipped)


def test_sub_agent_rows_are_a_session_of_their_own() -> None:
    records = read(
        FORMAT,
        lines(
            assistant(use("Task", {"prompt": "go"}), "a1"),
            user("go", "b1", isSidechain=True, agentId="g1"),
            assistant(use("Bash", {"command": "ls"}, "c2"), "b2", "m2", isSidechain=True, agentId="g1"),
            user(result("done"), "u2", toolUseResult={"agentId": "g1", "totalDurationMs": 7}),
        ),
    )
    assert [(call.session, call.action) for call in only(records, ToolCalled)] == [("s", "delegate"), ("s/g1", "shell")]
    answer = one(records, ToolReturned)
    assert (answer.child_session, answer.duration) == ("s/g1", 7_000_000)
    said = one(records, MessageSaid)
    assert (said.session, said.origin) == ("s/g1", "parent_agent")
    assert {d.parent_session for d in only(records, SessionDescribed) if d.session == "s/g1"} == {"s"}


@pytest.mark.parametrize("twins", [False, True])
def test_old_side_chains(twins: bool) -> None:
    def chain(root: str) -> list[Row]:
        first = user("go", root, isSidechain=True, parentUuid=None)
        return [first, assistant(text("ok"), f"{root}-2", f"m-{root}", isSidechain=True, parentUuid=root)]

    rows = [*chain("root-one-x"), *(chain("root-two-x") if twins else [])]
    records = read(FORMAT, lines(assistant(use("Task", {"prompt": "go"}), "a1"), *rows, user(result("done"), "u2")))
    sessions = {said.session for said in only(records, MessageSaid)}
    assert sessions == {"s/sidechain-root-one", *(["s/sidechain-root-two"] if twins else [])}
    assert one(records, ToolReturned).child_session == (None if twins else "s/sidechain-root-one")


def test_fork_context() -> None:
    described = one(
        read(FORMAT, lines({"type": "fork-context-ref", "agentId": "g", "parentSessionId": "p"})), SessionDescribed
    )
    assert (described.session, described.parent_session) == ("p/g", "p")


@pytest.mark.parametrize(
    ("said", "fields", "expected"),
    [
        ("do it", {}, ("human", True)),
        ("<command-name>/init</command-name>", {}, ("human", True)),
        ("expanded", {"isMeta": True}, ("harness", False)),
        ("<local-command-stdout>x", {}, ("harness", False)),
        ("<task-notification>x", {"origin": {"kind": "task-notification"}}, ("harness", True)),
        ("hello", {"origin": {"kind": "human"}}, ("human", True)),
        ("<teammate-message from=a>", {}, ("agent", True)),
    ],
)
def test_who_speaks_in_a_users_place(said: str, fields: Row, expected: tuple[str, bool]) -> None:
    records = read(FORMAT, lines(user(said, **fields)))
    assert (one(records, MessageSaid).origin, bool(only(records, TurnStarted))) == expected


def test_reminder_beside_a_prompt() -> None:
    records = read(FORMAT, lines(user([text("<system-reminder>x"), text("do it")])))
    assert [(m.origin, m.content.preview) for m in only(records, MessageSaid)] == [
        ("harness", "<system-reminder>x"),
        ("human", "do it"),
    ]


def test_interruption() -> None:
    records = read(FORMAT, lines(user("go", "u1"), user([text("[Request interrupted by user for tool use]")], "u2")))
    end = one(records, TurnEnded)
    assert (end.turn, end.status) == ("u1", "interrupted")
    assert len(only(records, TurnStarted)) == 1


@pytest.mark.parametrize(
    ("answer", "denial", "expected"),
    [
        ("Exit code 127\nnot found", None, ("failed", 127, None)),
        ("<tool_use_error>String to replace not found</tool_use_error>", None, ("failed", None, None)),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", None, ("refused", None, None)),
        ("The user doesn't want to proceed with this tool use.", None, ("refused", None, "human")),
        ("rejected", "user-rejected", ("refused", None, "human")),
        ("denied", "permission-rule", ("refused", None, "policy")),
        (
            "Claude requested permissions to write to /x, but you haven't granted it yet.",
            None,
            ("refused", None, "policy"),
        ),
        ("Permission to use Bash has been denied.", None, ("refused", None, "policy")),
        ("Command timed out after 2m 0.0s", None, ("timed_out", None, None)),
        ("[Request interrupted by user for tool use]", None, ("interrupted", None, None)),
    ],
)
def test_errors_and_refusals(answer: str, denial: str | None, expected: tuple[object, ...]) -> None:
    read_answer = claude_answer(answer, failed=True, denial=denial)
    assert (read_answer.status, read_answer.exit_code, read_answer.refused_by) == expected


def test_words_of_a_failure_in_a_good_answer_change_nothing() -> None:
    answer = claude_answer("Exit code 3\n", failed=False)
    assert (answer.status, answer.exit_code) == ("completed", None)


def test_refusal_is_a_decision() -> None:
    rows = [
        assistant(use("Write", {"file_path": "/w/a"}), "a1"),
        user(result("no", is_error=True), "u1", toolDenialKind="user-rejected"),
    ]
    records = read(FORMAT, lines(*rows))
    decided = one(records, ApprovalDecided)
    assert (decided.call, decided.decision, decided.by) == ("c1", "refused", "human")


def test_changes_background_and_plans() -> None:
    records = read(
        FORMAT,
        lines(
            assistant(use("Write", {"file_path": "/w/a"}, "c1"), "a1"),
            user(result("ok", "c1"), "u1", toolUseResult={"type": "create", "filePath": "/w/a", "structuredPatch": []}),
            assistant(use("Bash", {"command": "sleep 99"}, "c2"), "a2"),
            user(result("started", "c2"), "u2", toolUseResult={"stdout": "", "backgroundTaskId": "b7"}),
            assistant(use("BashOutput", {"bash_id": "b7"}, "c3"), "a3"),
            assistant(use("TodoWrite", {"todos": [{"content": "one"}, {"content": "two"}]}, "c4"), "a4"),
        ),
    )
    wrote, slept = only(records, ToolReturned)
    assert wrote.changes == (("/w/a", "add"),)
    assert (slept.status, slept.running) == ("running", "b7")
    assert [call.continues for call in only(records, ToolCalled)] == [None, None, "b7", None]
    assert one(records, PlanDeclared).steps == ("one", "two")


@pytest.mark.parametrize("summary", [False, True])
def test_compaction_is_one_record(summary: bool) -> None:
    boundary = {**BASE, "type": "system", "subtype": "compact_boundary", "uuid": "x"}
    rows = [user("the story so far", "u9", isCompactSummary=True)] if summary else [user("next", "u9")]
    compacted = one(read(FORMAT, lines(boundary, *rows)), ContextCompacted)
    assert (compacted.summary is not None) == summary


def test_api_error_ends_the_turn() -> None:
    row = assistant(text("API Error: 500"), "a1", stop="stop_sequence", isApiErrorMessage=True)
    records = read(FORMAT, lines(user("go", "u1"), row))
    assert (one(records, TurnEnded).status, one(records, ModelResponded).error) == ("failed", "API Error: 500")


def test_unknown_types_are_counted_and_headless_rows_are_quiet() -> None:
    quiet: Row = {"type": "summary", "summary": "x", "leafUuid": "y"}
    records = read(
        FORMAT, lines(quiet, {**BASE, "type": "new"}, {**BASE, "type": "system", "subtype": "newer", "uuid": "n"})
    )
    assert [skip.detail for skip in only(records, Skipped)] == ["new", "system/newer"]


def test_mode_is_stated_when_it_changes() -> None:
    mode: Row = {"type": "permission-mode", "permissionMode": "plan", "sessionId": "s"}
    records = read(FORMAT, lines(mode, mode, {**mode, "permissionMode": "acceptEdits"}))
    assert [policy.permission_mode for policy in only(records, PolicyStated)] == ["plan", "acceptEdits"]
