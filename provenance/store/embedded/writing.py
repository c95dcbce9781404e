"""Changes written with the statements of `statements.py`, in a transaction that the caller holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from provenance.changes import Changes, EdgeKey
from provenance.errors import InvalidChange
from provenance.store import grouping, reading
from provenance.store.embedded import batches, results, statements
from provenance.store.embedded.results import Result

BATCH = 10_000
"""Ids in one reading statement."""


class Run(Protocol):
    """Runs one statement."""

    def __call__(self, text: str, parameters: Mapping[str, object] | None = None, /) -> Result: ...


def present(run: Run, identities: Iterable[str]) -> set[str]:
    """Those of the ids that the store has."""
    found: set[str] = set()
    for kind, group in grouping.ids_by_kind(identities).items():
        for at in range(0, len(group), BATCH):
            result = run(reading.find_nodes(kind), {"ids": group[at : at + BATCH]})
            found.update(results.strings(result)[0])
    return found


def write(run: Run, changes: Changes) -> None:
    """All changes, in the order that the contract gives. The ends of edges have been checked.

    Never by COPY: it bypasses the log, and a process killed after its commit may leave the commit's number without the
    commit's data (see `docs/decisions/`).
    """
    for batch in batches.bare_edges(changes.removed_edges):
        run(statements.remove_edges(*batch.ends, by_tail=batch.by_tail), {"rows": batch.rows})
    for kind, group in grouping.ids_by_kind(changes.removed_nodes).items():
        run(statements.remove_nodes(kind), {"rows": batches.strings(group)})

    known = present(run, changes.nodes)
    # An edge can be there already, from the same changes applied before, only where both ends were.
    candidates = [key for key in changes.edges if not (_new(key[1], changes, known) or _new(key[2], changes, known))]
    linked = _linked(run, candidates)
    edges = {key: put for key, put in changes.edges.items() if key not in linked} if linked else changes.edges
    nodes = {key: put for key, put in changes.nodes.items() if key not in known} if known else changes.nodes

    for batch in batches.known_nodes({key: changes.nodes[key] for key in known}):
        run(statements.set_nodes(batch.kind, batch.fields), {"rows": batch.rows})
    for batch in batches.new_nodes(nodes):
        run(statements.create_nodes(batch.kind, batch.fields), {"rows": batch.rows})
    for batch in batches.new_edges(edges):
        run(statements.create_edges(*batch.ends, batch.fields), {"rows": batch.rows})
    for updates in ({key: changes.edges[key] for key in linked}, changes.edge_updates):
        for batch in batches.known_edges(updates):
            _update(run, batch)


def _new(identity: str, changes: Changes, known: set[str]) -> bool:
    return identity in changes.nodes and identity not in known


def _linked(run: Run, keys: Iterable[EdgeKey]) -> set[EdgeKey]:
    """Those of the edges that the store has."""
    found: set[EdgeKey] = set()
    for batch in batches.bare_edges(keys):
        result = run(statements.find_edges(*batch.ends, by_tail=batch.by_tail), {"rows": batch.rows})
        tails, heads = results.strings(result)
        found.update((batch.ends[0], tail, head) for tail, head in zip(tails, heads, strict=True))
    return found


def _update(run: Run, batch: batches.EdgeBatch) -> None:
    if batch.fields:
        text = statements.set_edges(*batch.ends, batch.fields, by_tail=batch.by_tail)
        found = results.scalar(run(text, {"rows": batch.rows}))
    else:
        found = len(_linked(run, batch.keys))
    if found != len(batch.keys):
        absent = set(batch.keys) - _linked(run, batch.keys)
        kind, tail, head = min(absent)
        raise InvalidChange(f"edge {kind} {tail} -> {head} is to be updated, but is not in the store")


def check_ends(run: Run, changes: Changes) -> None:
    """Raise InvalidChange where an edge has an end that is neither in the store nor in the changes."""
    keys = [*changes.edges, *changes.edge_updates]
    wanted = {end for _, tail, head in keys for end in (tail, head) if end not in changes.nodes}
    missing = wanted - present(run, wanted - changes.removed_nodes)
    for kind, tail, head in keys if missing else ():
        if tail in missing or head in missing:
            end = tail if tail in missing else head
            raise InvalidChange(f"edge {kind} {tail} -> {head}: there is no node {end}")
