"""The table of differences in `docs/cypher.md`: read as data, and asked of both engines."""

from __future__ import annotations

import re
from typing import NamedTuple

from provenance.changes import Changes
from provenance.errors import CapsuleError
from provenance.store import Store
from tests.shared import ROOT

PAGE = ROOT / "docs" / "cypher.md"
_ROW = re.compile(r"^\| `([a-z-]+)` \| `` (.+?) `` \| (.+?) \| (.+?) \| (?:`` (.+?) `` )?\|$", re.MULTILINE)


class Difference(NamedTuple):
    """One row: a text that the engines take differently, what each answers, and what to write instead (empty: nothing)."""

    rule: str
    text: str
    ladybug: str
    neo4j: str
    instead: str


def changes() -> Changes:
    """A graph of few nodes, which nothing else uses: the answers on the page are about it."""
    made = Changes()
    made.put("session:s1", agent="codex", start=1, status="completed")
    made.put("session:s2", agent="codex", start=5)
    made.put("turn:s1/1", ordinal=1, status="completed")
    made.link("PART_OF", "turn:s1/1", "session:s1")
    for name in ("c1", "c2"):
        made.put(f"toolcall:s1/{name}", call=name, tool="shell")
        made.link("PART_OF", f"toolcall:s1/{name}", "turn:s1/1")
    made.put("process:h/1@1/0", pid=1, command="make", argv=["make", "all"])
    made.put("process:h/1@1/1", pid=1, command="make")
    made.link("CONTINUES", "process:h/1@1/1", "process:h/1@1/0")
    for state in range(34):
        made.put(f"process:h/2@1/{state}", pid=2, command="tail -f")
    for state in range(33):
        made.link("CONTINUES", f"process:h/2@1/{state + 1}", f"process:h/2@1/{state}")
    for name, version in (("in", 0), ("out", 1), ("log", 1)):
        made.put(f"artifact:h:/w/{name}@t.{version}", path=f"/w/{name}", version=version)
    for state in (0, 1):
        made.link("USED", f"process:h/1@1/{state}", "artifact:h:/w/in@t.0", bytes=7)
        made.link("ATTRIBUTED_TO", f"process:h/1@1/{state}", "toolcall:s1/c1")
    for name in ("out", "log"):
        made.link("GENERATED_BY", f"artifact:h:/w/{name}@t.1", "process:h/1@1/1", bytes=3)
    return made


def differences() -> list[Difference]:
    cells = [tuple(cell.replace("\\|", "|") for cell in row) for row in _ROW.findall(PAGE.read_text())]
    return [Difference(*row) for row in cells]


def answer(store: Store, text: str) -> str:
    """As the table shows it: the rows, each its values, in sorted order."""
    try:
        rows = store.query(text).rows
    except CapsuleError:
        return "error"
    shown = sorted("; ".join(_shown(value) for value in row) for row in rows)
    return ", ".join(shown) if shown else "no rows"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return f"{len(value)} fields"
    if isinstance(value, list) and len(value) > 5:
        return f"{len(value)} values"
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    return str(value)
