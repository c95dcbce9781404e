"""Which incidents a store holds: every family's own query, asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from provenance.changes import Value
from provenance.store.interface import Store
from queries.explanations import Family, families


@dataclass(frozen=True, slots=True)
class Incident:
    """One incident: a suspect step and the question about it. `given` are further columns, parameters of the rivals' texts."""

    family: str
    node: str
    session: str
    what: str
    given: dict[str, Value] = field(default_factory=dict[str, Value], hash=False)


def incidents(store: Store, known: dict[str, Family] | None = None) -> list[Incident]:
    """All incidents, family by family, each node once a family."""
    found: dict[tuple[str, str], Incident] = {}
    for family in (known if known is not None else families()).values():
        rows = store.query(family.incidents).dicts()
        for row in sorted(rows, key=lambda row: tuple(map(str, row.values()))):
            given: dict[str, Value] = {
                name: value for name, value in row.items() if isinstance(value, str | int | float)
            }
            node, session, what = (str(given.pop(name, "")) for name in ("incident", "session", "what"))
            found.setdefault((family.name, node), Incident(family.name, node, session, what, given))
    return list(found.values())


def incidents_at(store: Store, nodes: set[str], known: dict[str, Family] | None = None) -> list[Incident]:
    """The incidents whose suspect step, or another node of which, is among these."""
    return [
        incident
        for incident in incidents(store, known)
        if nodes & {incident.node, incident.session, *(str(value) for value in incident.given.values())}
    ]
