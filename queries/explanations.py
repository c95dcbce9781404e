"""Incident questions and their rival explanations, as data: a folder a question, in it a folder a rival.

    sufficiency/FAMILY/family.toml       title, question, order, views
    sufficiency/FAMILY/incidents.cypher  finds them: columns `incident` (id of the suspect step), `session`, `what`, and any others
    sufficiency/FAMILY/RIVAL/rival.toml  title, statement, absence, needs, missing
    sufficiency/FAMILY/RIVAL/supports.cypher, refutes.cypher    columns `anchor` (id), `what`; may have `step` (id)
    sufficiency/FAMILY/RIVAL/missing.cypher                     optional: columns `about` (id), `what`, `why`

Every column of `incidents.cypher` and everything that the family's views compute is a parameter of the rivals' texts (see
`docs/sufficiency.md`). A new question is a new folder. Knows no store.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HOME = Path(__file__).parent / "sufficiency"


@dataclass(frozen=True, slots=True)
class Rival:
    """One explanation. `absence` names the sides (`supports`, `refutes`) that argue from what was not seen: they hold only
    where nothing followed ends in the dark, and the coverage has no holes and shows the call groups that are needed."""

    name: str
    title: str
    statement: str
    absence: tuple[str, ...]
    needs: tuple[str, ...]
    missing: str
    """What would decide, in words, where nothing recorded speaks for or against it."""
    supports: str
    refutes: str
    lacks: str | None
    """Cypher that finds what is missing."""


@dataclass(frozen=True, slots=True)
class Family:
    """One question about incidents of a kind."""

    name: str
    title: str
    question: str
    order: int
    views: tuple[str, ...]
    incidents: str
    rivals: tuple[Rival, ...]


@cache
def families(home: Path = HOME) -> dict[str, Family]:
    """All questions by name, in their order. Raises ValueError naming the file that breaks the form."""
    found = [_family(path.parent) for path in sorted(home.glob("*/family.toml"))]
    return {family.name: family for family in sorted(found, key=lambda family: (family.order, family.name))}


def _family(folder: Path) -> Family:
    told = _toml(folder / "family.toml", {"title": str, "question": str, "order": int, "views": list})
    rivals = tuple(_rival(path.parent) for path in sorted(folder.glob("*/rival.toml")))
    if len(rivals) < 2:
        raise ValueError(f"{folder}: a question needs two explanations at least, in folders with a rival.toml")
    incidents = _text(folder / "incidents.cypher")
    return Family(folder.name, told["title"], told["question"], told["order"], tuple(told["views"]), incidents, rivals)


def _rival(folder: Path) -> Rival:
    form = {"title": str, "statement": str, "absence": list, "needs": list, "missing": str}
    told = _toml(folder / "rival.toml", form)
    lacks = folder / "missing.cypher"
    return Rival(
        folder.name, told["title"], told["statement"], tuple(told["absence"]), tuple(told["needs"]), told["missing"],
        _text(folder / "supports.cypher"), _text(folder / "refutes.cypher"), _text(lacks) if lacks.exists() else None,
    )  # fmt: skip


def _toml(path: Path, form: dict[str, type]) -> dict[str, Any]:
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    if told.keys() != form.keys() or any(type(told[name]) is not kind for name, kind in form.items()):
        wanted = ", ".join(f"{name} ({kind.__name__})" for name, kind in form.items())
        raise ValueError(f"{path}: it has exactly {wanted}")
    return told


def _text(path: Path) -> str:
    """The Cypher of a file, without the comments at its top."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"{path}: {error}") from None
    while lines and (lines[0].startswith("//") or not lines[0].strip()):
        lines.pop(0)
    if not lines:
        raise ValueError(f"{path}: it holds no Cypher")
    return "\n".join(lines).strip()


def texts(family: Family) -> Iterator[tuple[str, str]]:
    """(place, Cypher) of every text of a family."""
    yield f"{family.name}/incidents", family.incidents
    for rival in family.rivals:
        yield f"{family.name}/{rival.name}/supports", rival.supports
        yield f"{family.name}/{rival.name}/refutes", rival.refutes
        if rival.lacks is not None:
            yield f"{family.name}/{rival.name}/missing", rival.lacks
