"""Changes as tables: one a statement, grouped by kind and by the fields that are set. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import pyarrow  # pyright: ignore[reportMissingTypeStubs]

from provenance import schema
from provenance.changes import EdgeKey, Fields, Value
from provenance.store import grouping

pa = cast(Any, pyarrow)  # it has no type stubs
Table: TypeAlias = object
"""An Arrow table; nothing here but the engine looks into it."""

_ARROW: dict[schema.Type, object] = {
    schema.Type.STRING: pa.string(),
    schema.Type.INTEGER: pa.int64(),
    schema.Type.FLOAT: pa.float64(),
    schema.Type.BOOLEAN: pa.bool_(),
    schema.Type.STRINGS: pa.list_(pa.string()),
}


@dataclass(frozen=True, slots=True)
class NodeBatch:
    """Nodes of one kind. Columns: id, then the fields in order."""

    kind: str
    fields: tuple[str, ...]
    rows: Table


@dataclass(frozen=True, slots=True)
class EdgeBatch:
    """Edges of one kind between nodes of two kinds. Columns: tail id, head id, then the fields in order."""

    ends: grouping.Ends
    keys: list[EdgeKey]
    fields: tuple[str, ...]
    rows: Table
    by_tail: bool
    """Whether to look edges up from their tails: the end with more distinct ids, hence fewer edges at each."""


def new_nodes(nodes: Mapping[str, Fields]) -> Iterator[NodeBatch]:
    """One batch a kind; fields that a node does not name are null."""
    for kind, identities in grouping.ids_by_kind(nodes).items():
        yield _nodes(kind, identities, nodes, grouping.named(nodes[identity] for identity in identities))


def known_nodes(nodes: Mapping[str, Fields]) -> Iterator[NodeBatch]:
    """One batch a kind and set of fields, so that fields which are not named keep their values."""
    for kind, identities in grouping.ids_by_kind(nodes).items():
        for fields, group in grouping.by_fields(identities, nodes):
            if fields:
                yield _nodes(kind, group, nodes, fields)


def new_edges(edges: Mapping[EdgeKey, Fields]) -> Iterator[EdgeBatch]:
    """One batch for each ends."""
    for ends, keys in grouping.edges_by_ends(edges).items():
        yield _edges(ends, keys, edges, grouping.named(edges[key] for key in keys))


def known_edges(edges: Mapping[EdgeKey, Fields]) -> Iterator[EdgeBatch]:
    """One batch for each ends and set of fields."""
    for ends, keys in grouping.edges_by_ends(edges).items():
        for fields, group in grouping.by_fields(keys, edges):
            yield _edges(ends, group, edges, fields)


def bare_edges(keys: Iterable[EdgeKey]) -> Iterator[EdgeBatch]:
    """Keys alone, to find or remove."""
    for ends, group in grouping.edges_by_ends(keys).items():
        yield _edges(ends, group, {}, ())


def strings(column: Sequence[str]) -> Table:
    """A table of ids."""
    return pa.table([_column("id", schema.Type.STRING, column)], names=["c0"])


def _nodes(kind: str, identities: list[str], nodes: Mapping[str, Fields], fields: tuple[str, ...]) -> NodeBatch:
    declared = schema.NODE_KINDS[kind].by_name
    puts = [nodes[identity] for identity in identities]
    columns = [_column("id", schema.Type.STRING, identities)]
    columns += [_column(name, declared[name].type, [put.get(name) for put in puts]) for name in fields]
    return NodeBatch(kind, fields, pa.table(columns, names=[f"c{place}" for place in range(len(columns))]))


def _edges(
    ends: grouping.Ends, keys: list[EdgeKey], edges: Mapping[EdgeKey, Fields], fields: tuple[str, ...]
) -> EdgeBatch:
    declared = schema.EDGE_KINDS[ends[0]].by_name
    tails = [key[1] for key in keys]
    heads = [key[2] for key in keys]
    columns = [_column("id", schema.Type.STRING, tails), _column("id", schema.Type.STRING, heads)]
    if fields:
        puts = [edges[key] for key in keys]
        columns += [_column(name, declared[name].type, [put.get(name) for put in puts]) for name in fields]
    table = pa.table(columns, names=[f"c{place}" for place in range(len(columns))])
    return EdgeBatch(ends, keys, fields, table, len(set(tails)) >= len(set(heads)))


def _column(name: str, type_: schema.Type, values: Sequence[Value]) -> object:
    try:
        return pa.array(values, _ARROW[type_])
    except UnicodeEncodeError:
        raise grouping.not_storable(name, values) from None
