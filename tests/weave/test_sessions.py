"""What a session's records become: nodes, contexts, ends, authorities, outcomes, sub-agents."""

from __future__ import annotations

from time import process_time

import pytest

from provenance.changes import Changes, validate
from provenance.records import (
    AnyTurnRecord,
    ApprovalDecided,
    ContextCompacted,
    EnvironmentStated,
    MessageSaid,
    PlanDeclared,
    PolicyStated,
    SessionEnded,
    ToolCalled,
)
from provenance.weave.sessions import RuntimeEnd, SessionLog, difference, weave_session
from tests.weave.turn_records import Scribe, content, heads, is_acyclic, of_kind, outcomes, rollout, woven


def simple() -> Scribe:
    scribe = Scribe().described(cwd="/ws").begin("t").user("Fix it", turn="t")
    scribe.response("r1", turn="t", usage={"input": 10, "output": 2}, model="m").call(
        "c1", "ls", turn="t", response="r1"
    )
    scribe.answer("c1", turn="t", exit_code=0, output=content("a\nb"))
    scribe.response("r2", turn="t", usage={"input": 20, "output": 3}).agent("Uploaded.", turn="t", response="r2")
    return scribe.end("t", said="Uploaded.")


def test_context_calls_and_outputs() -> None:
    graph = rollout(simple())
    validate(graph.changes())
    assert heads(graph, "INFORMED_BY", "modelcall:s/1") == ["artifact:s/message/1"]
    assert heads(graph, "INFORMED_BY", "modelcall:s/2") == ["artifact:s/output/c1"]
    assert graph.edges["INFORMED_BY", "modelcall:s/2", "artifact:s/output/c1"]["bytes"] == 3
    assert heads(graph, "FOLLOWS", "modelcall:s/2") == ["modelcall:s/1"]
    assert heads(graph, "FORMED_BY", "toolcall:s/c1") == ["modelcall:s/1"]
    assert heads(graph, "GENERATED_BY", "artifact:s/output/c1") == ["toolcall:s/c1"]
    assert heads(graph, "GENERATED_BY", "artifact:s/message/2") == ["modelcall:s/2"]
    assert heads(graph, "PART_OF", "toolcall:s/c1") == ["turn:s/1"]
    assert heads(graph, "RECORDED_IN", "session:s") == ["source:r"]
    assert heads(graph, "ATTRIBUTED_TO", "session:s") == ["principal:agent/codex"]
    session, call = graph.nodes["session:s"], graph.nodes["toolcall:s/c1"]
    assert (session["status"], session["input_tokens"], session["model"]) == ("completed", 30, "m")
    assert (call["status"], call["exit_code"], call["attempt"], call["command"]) == ("completed", 0, 1, "ls")
    assert graph.edges["FORMED_BY", "toolcall:s/c1", "modelcall:s/1"]["source"] == "r:5"
    assert not of_kind(graph, "gap")


def test_parallel_calls_share_a_response() -> None:
    scribe = Scribe().described().begin().user("x").response("r1")
    scribe.call("a", "ls", response="r1").call("b", "pwd", response="r1").answer("b").answer("a")
    scribe.call("c", "id", response="r1")  # a late row of the same response
    scribe.agent("ok", response="r2").end()
    graph = rollout(scribe)
    assert len(of_kind(graph, "modelcall")) == 2
    for call in "abc":
        assert heads(graph, "FORMED_BY", f"toolcall:s/{call}") == ["modelcall:s/1"]


def test_responses_without_ids_begin_anew_after_an_answer() -> None:
    scribe = Scribe().begin().user("x").shell("a", "ls").shell("b", "pwd").agent("ok").end()
    graph = rollout(scribe)
    assert len(of_kind(graph, "modelcall")) == 3


def test_calls_without_and_with_repeated_ids_are_told_apart() -> None:
    scribe = Scribe(timed=False).begin().shell(None, "ls").shell(None, "ls").shell("x", "ls").shell("x", "ls").end()
    graph = rollout(scribe)
    calls = of_kind(graph, "toolcall")
    assert list(calls) == ["@1", "@2", "x", "x~2"]
    assert [fields["attempt"] for fields in calls.values()] == [1, 2, 3, 4]
    assert all(fields["status"] == "completed" for fields in calls.values())


