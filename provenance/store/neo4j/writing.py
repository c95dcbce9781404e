"""Changes as statements of one transaction. While the server runs one, the rows of the next are made ready."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, LiteralString, TypeVar, cast

from neo4j import ManagedTransaction

from provenance import schema
from provenance.changes import Changes, EdgeKey, Fields, Value
from provenance.errors import InvalidChange
from provenance.store import grouping, reading
from provenance.store.neo4j import statements

ROWS = 5_000
"""Rows in one writing statement."""

MANY = 500
"""Rows that set the same fields, for which a statement of their own pays."""

T = TypeVar("T")
Key = TypeVar("Key", str, EdgeKey)


@dataclass(frozen=True, slots=True)
class _Statement:
    text: str
    rows: Sequence[object]
    ends: grouping.Ends | None = None
    """Set for edges: the statement tells how many rows found their ends, which must be all."""
    keys: Sequence[EdgeKey] = ()
    new: bool = False


def write(tx: ManagedTransaction, changes: Changes) -> None:
    """All changes, in the order that the contract gives. Raises InvalidChange, after which the transaction is to end."""
    made = _statements(changes)
    if len(changes.nodes) + len(changes.edges) + len(changes.edge_updates) > ROWS:
        made = _ahead(made)
    for statement in made:
        result: Any = tx.run(cast(LiteralString, statement.text), {"rows": statement.rows})
        if statement.ends is None:
            result.consume()
        elif result.single()[0] != len(statement.rows):
            raise _missing(tx, statement.ends, statement.keys, new=statement.new)


def _statements(changes: Changes) -> Iterator[_Statement]:
    """Sorted, so that two writers meet in the same order and seldom wait for each other in a circle."""
    for ends, keys in grouping.edges_by_ends(changes.removed_edges).items():
        for rows in batches([[tail, head] for _, tail, head in sorted(keys)], ROWS):
            yield _Statement(statements.remove_edges(*ends), rows)
    for kind, group in grouping.ids_by_kind(sorted(changes.removed_nodes)).items():
        for ids in batches(group, ROWS):
            yield _Statement(statements.remove_nodes(kind), ids)
    for kind, group in grouping.ids_by_kind(changes.nodes).items():
        declared = schema.NODE_KINDS[kind].by_name
        for fields, batch in _alike(sorted(group), changes.nodes):
            rows = [[identity, *_values(changes.nodes[identity], fields, declared)] for identity in batch]
            yield _Statement(statements.merge_nodes(kind, fields), rows)
    yield from _edges(changes.edges, statements.merge_edges, new=True)
    yield from _edges(changes.edge_updates, statements.set_edges, new=False)


def _edges(puts: Mapping[EdgeKey, Fields], text: Callable[..., str], *, new: bool) -> Iterator[_Statement]:
    for ends, keys in grouping.edges_by_ends(puts).items():
        declared = schema.EDGE_KINDS[ends[0]].by_name
        for fields, batch in _alike(sorted(keys), puts):
            rows = [[key[1], key[2], *_values(puts[key], fields, declared)] for key in batch]
            yield _Statement(text(*ends, fields), rows, ends, batch, new)


def _alike(keys: Sequence[Key], puts: Mapping[Key, Fields]) -> Iterator[tuple[tuple[str, ...] | None, Sequence[Key]]]:
    """Batches that set the same fields, as far as there are many; the others together (None), so that they are few."""
    others: list[Key] = []
    for fields, group in grouping.by_fields(keys, puts) if len(keys) >= MANY else [((), keys)]:
        if len(group) < MANY:
            others += group
            continue
        for batch in batches(group, ROWS):
            yield fields, batch
    for batch in batches(others, ROWS):
        yield None, batch


def _values(put: Fields, fields: Sequence[str] | None, declared: Mapping[str, schema.Field]) -> list[object]:
    """The end of a row."""
    if fields is None:
        return [{name: _plain(name, value, declared) for name, value in put.items() if name != "id"}]
    return [_plain(name, put[name], declared) for name in fields]


def _plain(name: str, value: Value, declared: Mapping[str, schema.Field]) -> Value:
    """A number in the declared type. Raises InvalidChange for text that is no UTF-8."""
    if isinstance(value, str | list) and not grouping.storable(value):
        raise grouping.not_storable(name, [value])
    if isinstance(value, int) and declared[name].type is schema.Type.FLOAT:
        return float(value)
    return value


def _missing(tx: ManagedTransaction, ends: grouping.Ends, keys: Sequence[EdgeKey], *, new: bool) -> InvalidChange:
    """Which of the edges could not be written, and why."""

    def run(text: str, parameters: Mapping[str, object]) -> Any:
        return tx.run(cast(LiteralString, text), dict(parameters))

    for at, kind in ((1, ends[1]), (2, ends[2])):
        wanted = sorted({key[at] for key in keys})
        held = {record[0] for record in run(reading.find_nodes(kind), {"ids": wanted})}
        for key in keys:
            if key[at] not in held:
                return InvalidChange(f"edge {key[0]} {key[1]} -> {key[2]}: there is no node {key[at]}")
    rows = [[key[1], key[2]] for key in keys]
    found = {(record[0], record[1]) for record in run(statements.find_edges(*ends), {"rows": rows})}
    kind, tail, head = next(key for key in keys if (key[1], key[2]) not in found) if not new else keys[0]
    return InvalidChange(f"edge {kind} {tail} -> {head} is to be updated, but is not in the store")


def batches(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _ahead(items: Iterator[T]) -> Generator[T]:
    """The items, each made in another thread while the one before is used."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
