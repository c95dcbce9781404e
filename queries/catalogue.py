"""The catalogue: every question as a file with a header and a text, in the Cypher that both engines share.

A file `FOLDER/NAME.cypher` is the query `FOLDER/NAME`. Its header is its first lines, each behind `//`:

    // title: a few words
    // question: the question it answers, in one sentence
    // :param name: type = default - meaning        (without `= default` it must be given)
    // :column name - meaning                       (in the order of RETURN)

Types are `string` and `integer`; a default is written as JSON. Knows no store: the text and the parameters are for one.

Users add folders of their own: there `NAME.cypher` is the query `FOLDER/NAME` too, and one level of folders inside is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
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
        for path, identity in _files(home / folder):
            found[identity] = parse(identity, path.read_text(encoding="utf-8"))
    return found


def with_folders(folders: Iterable[Path]) -> dict[str, Query]:
    """The catalogue and behind it the queries of users' folders, by id.

    Raises ValueError for a folder without queries, a file that cannot be read or breaks the form, and an id that is taken:
    no query hides another.
    """
    found = dict(catalogue())
    files: dict[str, Path] = {}
    for folder in dict.fromkeys(path.expanduser().resolve() for path in folders):
        if not folder.is_dir():
            raise ValueError(f"{folder} is no folder of queries")
        named = dict(_files(folder))
        if not named:
            raise ValueError(f"{folder} has no queries: files NAME.cypher")
        for path, identity in named.items():
            if identity in found:
                taken = f"{files[identity]} has it" if identity in files else "the catalogue has it"
                raise ValueError(f"{path}: the name {identity} is taken ({taken}): rename the file or its folder")
            try:
                content = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ValueError(f"{path} cannot be read: {error}") from None
            found[identity] = parse(identity, content, str(path))
            files[identity] = path
    return found


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted((*folder.glob("*.cypher"), *folder.glob("*/*.cypher"))):
        yield path, f"{path.parent.name}/{path.stem}"


def find(name: str, known: Mapping[str, Query] | None = None) -> Query:
    """A query by its id, or by its name alone where that is enough. Raises KeyError."""
    known = catalogue() if known is None else known
    if name in known:
        return known[name]
    named = [query for identity, query in known.items() if identity.rpartition("/")[2] == name]
    if len(named) != 1:
        raise KeyError(name)
    return named[0]


def parse(identity: str, content: str, place: str = "") -> Query:
    """Read one file. Raises ValueError naming the line that breaks the form, and `place`, or else the id, as its file."""
    file = place or identity
    keyed: dict[str, str] = {}
    parameters: list[Parameter] = []
    columns: list[Column] = []
    lines = content.splitlines()
    number = 0
    for line in lines:
        if not line.startswith("//"):
            break
        number += 1
        if found := _KEYED.fullmatch(line):
            keyed[found[1]] = found[2].strip()
        elif found := _PARAMETER.fullmatch(line):
            if found[2] not in TYPES:
                raise ValueError(f"{file}, line {number}: no type {found[2]!r}; there are {', '.join(TYPES)}")
            default = json.loads(found[3]) if found[3] else None
            if default is not None and type(default) is not TYPES[found[2]]:
                raise ValueError(f"{file}, line {number}: the default of {found[1]} is no {found[2]}")
            parameters.append(Parameter(found[1], found[2], default, found[4].strip()))
        elif found := _COLUMN.fullmatch(line):
            columns.append(Column(found[1], found[2].strip()))
        else:
            raise ValueError(f"{file}, line {number}: not a header line: {line}")
    text = "\n".join(lines[number:]).strip()
    if not (keyed.get("title") and keyed.get("question") and columns and text):
        raise ValueError(f"{file}: it needs a title, a question, columns and a text")
    return Query(identity, keyed["title"], keyed["question"], tuple(parameters), tuple(columns), text)