def test_a_call_told_twice_is_one() -> None:
    scribe = Scribe().begin("t").call("a", "ls", turn="t").call("a", "ls", turn="t").answer("a", exit_code=0).end("t")
    assert list(of_kind(rollout(scribe), "toolcall")) == ["a"]


def test_an_answer_without_its_call_is_kept_with_a_gap() -> None:
    graph = rollout(Scribe().begin().answer("lost", output=content("x")).end())
    assert graph.nodes["gap:s/call/lost"]["reason"] == "dangling_parent"
    assert heads(graph, "GENERATED_BY", "artifact:s/output/lost") == ["toolcall:s/lost"]


def test_an_answer_before_its_call_cannot_close_a_cycle() -> None:
    scribe = Scribe().begin("t").answer("a", turn="t", output=content("x")).response("r", turn="t")
    scribe.call("a", "ls", turn="t", response="r").end("t")
    graph = rollout(scribe)
    assert is_acyclic(graph.edges)
    assert graph.nodes["gap:s/late"]["reason"] == "late_edge"
    assert graph.nodes["toolcall:s/a"]["command"] == "ls"


def test_secrets_do_not_reach_the_nodes() -> None:
    secret = "ghp_" + "a1B2" * 9
    graph = rollout(Scribe().begin().call("a", f"curl -H 'Authorization: token {secret}' x").end())
    call = graph.nodes["toolcall:s/a"]
    assert secret not in str(call["command"]) + str(call["name"])


# Ends


def test_no_recorded_end_is_unknown_with_a_gap() -> None:
    graph = rollout(Scribe().described().begin().user("x").call("a", "make"))
    assert graph.nodes["session:s"]["status"] == graph.nodes["turn:s/1"]["status"] == "unknown"
    assert graph.nodes["toolcall:s/a"]["status"] == "unknown"
    assert {str(gap["reason"]) for gap in of_kind(graph, "gap").values()} == {"never_captured"}
    assert set(of_kind(graph, "gap")) == {"end", "turn/1/end", "answer/a"}


@pytest.mark.parametrize(
    ("signal", "status"), [("SIGKILL", "killed"), ("SIGTERM", "killed"), ("SIGINT", "interrupted")]
)
def test_a_signal_to_the_runtime_ends_what_is_open(signal: str, status: str) -> None:
    scribe = Scribe().described().begin().user("x").shell("a", "ls").call("b", "sleep 9")
    graph = rollout(scribe, end=RuntimeEnd(time=99, signal=signal, source="strace:7"))
    for node in ("session:s", "turn:s/1", "toolcall:s/b"):
        assert (graph.nodes[node]["status"], graph.nodes[node]["end"]) == (status, 99)
        edge = graph.edges["OUTCOME_OF", "outcome:s/runtime", node]
        assert (edge["basis"], edge["source"]) == ("observed", "strace:7")
    assert graph.nodes["toolcall:s/a"]["status"] == "completed"
    assert graph.nodes["turn:s/1"]["failing_step"] == graph.nodes["session:s"]["failing_step"] == "toolcall:s/b"
    assert outcomes(graph, "checked") == {"run": status}
    assert heads(graph, "JUDGED_BY", "outcome:s/runtime") == ["oracle:kernel/oracles/1"]


def test_a_recorded_end_outweighs_the_runtime() -> None:
    graph = rollout(simple(), end=RuntimeEnd(time=99, signal="SIGKILL"))
    assert graph.nodes["session:s"]["status"] == "completed"
    assert "outcome:s/runtime" not in graph.nodes


def test_an_incomplete_trace_decides_nothing() -> None:
    graph = rollout(Scribe().described().begin(), end=RuntimeEnd(signal="SIGKILL", complete=False))
    assert graph.nodes["session:s"]["status"] == "unknown"


def test_interruption() -> None:
    scribe = Scribe().begin().user("x").call("a", "sleep 9").end(status="interrupted")
    graph = rollout(scribe)
    assert graph.nodes["toolcall:s/a"]["status"] == graph.nodes["turn:s/1"]["status"] == "interrupted"
    assert outcomes(graph, "checked") == {"run": "interrupted"}


