"""What the sources of a session could see, and where that has holes. Absence refutes only inside coverage without holes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from provenance.store.interface import Store
from provenance.sufficiency.verdicts import Missing
from provenance.weave.effects import OWN_FILES

GROUPS: dict[str, frozenset[str]] = {
    "open": frozenset(("open", "openat", "openat2", "creat")),
    "read": frozenset(("read", "pread64", "readv", "preadv", "preadv2", "mmap")),
    "write": frozenset(("write", "pwrite64", "writev", "pwritev", "pwritev2")),
    "copy": frozenset(("copy_file_range", "sendfile", "splice", "tee", "vmsplice")),
    "name": frozenset(("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat")),
    "exec": frozenset(("execve", "execveat")),
    "network": frozenset(("connect", "sendto", "sendmsg", "sendmmsg", "write", "writev")),
    "exit": frozenset(("exit", "exit_group", "wait4", "waitid")),
}
"""Call groups, by any call of which a source shows that it sees the group.

A source tells only which calls it showed. That a trace shows no `copy` says nothing by itself: it is blind to them where
the graph holds a version that nothing is seen to have written, or a copy that the coverage does not list.
"""

_HARMLESS = ("environment variables",)

_COVERAGES = """
MATCH (s:Session {id: $session})-[:COVERED_BY]->(c:Coverage)
RETURN c.id AS id, c.name AS name, c.calls AS calls, c.complete AS complete, c.attached_late AS late, c.lost AS lost
"""
_OF_PARENT = """
MATCH (s:Session {id: $session})-[:PART_OF]->(:Session)-[:COVERED_BY]->(c:Coverage)
RETURN c.id AS id, c.name AS name, c.calls AS calls, c.complete AS complete, c.attached_late AS late, c.lost AS lost
"""
_GAPS = """
UNWIND $ids AS x MATCH (g:Gap)-[:ABOUT]->(c:Coverage {id: x})
RETURN g.id AS gap, g.reason AS reason, g.about AS about, g.detail AS detail, c.id AS coverage
"""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of one session. `holes` are what is known to be missing in it; `gaps` what does not matter to content."""

    ids: tuple[str, ...]
    calls: frozenset[str]
    holes: tuple[Missing, ...]
    gaps: tuple[Missing, ...]

    def shortages(self, needs: Iterable[str]) -> list[Missing]:
        """What an argument from absence lacks, where it needs these call groups."""
        found = list(self.holes)
        for group in needs if self.ids else ():
            if group != "copy" and not self.calls & GROUPS[group]:
                shown = ", ".join(sorted(GROUPS[group]))
                found.append(Missing(f"calls that {group}: {shown}", "the source shows none of them", self.ids[0]))
        return found


def coverage_of(store: Store, session: str, copied_by: Iterable[str] = ()) -> Coverage:
    """`copied_by` are the calls by which the graph says that content was copied: a source that does not list one is blind."""
    rows: list[dict[str, Any]] = store.query(_COVERAGES, {"session": session}).dicts()
    rows = rows or store.query(_OF_PARENT, {"session": session}).dicts()
    if not rows:
        hole = Missing("what the machine saw of this session", "no trace covers it", session)
        return Coverage((), frozenset(), (hole,), ())
    ids = sorted(str(row["id"]) for row in rows)
    calls = frozenset(call for row in rows for call in row["calls"] or ())
    holes: list[Missing] = []
    gaps: list[Missing] = []
    for row in sorted(store.query(_GAPS, {"ids": ids}).dicts(), key=lambda row: str(row["gap"])):
        about = str(row["about"])
        harmless = about in _HARMLESS or about.endswith(OWN_FILES)
        told = Missing(about, f"{row['reason']}: {row['detail']}", str(row["gap"]))
        (gaps if harmless else holes).append(told)
    for row in rows:
        if not row["complete"] and not holes:
            holes.append(Missing(str(row["name"]), "it is not complete", str(row["id"])))
    why = "the coverage does not list this call, so others may be missing"
    unlisted = sorted(set(copied_by) & GROUPS["copy"] - calls)
    holes += [Missing(f"copies by {call}", why, ids[0]) for call in unlisted]
    return Coverage(tuple(ids), calls, tuple(holes), tuple(gaps))
