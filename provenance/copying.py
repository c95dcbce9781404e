"""A store copied into another, of whichever engine, and the two compared node by node and edge by edge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from provenance import schema
from provenance.changes import Changes, EdgeKey, Fields
from provenance.errors import StoreError, UsageError
from provenance.store import reading
from provenance.store.interface import Store

PAGE = 5_000
"""Nodes read at once."""

ELEMENTS = 20_000
"""Nodes and edges in one commit."""

Key = TypeVar("Key", str, EdgeKey)

_MARK = "copy/source"
"""State of a target as long as its copy is not complete: where it comes from."""

Progress = Callable[[str, int], None]
"""Told what is being done, and to how many nodes and edges so far."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What the two stores have alike, once they were compared."""

    nodes: int
    edges: int
    states: int


def copy(source: Store, target: Store, progress: Progress = lambda what, count: None) -> Copied:
    """Copy all of a store into an empty one, or go on with a copy that was cut off, and compare the two.

    Raises UsageError where the target holds anything else, StoreError where the two differ in the end.
    """
    _check_target(source, target)
    target.apply(Changes(), {_MARK: source.uri.encode()})
    copied = 0
    waiting = Changes()
    for changes in _steps(source):
        waiting.extend(changes)
        size = len(waiting.nodes) + len(waiting.edges)
        if size >= ELEMENTS:
            target.apply(waiting)
            copied, waiting = copied + size, Changes()
            progress("copying", copied)
    states: dict[str, bytes | None] = dict(source.states())
    target.apply(waiting, {**states, _MARK: None})
    return compare(source, target, progress)


def compare(source: Store, target: Store, progress: Progress = lambda what, count: None) -> Copied:
    """Raises StoreError naming the first node, edge or state in which two stores differ."""
    if (here := source.counts()) != (there := target.counts()):
        kinds = sorted(kind for kind in here.keys() | there.keys() if here.get(kind) != there.get(kind))
        told = ", ".join(f"{kind} {here.get(kind, 0):,} and {there.get(kind, 0):,}" for kind in kinds[:5])
        raise StoreError(f"{source.uri} and {target.uri} differ: {told}; was one of them written to meanwhile?")
    nodes = edges = 0
    for ids in _pages(source):
        _same(source.nodes(ids), target.nodes(ids), source, target)
        linked = _edges(source, ids)
        _same(linked, _edges(target, ids), source, target)
        nodes, edges = nodes + len(ids), edges + len(linked)
        progress("comparing", nodes + edges)
    states = source.states()
    _same(states, target.states(), source, target)
    return Copied(nodes, edges, len(states))


def _check_target(source: Store, target: Store) -> None:
    if source.uri == target.uri:
        raise UsageError("a store cannot be copied into itself")
    if source.state(_MARK) is not None:
        raise UsageError(f"{source.uri} is itself a copy that was cut off: finish it first")
    mark = target.state(_MARK)
    if mark is None and (target.counts() or target.states()):
        raise UsageError(f"{target.uri} holds something already: a copy needs an empty store")
    if mark is not None and mark != source.uri.encode():
        raise UsageError(f"{target.uri} holds part of a copy of {mark.decode()}: finish that one first")


def _steps(source: Store) -> Iterator[Changes]:
    """All nodes, then all edges."""
    for ids in _pages(source):
        yield Changes(nodes=source.nodes(ids))
    for ids in _pages(source):
        yield Changes(edges=_edges(source, ids))


def _pages(store: Store) -> Iterator[list[str]]:
    for kind in schema.NODE_KINDS:
        after = ""
        while True:
            rows = store.query(reading.page_of_ids(kind), {"after": after, "count": PAGE}).rows
            if not rows:
                break
            yield [str(row[0]) for row in rows]
            after = str(rows[-1][0])


def _edges(store: Store, tails: list[str]) -> dict[EdgeKey, Fields]:
    found = store.expand(tails, list(schema.EDGE_KINDS))
    return {(edge.kind, edge.tail, edge.head): edge.fields for edge in found}


def _same(here: Mapping[Key, object], there: Mapping[Key, object], source: Store, target: Store) -> None:
    if here == there:
        return
    for key in [*here, *there]:
        if key not in here or key not in there or _told(here[key]) != _told(there[key]):
            raise StoreError(f"{source.uri} and {target.uri} differ at {key}")


def _told(value: object) -> str:
    """A value as text in which what is no number equals itself."""
    return repr(sorted(cast("dict[str, Any]", value).items())) if isinstance(value, dict) else repr(value)