def test_only_the_last_turn_can_be_killed() -> None:
    scribe = Scribe().begin("1").user("x", turn="1").begin("2").user("y", turn="2")
    graph = rollout(scribe, end=RuntimeEnd(signal="SIGKILL"))
    assert [turn["status"] for turn in of_kind(graph, "turn").values()] == ["unknown", "killed"]
    assert heads(graph, "FOLLOWS", "turn:s/2") == ["turn:s/1"]


# Authority


def test_policy_authority_and_sandbox() -> None:
    scribe = Scribe().described().begin("t")
    scribe.add(
        PolicyStated, turn="t", approval="never", sandbox="workspace-write", writable_roots=("/ws",), details="{}"
    )
    scribe.shell("a", "ls", turn="t").end("t")
    graph = rollout(scribe)
    validate(graph.changes())
    (authority,) = heads(graph, "AUTHORISED_BY", "toolcall:s/a")
    assert graph.nodes[authority]["sandbox"] == "workspace-write"
    assert {head.split("/")[0] for head in heads(graph, "GOVERNED_BY", authority)} == {
        "policy:approval",
        "policy:sandbox",
        "policy:settings",
    }
    assert heads(graph, "AUTHORISED_BY", "turn:s/1") == [authority]
    (sandbox,) = heads(graph, "RAN_IN", "session:s")
    assert graph.nodes[sandbox]["writable_roots"] == ["/ws"]
    other = woven(("k", "codex-rollout", list(Scribe("other").begin().records)), session="other")
    assert not of_kind(other, "policy")


def test_one_policy_is_shared_between_sessions() -> None:
    def policies(session: str) -> set[str]:
        scribe = Scribe(session).add(PolicyStated, approval="never")
        return set(of_kind(woven((session, "x", scribe.records), session=session), "policy"))

    assert policies("a") == policies("b") != set()


def test_decisions_and_refusals() -> None:
    scribe = (
        Scribe()
        .begin()
        .call("a", "rm -rf /")
        .add(ApprovalDecided, call="a", decision="refused", by="human", reason="no")
    )
    scribe.answer("a", status="refused", error="user rejected")
    scribe.edit("b", "x.py", status="refused", error="unsupported custom tool call").end()
    graph = rollout(scribe)
    validate(graph.changes())
    assert heads(graph, "AUTHORISED_BY", "toolcall:s/a") == ["authority:s/call/a"]
    assert heads(graph, "GRANTED_BY", "authority:s/call/a") == ["principal:human/user"]
    assert graph.nodes["authority:s/call/b"]["decision"] == "refused"
    assert heads(graph, "GRANTED_BY", "authority:s/call/b") == ["principal:service/host"]
    assert outcomes(graph, "checked", "toolcall:s/b") == {"command": "refused"}


# Anchors


def test_plans_environments_and_compactions() -> None:
    scribe = Scribe().described().add(EnvironmentStated, details='{"shell":"bash"}').begin("t").user("x", turn="t")
    scribe.response("r1", turn="t").add(
        PlanDeclared, turn="t", response="r1", content=content("plan"), steps=("a", "b")
    )
    scribe.add(ContextCompacted, turn="t", summary=content("summary")).response("r2", turn="t").end("t")
    graph = rollout(scribe)
    validate(graph.changes())
    assert heads(graph, "FORMED_BY", "plan:s/1") == ["modelcall:s/1"]
    assert graph.nodes["plan:s/1"]["steps"] == ["a", "b"]
    assert graph.nodes["checkpoint:s/compaction/1"]["type"] == "compaction"
    assert heads(graph, "FOLLOWS", "modelcall:s/2") == []  # only the summary goes on
    (summary,) = heads(graph, "INFORMED_BY", "modelcall:s/2")
    assert heads(graph, "GENERATED_BY", summary) == ["modelcall:s/1"]
    assert graph.nodes["gap:s/compaction/1"]["reason"] == "summarised"
    assert len(of_kind(graph, "environment")) == 1


