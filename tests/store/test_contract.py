"""What every engine gives: the tests of `provenance.store.interface.Store`."""

from __future__ import annotations

import threading
import time

import pytest
from graphs import Model, changes, content, small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance import schema
from provenance.changes import Changes
from provenance.errors import InvalidChange, StoreError, UsageError
from provenance.store import EdgeRow, Store
from provenance.store.interface import Cancellation

PROCESS, READ, WRITTEN = "process:h/1", "artifact:h:/a.c@1", "artifact:h:/a.o@1"


def test_an_empty_store_has_nothing(store: Store) -> None:
    assert store.counts() == {}
    assert store.states() == {}
    assert store.state("weaver") is None
    assert store.query("MATCH (n) RETURN count(*) AS n").dicts() == [{"n": 0}]


def test_what_was_put_comes_back(store: Store) -> None:
    store.apply(small())
    assert store.counts() == {"Process": 1, "Artifact": 2, "USED": 1, "GENERATED_BY": 1}
    assert store.nodes([PROCESS, "process:h/none", "no kind"]) == {
        PROCESS: {"id": PROCESS, "pid": 1, "start": 3, "end": 5, "argv": ["cc", "-c", "a.c"], "argv_truncated": False}
    }


def test_expand_goes_backward_and_forward(store: Store) -> None:
    store.apply(small())
    used = EdgeRow("USED", PROCESS, READ, {"basis": "observed", "confidence": 1.0, "first": 3, "last": 4, "count": 2})
    generated = EdgeRow("GENERATED_BY", WRITTEN, PROCESS, {"basis": "observed", "bytes": 10})
    every = list(schema.EDGE_KINDS)
    assert store.expand([WRITTEN], every) == [generated]
    assert store.expand([PROCESS], every) == [used]
    assert store.expand([READ], every) == []
    assert store.expand([PROCESS], every, backward=False) == [generated]
    assert store.expand([READ, WRITTEN, PROCESS, PROCESS, "process:h/none", "no kind"], ["USED"]) == [used]
    assert store.expand([READ], ["USED"], backward=False) == [used]
    assert store.expand([PROCESS], ["CONSULTED"]) == []
    assert store.expand([], every) == []


def test_expand_fetches_the_fields_asked_for(store: Store) -> None:
    store.apply(small())
    (edge,) = store.expand([PROCESS], ["USED"], fields=["count", "bytes"])
    assert edge.fields == {"count": 2}
    (edge,) = store.expand([PROCESS], ["USED"], fields=[])
    assert edge.fields == {}


def test_expand_refuses_an_unknown_kind(store: Store) -> None:
    with pytest.raises(UsageError, match="'READ'"):
        store.expand([PROCESS], ["READ"])


def test_a_second_put_keeps_the_fields_it_does_not_name(store: Store) -> None:
    store.apply(small())
    later = Changes()
    later.put(PROCESS, exit_code=1, end=None)
    later.put("process:h/2", pid=2)
    later.edge_updates["USED", PROCESS, READ] = {"last": 9, "basis": None}
    store.apply(later)
    assert store.nodes([PROCESS])[PROCESS] == {
        "id": PROCESS,
        "pid": 1,
        "start": 3,
        "argv": ["cc", "-c", "a.c"],
        "argv_truncated": False,
        "exit_code": 1,
    }
    (edge,) = store.expand([PROCESS], ["USED"])
    assert edge.fields == {"confidence": 1.0, "first": 3, "last": 9, "count": 2}
    assert store.counts()["Process"] == 2


def test_removals_come_before_additions_and_take_edges_along(store: Store) -> None:
    store.apply(small())
    later = Changes(removed_nodes={PROCESS, "process:h/none"}, removed_edges={("USED", "process:x", "artifact:y")})
    later.put(PROCESS, pid=7)
    later.link("USED", PROCESS, READ, count=1)
    store.apply(later)
    assert store.nodes([PROCESS]) == {PROCESS: {"id": PROCESS, "pid": 7}}
    assert store.expand([PROCESS], ["USED"]) == [EdgeRow("USED", PROCESS, READ, {"count": 1})]
    assert store.expand([WRITTEN], ["GENERATED_BY"]) == []

    store.apply(Changes(removed_edges={("USED", PROCESS, READ)}))
    assert store.counts() == {"Process": 1, "Artifact": 2}


