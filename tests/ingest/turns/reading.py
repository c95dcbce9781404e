"""Feeding turn formats in tests: rows or bytes in, records out."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from ingest.interface import Format, Head, Record
from provenance.records import Skipped

RecordT = TypeVar("RecordT")


def lines(*rows: object) -> bytes:
    """Rows as JSON lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read(source_format: Format, data: bytes, name: str = "source.jsonl") -> list[Record | Skipped]:
    """Everything that a format reads from a whole source."""
    parser = source_format.parser(Head(name, data[:65536]))
    return [*parser.feed(data, 1), *parser.finish()]


def only(records: list[Record | Skipped], kind: type[RecordT]) -> list[RecordT]:
    """The records of one kind, in order."""
    return [record for record in records if isinstance(record, kind)]


def one(records: list[Record | Skipped], kind: type[RecordT]) -> RecordT:
    """The one record of a kind."""
    found = only(records, kind)
    assert len(found) == 1, found
    return found[0]


def named(records: list[Record | Skipped]) -> list[str]:
    """The kinds of the records, in order."""
    return [type(record).__name__ for record in records]


Row = dict[str, Any]
