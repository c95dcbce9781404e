"""Several sources of one session made one: the richer one leads, the poorer adds only what it lacks.

A poorer source's turn is the richer one's with the same id, else the one with which it shares most calls and words.
Inside a turn a call is found by its id, else by what it asks (command, files, arguments) and the order of occurrence;
what is not found stands after what was found before it. Sources of one rank are matched by ids alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from provenance.records import (
    AnyTurnRecord,
    ApprovalDecided,
    ContextCompacted,
    EnvironmentStated,
    MessageSaid,
    ModelResponded,
    PlanDeclared,
    PolicyStated,
    SessionEnded,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)
from provenance.weave.sessionlog import SessionLog
from provenance.weave.shell import unwrapped
from provenance.weave.strands import Call, Entry, Strand, Turn, read

Key = tuple[Any, ...]
_Record = TypeVar("_Record", bound=AnyTurnRecord)
_OWN = frozenset(("session", "line", "turn", "call", "positional", "message"))
_COMMON = 64
"""Turns that may share a call or a phrase before it stops telling them apart."""
_POLICY = ("approval", "sandbox", "permission_mode", "network", "details")


def merged(log: SessionLog) -> Strand:
    """All entries of a session in one order."""
    strand: Strand | None = None
    lowest = 0
    for source in log.ordered():
        other = read(source)
        strand = other if strand is None else _Merge(strand, other, source.rank > lowest).run()
        lowest = source.rank
    if strand is None:
        return Strand()
    for ordinal, turn in enumerate(strand.turns, 1):
        turn.ordinal = ordinal
    return strand


@lru_cache(maxsize=64)
def _fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name not in _OWN)


def _filled(record: _Record, other: AnyTurnRecord) -> _Record:
    """The record, with what only the other one knows."""
    lacking: dict[str, Any] = {}
    for name in _fields(type(record)):
        value = getattr(record, name)
        if value is None or value == ():
            known = getattr(other, name)
            if known is not None and known != ():
                lacking[name] = known
    return msgspec.structs.replace(record, **lacking) if lacking else record


def _call_keys(record: ToolCalled, by_content: bool) -> list[Key]:
    """What a call can be found by, the surest first."""
    keys: list[Key] = []
    if record.call is not None and not record.positional:
        keys.append(("id", record.call))
    if by_content:
        if record.command is not None:
            keys.append(("command", unwrapped(record.command)))
        if record.paths and record.command is None:
            keys.append(("paths", tuple(sorted({path.rpartition("/")[2] for path in record.paths}))))
        if record.arguments.digest is not None:
            keys.append(("arguments", record.arguments.digest))
        if record.command is None and not record.paths:
            keys.append(("name", record.action, re.split(r"__|[./]", record.name)[-1]))
    return keys


def _keys(record: AnyTurnRecord, by_content: bool) -> list[Key]:
    match record:
        case ToolCalled():
            return _call_keys(record, by_content)
        case MessageSaid():
            keys: list[Key] = []
            if record.message is not None:
                keys.append(("message", record.message, record.role, record.content.digest))
            if by_content and record.content.digest is not None:
                keys.append(("said", record.role, record.content.digest))
            return keys
        case ModelResponded():
            if record.response is not None:
                return [("response", record.response)]
            if by_content and record.reasoning is not None:
                return [("reasoning", record.reasoning.digest or record.reasoning.preview)]
            return [("error", record.error)] if record.error and by_content else []
        case PlanDeclared():
            return [("plan", record.content.digest)] if record.content.digest else []
        case ContextCompacted():
            return [("compaction",)] if by_content else []
        case _:
            return []


class _Merge:
    def __init__(self, base: Strand, other: Strand, poorer: bool) -> None:
        self.base, self.other, self.poorer = base, other, poorer
        self.turns: dict[Turn, Turn] = {}
        self.calls: dict[Call, Call] = {}
        self.positions: dict[Turn, list[int]] = {}
        self.index: dict[tuple[Turn | None, Key], deque[int]] = defaultdict(deque)
        self.place_of: dict[Entry, int] = {}
        self.inserts: dict[int, list[Entry]] = defaultdict(list)
        self.taken: set[int] = set()
        for place, entry in enumerate(base.entries):
            self.place_of[entry] = place
            if entry.turn is not None:
                span = self.positions.setdefault(entry.turn, [place, place])
                span[1] = place
            for key in _keys(entry.record, poorer):
                self.index[_scope(entry.turn, key), key].append(place)
        self.planned = {entry.turn for entry in base.entries if isinstance(entry.record, PlanDeclared)}
        self.orphans = {call.id: call for call in base.calls if call.called is None and call.id is not None}
        self.policies = [entry.record for entry in base.entries if isinstance(entry.record, PolicyStated)]
        self.environments = [entry.record for entry in base.entries if isinstance(entry.record, EnvironmentStated)]
        self.anchor = -1

    def run(self) -> Strand:
        self._match_turns()
        if not self.poorer or not self.turns:
            self.anchor = len(self.base.entries) - 1
        for entry in self.other.entries:
            self._add(entry)
        entries: list[Entry] = list(self.inserts.get(-1, ()))
        for place, entry in enumerate(self.base.entries):
            entries.append(entry)
            entries.extend(self.inserts.get(place, ()))
        turns: dict[Turn, None] = {}
        for entry in entries:
            if entry.turn is not None:
                turns.setdefault(entry.turn)
        return Strand(entries, list(turns), [*self.base.calls, *(c for c in self.other.calls if c not in self.calls)])

    # Turns

    def _match_turns(self) -> None:
        by_id = {turn.id: turn for turn in self.base.turns if turn.id is not None}
        claimed: set[Turn] = set()
        for turn in self.other.turns:
            known = by_id.get(turn.id) if turn.id is not None else None
            if known is not None:
                self.turns[turn] = known
                claimed.add(known)
        if not self.poorer:
            return
        places: dict[Turn, int] = {turn: place for place, turn in enumerate(self.base.turns)}
        holders: dict[Key, Counter[Turn]] = defaultdict(Counter)
        full: set[Turn] = set()
        for turn, keys in _turn_keys(self.base).items():
            full.add(turn)
            for key in keys:
                holders[key][turn] += 1
        wanted = _turn_keys(self.other)
        pointer: int = 0
        for turn in self.other.turns:
            if turn in self.turns:
                pointer = places[self.turns[turn]] + 1
                continue
            keys = Counter(wanted.get(turn, ()))
            scores: Counter[Turn] = Counter()
            for key, count in keys.items():
                if len(holders[key]) <= _COMMON:  # what every turn has tells nothing, and costs
                    for holder, held in holders[key].items():
                        scores[holder] += min(count, held)
            best = max(
                (candidate for candidate in scores if candidate not in claimed),
                key=lambda candidate: (scores[candidate], places[candidate] >= pointer, -places[candidate]),
                default=None,
            )
            if best is None:
                while pointer < len(self.base.turns) and self.base.turns[pointer] in claimed:
                    pointer += 1
                following = self.base.turns[pointer] if pointer < len(self.base.turns) else None
                if following is not None and (
                    not keys or following not in full or all(len(holders[key]) > _COMMON for key in keys)
                ):
                    best = following
            if best is not None:
                self.turns[turn] = best
                claimed.add(best)
                pointer = places[best] + 1

    # Entries

    def _add(self, entry: Entry) -> None:
        turn = self.turns.get(entry.turn) if entry.turn is not None else None
        if turn is not None and turn in self.positions:
            self.anchor = max(self.anchor, self.positions[turn][0])
        record = entry.record
        match record:
            case PolicyStated():
                if self.poorer and any(_covers(held, record) for held in self.policies):
                    return
            case EnvironmentStated():
                if (self.poorer and self.environments) or record.details in {
                    held.details for held in self.environments
                }:
                    return
            case TurnStarted() if turn is not None:
                if turn.started is not None:
                    self._fill(turn.started, record)
                    return
                turn.started, turn.explicit = entry, True
            case TurnEnded() if turn is not None:
                if turn.ended is not None:
                    self._fill(turn.ended, record)
                    return
                turn.ended = entry
                self.anchor = max(self.anchor, self.positions[turn][1])
            case ToolReturned() | ApprovalDecided():
                if self._answered(entry, record):
                    return
            case _:
                if self._found(entry, turn) or (isinstance(record, ToolCalled) and self._adopted(entry, record)):
                    return
        if isinstance(record, SessionEnded) and self.base.entries:
            self.anchor = max(
                self.anchor, *(self.positions[t][1] for t in self.turns.values() if t in self.positions), 0
            )
        if turn is not None:
            entry.turn = turn
        self.inserts[self.anchor].append(entry)

    def _fill(self, held: Entry, record: AnyTurnRecord) -> None:
        if type(held.record) is type(record):
            held.record = _filled(held.record, record)
        self.anchor = max(self.anchor, self.place_of.get(held, -1))

    def _found(self, entry: Entry, turn: Turn | None) -> bool:
        """Whether the base has this entry; what it lacks of it is filled in."""
        record = entry.record
        for key in _keys(record, self.poorer):
            places = self.index.get((_scope(turn, key), key))
            while places and places[0] in self.taken:
                places.popleft()
            if not places:
                continue
            held = self.base.entries[places[0]]
            if isinstance(record, ToolCalled) and key[0] == "id" and not self.poorer and not _repeats(held, record):
                continue
            if not (isinstance(record, ModelResponded) and record.response is not None):
                self.taken.add(places[0])
            self._fill(held, record)
            if entry.call is not None and held.call is not None:
                self.calls[entry.call] = held.call
            return True
        if isinstance(record, ModelResponded) and self.poorer and turn is not None:
            return record.response is None and record.error is None
        return isinstance(record, PlanDeclared) and self.poorer and turn is not None and turn in self.planned

    def _adopted(self, entry: Entry, record: ToolCalled) -> bool:
        """The request of a call of which the base has only the answer: it stands before that."""
        call = self.orphans.pop(record.call, None) if record.call is not None and not record.positional else None
        if call is None or entry.call is None or not (call.results or call.decisions):
            return False
        self.calls[entry.call] = call
        call.called, entry.call = entry, call
        first = min(self.place_of[held] for held in (*call.results, *call.decisions) if held in self.place_of)
        entry.turn = self.base.entries[first].turn
        self.inserts[first - 1].append(entry)
        return True

    def _answered(self, entry: Entry, record: ToolReturned | ApprovalDecided) -> bool:
        call = self.calls.get(entry.call) if entry.call is not None else None
        if call is None:
            return False
        assert entry.call is not None
        if isinstance(record, ToolReturned):
            nth = entry.call.results.index(entry)
            if nth < len(call.results):
                self._fill(call.results[nth], record)
                return True
            call.results.append(entry)
        else:
            if any(
                isinstance(d.record, ApprovalDecided) and d.record.decision == record.decision for d in call.decisions
            ):
                return True
            call.decisions.append(entry)
        entry.call = call
        return False


def _scope(turn: Turn | None, key: Key) -> Turn | None:
    """Ids of calls, responses and messages hold in the whole session; the rest in one turn."""
    return None if key[0] in ("id", "message", "response") else turn


def _repeats(held: Entry, record: ToolCalled) -> bool:
    return (
        held.call is not None
        and isinstance(held.record, ToolCalled)
        and (
            (held.record.name, held.record.arguments.digest, held.record.time)
            == (record.name, record.arguments.digest, record.time)
        )
    )


def _covers(held: AnyTurnRecord, record: PolicyStated) -> bool:
    return all(
        getattr(record, name) is None or getattr(record, name) == getattr(held, name) for name in _POLICY[:-1]
    ) and (record.details is None or isinstance(held, PolicyStated))


def _turn_keys(strand: Strand) -> dict[Turn, list[Key]]:
    """What each turn of a source can be found by."""
    found: dict[Turn, list[Key]] = {}
    for entry in strand.entries:
        if entry.turn is None:
            continue
        record = entry.record
        if isinstance(record, ToolCalled):
            found.setdefault(entry.turn, []).extend(_call_keys(record, True))
        elif isinstance(record, MessageSaid) and record.role == "assistant" and record.content.digest is not None:
            found.setdefault(entry.turn, []).append(("said", record.role, record.content.digest))
    return found
