"""Model calls: which records are part of one response, and what was in its context.

Records that name a response are its own, wherever they stand in the turn. Records that name none join the response that is
open: one begins with the first of them after something came into the context, and ends with what comes next.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from provenance.records import ModelResponded, TurnEnded
from provenance.weave.builder import Builder, add_usage, fits, redacted, usage_fields
from provenance.weave.strands import Entry, Turn


@dataclass(slots=True, eq=False)
class Reply:
    """One model response."""

    node: str
    turn: Turn
    response: str | None
    model: str | None = None
    usage: dict[str, int] = field(default_factory=dict[str, int])
    error: str | None = None
    stop: str | None = None
    reasoning: str | None = None
    start: int | None = None
    end: int | None = None


class Replies:
    """The model calls of a session, in order, and the context that they share."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.known: dict[tuple[Turn, str], Reply] = {}
        self.all: list[Reply] = []
        self.open: Reply | None = None
        self.previous: Reply | None = None
        self.cut = False  # the context was compacted since `previous`, and its summary was not recorded
        self.pending: list[tuple[str, int | None, Entry]] = []

    def close(self) -> None:
        """What comes next without a response's name begins a new one."""
        self.open = None

    def tell(self, artifact: str, size: int | None, entry: Entry) -> None:
        """Something came into the context."""
        self.pending.append((artifact, size, entry))

    def summarise(self, artifact: str, size: int | None, entry: Entry) -> None:
        """From here on the context is this summary."""
        if self.previous is not None:
            self.builder.link(
                "GENERATED_BY",
                artifact,
                self.previous.node,
                entry,
                "summary of the context",
                basis="inferred",
                confidence=0.9,
            )
        self.previous = None
        self.pending = [(artifact, size, entry)]

    def of(self, entry: Entry, response: str | None, own: bool = False) -> Reply:
        """The model response that an entry is part of; a new one begins where none is open."""
        turn = entry.turn
        assert turn is not None
        if response is not None:
            known = self.known.get((turn, response))
            if known is None and self.open is not None and self.open.response is None and self.open.turn is turn:
                known = self.open
                known.response = response
            if known is None:
                known = self._begin(entry, turn, response)
            self.known[turn, response] = known
        elif self.open is not None and self.open.turn is turn and not own:
            known = self.open
        else:
            known = self._begin(entry, turn, None)
        self.open = None if own else known
        time = fits(entry.record.time)
        if time is not None:
            known.start = time if known.start is None else min(known.start, time)
            known.end = time if known.end is None else max(known.end, time)
        return known

    def _begin(self, entry: Entry, turn: Turn, response: str | None) -> Reply:
        builder = self.builder
        ordinal = len(self.all) + 1
        node = builder.put(
            "ModelCall", builder.id("ModelCall", ordinal), entry, name=f"model call {ordinal}", ordinal=ordinal
        )
        reply = Reply(node, turn, response)
        self.all.append(reply)
        builder.link("PART_OF", node, turn.node, entry, "response in the turn")
        if self.previous is not None and not self.cut:
            builder.link("FOLLOWS", node, self.previous.node, entry, "same context")
        elif self.previous is not None and self.cut:
            builder.link(
                "FOLLOWS", node, self.previous.node, entry, "compacted context", basis="inferred", confidence=0.5
            )
        for artifact, size, told in self.pending:
            builder.link("INFORMED_BY", node, artifact, told, "in the context", size=size)
        self.pending.clear()
        self.previous, self.cut = reply, False
        return reply

    def take(self, record: ModelResponded, entry: Entry) -> None:
        """A record about a response itself."""
        reply = self.of(entry, record.response, own=record.response is None and record.error is not None)
        reply.model = record.model or reply.model
        reply.usage = record.usage or reply.usage
        reply.stop = record.stop_reason or reply.stop
        reply.error = record.error or reply.error
        if record.reasoning is not None and reply.reasoning is None:
            reply.reasoning = record.reasoning.preview

    def finish(self, turns: list[Turn], exclusive: bool) -> dict[str, int]:
        """Write the model calls; returns the session's sum of tokens."""
        total: dict[str, int] = {}
        by_turn: dict[Turn, dict[str, int]] = {}
        for reply in self.all:
            counts = usage_fields(reply.usage, exclusive)
            add_usage(total, counts)
            add_usage(by_turn.setdefault(reply.turn, {}), counts)
            self.builder.put(
                "ModelCall",
                reply.node,
                None,
                model=reply.model,
                response=reply.response,
                status="failed" if reply.error else "completed",
                reason=redacted(reply.error) if reply.error else reply.stop,
                reasoning=reply.reasoning,
                start=reply.start,
                end=reply.end,
                clock="wall" if reply.start is not None else None,
                **counts,
            )
        for turn in turns:
            ended = turn.ended.record if turn.ended is not None else None
            counts = usage_fields(ended.usage, exclusive) if isinstance(ended, TurnEnded) else {}
            if turn.node:
                self.builder.put("Turn", turn.node, None, **(counts or by_turn.get(turn, {})))
        return total
