"""The forms of the cases: what is asked of which graph, and what must come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Row = tuple[Any, ...]


def comparable(rows: list[Row], *, ordered: bool) -> list[Row]:
    """The rows as they came, or sorted where the text does not order them."""
    return rows if ordered else sorted(rows, key=repr)


@dataclass(frozen=True)
class Asked:
    """A query of the catalogue. In recordings `S` stands for the session's number, `@t` for the trace's key."""

    query: str
    graph: str
    rows: list[Row]
    given: Mapping[str, str | int] = field(default_factory=dict[str, "str | int"])
    columns: str = ""
    """Names of the columns that `rows` holds; empty: all."""


@dataclass(frozen=True)
class Sliced:
    """A slice. `bounds`: bytes for origins that decisions alone reach; `gaps`: (reason, about)."""

    graph: str
    start: str
    flows: str
    nodes: set[str]
    origins: set[str] = field(default_factory=set[str])
    gaps: list[tuple[str, str]] = field(default_factory=list["tuple[str, str]"])
    bounds: Mapping[str, int] = field(default_factory=dict[str, int])
    forward: bool = False
    bound: int = 10_000
    depth: int | None = None


@dataclass(frozen=True)
class Read:
    """A text of its own."""

    graph: str
    text: str
    rows: list[Row]
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    limit: int | None = None
    truncated: bool = False
    ordered: bool = True


@dataclass(frozen=True)
class Refused:
    """A text that is answered by an error, whose message has these words."""

    text: str
    words: str
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Pair:
    """Two phrasings of one question."""

    name: str
    one: str
    other: str
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    graphs: tuple[str, ...] = ()
    """Where it is asked; empty: everywhere."""
