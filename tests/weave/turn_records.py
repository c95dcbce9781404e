"""Hand-made turn records, and what tests ask of a subgraph."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from provenance import schema
from provenance.changes import EdgeKey, Fields
from provenance.identity import digest
from provenance.records import (
    AnyTurnRecord,
    Content,
    MessageSaid,
    ModelResponded,
    SessionDescribed,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)
from provenance.weave.sessions import RuntimeEnd, SessionLog, Subgraph, weave_session

S = "s"
FOLLOWED = frozenset(kind.name for kind in schema.EDGES if kind.flow is not schema.Flow.NONE)


def content(text: str) -> Content:
    return Content(digest(text), len(text.encode("utf-8", "surrogatepass")), text)


class Scribe:
    """Writes records one line after the other."""

    def __init__(self, session: str = S, timed: bool = True, positional: bool = False) -> None:
        self.session, self.timed, self.positional = session, timed, positional
        self.records: list[AnyTurnRecord] = []

    def add(self, kind: type[Any], **fields: Any) -> Scribe:
        line = len(self.records) + 1
        time = 1_000_000_000 * line if self.timed else None
        self.records.append(kind(session=self.session, line=line, time=time, **fields))
        return self

    def described(self, agent: str = "codex", **fields: Any) -> Scribe:
        return self.add(SessionDescribed, agent=agent, **fields)

    def begin(self, turn: str | None = None) -> Scribe:
        return self.add(TurnStarted, turn=turn)

    def end(self, turn: str | None = None, status: str = "completed", said: str | None = None) -> Scribe:
        return self.add(TurnEnded, turn=turn, status=status, final_message=content(said) if said else None)

    def user(self, text: str, **fields: Any) -> Scribe:
        return self.add(MessageSaid, role="user", origin="human", content=content(text), **fields)

    def agent(self, text: str, **fields: Any) -> Scribe:
        return self.add(MessageSaid, role="assistant", origin="agent", content=content(text), **fields)

    def response(self, response: str | None, **fields: Any) -> Scribe:
        return self.add(ModelResponded, response=response, **fields)

    def shell(self, call: str | None, command: str, status: int | None = 0, output: str = "", **fields: Any) -> Scribe:
        """A call with its answer."""
        self.call(call, command, **fields)
        return self.answer(call, exit_code=status, output=content(output))

    def call(self, call: str | None, command: str, **fields: Any) -> Scribe:
        return self.add(
            ToolCalled,
            call=call,
            name="exec",
            action="shell",
            command=command,
            arguments=content(command),
            positional=self.positional,
            **fields,
        )

    def edit(self, call: str | None, path: str, status: str = "completed", **fields: Any) -> Scribe:
        self.add(
            ToolCalled,
            call=call,
            name="edit",
            action="edit",
            paths=(path,),
            arguments=content(path),
            positional=self.positional,
        )
        return self.answer(call, status=status, **fields)

    def answer(self, call: str | None, **fields: Any) -> Scribe:
        return self.add(ToolReturned, call=call, positional=self.positional, **fields)


def woven(
    *sources: tuple[str, str, list[AnyTurnRecord]], end: RuntimeEnd | None = None, session: str = S, **more: Any
) -> Subgraph:
    """The subgraph of (source key, format, records) ..."""
    log = SessionLog(session)
    for key, format, records in sources:
        log.add(key, format, records)
    return weave_session(log, end, **more)


def rollout(scribe: Scribe, **more: Any) -> Subgraph:
    return woven(("r", "codex-rollout", scribe.records), **more)


def of_kind(graph: Subgraph, kind: str) -> dict[str, Fields]:
    """The nodes of a kind by the end of their id after the session."""
    prefix = f"{kind.lower()}:"
    return {
        identity.removeprefix(prefix).removeprefix(f"{graph.session}/"): fields
        for identity, fields in graph.nodes.items()
        if identity.startswith(prefix)
    }


def outcomes(graph: Subgraph, type: str, target: str | None = None) -> dict[str, str]:
    """Subject -> verdict of the outcomes of a type, of the first turn unless told otherwise."""
    about = target or f"turn:{graph.session}/1"
    return {
        str(fields["subject"]): str(fields["verdict"])
        for identity, fields in graph.nodes.items()
        if identity.startswith("outcome:") and fields["type"] == type and ("OUTCOME_OF", identity, about) in graph.edges
    }


def heads(graph: Subgraph, kind: str, tail: str) -> list[str]:
    return [key[2] for key in graph.edges if key[0] == kind and key[1] == tail]


def is_acyclic(edges: dict[EdgeKey, Fields]) -> bool:
    """Whether the union of all edges that a slice may follow has no cycle."""
    after: defaultdict[str, list[str]] = defaultdict(list)
    waiting: defaultdict[str, int] = defaultdict(int)
    nodes: set[str] = set()
    for kind, tail, head in edges:
        if kind in FOLLOWED:
            after[tail].append(head)
            waiting[head] += 1
            nodes |= {tail, head}
    free = [node for node in nodes if not waiting[node]]
    done = 0
    while free:
        node = free.pop()
        done += 1
        for head in after[node]:
            waiting[head] -= 1
            if not waiting[head]:
                free.append(head)
    return done == len(nodes)


def dangling(graph: Subgraph) -> list[EdgeKey]:
    """Edges whose ends are not in the subgraph, sources excepted (the pipeline writes those)."""
    return [
        key for key in graph.edges if any(end not in graph.nodes and not end.startswith("source:") for end in key[1:])
    ]
