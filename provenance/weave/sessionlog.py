"""All turn records of one session, from every source that tells of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from provenance.records import AnyTurnRecord

_POORER = frozenset(("codex-exec", "codex-exec-json", "claude-stream", "claude-stream-json"))
"""Formats that a richer one of the same run exists for: streams on standard output."""


class SourceLog(msgspec.Struct, gc=False):
    """The records of one source, in the order of its lines."""

    key: str
    format: str
    records: list[AnyTurnRecord]

    @property
    def rank(self) -> int:
        """0: a session file; 1: a stream beside it, which adds only what the file lacks."""
        return int(self.format in _POORER)


class SessionLog:
    """What is known of one session. `add` may be called in any order, any number of times."""

    __slots__ = ("session", "sources")

    def __init__(self, session: str) -> None:
        self.session = session
        self.sources: dict[str, SourceLog] = {}

    def add(self, source_key: str, format: str, records: Iterable[AnyTurnRecord]) -> bool:
        """Take over records of one source; those that are there already (same line, same content) are skipped.

        Raises ValueError for a record of another session. Returns whether anything was new.
        """
        incoming = list(records)
        for record in incoming:
            if record.session != self.session:
                raise ValueError(f"record of session {record.session!r} for the log of {self.session!r}")
        if not incoming:
            return False
        incoming = _encodable(incoming)
        source = self.sources.get(source_key)
        if source is None:
            source = self.sources[source_key] = SourceLog(source_key, format, [])
        held = source.records
        lowest = min(record.line for record in incoming)
        if held and lowest <= held[-1].line:
            incoming = _unknown(held, incoming, lowest)
        if not incoming:
            return False
        incoming.sort(key=_line)
        late = bool(held) and incoming[0].line < held[-1].line
        held.extend(incoming)
        if late:
            held.sort(key=_line)
        return True

    def ordered(self) -> list[SourceLog]:
        """The sources, richest first, then by what they tell of first."""
        return sorted(self.sources.values(), key=lambda source: (source.rank, _begin(source), source.key))

    def dump(self) -> bytes:
        """As MessagePack; `load` gives an equal log."""
        return _ENCODER.encode((self.session, [self.sources[key] for key in sorted(self.sources)]))

    @classmethod
    def load(cls, data: bytes) -> SessionLog:
        session, sources = _DECODER.decode(data)
        log = cls(session)
        log.sources = {source.key: source for source in sources}
        return log


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(tuple[str, list[SourceLog]])


def _line(record: AnyTurnRecord) -> int:
    return record.line


def _begin(source: SourceLog) -> int:
    return min((record.time for record in source.records if record.time is not None), default=2**63)


def _unknown(held: list[AnyTurnRecord], incoming: list[AnyTurnRecord], lowest: int) -> list[AnyTurnRecord]:
    """Records that are not held yet. A line may have equal records: the n-th in one batch is the n-th of the line."""
    known: dict[int, list[AnyTurnRecord]] = {}
    for record in reversed(held):
        if record.line < lowest:
            break
        known.setdefault(record.line, []).append(record)
    new: list[AnyTurnRecord] = []
    for record in incoming:
        rest = known.get(record.line)
        if rest is not None and record in rest:
            rest.remove(record)
        else:
            new.append(record)
    return new


def _encodable(records: list[AnyTurnRecord]) -> list[AnyTurnRecord]:
    """Lone surrogates (damaged text) replaced, and integers beyond 64 bits dropped, so that the log can be kept."""
    try:
        _ENCODER.encode(records)
    except (UnicodeEncodeError, OverflowError):
        return [_cleaned(record) for record in records]
    return records


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -(2**63) <= value < 2**63 else None
    if isinstance(value, tuple):
        return tuple(_cleaned(item) for item in cast("tuple[Any, ...]", value))
    if isinstance(value, dict):
        pairs = ((_cleaned(key), _cleaned(item)) for key, item in cast("dict[Any, Any]", value).items())
        return {key: item for key, item in pairs if item is not None}
    if isinstance(value, msgspec.Struct):
        fields = {name: _cleaned(getattr(value, name)) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    return value
