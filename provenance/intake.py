"""Intake: sources in, one causal graph out. The only writer of a store during ingest.

For each source the offset read so far, what its parser and weaver carry, and the graph changes are committed together, so
a kill at any point loses nothing that was reported as done, a source read twice changes nothing, and a source that grew
adds only its new part. Sources may come in any order, and from several intakes at once where the store takes several
writers: whoever meets what another has changed reads again from there.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import msgspec
import zstandard

from provenance import identity, linking
from provenance.changes import Changes, Fields
from provenance.errors import StoreConflict
from provenance.records import AnyTurnRecord, Clock, Skipped
from provenance.store.interface import Store
from provenance.weave.effects import OWN_FILES, EffectWeaver
from provenance.weave.outcomes import RuntimeEnd
from provenance.weave.sessions import SessionLog, Subgraph, difference, weave_session

ATTEMPTS = 50
"""Times that the same sources are read again because another writer was faster."""
COMMIT_LINES = 250_000
"""Lines of a trace after which a commit is due."""
COMMIT_ELEMENTS = 5_000
"""Nodes and edges of turn records, or of joined sessions, after which a commit is due: small commits are dear."""
_EXAMPLES = 20
_DAMAGE = {"truncated compressed stream", "corrupt compressed stream", "read error"}
"""Reasons for which a source counts as not read to its end."""


T = TypeVar("T")


class BlockLike(Protocol):
    """Whole lines of a source."""

    @property
    def data(self) -> bytes: ...
    @property
    def first_line(self) -> int: ...
    @property
    def lines(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def skipped(self) -> Sequence[Skipped]: ...
    @property
    def digest(self) -> str: ...
    @property
    def complete(self) -> bool: ...


class SourceLike(Protocol):
    """What intake needs of a source; `ingest.sources.Source` is one."""

    key: str

    @property
    def uri(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def format(self) -> Any: ...
    @property
    def head(self) -> Any: ...
    def blocks(self, offset: int = 0, line: int = 1) -> Iterator[Any]: ...
    def prefix_digest(self, offset: int) -> str: ...


@dataclass(slots=True)
class Report:
    """What reading one source gave."""

    uri: str
    key: str
    format: str
    lines: int = 0  # read in this run
    records: int = 0  # of this run
    skipped: dict[str, int] = field(default_factory=dict[str, int])  # reason -> lines of this run
    new: bool = True  # the source was not known before
    note: str = ""


@dataclass(slots=True)
class Summary:
    """What an intake did in all."""

    nodes: int = 0
    edges: int = 0
    sessions: list[str] = field(default_factory=list[str])
    calls: int = 0  # shell calls with processes
    processes: int = 0  # processes attributed to calls
    unmatched: int = 0
    ambiguous: int = 0
    gaps: int = 0


class _Progress(msgspec.Struct):
    """How far a source was read, and what its reading carries."""

    uri: str
    format: str
    offset: int = 0
    line: int = 1
    digest: str = ""
    records: int = 0
    skipped: dict[str, int] = {}
    examples: list[tuple[int, str, str]] = []
    parser: bytes = b""
    weaver: bytes = b""
    finished: bool = False
    provisional_edges: list[tuple[str, str, str]] = []
    provisional_nodes: list[str] = []
    sessions: list[str] = []
    tail: str = ""  # digest of a last line without newline: woven, and read again once it has grown
    tail_skipped: dict[str, int] = {}


class _Session(msgspec.Struct):
    """A session's log, what its sources' parsers still hold back, and what the traces said of its end."""

    log: bytes
    tails: dict[str, tuple[str, bytes]] = {}  # source key -> format, log of the records given up at its present end
    runtime_end: tuple[Any, ...] | None = None
    delegated_by: str | None = None


class Intake:
    """Reads sources into a writable store. One `finish` after the last `take` joins what was said to what was seen."""

    def __init__(self, store: Store, *, host: str = "local") -> None:
        self.store = store
        self.host = host
        self._changed: set[str] = set()
        self._spans: list[tuple[int, int]] = []
        self._summary = Summary()
        self._removed = False
        self._waiting = Changes()
        self._waiting_state: dict[str, bytes | None] = {}
        self._uncommitted: list[tuple[SourceLike, bool]] = []  # what waits, to be read again where its commit fails

    # ------------------------------------------------------------------------------------------- one source

    def take(
        self,
        source: SourceLike,
        progress: Callable[[int], None] | None = None,
        blocks: Iterator[Any] | None = None,
        *,
        final: bool = True,
    ) -> Report:
        """Read what is new in a source. `progress` is told the lines read so far; `blocks` replaces the source's own
        (follow mode), and `final` False leaves its end open."""
        if blocks is not None:
            return self._take(source, progress, blocks, final)  # what has been streamed cannot be read again
        report = self._persistently(lambda: self._take(source, progress, None, final))
        self._uncommitted.append((source, final))
        return report

    def _persistently(self, work: Callable[[], T]) -> T:
        """Do what commits; where another writer was faster, do it again from what that one left."""
        for attempt in range(ATTEMPTS):
            try:
                if attempt:
                    self._take_again()
                return work()
            except StoreConflict:
                self._waiting, self._waiting_state = Changes(), {}
                time.sleep(random.uniform(0, 0.05 * 2 ** min(attempt, 5)))
        raise StoreConflict(f"other writers were faster {ATTEMPTS} times: ingest again when they are done")

    def _take_again(self) -> None:
        """Read anew what waited for a commit that failed."""
        pending, self._uncommitted = self._uncommitted, []
        for place, (source, final) in enumerate(pending):
            try:
                self._take(source, None, None, final)
            except StoreConflict:
                self._uncommitted += pending[place:]
                raise
            self._uncommitted.append((source, final))

    def _take(
        self, source: SourceLike, progress: Callable[[int], None] | None, blocks: Iterator[Any] | None, final: bool
    ) -> Report:
        report = Report(source.uri, source.key, source.format.name)
        state = self._progress(source)
        if state.uri != source.uri and blocks is None and state.offset and self._changed_before(source, state):
            # Another file that begins alike: a source of its own.
            source.key = report.key = identity.key_of(f"{source.key}|{source.uri}")
            state = self._progress(source)
        known = self._state(f"source/{source.key}") is not None
        report.new = not known
        if state.offset and state.digest and blocks is None:
            note = self._changed_before(source, state)
            if note:
                report.note = note
                return report
        parser = source.format.parser(source.head)
        if state.parser:
            parser.restore(state.parser)
        stream = blocks if blocks is not None else source.blocks(state.offset, state.line)
        if source.format.family == "effects":
            self._take_effects(source, state, parser, stream, report, progress, final)
        else:
            self._take_turns(source, state, parser, stream, report, progress, final)
        if not report.lines and not report.note:
            report.note = "nothing new" if known else "empty"
        return report

    def position(self, source: SourceLike) -> tuple[int, int]:
        """Where reading of the source goes on: decompressed offset and line number."""
        state = self._progress(source)
        return state.offset, state.line

    def _progress(self, source: SourceLike) -> _Progress:
        data = self._state(f"source/{source.key}")
        if data is None:
            return _Progress(source.uri, source.format.name)
        return msgspec.msgpack.decode(_unpacked(data), type=_Progress)

    @staticmethod
    def _changed_before(source: SourceLike, state: _Progress) -> str:
        """Why reading cannot go on where it stopped; empty where it can."""
        try:
            same = source.prefix_digest(state.offset) == state.digest
        except (OSError, ValueError, EOFError):
            same = False
        return "" if same else "changed before the place where reading stopped: kept as it was read then"

    def _count(self, state: _Progress, report: Report, results: Iterable[Any]) -> list[Any]:
        """Records without the skipped lines, which are counted."""
        records: list[Any] = []
        for result in results:
            if type(result) is Skipped:
                state.skipped[result.reason] = state.skipped.get(result.reason, 0) + 1
                report.skipped[result.reason] = report.skipped.get(result.reason, 0) + 1
                if len(state.examples) < _EXAMPLES:
                    state.examples.append((result.line, result.reason, _storable(result.detail[:200])))
            else:
                records.append(result)
        state.records += len(records)
        report.records += len(records)
        return records

    # ------------------------------------------------------------------------------------------- effects

    def _take_effects(
        self, source: SourceLike, state: _Progress, parser: Any, blocks: Iterator[Any], report: Report,
        progress: Callable[[int], None] | None, final: bool,
    ) -> None:  # fmt: skip
        clock: Clock = parser.facts().clock
        weaver = EffectWeaver(source.key, self.host, clock)
        if state.weaver:
            weaver.restore(state.weaver)
        due = 0
        undo = Changes()
        tail: BlockLike | None = None
        for block in blocks:
            if not block.complete:
                tail = block
                break
            if state.provisional_edges or state.provisional_nodes:
                undo.removed_edges = {(kind, tail, head) for kind, tail, head in state.provisional_edges}
                undo.removed_nodes = set(state.provisional_nodes)
                state.provisional_edges, state.provisional_nodes = [], []
            results = self._count(state, report, (*block.skipped, *parser.feed(block.data, block.first_line)))
            weaver.feed(results)
            state.offset, state.line, state.digest = block.end, block.first_line + block.lines, block.digest
            report.lines += block.lines
            due += block.lines
            if progress is not None:
                progress(report.lines)
            if due >= COMMIT_LINES:
                self._commit_effects(source, state, parser, weaver, undo, report, None, final=False)
                undo, due = Changes(), 0
        if report.lines or report.new or (final and not state.finished) or _tail_digest(tail) != state.tail:
            self._commit_effects(source, state, parser, weaver, undo, report, tail, final=final)
        if weaver.first is not None and weaver.last is not None and report.lines and clock is Clock.WALL:
            self._spans.append((weaver.first, weaver.last))

    def _commit_effects(
        self, source: SourceLike, state: _Progress, parser: Any, weaver: EffectWeaver, undo: Changes, report: Report,
        tail: BlockLike | None, *, final: bool,
    ) -> None:  # fmt: skip
        changes = weaver.flush()
        changes.removed_edges, changes.removed_nodes = undo.removed_edges, undo.removed_nodes
        state.parser, state.weaver = parser.save(), weaver.save()
        state.finished, state.tail, state.tail_skipped = final, _tail_digest(tail), {}
        if final:
            # The end as it is now: what only an end brings is written so that a longer source can take it back.
            last: list[Any] = list(parser.feed(tail.data, tail.first_line)) if tail is not None else []
            weaver.feed(self._tail_records(state, report, (*last, *parser.finish())))
            weaver.finish()
            more = weaver.flush()
            state.provisional_edges = list(more.edges)
            state.provisional_nodes = [
                node for node in more.nodes if node not in changes.nodes and "toolchain/" in node
            ]
            changes.extend(more)
        facts = parser.facts()
        skipped = sum(state.skipped.values()) + sum(state.tail_skipped.values())
        lost = skipped + sum(
            note[0]
            for key, note in weaver.notes.items()
            if key.startswith("never_captured") and not key.endswith(OWN_FILES)
        )
        seen = weaver.coverage()
        coverage = f"coverage:{source.key}"
        changes.put(
            coverage, name=f"coverage of {source.name}", calls=list(facts.calls), lost=lost, environment=facts.environment, level=1,
            complete=not lost and not seen["attached_late"] and final, retention="present", **seen,
        )  # fmt: skip
        self._put_source(
            changes, source, state, final, host=self.host, start=seen["start"], end=seen["end"], clock=seen["clock"]
        )
        self._link_once(changes, "RECORDED_IN", coverage, f"source:{source.key}")
        self._put_gaps(changes, source, state)
        for key, (count, line, detail) in weaver.notes.items():
            reason, _, about = key.partition("|")
            self._put_gap(
                changes,
                f"gap:{source.key}/{about.replace(' ', '-')}",
                reason,
                about,
                count,
                f"line {line}: {detail}",
                coverage,
            )
        if not facts.environment and weaver.processes:
            self._put_gap(changes, f"gap:{source.key}/environment", "never_captured", "environment variables", 1,
                          "the trace does not show them (strace -v or -e abbrev=!execve would)", coverage)  # fmt: skip
        if seen["attached_late"]:
            self._put_gap(
                changes,
                f"gap:{source.key}/start",
                "attached_late",
                "beginning",
                1,
                "the trace begins inside a running process",
                coverage,
            )
        self._stage(changes, {f"source/{source.key}": _packed(msgspec.msgpack.encode(state))})
        self._commit()

    @staticmethod
    def _tail_records(state: _Progress, report: Report, results: Iterable[Any]) -> list[Any]:
        """Records of a source's present end; its skipped lines are counted as long as it stays the end."""
        records: list[Any] = []
        for result in results:
            if type(result) is Skipped:
                state.tail_skipped[result.reason] = state.tail_skipped.get(result.reason, 0) + 1
                report.skipped[result.reason] = report.skipped.get(result.reason, 0) + 1
                if (example := (result.line, result.reason, _storable(result.detail[:200]))) not in state.examples:
                    state.examples.append(example)
            else:
                records.append(result)
        return records

    # ------------------------------------------------------------------------------------------- turns

    def _take_turns(
        self, source: SourceLike, state: _Progress, parser: Any, blocks: Iterator[Any], report: Report,
        progress: Callable[[int], None] | None, final: bool,
    ) -> None:  # fmt: skip
        gathered: dict[str, list[AnyTurnRecord]] = defaultdict(list)
        tail: BlockLike | None = None
        for block in blocks:
            if not block.complete:
                tail = block
                break
            for record in self._count(state, report, (*block.skipped, *parser.feed(block.data, block.first_line))):
                gathered[record.session].append(record)
            state.offset, state.line, state.digest = block.end, block.first_line + block.lines, block.digest
            report.lines += block.lines
            if progress is not None:
                progress(report.lines)
        if not report.lines and not report.new and _tail_digest(tail) == state.tail and state.finished == final:
            return
        state.parser = parser.save()
        state.finished, state.tail, state.tail_skipped = final, _tail_digest(tail), {}
        tails: dict[str, list[AnyTurnRecord]] = defaultdict(list)
        if final:
            last: list[Any] = list(parser.feed(tail.data, tail.first_line)) if tail is not None else []
            for record in self._tail_records(state, report, (*last, *parser.finish())):
                tails[record.session].append(record)
        changes = Changes()
        states: dict[str, bytes | None] = {}
        sessions = sorted({*gathered, *tails, *state.sessions})
        state.sessions = sessions
        self._put_source(changes, source, state, final, session=sessions[0] if sessions else None)
        self._put_gaps(changes, source, state)
        for name in sessions:
            old, held = self._subgraph(name)
            log = SessionLog.load(held.log) if held.log else SessionLog(name)
            if gathered.get(name):
                log.add(source.key, source.format.name, gathered[name])
            ending = SessionLog(name)
            if tails.get(name):
                ending.add(source.key, source.format.name, tails[name])
                held.tails[source.key] = (source.format.name, ending.dump())
            else:
                held.tails.pop(source.key, None)
            held.log = log.dump()
            changes.extend(difference(old, self._woven(name, held)))
            states[f"session/{name}"] = _packed(msgspec.msgpack.encode(held))
            self._changed.add(name)
        states[f"source/{source.key}"] = _packed(msgspec.msgpack.encode(state))
        self._stage(changes, states)

    def _subgraph(self, name: str) -> tuple[Subgraph | None, _Session]:
        """What the store holds of a session, woven again from its log."""
        data = self._state(f"session/{name}")
        if data is None:
            return None, _Session(b"")
        held = msgspec.msgpack.decode(_unpacked(data), type=_Session)
        return self._woven(name, held), held

    @staticmethod
    def _woven(name: str, held: _Session) -> Subgraph:
        log = SessionLog.load(held.log)
        for key, (format_name, data) in sorted(held.tails.items()):
            for part in SessionLog.load(data).ordered():
                log.add(key, format_name, part.records)
        end = RuntimeEnd(*held.runtime_end) if held.runtime_end else None
        return weave_session(log, end, held.delegated_by)

    # ------------------------------------------------------------------------------------------- joining

    def finish(self) -> Summary:
        """Commit what waits, join sessions and traces, and say what came of it."""
        self._persistently(self._commit)
        self._persistently(self._join_all)
        if self._removed:
            self.store.prune(_SHARED)
            self._removed = False
        summary = self._summary
        summary.sessions = sorted(self._changed)
        counts = self.store.counts()
        summary.gaps = counts.get("Gap", 0)
        self._changed.clear()
        self._spans.clear()
        self._summary = Summary()
        return summary

    def _join_all(self) -> None:
        self._summary = replace(self._summary, calls=0, processes=0, unmatched=0, ambiguous=0)
        for session in linking.root_sessions(self.store):
            if self._concerned(session):
                self._join(session)
        self._commit()

    def _concerned(self, session: dict[str, Any]) -> bool:
        name = str(session["id"])
        if name in self._changed or any(other.startswith(name + "/") for other in self._changed):
            return True
        start = session["start"] or session["finish"]
        end = session["finish"] or start
        return start is not None and any(first <= end and last >= start for first, last in self._spans)

    def _join(self, session: dict[str, Any]) -> None:
        name = str(session["id"])
        # Read before the graph is: a writer that joins meanwhile then makes this commit fail, not be overwritten.
        previous = self.store.state(linking.state_key(name))
        joined = linking.join(self.store, session, previous)
        changes = Changes()
        states: dict[str, bytes | None] = {}
        if joined is not None:
            changes.extend(joined.changes)
            states |= linking.kept_state(name, joined, previous)
            self._summary.calls += len(joined.attribution.calls)
            self._summary.processes += sum(joined.attribution.calls.values())
            self._summary.unmatched += len(joined.attribution.unmatched)
            self._summary.ambiguous += len(joined.attribution.ambiguous)
            end = joined.runtime_end
            told = (
                (end.time, end.signal, end.status, end.complete, end.source, end.process, end.cut_off) if end else None
            )
            self._reweave(name, changes, states, runtime_end=told)
        delegations: dict[str, str] = {}
        for row in self.store.query(_DELEGATIONS, {"prefix": f"session:{name}/"}).rows:
            delegations[str(row[0]).removeprefix("session:")] = str(row[1])
        for child, call in sorted(delegations.items()):
            self._reweave(child, changes, states, delegated_by=call)
        self._stage(changes, states)

    def _reweave(self, name: str, changes: Changes, states: dict[str, bytes | None], **told: Any) -> None:
        """Weave a session again with what has become known from elsewhere."""
        old, held = self._subgraph(name)
        if old is None or all(getattr(held, key) == value for key, value in told.items()):
            return
        for key, value in told.items():
            setattr(held, key, value)
        changes.extend(difference(old, self._woven(name, held)))
        states[f"session/{name}"] = _packed(msgspec.msgpack.encode(held))

    # ------------------------------------------------------------------------------------------- common nodes

    def _put_source(self, changes: Changes, source: SourceLike, state: _Progress, final: bool, **more: Any) -> None:
        fields: Fields = {
            "name": source.name, "uri": source.uri, "format": source.format.name, "digest": state.digest or None, "size": state.offset,
            "lines": state.line - 1, "records": state.records, "skipped": sum(state.skipped.values()) + sum(state.tail_skipped.values()), "complete": final and not _DAMAGE & set(state.skipped), "level": 2,
            "retention": "present",
        }  # fmt: skip
        fields.update(more)
        changes.put(f"source:{source.key}", **fields)

    def _put_gaps(self, changes: Changes, source: SourceLike, state: _Progress) -> None:
        """Lines that could not be read, by reason."""
        examples: dict[str, list[str]] = defaultdict(list)
        for line, reason, detail in state.examples:
            examples[reason].append(f"line {line}: {detail}" if detail else f"line {line}")
        for reason, count in (Counter(state.skipped) + Counter(state.tail_skipped)).items():
            self._put_gap(
                changes, f"gap:{source.key}/{reason.replace(' ', '-')}", "order_unknown" if reason == "order unknown" else "parse_failed",
                reason, count, "; ".join(examples[reason][:5])[:1000], f"source:{source.key}",
            )  # fmt: skip

    def _put_gap(
        self, changes: Changes, gap: str, reason: str, about: str, count: int, detail: str, subject: str
    ) -> None:
        changes.put(
            gap,
            name=about,
            reason=reason,
            about=about,
            count=count,
            detail=_storable(detail)[:1000],
            level=1,
            retention="present",
        )
        self._link_once(changes, "ABOUT", gap, subject)

    @staticmethod
    def _link_once(changes: Changes, kind: str, tail: str, head: str) -> None:
        changes.link(kind, tail, head, basis="observed", confidence=1.0, rule="intake", count=1)

    def _state(self, key: str) -> bytes | None:
        """State as it will be once what waits is committed."""
        return self._waiting_state[key] if key in self._waiting_state else self.store.state(key)

    def _stage(self, changes: Changes, state: dict[str, bytes | None]) -> None:
        """Commit with what comes next; at the latest with `finish`."""
        self._waiting.extend(changes)
        self._waiting_state.update(state)
        if len(self._waiting.nodes) + len(self._waiting.edges) >= COMMIT_ELEMENTS:
            self._commit()

    def _commit(self) -> None:
        changes, state = self._waiting, self._waiting_state
        self._waiting, self._waiting_state = Changes(), {}
        if changes or state:
            self._apply(changes, state)
        self._uncommitted.clear()

    def _apply(self, changes: Changes, state: dict[str, bytes | None]) -> None:
        _clean(changes)
        self._removed = self._removed or bool(changes.removed_nodes or changes.removed_edges)
        self.store.apply(changes, state)
        self._summary.nodes += len(changes.nodes)
        self._summary.edges += len(changes.edges)


