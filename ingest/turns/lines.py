"""The frame that the four turn formats share: lines in, records out, state that can be put away and taken up again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypedDict, TypeVar, cast

import msgspec

from ingest.content import redacted
from ingest.interface import Head
from ingest.jsonl import read_lines
from ingest.values import Object, as_list, as_object, canonical, raw, string
from provenance.identity import digest, key_of
from provenance.records import AnyTurnRecord, Skipped

Out = list[AnyTurnRecord | Skipped]


class At(TypedDict):
    """What all records of a row share, to be passed on as `**place.at`."""

    session: str
    line: int
    time: int | None


class Turned(At):
    """The same for records that name a turn."""

    turn: str | None


class LineState(msgspec.Struct, kw_only=True):
    """What every parser carries. `quiet` counts lines understood without a record of their own."""

    quiet: int = 0


StateT = TypeVar("StateT", bound=LineState)


class LineParser(ABC, Generic[StateT]):
    """A parser that needs one JSON object at a time. Subclasses implement `take`, and `close` where they hold back."""

    def __init__(self, head: Head, state: StateT) -> None:
        self.name = head.name
        self.state = state
        self._decode: Callable[[bytes], StateT] = msgspec.msgpack.Decoder(type(state)).decode

    @abstractmethod
    def take(self, line: int, row: Object, out: Out) -> None:
        """Append what the row says to `out`."""

    def close(self, out: Out) -> None:
        """Append what was held back; the source has ended."""
        del out

    def feed(self, block: bytes, first_line: int) -> Sequence[AnyTurnRecord | Skipped]:
        out: Out = []
        for line, row in read_lines(block, first_line):
            if isinstance(row, Skipped):
                out.append(row)
                continue
            before = len(out)
            self.take(line, row, out)
            if not any(record.line == line for record in out[before:]):
                self.state.quiet += 1
        return out

    def finish(self) -> Sequence[AnyTurnRecord | Skipped]:
        out: Out = []
        self.close(out)
        return out

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self.state)

    def restore(self, state: bytes) -> None:
        self.state = self._decode(state)


LONG = 500
"""Longer strings in a host's settings stand as their digest."""


def details(value: object) -> str:
    """Settings as canonical JSON: redacted, with long texts by digest and long lists cut."""
    return redacted(canonical(_shrunk(value, 0)))


def _shrunk(value: object, depth: int) -> object:
    if isinstance(value, str):
        if len(value) <= LONG:
            return redacted(value)
        return {"sha256": digest(value), "characters": len(value)}
    if depth > 12:
        return "[nested too deeply]"
    if isinstance(value, dict):
        return {str(key): _shrunk(item, depth + 1) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        members = cast("list[Any]", value)
        shrunk = [_shrunk(item, depth + 1) for item in members[:100]]
        return [*shrunk, f"[{len(members) - 100} more]"] if len(members) > 100 else shrunk
    return value


def parts_text(parts: object) -> str:
    """The text of a message's content. What is no text stands as `[kind sha256:...]`, so that digests still differ."""
    if isinstance(parts, str):
        return parts
    texts: list[str] = []
    for part in as_list(parts):
        if isinstance(part, str):
            texts.append(part)
            continue
        block = as_object(part)
        text = raw(block, "text")
        texts.append(
            text if text is not None else f"[{string(block, 'type') or 'part'} sha256:{key_of(canonical(part))}]"
        )
    return "\n".join(texts)


def unknown(line: int, kind: str) -> Skipped:
    """A row of a type that this version of the format's reader does not know."""
    return Skipped(line, "unknown record type", kind[:200])


def head_rows(head: Head, limit: int = 40) -> Iterator[Object]:
    """The objects among the first lines, for recognition by structure."""
    count = 0
    for _, row in read_lines(head.data, 1):
        if not isinstance(row, Skipped):
            yield row
            count += 1
            if count >= limit:
                return


def share(head: Head, belongs: Callable[[Object], float], marks: Sequence[bytes]) -> float:
    """How sure a format is of a source: the mean of `belongs` over the first objects.

    Where not one line is whole (a first line longer than the head), the marks in its beginning decide, with less trust.
    """
    votes = [belongs(row) for row in head_rows(head)]
    if votes:
        return sum(votes) / len(votes)
    start = head.data.lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    if start.startswith(b"{") and any(mark in start for mark in marks):
        return 0.6
    return 0.0
