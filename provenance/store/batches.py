"""Changes as tables: one a statement, grouped by kind and by the fields that are set. Pure."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

import pyarrow  # pyright: ignore[reportMissingTypeStubs]

from provenance import schema
from provenance.changes import Changes, EdgeKey, Fields, Value
from provenance.errors import InvalidChange

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

Ends: TypeAlias = tuple[str, str, str]
"""(edge kind, tail kind, head kind)"""

Key = TypeVar("Key", str, EdgeKey)


@dataclass(frozen=True, slots=True)
class NodeBatch:
    """Nodes of one kind. Columns: id, then the fields in order."""

    kind: str
    fields: tuple[str, ...]
    rows: Table


@dataclass(frozen=True, slots=True)
class EdgeBatch:
    """Edges of one kind between nodes of two kinds. Columns: tail id, head id, then the fields in order."""

    ends: Ends
    keys: list[EdgeKey]
    fields: tuple[str, ...]
    rows: Table
    by_tail: bool
    """Whether to look edges up from their tails: the end with more distinct ids, hence fewer edges at each."""


def check(changes: Changes) -> None:
    """What `provenance.changes.validate` leaves to the store. Raises InvalidChange for ids that no store can hold."""
    for identity, put in changes.nodes.items():
        if put.get("id", identity) != identity:
            raise InvalidChange(f"node {identity}: field 'id' cannot be {put['id']!r}")
    ends = (end for keys in (changes.edges, changes.edge_updates) for key in keys for end in key[1:])
    for identity in _unstorable(itertools.chain(changes.nodes, ends)):
        raise InvalidChange(f"field 'id' is not text that can be stored as UTF-8: {identity!r}")


def ids_by_kind(identities: Iterable[str]) -> dict[str, list[str]]:
    """Distinct ids by node kind, in order; ids that no node can have are left out."""
    identities = list(identities)
    unstorable = set(_unstorable(identities))
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    for identity in identities:
        kind = schema.KIND_OF_PREFIX.get(identity.partition(":")[0])
        if kind is not None and identity not in unstorable:
            groups[kind][identity] = None
    return {kind: list(group) for kind, group in groups.items()}


def edges_by_ends(keys: Iterable[EdgeKey]) -> dict[Ends, list[EdgeKey]]:
    """Edge keys by kind and kinds of their ends; keys that the schema does not permit are left out."""
    groups: dict[Ends, list[EdgeKey]] = defaultdict(list)
    prefixes = schema.KIND_OF_PREFIX
    for key in keys:
        kind, tail, head = key
        tail_kind, head_kind = prefixes.get(tail.partition(":")[0], ""), prefixes.get(head.partition(":")[0], "")
        if kind in schema.EDGE_KINDS and (tail_kind, head_kind) in schema.EDGE_KINDS[kind].endpoints:
            groups[kind, tail_kind, head_kind].append(key)
    return groups


def new_nodes(nodes: Mapping[str, Fields]) -> Iterator[NodeBatch]:
    """One batch a kind; fields that a node does not name are null."""
    for kind, identities in ids_by_kind(nodes).items():
        yield _nodes(kind, identities, nodes, _named(nodes[identity] for identity in identities))


def known_nodes(nodes: Mapping[str, Fields]) -> Iterator[NodeBatch]:
    """One batch a kind and set of fields, so that fields which are not named keep their values."""
    for kind, identities in ids_by_kind(nodes).items():
        for fields, group in _by_fields(identities, nodes):
            if fields:
                yield _nodes(kind, group, nodes, fields)


def new_edges(edges: Mapping[EdgeKey, Fields]) -> Iterator[EdgeBatch]:
    """One batch for each ends."""
    for ends, keys in edges_by_ends(edges).items():
        yield _edges(ends, keys, edges, _named(edges[key] for key in keys))


def known_edges(edges: Mapping[EdgeKey, Fields]) -> Iterator[EdgeBatch]:
    """One batch for each ends and set of fields."""
    for ends, keys in edges_by_ends(edges).items():
        for fields, group in _by_fields(keys, edges):
            yield _edges(ends, group, edges, fields)


def bare_edges(keys: Iterable[EdgeKey]) -> Iterator[EdgeBatch]:
    """Keys alone, to find or remove."""
    for ends, group in edges_by_ends(keys).items():
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


def _edges(ends: Ends, keys: list[EdgeKey], edges: Mapping[EdgeKey, Fields], fields: tuple[str, ...]) -> EdgeBatch:
    declared = schema.EDGE_KINDS[ends[0]].by_name
    tails = [key[1] for key in keys]
    heads = [key[2] for key in keys]
    columns = [_column("id", schema.Type.STRING, tails), _column("id", schema.Type.STRING, heads)]
    if fields:
        puts = [edges[key] for key in keys]
        columns += [_column(name, declared[name].type, [put.get(name) for put in puts]) for name in fields]
    table = pa.table(columns, names=[f"c{place}" for place in range(len(columns))])
    return EdgeBatch(ends, keys, fields, table, len(set(tails)) >= len(set(heads)))


def _named(puts: Iterable[Fields]) -> tuple[str, ...]:
    """All fields that occur, `id` aside."""
    names: dict[str, None] = {}
    for put in puts:
        names.update(dict.fromkeys(put))
    names.pop("id", None)
    return tuple(names)


def _by_fields(keys: Iterable[Key], puts: Mapping[Key, Fields]) -> Iterator[tuple[tuple[str, ...], list[Key]]]:
    groups: dict[frozenset[str], list[Key]] = defaultdict(list)
    for key in keys:
        groups[frozenset(puts[key])].append(key)
    for names, group in groups.items():
        yield tuple(sorted(names - {"id"})), group


def _column(name: str, type_: schema.Type, values: Sequence[Value]) -> object:
    try:
        return pa.array(values, _ARROW[type_])
    except UnicodeEncodeError:
        bad = next(value for value in values if not storable(value))
        raise InvalidChange(f"field {name!r} is not text that can be stored as UTF-8: {bad!r}") from None


def _unstorable(texts: Iterable[str]) -> list[str]:
    """Those with a lone surrogate. Nearly always none, which one look at all together tells."""
    texts = list(texts)
    return [] if storable("".join(texts)) else [text for text in texts if not storable(text)]


def storable(value: Value) -> bool:
    """Whether it can be written as UTF-8."""
    try:
        "".join(value if isinstance(value, list) else (str(value),)).encode()
    except UnicodeEncodeError:
        return False
    return True