_SHARED = ("Oracle", "Policy", "Principal", "Authority", "Environment", "Sandbox")
_DELEGATIONS = """
MATCH (s:Session)-[:DELEGATED_BY]->(c:ToolCall) WHERE s.id STARTS WITH $prefix RETURN s.id AS child, c.id AS call
"""


def _tail_digest(tail: BlockLike | None) -> str:
    return identity.digest(tail.data) if tail is not None else ""


def _storable(text: str) -> str:
    """Undecodable bytes, which the parsers keep as surrogates, in a form that every store takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _clean(changes: Changes) -> None:
    """Names in a trace may hold bytes that are no UTF-8: store them escaped, ids included."""
    surrogates = Counter[str]()
    for node, fields in changes.nodes.items():
        if not node.isascii() and node != _storable(node):
            surrogates[node] += 1
        for name, value in fields.items():
            if isinstance(value, str) and not value.isascii():
                fields[name] = _storable(value)
            elif isinstance(value, list):
                fields[name] = [item if item.isascii() else _storable(item) for item in value]
    if surrogates:
        for node in surrogates:
            changes.nodes[_storable(node)] = changes.nodes.pop(node)
    for edges in (changes.edges, changes.edge_updates):
        for key in [key for key in edges if not (key[1].isascii() and key[2].isascii())]:
            edges[(key[0], _storable(key[1]), _storable(key[2]))] = edges.pop(key)


def _packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(data)


def _unpacked(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data)