def test_a_sub_agents_session() -> None:
    parent = (
        Scribe().described().begin().add(ToolCalled, call="a", name="Agent", action="delegate", arguments=content("go"))
    )
    graph = rollout(parent.answer("a", child_session="s/kid").end())
    assert heads(graph, "DELEGATED_BY", "session:s/kid") == ["toolcall:s/a"]
    child = Scribe("s/kid").described("claude-code", parent_session="s").begin()
    child.add(MessageSaid, origin="parent_agent", content=content("go"))
    records = ("k", "claude-transcript", child.records)
    graph = woven(records, session="s/kid")
    assert heads(graph, "PART_OF", "session:s/kid") == ["session:s"]
    graph = woven(records, session="s/kid", delegated_by="toolcall:s/a")
    assert heads(graph, "GENERATED_BY", "artifact:s/kid/message/1") == ["toolcall:s/a"]
    graph = woven(records, session="s/kid", delegated_by="toolcall:elsewhere/a")
    assert heads(graph, "GENERATED_BY", "artifact:s/kid/message/1") == []


# Outcomes


def test_mismatch_is_explained_by_the_refused_edit() -> None:
    scribe = Scribe().described().begin().user("Fix the failing test")
    scribe.shell("c0", "cat a.py").edit("c1", "a.py", status="refused", error="unsupported")
    scribe.shell("c2", "python3 -m unittest 2>&1 | tail -3; git add -A", 0, "FAILED (failures=1)")
    graph = rollout(scribe.agent("Fixed add() and the tests pass.").end())
    validate(graph.changes())
    assert outcomes(graph, "checked") == {"test": "fail"}
    assert outcomes(graph, "claimed") == {"run": "pass", "test": "pass"}
    assert heads(graph, "CONTRADICTS", "outcome:s/c2/test") == ["outcome:s/turn/1/claimed/test"]
    assert graph.nodes["turn:s/1"]["failing_step"] == graph.nodes["session:s"]["failing_step"] == "toolcall:s/c1"


def test_a_repaired_edit_does_not_explain_a_mismatch() -> None:
    scribe = Scribe().begin().edit("c1", "a.py", status="failed").edit("c2", "a.py").shell("c3", "pytest", 1)
    assert rollout(scribe.agent("All tests pass.").end()).nodes["turn:s/1"]["failing_step"] == "toolcall:s/c3"


def test_an_honest_report_of_a_failing_check_names_it() -> None:
    graph = rollout(Scribe().begin().edit("c1", "a.py").shell("c2", "make", 2).agent("The build fails.").end())
    assert graph.nodes["turn:s/1"]["failing_step"] == "toolcall:s/c2"
    assert not [key for key in graph.edges if key[0] == "CONTRADICTS"]


def test_failed_commands_with_an_honest_report_are_no_failing_turn() -> None:
    scribe = Scribe().begin().shell("a", "python3 -m nosuchlinter src", 1).shell("b", "false && echo never", 1)
    graph = rollout(scribe.agent("The linter is not installed; nothing was changed.").end())
    assert "failing_step" not in graph.nodes["turn:s/1"]
    assert outcomes(graph, "checked", "toolcall:s/a") == {"command": "fail"}
    assert outcomes(graph, "claimed") == {"lint": "unknown", "run": "unchanged"}
    assert not [key for key in graph.edges if key[0] == "CONTRADICTS"]


def test_fixed_while_the_tests_fail_is_a_contradiction_too() -> None:
    graph = rollout(Scribe().begin().shell("a", "pytest", 1).agent("Fixed.").end())
    edge = graph.edges["CONTRADICTS", "outcome:s/a/test", "outcome:s/turn/1/claimed/run"]
    assert edge["confidence"] == 0.7


