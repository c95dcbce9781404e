"""Small graphs that obey the schema, for the store's tests."""

from __future__ import annotations

from typing import cast

from hypothesis import strategies as st

from provenance import schema
from provenance.changes import Changes, EdgeKey, Fields, Value
from provenance.store import Store

_TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
_VALUES: dict[schema.Type, st.SearchStrategy[Value]] = {
    schema.Type.STRING: _TEXT,
    schema.Type.INTEGER: st.integers(-(2**63), 2**63 - 1),
    schema.Type.FLOAT: st.floats(allow_nan=False),
    schema.Type.BOOLEAN: st.booleans(),
    schema.Type.STRINGS: cast("st.SearchStrategy[Value]", st.lists(_TEXT, max_size=3)),
}
_KINDS = ("Process", "Artifact", "Flow", "Endpoint", "ToolCall")


def small() -> Changes:
    """A process that read one file and wrote another."""
    changes = Changes()
    changes.put("process:h/1", pid=1, start=3, end=5, argv=["cc", "-c", "a.c"], argv_truncated=False)
    changes.put("artifact:h:/a.c@1", path="/a.c", **{"class": "file"})
    changes.put("artifact:h:/a.o@1", path="/a.o", size=10)
    changes.link("USED", "process:h/1", "artifact:h:/a.c@1", basis="observed", confidence=1.0, first=3, last=4, count=2)
    changes.link("GENERATED_BY", "artifact:h:/a.o@1", "process:h/1", basis="observed", bytes=10)
    return changes


def content(store: Store) -> tuple[dict[str, Fields], dict[EdgeKey, Fields], list[EdgeKey]]:
    """All nodes, all edges, and the edge keys that occur twice."""
    identities = [cast(str, row[0]) for row in store.query("MATCH (n) RETURN n.id").rows]
    edges = store.expand(identities, list(schema.EDGE_KINDS))
    found = {(edge.kind, edge.tail, edge.head): edge.fields for edge in edges}
    keys = [(edge.kind, edge.tail, edge.head) for edge in edges]
    return store.nodes(identities), found, [key for key in found if keys.count(key) > 1]


def set_fields(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if value is not None}


def _identity(kind: str, number: int) -> str:
    return f"{kind.lower()}:{number}"


def fields_of(declared: dict[str, schema.Field]) -> st.SearchStrategy[Fields]:
    return st.fixed_dictionaries(
        {},
        optional={
            name: st.none() | (st.sampled_from(field.values) if field.values else _VALUES[field.type])
            for name, field in declared.items()
            if name != "id"
        },
    )


_IDENTITIES = st.builds(_identity, st.sampled_from(_KINDS), st.integers(0, 3))
_ENDS = [
    (kind.name, tail, head)
    for kind in schema.EDGES
    for tail, head in kind.endpoints
    if tail in _KINDS and head in _KINDS
]


@st.composite
def changes(draw: st.DrawFn) -> Changes:
    """Changes whose edges have their ends among their nodes."""
    made = Changes()
    for identity in draw(st.lists(_IDENTITIES, min_size=1, max_size=6, unique=True)):
        made.nodes[identity] = draw(fields_of(schema.NODE_KINDS[schema.kind_of(identity)].by_name))
    for kind, tail_kind, head_kind in draw(st.lists(st.sampled_from(_ENDS), max_size=6)):
        tail = _identity(tail_kind, draw(st.integers(0, 3)))
        head = _identity(head_kind, draw(st.integers(0, 3)))
        if tail != head:
            made.nodes.setdefault(tail, {})
            made.nodes.setdefault(head, {})
            made.edges[kind, tail, head] = draw(fields_of(schema.EDGE_KINDS[kind].by_name))
    return made


class Model:
    """What a store must hold, kept in two dicts."""

    def __init__(self) -> None:
        self.nodes: dict[str, Fields] = {}
        self.edges: dict[EdgeKey, Fields] = {}

    def apply(self, made: Changes) -> None:
        for key in made.removed_edges:
            self.edges.pop(key, None)
        for identity in made.removed_nodes:
            self.nodes.pop(identity, None)
            self.edges = {key: put for key, put in self.edges.items() if identity not in key[1:]}
        for identity, put in made.nodes.items():
            known = self.nodes.setdefault(identity, {"id": identity})
            self.nodes[identity] = set_fields(known | put)
        for updates in (made.edges, made.edge_updates):
            for key, put in updates.items():
                self.edges[key] = set_fields(self.edges.get(key, {}) | put)