def test_one_edge_of_many_between_the_same_neighbours_is_updated(store: Store) -> None:
    made = Changes()
    for process in range(5):
        for artifact in range(5):
            made.put(f"process:{process}")
            made.put(f"artifact:{artifact}")
            made.link("USED", f"process:{process}", f"artifact:{artifact}", count=0)
            made.link("CONSULTED", f"process:{process}", f"artifact:{artifact}", count=0)
    store.apply(made)
    store.apply(Changes(edge_updates={("USED", "process:1", "artifact:2"): {"count": 1}}))
    store.apply(Changes(removed_edges={("CONSULTED", "process:3", "artifact:4")}))
    edges = store.expand([f"process:{number}" for number in range(5)], ["USED", "CONSULTED"])
    assert [edge[:3] for edge in edges if edge.fields["count"]] == [("USED", "process:1", "artifact:2")]
    assert len(edges) == 49


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (Changes(nodes={"what:1": {}}), "what:1"),
        (Changes(nodes={"process:1": {"pid": "one"}}), "'pid'"),
        (Changes(nodes={"process:1": {"name": "\ud800"}}), "'name'"),
        (Changes(nodes={"process:1": {"argv": ["\ud800"]}}), "'argv'"),
        (Changes(nodes={"process:\ud800": {}}), "'id'"),
        (Changes(nodes={"process:1": {"id": "process:2"}}), "process:2"),
        (Changes(edges={("USED", "artifact:1", "process:1"): {}}), "USED"),
        (Changes(nodes={"process:1": {}}, edges={("USED", "process:1", "artifact:none"): {}}), "artifact:none"),
        (Changes(nodes={"artifact:1": {}}, edges={("USED", "process:none", "artifact:1"): {}}), "process:none"),
        (Changes(removed_nodes={READ}, edges={("USED", PROCESS, READ): {}}), READ),
        (Changes(edge_updates={("USED", PROCESS, WRITTEN): {"count": 1}}), "USED"),
        (Changes(edge_updates={("USED", PROCESS, WRITTEN): {}}), "USED"),
    ],
)
def test_a_bad_change_is_named_and_nothing_is_written(store: Store, bad: Changes, named: str) -> None:
    store.apply(small(), {"weaver": b"before"})
    before = content(store)
    bad.put("process:good", pid=1)
    with pytest.raises(InvalidChange, match=named.replace(".", r"\.")):
        store.apply(bad, {"weaver": b"after"})
    assert content(store) == before
    assert store.state("weaver") == b"before"
    store.apply(Changes(nodes={"process:good": {}}), {"weaver": b"after"})
    assert store.state("weaver") == b"after"


def test_state_is_replaced_deleted_and_found_by_prefix(store: Store) -> None:
    store.apply(Changes(), {"weave/a": b"1", "weave/b": b"2", "other": b"", "weave%": b"4"})
    assert store.state("weave/a") == b"1"
    assert store.state("other") == b""
    assert store.states("weave/") == {"weave/a": b"1", "weave/b": b"2"}
    store.apply(small(), {"weave/a": bytes(300_000), "weave/b": None, "none": None})
    assert store.states() == {"weave/a": bytes(300_000), "other": b"", "weave%": b"4"}
    assert store.state("weave/b") is None
    store.apply(Changes())
    store.apply(small())
    assert store.state("weave/a") == bytes(300_000)


def test_query_gives_plain_values(store: Store) -> None:
    store.apply(small())
    rows = store.query("MATCH (p:Process)-[r:USED]->(a:Artifact) RETURN p, r, a, p.argv, sum(r.count) AS n")
    assert rows.columns == ("p", "r", "a", "p.argv", "n")
    process, used, artifact, argv, count = rows.rows[0]
    assert process == {"_kind": "Process", **store.nodes([PROCESS])[PROCESS]}
    assert used == {"_kind": "USED", "basis": "observed", "confidence": 1.0, "first": 3, "last": 4, "count": 2}
    assert artifact == {"_kind": "Artifact", "id": READ, "path": "/a.c", "class": "file"}
    assert argv == ["cc", "-c", "a.c"]
    assert (count, type(count)) == (2, int)


def test_every_field_can_be_written_without_quotes(store: Store) -> None:
    for kind in schema.NODES:
        for field in schema.node_columns(kind):
            name = field.name
            store.query(f"MATCH (n:{kind.name}) WHERE n.{name} IS NOT NULL RETURN n.{name} AS x, count(n.{name})")
            store.query(f"MATCH (n:{kind.name} {{level: 1, {name}: NULL}}) RETURN n.id")
    for kind in schema.EDGES:
        for field in schema.edge_columns(kind):
            store.query(f"MATCH ()-[r:{kind.name} {{{field.name}: NULL}}]->() RETURN r.{field.name}")


