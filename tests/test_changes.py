"""Graph changes: what is refused, and that a sum of changes equals its parts in turn."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.changes import Changes, EdgeKey, Fields, validate
from provenance.errors import InvalidChange

NODES = [f"session:{letter}" for letter in "abcd"]
KEYS: list[EdgeKey] = [("PART_OF", tail, head) for tail in NODES for head in NODES if tail != head]
Graph = tuple[dict[str, Fields], dict[EdgeKey, Fields]]


def applied(graph: Graph, changes: Changes) -> Graph:
    """What a store does."""
    nodes, edges = deepcopy(graph)
    for key in changes.removed_edges:
        edges.pop(key, None)
    for node in changes.removed_nodes:
        nodes.pop(node, None)
        edges = {key: fields for key, fields in edges.items() if node not in key[1:]}
    for node, fields in changes.nodes.items():
        nodes.setdefault(node, {}).update(fields)
    for source in (changes.edges, changes.edge_updates):
        for key, fields in source.items():
            if key[1] in nodes and key[2] in nodes:
                edges.setdefault(key, {}).update(fields)
    return nodes, edges


@st.composite
def sequences(draw: st.DrawFn) -> list[Changes]:
    """Changes that are each valid where they come: edges join nodes that are there, updates meet edges that are there."""
    graph: Graph = ({}, {})
    found: list[Changes] = []
    for number in range(draw(st.integers(1, 5))):
        changes = Changes()
        changes.removed_nodes = draw(st.sets(st.sampled_from(NODES), max_size=2))
        changes.removed_edges = draw(st.sets(st.sampled_from(KEYS), max_size=2))
        for node in draw(st.lists(st.sampled_from(NODES), max_size=4)):
            changes.put(node, turns=number)
        nodes, edges = applied(graph, changes)
        for key in draw(st.lists(st.sampled_from(KEYS), max_size=4)):
            if key[1] in nodes and key[2] in nodes:
                if key in edges:
                    changes.edge_updates[key] = {"count": number}
                else:
                    changes.link(*key, count=number, rule="made")
        graph = applied(graph, changes)
        found.append(changes)
    return found


@given(sequences())
def test_a_sum_equals_its_parts_in_turn(parts: list[Changes]) -> None:
    graph: Graph = ({}, {})
    for part in parts:
        graph = applied(graph, part)
    total = Changes()
    for part in parts:
        total.extend(part)
    assert applied(({}, {}), total) == graph


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.put("nothing:1"), "does not begin with a node kind"),
        (lambda c: c.put("session:1", colour="red"), "no field 'colour'"),
        (lambda c: c.put("session:1", start="noon"), "field 'start' wants integer"),
        (lambda c: c.put("session:1", start=True), "field 'start' wants integer"),
        (lambda c: c.put("session:1", start=2**63), "does not fit 64 bits"),
        (lambda c: c.put("session:1", status="fine"), "is 'fine', permitted"),
        (lambda c: c.put("toolcall:1", paths=["a", 1]), "wants strings"),
        (lambda c: c.link("LIKES", "session:1", "session:2"), "edge kind 'LIKES'"),
        (lambda c: c.link("USED", "session:1", "session:2"), "may not go from Session to Session"),
        (lambda c: c.link("PART_OF", "session:1", "session:1"), "to itself"),
    ],
)
def test_what_the_schema_lacks_is_refused_by_name(change: object, words: str) -> None:
    changes = Changes()
    assert callable(change)
    change(changes)
    with pytest.raises(InvalidChange, match=words):
        validate(changes)
