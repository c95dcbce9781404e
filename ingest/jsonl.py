"""Lines of JSON, from files that were written by crashing, racing and changing programs.

Every non-empty line of a block comes back at least once: as the object it holds, or as `Skipped` with the reason. A line
that holds more than one record (two writers, a lost newline) gives each that can be read; what is left of it is named.

Reasons: `invalid json`, `torn line` (the line ends inside a value), `nul bytes`, `invalid utf-8`, `spliced line`,
`not an object`, `comment`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from ingest.content import mend
from ingest.values import Object
from provenance.records import Skipped

BOM = b"\xef\xbb\xbf"
_TRIES = 64  # places in one broken line where a record is looked for
_SPACE = re.compile(r"\s*")
_NULS = re.compile(rb"\x00+")
_decode = msgspec.json.Decoder().decode
_lenient = json.JSONDecoder(strict=False)


def read_lines(block: bytes, first_line: int) -> Iterator[tuple[int, Object | Skipped]]:
    """The block's lines as (line number, object or Skipped). Lines end with LF or CRLF and nothing else."""
    lines = block.split(b"\n")
    last = len(lines) - 1
    for index, line in enumerate(lines):
        text = line.strip(b" \t\r\x0b\x0c")
        if text.startswith(BOM):
            text = text[3:].strip(b" \t\r")
        if text:
            number = first_line + index
            for value in _read(text, number, cut=index == last):
                yield number, value


def _read(text: bytes, number: int, cut: bool) -> Iterator[Object | Skipped]:
    try:
        value: object = _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        yield from _recover(text, number, cut)
        return
    yield cast(Object, value) if isinstance(value, dict) else _no_object(value, number)


def _no_object(value: object, number: int) -> Skipped:
    return Skipped(number, "not an object", type(value).__name__)


def _recover(text: bytes, number: int, cut: bool) -> Iterator[Object | Skipped]:
    if text.startswith((b"#", b"//")):
        yield Skipped(number, "comment", _sample(text))
        return
    if b"\x00" in text:
        first = text.index(b"\x00")
        yield Skipped(number, "nul bytes", f"{text.count(0)} bytes, the first at column {first + 1}")
        for piece in _NULS.split(text):
            if piece.strip():
                yield from _read(piece.strip(), number, cut)
        return
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        yield Skipped(number, "invalid utf-8", f"column {error.start + 1}; read with replacement characters")
        decoded = text.decode("utf-8", "replace")
    yield from _scan(decoded, number, cut)


def _scan(text: str, number: int, cut: bool) -> Iterator[Object | Skipped]:
    """All records on a line that is not one JSON value. A lost place is reported once, where it begins."""
    position = 0
    tries = 0
    found = 0
    while position < len(text):
        value, end = _at(text, position)
        if end > position:
            found += 1
            if found == 2:
                yield Skipped(number, "spliced line", f"a second record begins at column {position + 1}")
            yield cast(Object, value) if isinstance(value, dict) else _no_object(value, number)
            position = _skip_space(text, end)
            continue
        reason = "torn line" if cut or _is_torn(text, position) else "invalid json"
        yield Skipped(
            number,
            reason,
            f"column {position + 1}: {_sample(text[position : position + 200].encode('utf-8', 'replace'))}",
        )
        while True:
            position = text.find('{"', position + 1)
            tries += 1
            if position < 0 or tries > _TRIES:
                return
            # Inside a record an object follows `:`, `,` or `[`: such a place is not where another record begins.
            if (
                text[max(0, position - 16) : position].rstrip()[-1:] not in (":", ",", "[")
                and _at(text, position)[1] > position
            ):
                break


def _at(text: str, position: int) -> tuple[Any, int]:
    """The JSON value that begins here and where it ends; the position itself where there is none."""
    try:
        return _lenient.raw_decode(text, position)
    except (ValueError, RecursionError):
        return None, position


def _is_torn(text: str, position: int) -> bool:
    """Whether what begins here is right as far as it goes, and then the line ends."""
    try:
        _lenient.raw_decode(text, position)
    except json.JSONDecodeError as error:
        return text[position : position + 1] in ("{", "[") and (
            error.pos >= len(text) or error.msg.startswith("Unterminated string")
        )
    except (ValueError, RecursionError):
        pass
    return False


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _sample(text: bytes) -> str:
    return mend(text[:60].decode("utf-8", "replace"))
