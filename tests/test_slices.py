"""Slices: paths, bounds, laws on random graphs, and the recorded egress runs. The rules: `conformance/slice_cases.py`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from provenance import slices
from provenance.changes import Changes
from provenance.schema import Flow
from provenance.store import Store, open_store
from tests import handmade as g
from tests.ingested import ingested, recording
from tests.stores import NewLocation


@pytest.fixture(scope="module")
def store(new_module_location: NewLocation) -> Iterator[Store]:
    with open_store(new_module_location(), write=True) as opened:
        opened.apply(g.changes())
        yield opened


def test_the_path_to_an_origin(store: Store) -> None:
    found = slices.why(store, [g.FLOW])
    assert found.path_ids(g.file("notes.txt")) == [g.FLOW, g.CURL, g.file("upload.txt"), g.file("notes.txt")]
    assert [edge.kind for edge in found.path(g.file("notes.txt"))] == ["GENERATED_BY", "USED", "DERIVED_FROM"]


def test_the_path_to_an_effect(store: Store) -> None:
    found = slices.impact(store, [g.file("notes.txt")])
    assert found.path_ids(g.FLOW) == [g.file("notes.txt"), g.file("upload.txt"), g.CURL, g.FLOW]


def test_progress_is_told_once_a_level(store: Store) -> None:
    told: list[int] = []
    found = slices.why(store, [g.FLOW], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == len(found.nodes)


# ----------------------------------------------------------------------------------------------------------------------
# Bounds


@pytest.mark.parametrize("bound", [1, 2, 3, 5])
def test_a_bound_is_kept_and_said(store: Store, bound: int) -> None:
    found = slices.why(store, [g.FLOW], bound=bound)
    assert len(found.nodes) == bound
    assert [gap.reason for gap in found.gaps] == ["cut_off"]
    assert set(found.origins) <= {g.TOOLCHAIN, g.file("notes.txt")}


# ----------------------------------------------------------------------------------------------------------------------
# Laws


@pytest.fixture(scope="module")
def random_graphs(new_module_location: NewLocation) -> Iterator[tuple[Store, dict[str, set[str]]]]:
    """Random graphs of processes and artifacts without cycles, and who depends on whom."""
    draw = random.Random(7)
    changes = Changes()
    causes: dict[str, set[str]] = {}
    for number in range(12):
        nodes: list[str] = []
        for place in range(40):
            kind = draw.choice(("process", "artifact"))
            node = f"{kind}:r{number}/{place}"
            changes.put(node, name=node)
            causes[node] = set()
            for other in draw.sample(nodes, min(len(nodes), draw.randrange(4))):
                pair = (kind, other.partition(":")[0])
                edge = {
                    ("process", "artifact"): "USED", ("process", "process"): "CONTINUES",
                    ("artifact", "process"): "GENERATED_BY", ("artifact", "artifact"): "DERIVED_FROM",
                }[pair]  # fmt: skip
                changes.link(edge, node, other)
                causes[node].add(other)
            nodes.append(node)
    with open_store(new_module_location(), write=True) as opened:
        opened.apply(changes)
        yield opened, causes


def reachable(start: str, onward: dict[str, set[str]]) -> set[str]:
    seen, waiting = {start}, [start]
    while waiting:
        for other in onward.get(waiting.pop(), set()) - seen:
            seen.add(other)
            waiting.append(other)
    return seen


def test_a_slice_is_what_is_reachable(random_graphs: tuple[Store, dict[str, set[str]]]) -> None:
    store, causes = random_graphs
    effects: dict[str, set[str]] = {}
    for node, found in causes.items():
        for other in found:
            effects.setdefault(other, set()).add(node)
    for start in list(causes)[::7]:
        back, forth = slices.why(store, [start]), slices.impact(store, [start])
        assert set(back.nodes) == reachable(start, causes)
        assert set(forth.nodes) == reachable(start, effects)
        assert set(back.origins) == {node for node in back.nodes if not causes[node]} - {start}
        for node in back.nodes:
            path = back.path_ids(node)
            assert path[0] == start
            assert path[-1] == node
            assert len(path) == back.nodes[node].depth + 1
            assert all(after in causes[before] for before, after in pairwise(path))


def test_a_slice_does_not_depend_on_the_order_of_its_starts(random_graphs: tuple[Store, dict[str, set[str]]]) -> None:
    store, causes = random_graphs
    starts = [node for node in causes if node.endswith("/39")]
    one, two = slices.why(store, starts), slices.why(store, starts[::-1])
    assert {node: step.depth for node, step in one.nodes.items()} == {
        node: step.depth for node, step in two.nodes.items()
    }
    assert sorted(edge[:3] for edge in one.edges) == sorted(edge[:3] for edge in two.edges)


# ----------------------------------------------------------------------------------------------------------------------
# Real runs

UPLOADS = {
    "codex-egress-public": "README.md",
    "codex-egress-overwritten": "README.md",
    "codex-egress-public-python": "README.md",
    "codex-egress-secret-python": ".env",
    "codex-egress-secret-cp": ".env",
    "codex-egress-secret-sendfile": ".env",
    "codex-egress-secret-pipe": ".env",
}


def files_behind(path: Path, flows: tuple[Flow, ...] = (Flow.CONTENT,)) -> dict[str, slices.Slice]:
    run = ingested(path)
    sent = "MATCH (f:Flow)-[:SENT_TO]->(e:Endpoint) WHERE e.address = '127.0.0.1:18090' RETURN f.id"
    found = slices.why(run.store, [str(row[0]) for row in run.rows(sent)], flows)
    fields = run.store.nodes(found.origins)
    return {str(fields[node]["path"]).rpartition("/")[2]: found for node in found.origins if fields[node].get("path")}


@pytest.mark.parametrize("name", UPLOADS)
def test_what_was_uploaded(name: str) -> None:
    assert set(files_behind(recording(name))) == {UPLOADS[name]}


def test_a_typed_secret_is_reached_by_decision_alone() -> None:
    path = recording("codex-egress-secret-typed")
    assert not files_behind(path)
    found = files_behind(path, (Flow.CONTENT, Flow.DECISION))[".env"]
    secret = next(node for node in found.origins if "/.env@" in node)
    assert found.bounds[secret] == 38
