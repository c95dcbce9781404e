"""One source's records of a session, with the turn and the call that each belongs to.

Turns and calls are objects here, not ids: ids may be missing, repeat, or be positions in a stream. A record that names
a turn belongs to it; one that does not belongs to the turn that is open where it stands. An answer belongs to the last
call of its id that was made before it, else to the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from provenance.identity import raw_ref
from provenance.records import (
    AnyTurnRecord,
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
from provenance.weave.sessionlog import SourceLog


@dataclass(slots=True, eq=False)
class Turn:
    """One request and what was done for it."""

    id: str | None
    explicit: bool
    """Its begin was recorded; else it was concluded from a message or from work outside any turn."""
    started: Entry | None = None
    ended: Entry | None = None
    ordinal: int = 0
    worked: bool = False
    node: str = ""
    first: Entry | None = None
    """What was first told of it."""


@dataclass(slots=True, eq=False)
class Call:
    """One tool call: its request and what came back, each None or empty where it was not seen."""

    id: str | None
    positional: bool
    called: Entry | None = None
    results: list[Entry] = field(default_factory=list["Entry"])
    decisions: list[Entry] = field(default_factory=list["Entry"])
    ordinal: int = 0
    node: str = ""
    place: str = ""
    """What follows the session in the ids of the call's nodes; unique."""

    def is_replay(self, record: ToolCalled) -> bool:
        """Whether a call of the same id is this one told again (forks and resumes repeat their history)."""
        mine = self.called
        if mine is None:
            return False
        held = mine.record
        assert isinstance(held, ToolCalled)
        if (held.name, held.arguments.digest, held.command, held.response) != (
            record.name,
            record.arguments.digest,
            record.command,
            record.response,
        ):
            return False
        return not self.results or (record.time is not None and record.time == held.time)


@dataclass(slots=True, eq=False)
class Entry:
    """One record in its place."""

    record: AnyTurnRecord
    ref: str  # RawRef
    rank: int  # of its source
    turn: Turn | None = None
    call: Call | None = None


@dataclass(slots=True)
class Strand:
    """A source's entries in order, or several sources' merged."""

    entries: list[Entry] = field(default_factory=list[Entry])
    turns: list[Turn] = field(default_factory=list[Turn])
    calls: list[Call] = field(default_factory=list[Call])


class _Reading:
    def __init__(self, source: SourceLog) -> None:
        self.source = source
        self.strand = Strand()
        self.by_id: dict[str, Turn] = {}
        self.current: Turn | None = None
        self.latest: dict[str, Call] = {}
        self.nameless: list[Call] = []
        self.responses: dict[str, Turn] = {}

    def read(self) -> Strand:
        rank, key = self.source.rank, self.source.key
        entries = self.strand.entries
        for record in self.source.records:
            entry = Entry(record, raw_ref(key, record.line), rank)
            match record:
                case TurnStarted():
                    entry.turn = self._begin(record)
                    if entry.turn.started is None:
                        entry.turn.started = entry
                case TurnEnded():
                    turn = entry.turn = self._ending(record)
                    turn.ended = entry
                    if self.current is turn:
                        self.current = None
                case SessionDescribed() | EnvironmentStated() | SessionEnded():
                    pass
                case ToolCalled():
                    entry.turn = self._turn(record)
                    if self._replayed(record, entry):
                        continue
                    entry.turn = entry.turn or self._open(None, False)
                case ToolReturned() | ApprovalDecided():
                    if not self._answer(record, entry):
                        continue
                case _:
                    entry.turn = self._turn(record)
            if entry.turn is not None and isinstance(record, ToolCalled | ModelResponded):
                entry.turn.worked = True
            entries.append(entry)
        return self.strand

    # Turns

    def _open(self, identity: str | None, explicit: bool) -> Turn:
        turn = Turn(identity, explicit)
        if identity is not None:
            self.by_id[identity] = turn
        self.strand.turns.append(turn)
        self.current = turn
        return turn

    def _begin(self, record: TurnStarted) -> Turn:
        known = self.by_id.get(record.turn) if record.turn is not None else None
        if known is not None:
            known.explicit = True
            self.current = known
            return known
        return self._open(record.turn, True)

    def _ending(self, record: TurnEnded) -> Turn:
        if record.turn is not None:
            return self.by_id.get(record.turn) or self._open(record.turn, False)
        return self.current or (self.strand.turns[-1] if self.strand.turns else self._open(None, False))

    def _turn(
        self, record: PolicyStated | MessageSaid | ModelResponded | PlanDeclared | ToolCalled | ContextCompacted
    ) -> Turn | None:
        """The turn of a record; opens one for work that stands in none. None: before or between turns."""
        if record.turn is not None:
            turn = self.by_id.get(record.turn)
            return turn if turn is not None else self._open(record.turn, False)
        response = getattr(record, "response", None)
        if self.current is None and response is not None and response in self.responses:
            return self.responses[response]
        turn = self.current
        spoken = isinstance(record, MessageSaid)
        if spoken and record.role == "user" and record.origin not in ("harness", "agent"):
            if turn is None or (not turn.explicit and turn.worked):
                turn = self._open(None, False)
        elif turn is None and (
            isinstance(record, ModelResponded | PlanDeclared) or (spoken and record.role == "assistant")
        ):
            turn = self._open(None, False)
        if response is not None and turn is not None:
            self.responses[response] = turn
        return turn

    # Calls

    def _new(self, identity: str | None, positional: bool) -> Call:
        call = Call(identity, positional)
        self.strand.calls.append(call)
        if identity is None:
            self.nameless.append(call)
        else:
            self.latest[identity] = call
        return call

    def _replayed(self, record: ToolCalled, entry: Entry) -> bool:
        call = self.latest.get(record.call) if record.call is not None else None
        if call is not None and call.is_replay(record):
            return True
        if call is None or call.called is not None:
            call = self._new(record.call, record.positional)
        call.called = entry  # of a call whose answer stood before it, too
        entry.call = call
        return False

    def _answer(self, record: ToolReturned | ApprovalDecided, entry: Entry) -> bool:
        if record.call is not None:
            call = self.latest.get(record.call) or self._new(record.call, False)
        else:
            open_calls = (
                [call for call in self.nameless if not call.results] if isinstance(record, ToolReturned) else []
            )
            call = open_calls[0] if open_calls else self._new(None, False)
            if isinstance(record, ToolReturned):
                self.nameless = open_calls[1:]
        entry.call = call
        if record.turn is not None:
            entry.turn = self.by_id.get(record.turn) or self._open(record.turn, False)
        elif self.current is not None:
            entry.turn = self.current
        elif call.called is not None:
            entry.turn = call.called.turn
        else:
            entry.turn = self._open(None, False)
        if isinstance(record, ToolReturned):
            if any(_same_answer(held.record, record) for held in call.results):
                return False
            call.results.append(entry)
        else:
            call.decisions.append(entry)
        return True


def _same_answer(held: AnyTurnRecord, record: ToolReturned) -> bool:
    return isinstance(held, ToolReturned) and (held.status, held.exit_code, held.output, held.time, held.error) == (
        record.status,
        record.exit_code,
        record.output,
        record.time,
        record.error,
    )


def read(source: SourceLog) -> Strand:
    """The entries of one source."""
    return _Reading(source).read()