def test_the_last_check_counts_and_a_later_change_makes_it_stale() -> None:
    scribe = Scribe().begin().shell("a", "pytest", 1).edit("b", "a.py").shell("c", "pytest", 0)
    graph = rollout(scribe.agent("All tests pass.").end())
    assert outcomes(graph, "checked") == {"test": "pass"}
    scribe = Scribe().begin().shell("a", "pytest", 0).edit("b", "a.py").agent("All tests pass.").end()
    graph = rollout(scribe)
    assert outcomes(graph, "checked") == {"test": "unknown"}
    assert "last change" in str(graph.nodes["outcome:s/turn/1/test"]["statement"])
    scribe = Scribe().begin().shell("a", "pytest", 0).edit("b", "README.md").agent("All tests pass.").end()
    assert outcomes(rollout(scribe), "checked") == {"test": "pass"}


def test_a_command_continued_by_later_calls_ends_with_them() -> None:
    scribe = Scribe().begin().call("a", "make").answer("a", status="running", running="7", output=content("..."))
    scribe.add(ToolCalled, call="b", name="write_stdin", action="shell_input", arguments=content("{}"), continues="7")
    scribe.answer("b", exit_code=2, output=content("make: *** [all] Error 1")).end()
    graph = rollout(scribe)
    assert (graph.nodes["toolcall:s/a"]["status"], graph.nodes["toolcall:s/a"]["exit_code"]) == ("failed", 2)
    assert outcomes(graph, "checked") == {"build": "fail"}


def test_a_host_that_ends_in_failure_is_an_outcome() -> None:
    graph = rollout(Scribe().begin().user("x").shell("a", "false", 1).end(status="failed"))
    assert outcomes(graph, "checked") == {"run": "fail"}
    assert graph.nodes["turn:s/1"]["failing_step"] == "toolcall:s/a"


# Two sources of one run


def stream(*extra: str) -> Scribe:
    scribe = Scribe(timed=False, positional=True).described(entrypoint="exec").begin()
    scribe.shell("item_0", "/bin/bash -lc 'ls'", 0, "a\nb")
    for nth, command in enumerate(extra, 1):
        scribe.shell(f"item_{nth}", command, 0, "x")
    return scribe.agent("Uploaded.").end(said="Uploaded.").add(SessionEnded, status="completed", cost_usd=0.5)


def test_a_stream_adds_only_what_the_rollout_lacks() -> None:
    alone = rollout(simple())
    graph = woven(("r", "codex-rollout", simple().records), ("x", "codex-exec", stream().records))
    assert set(graph.nodes) == set(alone.nodes)
    assert set(graph.edges) - set(alone.edges) == {("RECORDED_IN", "session:s", "source:x")}
    session = graph.nodes["session:s"]
    assert (session["cost_usd"], session["entrypoint"]) == (0.5, "exec")


def test_a_cut_rollout_is_completed_from_the_stream() -> None:
    cut = simple()
    cut.records = [record for record in cut.records if record.line < 6]  # the answer and all after it are lost
    graph = woven(("r", "codex-rollout", cut.records), ("x", "codex-exec", stream("/bin/bash -lc 'pwd'").records))
    calls = of_kind(graph, "toolcall")
    assert list(calls) == ["c1", "item_1"]
    assert [call["status"] for call in calls.values()] == ["completed", "completed"]
    assert (graph.nodes["turn:s/1"]["status"], len(of_kind(graph, "turn"))) == ("completed", 1)
    assert not of_kind(graph, "gap")


def test_identical_commands_match_in_order() -> None:
    full = Scribe().begin("t")
    for call in "abc":
        full.call(call, "ls", turn="t")
        if call != "c":
            full.answer(call, turn="t", exit_code=0)
    told = Scribe(timed=False, positional=True).begin()
    for nth, status in enumerate((0, 0, 3)):
        told.shell(f"item_{nth}", "bash -lc ls", status)
    graph = woven(("r", "codex-rollout", full.records), ("x", "codex-exec", told.end().records))
    assert {call: fields["exit_code"] for call, fields in of_kind(graph, "toolcall").items()} == {
        "a": 0,
        "b": 0,
        "c": 3,
    }


