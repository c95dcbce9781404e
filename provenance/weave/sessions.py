"""The turn side of the weaver: all turn records of a session in, its part of the graph out.

A session is woven whole, from every source's records at once, each time a source adds some; `difference` gives what to
write. 50,000 records take about two seconds.

What becomes of the records:
    context   a model call is informed by the messages and tool outputs that came since the one before it, and follows that
              one; a compaction cuts the context, and only its summary goes on
    calls     formed by their model call, authorised by the settings in force and by decisions about them
    ends      a turn has the status of its recorded end; without one it is `unknown` with a Gap, or `killed` where the
              agent's own process is known to have been
    verdicts  see `provenance.weave.outcomes`
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from provenance.changes import Fields
from provenance.identity import node_id, raw_ref
from provenance.records import (
    ApprovalDecided,
    ContextCompacted,
    EnvironmentStated,
    MessageSaid,
    ModelResponded,
    PlanDeclared,
    PolicyStated,
    SessionDescribed,
    SessionEnded,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)
from provenance.weave import anchors
from provenance.weave.builder import Builder, content_fields, fits, shortened, usage_fields
from provenance.weave.calls import finish_calls, name_call
from provenance.weave.merging import merged
from provenance.weave.outcomes import RuntimeEnd, judge_session
from provenance.weave.replies import Replies
from provenance.weave.sessionlog import SessionLog, SourceLog
from provenance.weave.strands import Call, Entry, Turn
from provenance.weave.subgraph import Subgraph, difference

__all__ = ["RuntimeEnd", "SessionLog", "SourceLog", "Subgraph", "difference", "weave_session"]

_STATUSES = frozenset(("completed", "failed", "timed_out", "killed", "interrupted", "refused"))


@dataclass(slots=True)
class Told:
    """What was gathered while weaving, for the verdicts."""

    turns: list[Turn]
    calls: list[Call]
    finals: dict[Turn, tuple[Entry, str]] = field(default_factory=dict["Turn", tuple[Entry, str]])
    """The last thing the agent said in a turn: the entry and its artifact."""
    ended: SessionEnded | None = None
    ended_entry: Entry | None = None
    last: int | None = None
    """The last time that any record gives."""
    last_entry: Entry | None = None


def weave_session(log: SessionLog, runtime_end: RuntimeEnd | None = None, delegated_by: str | None = None) -> Subgraph:
    """The session's part of the graph.

    `runtime_end` is how the agent's own process was seen to end, where it was traced: it decides only about what has no
    recorded end. `delegated_by` is the id of the delegating ToolCall, where the pipeline knows it from the parent's
    graph: then the prompt is tied to it.
    """
    with _collector_paused():
        return _Weaving(log, runtime_end, delegated_by).run()


@contextmanager
def _collector_paused() -> Generator[None]:
    """Hundreds of thousands of small dicts are made and none dies: looking for garbage meanwhile costs a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Weaving:
    def __init__(self, log: SessionLog, runtime_end: RuntimeEnd | None, delegated_by: str | None) -> None:
        self.log = log
        self.builder = Builder(log.session)
        self.strand = merged(log)
        self.standing = anchors.Standing(self.builder)
        self.runtime_end = runtime_end
        self.delegated_by = delegated_by
        self.told = Told(self.strand.turns, self.strand.calls)
        self.described: list[tuple[int, SessionDescribed, Entry]] = []
        self.replies = Replies(self.builder)
        self.latest: Turn | None = None
        self.messages = self.plans = self.compactions = self.calls = 0
        self.names: dict[str, int] = {}
        self.first: int | None = None
        self.costs: dict[str, float] = {}

    def run(self) -> Subgraph:
        builder, session = self.builder, self.log.session
        builder.put("Session", builder.node, None, name=shortened(session, 80))
        for entry in self.strand.entries:
            self._take(entry)
        exclusive = any(record.agent == "claude-code" for _, record, _ in self.described)
        total = self.replies.finish(self.told.turns, exclusive)
        finish_calls(builder, self.told.calls, self.standing)
        self._describe()
        self._finish_session(total, exclusive)
        self.told.last_entry = self.strand.entries[-1] if self.strand.entries else None
        judge_session(builder, self.told, self.runtime_end)
        for source in self.log.ordered():
            first = raw_ref(source.key, source.records[0].line)
            builder.link("RECORDED_IN", builder.node, node_id("Source", source.key), None, "source read", source=first)
        return builder.graph

    def _take(self, entry: Entry) -> None:
        record, time = entry.record, fits(entry.record.time)
        if time is not None:
            self.first = time if self.first is None else min(time, self.first)
            self.told.last = time if self.told.last is None else max(time, self.told.last)
        if entry.turn is not None:
            self._enter(entry.turn, entry)
        if isinstance(record, ToolCalled):
            self._called(record, entry)
        elif entry.call is not None:
            self._name(entry.call, entry)
        match record:
            case MessageSaid():
                self._message(record, entry)
            case ModelResponded():
                self.replies.take(record, entry)
            case ToolReturned():
                self._returned(record, entry)
            case ApprovalDecided():
                assert entry.call is not None
                anchors.decided(self.builder, entry.call, self.standing, record, entry)
            case TurnStarted() | TurnEnded():
                self.replies.close()
            case PolicyStated():
                self.standing.state(record, entry)
                if entry.turn is not None:
                    self.standing.govern(entry.turn)
            case SessionDescribed():
                self.described.append((entry.rank, record, entry))
            case EnvironmentStated():
                anchors.environment(self.builder, record, entry)
            case PlanDeclared():
                self.plans += 1
                reply = self.replies.of(entry, record.response)
                anchors.plan(self.builder, self.plans, record, entry, reply.node)
            case ContextCompacted():
                self._compacted(record, entry)
            case SessionEnded():
                self.told.ended, self.told.ended_entry = record, entry
                if record.cost_usd is not None and abs(record.cost_usd) < 1e15:
                    self.costs[entry.ref.rpartition(":")[0]] = record.cost_usd  # a source counts its run's cost up
            case ToolCalled():
                pass  # above

    # Turns and model calls

    def _enter(self, turn: Turn, entry: Entry) -> None:
        if turn.node:
            return
        turn.first = entry
        builder = self.builder
        turn.node = builder.put(
            "Turn", builder.id("Turn", turn.ordinal), entry, name=f"turn {turn.ordinal}", ordinal=turn.ordinal
        )
        builder.link("PART_OF", turn.node, builder.node, entry, "turn of the session")
        if self.latest is not None:
            builder.link("FOLLOWS", turn.node, self.latest.node, entry, "turn order")
        self.latest = turn
        self.told.ended = self.told.ended_entry = None  # it went on
        if not isinstance(entry.record, PolicyStated):
            self.standing.govern(turn)

    # Messages, calls, outputs

    def _message(self, record: MessageSaid, entry: Entry) -> None:
        builder, content = self.builder, record.content
        self.messages += 1
        spoken = record.role == "assistant"
        reply = self.replies.of(entry, record.response) if spoken and entry.turn is not None else None
        role = record.role if record.origin in ("human", "agent") else record.origin
        identity = builder.put(
            "Artifact",
            builder.id("Artifact", "message", self.messages),
            entry,
            name=shortened(f"{role}: {content.preview}"),
            uri=f"message:{self.log.session}/{self.messages}",
            role=role,
            start=record.time,
            clock="wall" if record.time is not None else None,
            **{"class": "message"},
            **content_fields(content),
        )
        turn = entry.turn
        builder.link("PART_OF", identity, turn.node if turn is not None else builder.node, entry, "message")
        if reply is not None and turn is not None:
            builder.link("FORMED_BY", identity, reply.node, entry, "said in the response")
            builder.link("GENERATED_BY", identity, reply.node, entry, "said in the response", size=content.size)
            self.told.finals[turn] = (entry, identity)
            return
        self.replies.close()
        if not (entry.rank and record.role == "system"):  # a stream's notices to the user: no model saw them
            self.replies.tell(identity, content.size, entry)
        if record.role == "user" and turn is not None and record.origin in ("human", "parent_agent"):
            builder.link("INFORMED_BY", turn.node, identity, entry, "request", size=content.size)
        if record.origin == "parent_agent" and self.delegated_by is not None and self._delegation_is_above():
            builder.link(
                "GENERATED_BY", identity, self.delegated_by, entry, "prompt of the delegation", size=content.size
            )
            self.delegated_by = None  # the first prompt only

    def _delegation_is_above(self) -> bool:
        """Only a call of a session whose id this one's extends: such chains cannot close a cycle."""
        parent = self.log.session.rpartition("/")[0]
        return bool(parent) and str(self.delegated_by).startswith(node_id("ToolCall", parent, ""))

    def _name(self, call: Call, entry: Entry) -> None:
        if not call.node:
            self.calls += 1
            name_call(self.builder, call, self.calls, self.names, entry)

    def _called(self, record: ToolCalled, entry: Entry) -> None:
        assert entry.call is not None and entry.turn is not None
        reply = self.replies.of(entry, record.response)  # before the call has a place: it depends on the response
        self._name(entry.call, entry)
        builder, node = self.builder, entry.call.node
        builder.link("FORMED_BY", node, reply.node, entry, "asked for in the response")
        builder.link("PART_OF", node, entry.turn.node, entry, "call in the turn")
        if self.standing.authority is not None:
            builder.link("AUTHORISED_BY", node, self.standing.authority, entry, "settings in force")
        self.told.finals.pop(entry.turn, None)

    def _returned(self, record: ToolReturned, entry: Entry) -> None:
        assert entry.call is not None
        builder, call = self.builder, entry.call
        self.replies.close()
        if call.called is None and entry.turn is not None:
            builder.link("PART_OF", call.node, entry.turn.node, entry, "answer in the turn")
        if record.child_session is not None and record.child_session != self.log.session:
            child = node_id("Session", record.child_session)
            builder.put("Session", child, None, name=shortened(record.child_session, 80))
            builder.link("DELEGATED_BY", child, call.node, entry, "sub-agent named in the answer")
        if record.output is None:
            return
        nth = [held for held in call.results if held.record.output is not None].index(entry) + 1  # type: ignore[union-attr]
        identity = builder.put(
            "Artifact",
            builder.id("Artifact", "output", call.place, *((nth,) if nth > 1 else ())),
            entry,
            name=shortened(f"output: {record.output.preview}"),
            uri=f"output:{self.log.session}/{call.place}",
            start=record.time,
            clock="wall" if record.time is not None else None,
            **{"class": "tool_output"},
            **content_fields(record.output),
        )
        if nth > 1:
            builder.put("Artifact", identity, None, version=nth)
        builder.link("GENERATED_BY", identity, call.node, entry, "answer to the call", size=record.output.size)
        builder.link("PART_OF", identity, entry.turn.node if entry.turn else builder.node, entry, "answer")
        self.replies.tell(identity, record.output.size, entry)

    def _compacted(self, record: ContextCompacted, entry: Entry) -> None:
        self.compactions += 1
        builder = self.builder
        self.replies.close()
        anchors.compaction(builder, self.compactions, record, entry)
        if record.summary is None:
            self.replies.cut = True
            return
        self.messages += 1
        identity = builder.put(
            "Artifact",
            builder.id("Artifact", "message", self.messages),
            entry,
            name=shortened(f"summary: {record.summary.preview}"),
            uri=f"message:{self.log.session}/{self.messages}",
            role="summary",
            **{"class": "message"},
            **content_fields(record.summary),
        )
        builder.link("PART_OF", identity, entry.turn.node if entry.turn else builder.node, entry, "summary")
        self.replies.summarise(identity, record.summary.size, entry)

    # The session

    def _describe(self) -> None:
        builder = self.builder
        described = [record for _, record, _ in sorted(self.described, key=lambda told: told[0])]

        def told(name: str) -> str | None:
            return next((value for record in described if (value := getattr(record, name)) is not None), None)

        names = ("agent", "agent_version", "model", "model_provider", "cwd", "entrypoint", "git_commit", "git_branch")
        fields: Fields = {name: told(name) for name in names}
        if fields["model"] is None:
            fields["model"] = next((reply.model for reply in self.replies.all if reply.model), None)
        builder.put("Session", builder.node, None, **fields)
        if self.described:
            entry = self.described[0][2]
            builder.put("Session", builder.node, None, source=entry.ref)
            if fields["agent"] is not None:
                builder.link(
                    "ATTRIBUTED_TO", builder.node, anchors.agent(builder, str(fields["agent"])), entry, "agent"
                )
            parent = told("parent_session")
            if parent is not None and parent != self.log.session:
                node = builder.put("Session", node_id("Session", parent), None, name=shortened(parent, 80))
                builder.link("PART_OF", builder.node, node, entry, "parent session named")

    def _finish_session(self, total: dict[str, int], exclusive: bool) -> None:
        ended = self.told.ended
        counts = usage_fields(ended.usage, exclusive) if ended is not None else {}
        self.builder.put(
            "Session",
            self.builder.node,
            None,
            start=self.first,
            clock="wall" if self.first is not None else None,
            cost_usd=sum(self.costs.values()) if self.costs else None,
            **(total or counts),
        )
