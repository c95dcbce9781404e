"""The catalogue: every question as a file with a header and a text, in the Cypher that both engines share.

A file `FOLDER/NAME.cypher` is the query `FOLDER/NAME`. Its header is its first lines, each behind `//`:

    // title: a few words
    // question: the question it answers, in one sentence
    // :param name: type = default - meaning        (without `= default` it must be given)
    // :column name - meaning                       (in the order of RETURN)

Types are `string` and `integer`; a default is written as JSON. Knows no store: the text and the parameters are for one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDERS = ("lineage", "audit", "population")
"""Where queries are, in the order in which they are shown."""

TYPES: dict[str, type] = {"string": str, "integer": int}

_KEYED = re.compile(r"//\s*(title|question):\s*(.+)")
_PARAMETER = re.compile(r"//\s*:param\s+(\w+):\s*(\w+)\s*(?:=\s*(\"(?:[^\"\\]|\\.)*\"|-?\d+))?\s+-\s+(.+)")
_COLUMN = re.compile(r"//\s*:column\s+(\w+)\s+-\s+(.+)")


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str
    default: str | int | None
    """None: it must be given."""
    meaning: str


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Query:
    """One question. `text` is its Cypher without the header."""

    id: str
    title: str
    question: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    text: str

    @property
    def ordered(self) -> bool:
        """Whether the text orders its rows. A UNION cannot in the common subset: who shows its rows sorts them."""
        return re.search(r"^UNION\b", self.text, re.MULTILINE) is None

    def values(self, given: Mapping[str, str | int]) -> dict[str, str | int]:
        """Values for all parameters: the given ones in their types, defaults for the rest.

        Raises ValueError for a name the query does not have, a value that does not fit, or one that is missing.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        if unknown := sorted(set(given) - set(known)):
            names = ", ".join(known) or "none"
            raise ValueError(f"{self.id} has no parameter {', '.join(unknown)}; it has: {names}")
        found: dict[str, str | int] = {}
        for name, parameter in known.items():
            value = given.get(name, parameter.default)
            if value is None:
                raise ValueError(f"{self.id} needs {name} ({parameter.meaning})")
            try:
                found[name] = int(value) if parameter.type == "integer" else str(value)
            except ValueError:
                raise ValueError(f"{self.id}: {name} is a whole number, not {value!r}") from None
        return found


@cache
def catalogue() -> dict[str, Query]:
    """All queries by id, folder by folder and then by name. Raises ValueError for a file that breaks the form."""
    home = Path(__file__).parent
    found: dict[str, Query] = {}
    for folder in FOLDERS:
        for path in sorted((home / folder).glob("*.cypher")):
            identity = f"{folder}/{path.stem}"
            found[identity] = parse(identity, path.read_text(encoding="utf-8"))
    return found


def find(name: str) -> Query:
    """A query by its id, or by its name alone where that is enough. Raises KeyError."""
    known = catalogue()
    if name in known:
        return known[name]
    named = [query for identity, query in known.items() if identity.rpartition("/")[2] == name]
    if len(named) != 1:
        raise KeyError(name)
    return named[0]


def parse(identity: str, content: str) -> Query:
    """Read one file. Raises ValueError naming the line that breaks the form."""
    keyed: dict[str, str] = {}
    parameters: list[Parameter] = []
    columns: list[Column] = []
    lines = content.splitlines()
    place = 0
    for line in lines:
        if not line.startswith("//"):
            break
        place += 1
        if found := _KEYED.fullmatch(line):
            keyed[found[1]] = found[2].strip()
        elif found := _PARAMETER.fullmatch(line):
            if found[2] not in TYPES:
                raise ValueError(f"{identity}, line {place}: no type {found[2]!r}; there are {', '.join(TYPES)}")
            default = json.loads(found[3]) if found[3] else None
            if default is not None and type(default) is not TYPES[found[2]]:
                raise ValueError(f"{identity}, line {place}: the default of {found[1]} is no {found[2]}")
            parameters.append(Parameter(found[1], found[2], default, found[4].strip()))
        elif found := _COLUMN.fullmatch(line):
            columns.append(Column(found[1], found[2].strip()))
        else:
            raise ValueError(f"{identity}, line {place}: not a header line: {line}")
    text = "\n".join(lines[place:]).strip()
    if not (keyed.get("title") and keyed.get("question") and columns and text):
        raise ValueError(f"{identity}: it needs a title, a question, columns and a text")
    return Query(identity, keyed["title"], keyed["question"], tuple(parameters), tuple(columns), text)
