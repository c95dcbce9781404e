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


def prepared(cypher: str) -> str:
    """The text as the embedded engine takes it. It reserves words that Cypher elsewhere lets one use: so `end` goes in
    backticks where it is a property (`p.end`, `{end: 1}`), and parameters get the names that `parameter` makes."""

    def replacement(found: re.Match[str]) -> str:
        if found["end"]:
            return f"{found['before']}`{found['end']}`"
        return f"${parameter(found['parameter'])}" if found["parameter"] else found[0]

    return _TOKENS.sub(replacement, cypher)


def parameter(name: str) -> str:
    return f"{name}_"


def parameters(cypher: str) -> set[str]:
    """The parameters that a text names."""
    return {found["parameter"] for found in _TOKENS.finditer(cypher) if found["parameter"]}
