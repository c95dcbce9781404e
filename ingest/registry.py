"""The formats that can be read, and which of them a source is in."""

from __future__ import annotations

from functools import cache

from ingest.interface import Format, Head
from provenance.errors import SourceError

CERTAIN_ENOUGH = 0.3
"""Below this no format is sure of a source."""


@cache
def formats() -> tuple[Format, ...]:
    """All formats, in the order in which a tie is decided. Imported on first use: nothing happens at import."""
    from ingest.effects import strace
    from ingest.turns import claude_stream, claude_transcript, codex_exec, codex_rollout

    return (
        codex_rollout.FORMAT,
        codex_exec.FORMAT,
        claude_transcript.FORMAT,
        claude_stream.FORMAT,
        strace.FORMAT,
    )


def named(name: str) -> Format:
    """The format of this name; SourceError with the known names where there is none."""
    for known in formats():
        if known.name == name:
            return known
    raise SourceError(f"There is no format {name!r}. Known formats: {', '.join(known.name for known in formats())}.")


def detect(head: Head) -> Format:
    """The format that is surest of a source by its content; SourceError where none is sure."""
    if not head.data.strip():
        raise SourceError(f"{head.name} is empty: there is nothing to read yet.")
    scores = [(known.score(head), known) for known in formats()]
    best, found = max(scores, key=lambda pair: pair[0])
    if best < CERTAIN_ENOUGH:
        expected = "; ".join(known.description for known in formats())
        raise SourceError(f"{head.name} is in no known format. Expected one of: {expected}.")
    return found
