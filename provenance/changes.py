"""Graph changes: what weaving produces and a store applies, in one transaction.

Values are absolute, never increments, so applying the same changes twice equals once. An edge's identity is
(kind, tail, head): there is one edge of a kind between two nodes, and repeated events fold into its counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from provenance import schema
from provenance.errors import InvalidChange

Value: TypeAlias = str | int | float | bool | list[str] | None
Fields: TypeAlias = dict[str, Value]
EdgeKey: TypeAlias = tuple[str, str, str]
"""(edge kind, tail id, head id)"""


@dataclass(slots=True)
class Changes:
    """What to do to a graph. Later puts of one id or edge key win field by field."""

    nodes: dict[str, Fields] = field(default_factory=dict[str, Fields])
    """id -> fields to set. A node that the store lacks is created; one that it has keeps the fields not named."""
    edges: dict[EdgeKey, Fields] = field(default_factory=dict[EdgeKey, Fields])
    """New edges: the writer vouches that the store does not hold them yet. Both ends exist or are in `nodes`."""
    edge_updates: dict[EdgeKey, Fields] = field(default_factory=dict[EdgeKey, Fields])
    """Edges that the store holds already -> fields to set."""
    removed_edges: set[EdgeKey] = field(default_factory=set[EdgeKey])
    """Applied before anything is added; what is not there is ignored."""
    removed_nodes: set[str] = field(default_factory=set[str])
    """Removed with all their edges, before anything is added; what is not there is ignored."""

    def __bool__(self) -> bool:
        return bool(self.nodes or self.edges or self.edge_updates or self.removed_edges or self.removed_nodes)

    def put(self, identity: str, **fields: Value) -> None:
        """Set fields of a node, creating it where needed."""
        self.nodes.setdefault(identity, {}).update(fields)

    def link(self, kind: str, tail: str, head: str, **fields: Value) -> None:
        """Add a new edge (see `edges`), or more fields to one added here before."""
        self.edges.setdefault((kind, tail, head), {}).update(fields)

    def extend(self, other: Changes) -> None:
        """Take over another set of changes that comes after this one: applying the sum equals applying both in turn."""
        for key in other.removed_edges:
            self.edges.pop(key, None)
            self.edge_updates.pop(key, None)
        if gone := other.removed_nodes:
            for identity in gone:
                self.nodes.pop(identity, None)
            for edges in (self.edges, self.edge_updates):
                for key in [key for key in edges if key[1] in gone or key[2] in gone]:
                    del edges[key]
        self.removed_edges |= other.removed_edges
        self.removed_nodes |= other.removed_nodes
        for identity, fields in other.nodes.items():
            self.nodes.setdefault(identity, {}).update(fields)
        for key, fields in other.edges.items():
            self.edges.setdefault(key, {}).update(fields)
        for key, fields in other.edge_updates.items():
            target = self.edges if key in self.edges else self.edge_updates
            target.setdefault(key, {}).update(fields)


_PYTHON: dict[schema.Type, tuple[type, ...]] = {
    schema.Type.STRING: (str,),
    schema.Type.INTEGER: (int,),
    schema.Type.FLOAT: (float, int),
    schema.Type.BOOLEAN: (bool,),
    schema.Type.STRINGS: (list,),
}
_INTEGERS = range(-(2**63), 2**63)


def validate(changes: Changes) -> None:
    """Check every change against the schema.

    Raises InvalidChange naming the node or edge, the field and the value that does not fit. Endpoints are checked by
    the kind that their ids carry; whether they exist is the store's to check.
    """
    for identity, fields in changes.nodes.items():
        kind = _node_kind(identity)
        _check_fields(f"node {identity}", schema.NODE_KINDS[kind].by_name, fields.items())
    for edges in (changes.edges, changes.edge_updates):
        for key, fields in edges.items():
            _check_edge(key, fields)


def _node_kind(identity: str) -> str:
    try:
        return schema.kind_of(identity)
    except KeyError:
        raise InvalidChange(f"node id {identity!r} does not begin with a node kind of the schema") from None


def _check_edge(key: EdgeKey, fields: Mapping[str, Value]) -> None:
    name, tail, head = key
    kind = schema.EDGE_KINDS.get(name)
    if kind is None:
        raise InvalidChange(f"edge kind {name!r} is not in the schema")
    ends = (_node_kind(tail), _node_kind(head))
    if ends not in kind.endpoints:
        raise InvalidChange(f"edge {name} may not go from {ends[0]} to {ends[1]} ({tail} -> {head})")
    if tail == head:
        raise InvalidChange(f"edge {name} from {tail} to itself")
    _check_fields(f"edge {name} {tail} -> {head}", kind.by_name, fields.items())


def _check_fields(what: str, declared: Mapping[str, schema.Field], fields: Iterable[tuple[str, Value]]) -> None:
    for name, value in fields:
        field_ = declared.get(name)
        if field_ is None:
            raise InvalidChange(f"{what}: no field {name!r} in the schema")
        if value is None:
            continue
        permitted = _PYTHON[field_.type]
        if not isinstance(value, permitted) or (isinstance(value, bool) and field_.type is not schema.Type.BOOLEAN):
            raise InvalidChange(f"{what}: field {name!r} wants {field_.type}, not {value!r}")
        if field_.type is schema.Type.INTEGER and value not in _INTEGERS:
            raise InvalidChange(f"{what}: field {name!r} does not fit 64 bits: {value!r}")
        if isinstance(value, list) and any(type(item) is not str for item in value):
            raise InvalidChange(f"{what}: field {name!r} wants strings, not {value!r}")
        if field_.values and value not in field_.values:
            raise InvalidChange(f"{what}: field {name!r} is {value!r}, permitted: {', '.join(field_.values)}")
