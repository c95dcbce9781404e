"""A rollout's state, its turns and its model responses.

Responses have no ids before Codex 0.160: their id here is `line-N` of their first item. A response is over when its usage is
told, when a tool answers or when somebody else speaks.
"""

from __future__ import annotations

import msgspec

from ingest.content import content, short
from ingest.turns import codex_context as context
from ingest.turns import codex_rows as rows
from ingest.turns.codex_rows import Account, Call
from ingest.turns.lines import At, LineState, Out, Turned, details
from ingest.values import Object, canonical, integer, obj, raw, string
from provenance.identity import key_of
from provenance.records import (
    ContextCompacted,
    EnvironmentStated,
    MessageSaid,
    ModelResponded,
    PolicyStated,
    TurnEnded,
    TurnStarted,
)

ITEM, EVENT, COMPLETED = 0, 1, 2  # where content was said
ECHOES = 512


class RolloutState(LineState):
    session: str | None = None
    parent: str | None = None
    delegated: bool = False  # a sub-agent's session: its user is another agent
    born: int | None = None  # milliseconds since the epoch when the session was made
    described: tuple[str | None, ...] = ()
    model: str | None = None
    cwd: str | None = None
    replay: tuple[int, int] | None = None  # lines of the parent's history, first and last, while it lasts
    turn: str | None = None
    open: bool = False
    turn_ids: bool = False
    policy: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    response: str | None = None  # the model response that items belong to
    last: str | None = None  # the one before
    measured: bool = False  # the last response's usage is known
    totals: str | None = None
    usage_records: bool = False
    echoes: dict[str, list[int]] = msgspec.field(default_factory=dict[str, list[int]])
    calls: dict[str, Call] = msgspec.field(default_factory=dict[str, Call])
    accounts: dict[str, Account] = msgspec.field(default_factory=dict[str, Account])
    # (tool, our id) of calls without an id, oldest first
    nameless: list[tuple[str, str]] = msgspec.field(default_factory=list[tuple[str, str]])


class Place(msgspec.Struct):
    """What all records of a row share."""

    session: str
    line: int
    time: int | None
    turn: str | None

    @property
    def at(self) -> At:
        return {"session": self.session, "line": self.line, "time": self.time}

    @property
    def turned(self) -> Turned:
        return {"session": self.session, "line": self.line, "time": self.time, "turn": self.turn}


def begin(state: RolloutState, place: Place, turn: str | None, out: Out) -> None:
    if state.open and state.turn == turn:
        return
    state.turn, state.open = turn, True
    close_response(state)
    out.append(TurnStarted(**place.at, turn=turn))


def end(state: RolloutState, place: Place, status: str, payload: Object, out: Out, reason: str | None = None) -> None:
    close_response(state)
    state.open = False
    said = raw(payload, "last_agent_message")
    out.append(
        TurnEnded(
            **place.turned,
            status=status,
            reason=reason,
            final_message=content(said) if said else None,
            usage=rows.usage_counts(obj(payload, "usage")),
        )
    )


def echo(state: RolloutState, key: str, channel: int) -> bool:
    """Whether content said on this channel is new: no other channel has said it as often."""
    echoes = state.echoes
    counts = echoes.pop(key, [0, 0, 0])
    counts[channel] += 1
    echoes[key] = counts
    while len(echoes) > ECHOES:
        del echoes[next(iter(echoes))]
    return all(counts[channel] > count for other, count in enumerate(counts) if other != channel)


def respond(state: RolloutState, place: Place, out: Out, reasoning: str | None = None) -> str:
    """The open response; a new one begins where none is."""
    if state.response is None:
        state.response = f"line-{place.line}"
        state.measured = False
        responded(state, place, state.response, out, reasoning=reasoning)
    return state.response


