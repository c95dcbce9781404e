"""The few things a store must know about the text of a query before the engine sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from provenance.changes import Value
from provenance.errors import UsageError
from provenance.store.grouping import storable

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


def checked(cypher: str, given: Mapping[str, Value | Sequence[Value]]) -> dict[str, object]:
    """The values for a text, lists as lists. Raises UsageError for a parameter without value and for text that is no UTF-8."""
    if missing := parameters(cypher) - given.keys():
        raise UsageError(f"the query needs a value for ${', $'.join(sorted(missing))}")
    return {name: _plain(name, value) for name, value in given.items()}


def _plain(name: str, value: Value | Sequence[Value]) -> object:
    values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if any(isinstance(item, str) and not storable(item) for item in values):
        raise UsageError(f"the value for ${name} is not text that can be written as UTF-8: {value!r}")
    return value if isinstance(value, str) or not isinstance(value, Sequence) else values
