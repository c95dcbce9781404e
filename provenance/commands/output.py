"""How commands speak: answers on standard output (text, tables or JSON), everything else on standard error."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from provenance.store import Store

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_WIDE = 10_000
"""Columns where nobody looks: lines of a pipe or a file are never broken."""


@dataclass(slots=True)
class Settings:
    """What the options before the command say."""

    store: str


def default_store() -> Path:
    """Where the store is when nobody says."""
    from platformdirs import user_data_dir

    return Path(user_data_dir("evidence-capsule", appauthor=False)) / "store"


def opened(settings: Settings, *, write: bool = False) -> Store:
    """The store that the options name."""
    from provenance.store import open_store

    return open_store(settings.store, write=write)


def console(*, error: bool = False) -> Console:
    """Colours where somebody looks; no markup in what data says; no line is broken in a pipe."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else _WIDE
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


def say(*parts: RenderableType) -> None:
    """An answer. In a pipe or a file no line ends in spaces."""
    screen = console()
    for part in parts:
        if screen.is_terminal or isinstance(part, str):
            screen.print(part, soft_wrap=isinstance(part, str))
            continue
        with screen.capture() as capture:
            screen.print(part)
        sys.stdout.write("\n".join(line.rstrip() for line in capture.get().split("\n")))


def note(text: str) -> None:
    """Something beside the answer."""
    sys.stdout.flush()
    print(clean(text), file=sys.stderr, flush=True)


def answer_json(value: Any) -> None:
    """One JSON document on standard output; a number that JSON lacks (NaN, infinity) becomes its name."""
    json.dump(_finite(value), sys.stdout, indent=2, ensure_ascii=False, default=str, allow_nan=False)
    sys.stdout.write("\n")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in cast("list[Any]", value)]
    return value


def clean(text: object) -> str:
    """Text from evidence made safe for a terminal: control characters are shown, not sent."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


def short(text: object, length: int = 100) -> str:
    """The first line, cut to a length."""
    line = clean(" ".join(str(text).split()))
    return line if len(line) <= length else line[: length - 1] + "…"


def cell(value: object, length: int = 100) -> str:
    """A value as a table shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return short(", ".join(map(str, cast("list[Any]", value))), length)
    return short(value, length)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, length: int = 100) -> RenderableType:
    """A plain table: a header, a line under it, and a row a line."""
    from rich import box
    from rich.table import Table

    given = [[cell(value, length) for value in row] for row in rows]
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        numbers = [row[place] for row in given if row[place]]
        right = bool(numbers) and all(re.fullmatch(r"-?[\d,.]+", number) for number in numbers)
        made.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in given:
        made.add_row(*row)
    return made


def time_of(value: int | None, clock: str | None = "wall") -> str:
    """A time as people read it, where it is one of the wall clock."""
    if value is None:
        return ""
    if clock not in (None, "wall"):
        return f"{value / 1e9:.3f} s"
    return datetime.fromtimestamp(value / 1e9, tz=UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def count_of(number: int, one: str, many: str | None = None) -> str:
    """`1 file`, `2 files`, `1,000 processes`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