def responded(
    state: RolloutState,
    place: Place,
    response: str | None,
    out: Out,
    usage: dict[str, int] | None = None,
    reasoning: str | None = None,
) -> None:
    out.append(
        ModelResponded(
            **place.turned,
            response=response,
            model=state.model,
            usage=usage,
            reasoning=content(reasoning) if reasoning else None,
        )
    )


def close_response(state: RolloutState) -> None:
    if state.response is not None:
        state.last, state.response = state.response, None


def measure(state: RolloutState, place: Place, usage: dict[str, int] | None, out: Out) -> None:
    """Usage of the response that just ended; of one seen only by its usage where the last has its own already."""
    response = state.response or (state.last if not state.measured else None) or f"line-{place.line}"
    state.last, state.response, state.measured = response, None, True
    responded(state, place, response, out, usage)


def failed(state: RolloutState, place: Place, error: str, out: Out) -> None:
    out.append(
        ModelResponded(
            **place.turned,
            model=state.model,
            error=short(error),
        )
    )


def usage_record(state: RolloutState, place: Place, payload: Object, out: Out) -> None:
    thread = string(payload, "thread_id")
    if thread is not None and thread != place.session:
        return
    state.usage_records = True
    measure(state, place, rows.usage_counts(obj(payload, "usage")), out)


def token_count(state: RolloutState, place: Place, payload: Object, out: Out) -> None:
    info = obj(payload, "info")
    usage = rows.usage_counts(obj(info, "last_token_usage"))
    if usage is None and integer(info, "prompt", "completion") is not None:
        usage = {"input": integer(info, "prompt") or 0, "output": integer(info, "completion") or 0}
    totals = canonical(info.get("total_token_usage") or info)
    if usage is None or totals == state.totals or state.usage_records:
        return
    state.totals = totals
    measure(state, place, usage, out)


def compacted(state: RolloutState, place: Place, summary: str | None, channel: int, out: Out) -> None:
    close_response(state)
    if echo(state, "compaction", channel):
        out.append(
            ContextCompacted(
                **place.turned,
                summary=content(summary) if summary else None,
            )
        )


def say(
    state: RolloutState, place: Place, role: str, origin: str, text: str, channel: int, payload: Object, out: Out
) -> None:
    spoken = origin == "agent" and role == "assistant"
    new = bool(text) and echo(state, f"{role}:{key_of(text.strip())}", channel)
    response = respond(state, place, out) if spoken and (new or not text) else None
    if not new:
        return
    if origin == "human":
        if not state.turn_ids:
            begin(state, place, f"line-{place.line}", out)
            place.turn = state.turn
        if state.delegated:
            origin = "parent_agent"
    if role != "assistant":
        close_response(state)
    out.append(
        MessageSaid(
            **place.turned,
            message=string(payload, "id"),
            role=role,
            origin=origin,
            content=content(text),
            final=string(payload, "phase") == "final_answer",
            response=response,
        )
    )
    if origin == "harness" and text.startswith("<environment_context>"):
        environment(state, place, context.environment_of(text), out)


def reasoned(state: RolloutState, place: Place, text: str, channel: int, out: Out) -> None:
    if not text:
        if channel == ITEM:
            respond(state, place, out)
    elif echo(state, f"reasoning:{key_of(text.strip())}", channel):
        if state.response is None:
            respond(state, place, out, text)
        else:
            responded(state, place, state.response, out, reasoning=text)


def environment(state: RolloutState, place: Place, told: Object, out: Out) -> None:
    out.append(EnvironmentStated(**place.at, details=details(told)))


def policy(state: RolloutState, place: Place, said: dict[str, str], out: Out) -> None:
    merged = state.policy | said
    if not said or merged == state.policy:
        return
    state.policy = merged
    roots = merged.get("roots")
    out.append(
        PolicyStated(
            **place.turned,
            approval=merged.get("approval"),
            sandbox=merged.get("sandbox"),
            permission_mode=merged.get("profile"),
            network=merged.get("network"),
            writable_roots=tuple(roots.split("\n")) if roots else (),
            details=merged.get("details"),
        )
    )