def test_the_second_stream_of_a_resumed_session_meets_the_second_turn() -> None:
    full = Scribe().described()
    for turn in "12":
        full.begin(turn).user("x", turn=turn).shell(f"c{turn}", f"ls {turn}", turn=turn).agent(
            f"Did {turn}.", turn=turn
        ).end(turn)
    told = Scribe(timed=False, positional=True).begin().shell("item_0", "ls 2", 0, "out").agent("Did 2.").end()
    graph = woven(("r", "codex-rollout", full.records), ("x", "codex-exec", told.records))
    assert len(of_kind(graph, "turn")) == 2
    assert list(of_kind(graph, "toolcall")) == ["c1", "c2"]


def test_an_end_before_the_last_turn_is_not_the_sessions() -> None:
    full = Scribe().described()
    full.begin("1").user("x", turn="1").shell("c1", "ls 1", turn="1").end("1").begin("2").user("y", turn="2")
    told = Scribe(timed=False, positional=True).begin().shell("item_0", "ls 1").end().add(SessionEnded, cost_usd=0.5)
    graph = woven(("r", "codex-rollout", full.records), ("x", "codex-exec", told.records))
    assert (graph.nodes["session:s"]["status"], graph.nodes["session:s"]["cost_usd"]) == ("unknown", 0.5)


def test_fifty_thousand_records_in_seconds() -> None:
    scribe = Scribe().described()
    for turn in range(500):
        scribe.begin(str(turn)).user("go", turn=str(turn))
        for nth in range(24):
            call = f"{turn}-{nth}"
            scribe.response(call, turn=str(turn)).agent(f"Next {call}.", turn=str(turn), response=call)
            scribe.shell(
                call, f"pytest -q tests/test_{call}.py | tail -3", 0, "1 passed", turn=str(turn), response=call
            )
        scribe.end(str(turn), said="Done; tests pass.")
    assert len(scribe.records) > 49_000
    began = process_time()
    rollout(scribe)
    assert process_time() - began < 15  # two to three on a quiet machine; quadratic work takes minutes


# Log and difference


def test_a_log_survives_dump_and_load() -> None:
    log = SessionLog("s")
    log.add("r", "codex-rollout", simple().records)
    log.add("x", "codex-exec", stream().records)
    loaded = SessionLog.load(log.dump())
    assert loaded.dump() == log.dump()
    assert weave_session(loaded) == weave_session(log)


def test_a_log_takes_records_once_and_only_its_own() -> None:
    log = SessionLog("s")
    records = simple().records
    assert log.add("r", "codex-rollout", records)
    assert not log.add("r", "codex-rollout", records[3:])
    assert log.sources["r"].records == records
    with pytest.raises(ValueError, match="other"):
        log.add("r", "codex-rollout", Scribe("other").begin().records)


def test_damaged_text_can_be_kept() -> None:
    log = SessionLog("s")
    log.add("r", "codex-rollout", Scribe().user("a\ud800b").records)
    assert weave_session(SessionLog.load(log.dump())).nodes["artifact:s/message/1"]["preview"] == "a?b"


def test_difference_tells_what_to_write() -> None:
    records = simple().records
    old, new = rollout(_first(records, 6)), rollout(_first(records, len(records)))
    changes = difference(old, new)
    validate(changes)
    assert changes.nodes["turn:s/1"] == {
        "status": "completed",
        "end": 9_000_000_000,
        "output_tokens": 5,
        "input_tokens": 30,
    }
    assert "modelcall:s/1" not in changes.nodes
    assert ("FOLLOWS", "modelcall:s/2", "modelcall:s/1") in changes.edges
    assert "gap:s/turn/1/end" in changes.removed_nodes
    back = difference(new, old)
    assert "modelcall:s/2" in back.removed_nodes
    assert back.nodes["turn:s/1"]["end"] is None
    assert not difference(new, new)
    assert difference(None, new) == Changes(nodes=new.nodes, edges=new.edges)


def test_shared_nodes_are_never_removed() -> None:
    scribe = Scribe().described().add(PolicyStated, approval="never").begin()
    changes = difference(rollout(scribe), rollout(Scribe().begin()))
    assert all(identity.startswith(("authority:s", "gap:s")) for identity in changes.removed_nodes)
    assert changes.removed_edges


def _first(records: list[AnyTurnRecord], count: int) -> Scribe:
    scribe = Scribe()
    scribe.records = records[:count]
    return scribe
