"""A rollout's tool calls and their answers, each given once.

Beside the answer that the model got, the host tells of the execution (exit code, times, whole output, changed files): that is
kept until the answer comes and goes into the same `ToolReturned`. A command that went on running is answered again when
it has ended.
"""

from __future__ import annotations

from ingest.content import content, short
from ingest.turns import codex_context as context
from ingest.turns import codex_conversation as conversation
from ingest.turns import codex_rows as rows
from ingest.turns.codex_conversation import Place, RolloutState
from ingest.turns.codex_rows import Account, Call, Request
from ingest.turns.lines import Out
from ingest.turns.results import Answer
from ingest.values import Object, identifier, string
from provenance.records import ApprovalDecided, PlanDeclared, ToolCalled, ToolReturned


def decided(
    state: RolloutState, place: Place, call: str | None, decision: str, by: str, reason: str | None, out: Out
) -> None:
    out.append(
        ApprovalDecided(
            **place.turned,
            call=call,
            decision=decision,
            by=by,
            reason=reason,
        )
    )


def called(
    state: RolloutState, place: Place, payload: Object, request: Request, out: Out, response: bool = True
) -> str:
    """Give a call once; its id."""
    call = identifier(payload, "call_id", "callId") or identifier(payload, "id")
    positional = call is None
    if call is None:
        call = f"line-{place.line}"
        state.nameless.append((request.name, call))
    if call in state.calls:
        return call
    state.calls[call] = Call(request.name, request.action)
    belongs_to = conversation.respond(state, place, out) if response else None
    out.append(
        ToolCalled(
            **place.turned,
            call=call,
            response=belongs_to,
            name=request.name,
            action=request.action,
            command=request.command,
            argv=request.argv,
            paths=request.paths,
            cwd=request.cwd,
            arguments=content(request.arguments),
            continues=request.continues,
            positional=positional,
        )
    )
    if request.plan is not None:
        plan(state, place, call, request.plan, belongs_to, out)
    return call


def self_answered(state: RolloutState, place: Place, kind: str, call: str, payload: Object, out: Out) -> None:
    """Calls that the model's provider ran: their item comes when they are done, and no other answer does."""
    status = string(payload, "status")
    known = state.calls.get(call)
    if kind not in ("web_search_call", "image_generation_call") or status not in ("completed", "failed"):
        return
    if known is not None and known.answered is None:
        returned(state, place, call, Answer(None, status=status), None, out)


def plan(
    state: RolloutState,
    place: Place,
    call: str | None,
    plan: tuple[str, tuple[str, ...]],
    response: str | None,
    out: Out,
) -> None:
    out.append(
        PlanDeclared(
            **place.turned,
            call=call,
            response=response,
            content=content(plan[0]),
            steps=plan[1],
        )
    )


def output(state: RolloutState, place: Place, payload: Object, out: Out) -> None:
    conversation.close_response(state)
    call = identifier(payload, "call_id", "callId")
    positional = call is None
    if call is None:
        name = rows.item_name(payload)
        call = next((ours for tool, ours in state.nameless if tool == name), None)
        state.nameless = [pair for pair in state.nameless if pair[1] != call]
    known = state.calls.get(call) if call is not None else None
    if known is not None and known.answered is not None and known.answered != "running":
        return
    answer, child = rows.answer_of(payload, known)
    returned(state, place, call, answer, child, out, positional)


def executed(
    state: RolloutState, place: Place, call: str | None, account: Account, name: str, payload: Object, out: Out
) -> None:
    """What the host tells of an execution: kept for the call's answer; given where there is or was none."""
    known = state.calls.get(call) if call is not None else None
    if call is None or known is None:
        arguments = context.host_arguments(payload)
        request = rows.request_of(name, arguments, state.cwd)
        if account.changes:
            request.paths = tuple(path for path, _ in account.changes)
        call = called(state, place, {"call_id": call}, request, out, response=False)
    elif known.answered is None:
        state.accounts[call] = account
        return
    elif known.answered != "running" and not (account.child and not known.known_child):
        return
    state.accounts[call] = account
    returned(state, place, call, Answer(None), None, out)


def returned(
    state: RolloutState,
    place: Place,
    call: str | None,
    answer: Answer,
    child: str | None,
    out: Out,
    positional: bool = False,
) -> None:
    account = state.accounts.pop(call, None) if call is not None else None
    if account is None:
        account = Account(place.line, place.time)
    status = account.status if account.status is not None and answer.status == "completed" else answer.status
    child = child or account.child
    known = state.calls.get(call) if call is not None else None
    if known is not None:
        known.answered = status
        known.known_child = known.known_child or child is not None
    output = account.output
    if output is None and answer.body is not None:
        output = content(answer.body)
    out.append(
        ToolReturned(
            **place.turned,
            call=call,
            status=status,
            exit_code=answer.exit_code if answer.exit_code is not None else account.exit_code,
            output=output,
            error=answer.error or account.error,
            duration=account.duration if account.duration is not None else answer.duration,
            started=account.started,
            changes=account.changes,
            child_session=child,
            running=answer.running,
            positional=positional,
        )
    )
    if answer.refused_by is not None:
        decided(state, place, call, "refused", answer.refused_by, answer.error, out)


def assessed(state: RolloutState, place: Place, payload: Object, out: Out) -> None:
    decision = {"approved": "approved", "denied": "refused", "timed_out": "refused", "aborted": "refused"}
    status = decision.get(string(payload, "status") or "")
    if status is not None:
        call = identifier(payload, "target_item_id", "id")
        reason = string(payload, "rationale", "risk_level")
        decided(state, place, call, status, "agent", short(reason) if reason else None, out)