def test_fields_named_like_words_of_the_language_are_values_in_strings(store: Store) -> None:
    store.apply(small())
    text = (
        "MATCH (p:Process {end: $end}) RETURN p.end, 'p.end $x' AS s, CASE WHEN p.end = 5 THEN 1 ELSE 2 END // p.end $y"
    )
    assert store.query(text, {"end": 5}).rows == [(5, "p.end $x", 1)]


def test_the_kind_of_an_edge_is_its_type(store: Store) -> None:
    store.apply(small())
    assert store.query("MATCH (:Process)-[r]->() RETURN type(r) AS t").rows == [("USED",)]


def test_query_takes_lists_as_parameters(store: Store) -> None:
    store.apply(small())
    text = "UNWIND $ids AS x MATCH (a:Artifact {id: x}) RETURN a.path ORDER BY a.path"
    assert store.query(text, {"ids": [READ, WRITTEN]}).rows == [("/a.c",), ("/a.o",)]
    assert store.query(text, {"ids": (READ,)}).rows == [("/a.c",)]
    assert store.query(text, {"ids": []}).rows == []
    assert store.query("MATCH (p:Process {pid: $pid}) RETURN p.id", {"pid": 1}).rows == [(PROCESS,)]
    assert store.query("MATCH (p:Process {pid: $pid}) RETURN p.id", {"pid": 2**40}).rows == []


def test_query_stops_at_its_limit(store: Store) -> None:
    store.apply(small())
    assert store.query("MATCH (a:Artifact) RETURN a.id", limit=2).truncated is False
    rows = store.query("MATCH (a:Artifact) RETURN a.id", limit=1)
    assert (len(rows.rows), rows.truncated) == (1, True)


@pytest.mark.parametrize(
    "text", ["MATCH (p:Process", "MATCH (p:Process) RETURN p.nothing", "MATCH (x:Nothing) RETURN x", "RETURN $missing"]
)
def test_a_wrong_query_says_so_and_the_next_one_works(store: Store, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        store.query(text)
    assert "exception" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert store.query("RETURN 1 AS one").dicts() == [{"one": 1}]


@pytest.mark.parametrize(
    "text", ["CREATE (p:Process {id: 'process:x'})", "MATCH (p:Process) SET p.pid = 2", "MATCH (n) DETACH DELETE n"]
)
def test_query_does_not_write(store: Store, text: str) -> None:
    store.apply(small())
    before = content(store)
    with pytest.raises(UsageError):
        store.query(text)
    assert content(store) == before


SLOW = "UNWIND range(1, 30000) AS a UNWIND range(1, 30000) AS b WITH a, b WHERE (a + b) % 7 = 3 RETURN count(*)"


def test_a_query_stops_at_its_time(store: Store) -> None:
    with pytest.raises(StoreError, match=r"longer than 0\.1 s"):
        store.query(SLOW, timeout=0.1)
    assert store.query("RETURN 1 AS one", timeout=5).dicts() == [{"one": 1}]


@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_a_query_is_cancelled_from_another_thread(store: Store, delay: float) -> None:
    cancellation = Cancellation()
    threading.Timer(delay, cancellation.cancel).start()
    begin = time.monotonic()
    with pytest.raises(StoreError, match="the query was cancelled"):
        store.query(f"UNWIND range(1, 1000) AS c {SLOW}", timeout=60, cancellation=cancellation)
    assert time.monotonic() - begin < 30
    assert store.query("RETURN 1 AS one").dicts() == [{"one": 1}]


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    for call in (store.counts, store.states, lambda: store.apply(small()), lambda: store.query("RETURN 1")):
        with pytest.raises(StoreError, match="closed"):
            call()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changes_applied_twice_equal_once(store: Store, data: st.DataObject) -> None:
    held, _, _ = content(store)
    store.apply(Changes(removed_nodes=set(held)))
    model = Model()
    for made in data.draw(st.lists(changes(), min_size=1, max_size=3)):
        if model.nodes:
            made.removed_nodes = set(data.draw(st.lists(st.sampled_from(sorted(model.nodes)), max_size=2)))
        if model.edges:
            made.removed_edges = set(data.draw(st.lists(st.sampled_from(sorted(model.edges)), max_size=2)))
        # An edge's end may have gone with this very change; changes put it back where their own edges need it.
        store.apply(made)
        model.apply(made)
        assert content(store) == (model.nodes, model.edges, [])
        again = Changes(nodes=made.nodes, edges=made.edges)
        store.apply(again)
        updates = Changes(edge_updates={key: dict(put) for key, put in made.edges.items()})
        store.apply(updates)
        assert content(store) == (model.nodes, model.edges, [])
