"""Slices: each rule on a graph made by hand, laws on random graphs, and the recorded egress runs."""

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

BOTH = (Flow.CONTENT, Flow.DECISION)


@pytest.fixture(scope="module")
def store(new_module_location: NewLocation) -> Iterator[Store]:
    with open_store(new_module_location(), write=True) as opened:
        opened.apply(g.changes())
        yield opened


def test_what_was_sent_came_from_the_copied_file(store: Store) -> None:
    found = slices.why(store, [g.FLOW])
    assert set(found.nodes) == {g.FLOW, g.CURL, g.file("upload.txt"), g.TOOLCHAIN, g.file("notes.txt"), g.CP}
    assert set(found.origins) == {g.TOOLCHAIN, g.file("notes.txt")}
    assert found.path_ids(g.file("notes.txt")) == [g.FLOW, g.CURL, g.file("upload.txt"), g.file("notes.txt")]
    assert [edge.kind for edge in found.path(g.file("notes.txt"))] == ["GENERATED_BY", "USED", "DERIVED_FROM"]
    assert found.gaps == []


def test_content_stops_at_the_start_of_a_program_and_argument_does_not(store: Store) -> None:
    assert g.SHELL not in slices.why(store, [g.FLOW]).nodes
    wider = slices.why(store, [g.FLOW], (Flow.CONTENT, Flow.ARGUMENT))
    assert {g.SHELL, g.file("script.sh")} <= set(wider.nodes)
    assert g.AGENT not in wider.nodes


def test_a_fork_of_the_agent_is_a_gap(store: Store) -> None:
    found = slices.why(store, [g.SHELL])
    assert set(found.nodes) == {g.SHELL, g.file("script.sh")}
    assert [(gap.reason, gap.about) for gap in found.gaps] == [("through_agent_memory", g.SHELL)]


def test_revisions_are_followed_only_where_they_keep(store: Store) -> None:
    found = slices.why(store, [g.file("run.log", 3)])
    assert set(found.nodes) == {g.file("run.log", 3), g.file("run.log", 2)}
    assert found.origins == [g.file("run.log", 2)]
    assert set(slices.impact(store, [g.file("run.log", 1)]).nodes) == {g.file("run.log", 1)}


def test_what_an_agent_wrote_leads_to_its_call_and_never_through_its_memory(store: Store) -> None:
    found = slices.why(store, [g.file("src/app.py", 2)])
    temporary = g.file("app.py.tmp")
    assert set(found.nodes) == {g.file("src/app.py", 2), temporary, g.call("c2"), g.file("src/app.py")}
    assert found.origins == [g.file("src/app.py")]
    assert found.gaps == []


@pytest.mark.parametrize("start", [g.file("state.json"), g.MODEL_FLOW])
def test_what_an_agent_wrote_for_no_call_is_a_gap(store: Store, start: str) -> None:
    found = slices.why(store, [start], BOTH)
    assert set(found.nodes) == {start}
    assert [(gap.reason, gap.about) for gap in found.gaps] == [("through_agent_memory", start)]
    assert found.origins == []


def test_the_agent_itself_is_a_gap(store: Store) -> None:
    found = slices.why(store, [g.AGENT])
    assert set(found.nodes) == {g.AGENT}
    assert [gap.about for gap in found.gaps] == [g.AGENT]


def test_decision_reaches_what_the_model_saw_with_a_bound(store: Store) -> None:
    found = slices.why(store, [g.FLOW], BOTH)
    assert g.file(".env") in found.origins
    # 40 bytes of output came into the context; the call had 12 bytes of arguments.
    assert found.bounds[g.file(".env")] == 12
    assert found.bounds["artifact:s1/message/1"] == 12
    assert g.file("notes.txt") not in found.bounds, "content reaches it: no bound"


def test_decision_alone_follows_no_bytes(store: Store) -> None:
    found = slices.why(store, [g.CURL], (Flow.DECISION,))
    assert g.call("c1") in found.nodes
    assert "artifact:s1/message/1" in found.origins
    assert g.file("upload.txt") not in found.nodes
    assert g.file("notes.txt") not in found.nodes


def test_impact_of_a_file_that_was_sent(store: Store) -> None:
    found = slices.impact(store, [g.file("notes.txt")])
    assert g.FLOW in found.origins
    assert found.path_ids(g.FLOW) == [g.file("notes.txt"), g.file("upload.txt"), g.CURL, g.FLOW]


def test_impact_passes_an_agent_by_its_calls_alone(store: Store) -> None:
    found = slices.impact(store, [g.file("src/app.py")])
    assert g.file("src/app.py", 2) in found.nodes
    assert g.AGENT not in found.nodes
    assert g.file("state.json") not in found.nodes
    assert found.gaps == []


def test_impact_of_a_secret_that_the_model_saw(store: Store) -> None:
    content = slices.impact(store, [g.file(".env")])
    assert g.OUTPUT in content.origins
    assert g.FLOW not in content.nodes
    assert g.FLOW in slices.impact(store, [g.file(".env")], BOTH).nodes


def test_an_unknown_start_has_no_causes(store: Store) -> None:
    found = slices.why(store, ["artifact:h:/nowhere@t.1"])
    assert (set(found.nodes), found.origins, found.gaps) == ({"artifact:h:/nowhere@t.1"}, [], [])


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


def test_a_bound_that_is_just_enough_cuts_nothing(store: Store) -> None:
    assert not slices.why(store, [g.FLOW], bound=6).cut_off


def test_a_depth_is_kept_and_said(store: Store) -> None:
    found = slices.why(store, [g.FLOW], depth=1)
    assert set(found.nodes) == {g.FLOW, g.CURL}
    assert found.cut_off
    assert found.origins == []
    assert not slices.why(store, [g.FLOW], depth=10).cut_off


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
    found = files_behind(path, BOTH)[".env"]
    secret = next(node for node in found.origins if "/.env@" in node)
    assert found.bounds[secret] == 38
