"""The few things a store must know about the text of a query before the engine sees it."""

from __future__ import annotations

import re

_TOKENS = re.compile(
    r"""
      '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" | `[^`]*` | //[^\n]* | /\*.*?\*/   # never looked into
    | \$(?P<parameter>\w+)
    | (?P<before>\.|[{,]\s*(?=end\s*:))(?P<end>end)\b
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def quote_end(cypher: str) -> str:
    """Put `end` in backticks where it is a property (`p.end`, `{end: 1}`): the embedded engine reserves the word, and
    the schema's most natural field for a time must be writable as it is everywhere else."""

    def quoted(found: re.Match[str]) -> str:
        return f"{found['before']}`{found['end']}`" if found["end"] else found[0]

    return _TOKENS.sub(quoted, cypher)


def parameters(cypher: str) -> set[str]:
    """The parameters that a text names."""
    return {found["parameter"] for found in _TOKENS.finditer(cypher) if found["parameter"]}
