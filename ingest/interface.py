"""What a format is to the rest: a way to recognise it, and a parser that turns whole lines into records.

Parsing is pure: bytes in, records out. A parser never opens a file, never looks at the clock and never raises on bad
input; what it cannot read it returns as `Skipped`. It can save what it carries from block to block (a call that has
begun, a turn that is open), so that a file may be read in any pieces, over any number of runs, with one result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from provenance.records import AnyTurnRecord, Clock, Effect, Skipped

Record = AnyTurnRecord | Effect


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of a source before it is parsed: its name and how it begins."""

    name: str  # file name without folders and without a compression suffix; "-" for standard input
    data: bytes  # up to the first 64 KiB, decompressed; may end inside a line

    def lines(self, limit: int = 20) -> list[bytes]:
        """The first non-empty lines, the last one possibly cut."""
        return [line for line in self.data.split(b"\n") if line.strip()][:limit]


class Parser(Protocol):
    """Reads one source. `feed` gets whole lines in order; `line` numbers are 1-based over the whole source."""

    def feed(self, block: bytes, first_line: int) -> Sequence[Record | Skipped]:
        """Records of a block of whole lines (each ends in a newline, but for the source's last).

        A line that belongs to none of the returned records was understood and carries nothing of interest.
        """
        ...

    def finish(self) -> Sequence[Record | Skipped]:
        """What is left when the source is known to have ended: calls never resumed, lines held back."""
        ...

    def save(self) -> bytes:
        """What `restore` of a new parser needs to go on from here."""
        ...

    def restore(self, state: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class EffectFacts:
    """What a trace says about itself, beside its records."""

    clock: Clock
    calls: tuple[str, ...]  # names of the calls seen so far, sorted
    environment: bool  # environment variables of programs are shown
    annotated: bool  # descriptors are shown with what they stand for


class EffectParser(Parser, Protocol):
    """A parser of what the machine saw."""

    def facts(self) -> EffectFacts: ...


class Format(Protocol):
    """One input format. Each lives in a module of its own and is listed in `ingest.registry`."""

    @property
    def name(self) -> str:
        """Stable identifier, e.g. `codex-rollout`."""
        ...

    @property
    def family(self) -> str:
        """`turns` or `effects`."""
        ...

    @property
    def description(self) -> str:
        """One line for people, with the format's own documentation where there is any."""
        ...

    def score(self, head: Head) -> float:
        """How sure it is that the source is of this format: 0 (no) to 1, from content before name."""
        ...

    def parser(self, head: Head) -> Parser:
        """A new parser for a source that begins like this."""
        ...
