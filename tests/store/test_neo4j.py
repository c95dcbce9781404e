"""The Neo4j store where things go wrong: lost connections and answers, other writers, other data, other versions."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from graphs import content, small

from provenance import schema
from provenance.changes import Changes
from provenance.errors import InvalidChange, StoreConflict, StoreError, StoreTooNew, UsageError
from provenance.store import open_store
from provenance.store.interface import Cancellation
from provenance.store.neo4j import statements
from tests.neo4j_servers import Lease, Pool
from tests.store.proxy import Proxy

ENDLESS = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a + b AS c WHERE c < 0 RETURN c"


@pytest.fixture
def lease(neo4j_servers: Pool) -> Iterator[Lease]:
    lease = neo4j_servers.lease()
    yield lease
    neo4j_servers.release(lease)


@pytest.fixture
def proxy(lease: Lease) -> Iterator[Proxy]:
    with Proxy(lease.port) as proxy:
        yield proxy


def through(proxy: Proxy, lease: Lease) -> str:
    return f"bolt://{lease.user}:{lease.password}@127.0.0.1:{proxy.port}"


def commit(number: int) -> Changes:
    """One process that reads one new file; each commit raises the state by one."""
    changes = Changes()
    changes.put(f"process:p/{number}", pid=number)
    changes.put(f"artifact:h:/{number}@1.1", path=f"/{number}")
    changes.link("USED", f"process:p/{number}", f"artifact:h:/{number}@1.1", count=1)
    return changes


# Connections


def test_a_commit_whose_answer_was_lost_is_made_once(lease: Lease, proxy: Proxy) -> None:
    with open_store(through(proxy, lease), write=True) as store:
        store.apply(commit(0), {"number": b"0"})
        for number in range(1, 6):
            assert store.state("number") == str(number - 1).encode()
            proxy.lose_commit_answers = 1 + number % 2
            store.apply(commit(number), {"number": str(number).encode()})
            assert proxy.lose_commit_answers == 0
    with open_store(lease.location) as store:
        assert store.state("number") == b"5"
        assert store.counts() == {"Process": 6, "Artifact": 6, "USED": 6}
        assert store.query("MATCH (p:Process) RETURN sum(p.pid) AS s").rows == [(15,)]


def test_a_connection_that_is_cut_again_and_again_loses_and_doubles_nothing(lease: Lease, proxy: Proxy) -> None:
    over = threading.Event()

    def cut() -> None:
        draw = random.Random(7)
        while not over.wait(draw.uniform(0.2, 0.8)):
            proxy.cut()

    with open_store(through(proxy, lease), write=True) as store:
        cutter = threading.Thread(target=cut)
        cutter.start()
        try:
            end = time.monotonic() + 60
            number = 0
            while proxy.cuts < 12 and time.monotonic() < end:
                changes = Changes()
                for place in range(300):
                    changes.extend(commit(number * 300 + place))
                store.apply(changes, {"number": str(number).encode()})
                number += 1
        finally:
            over.set()
            cutter.join()
    assert proxy.cuts >= 12
    with open_store(lease.location) as store:
        assert store.state("number") == str(number - 1).encode()
        assert store.counts() == {"Process": number * 300, "Artifact": number * 300, "USED": number * 300}
        assert store.query("MATCH (p:Process)-[e:USED]->(a) RETURN sum(e.count) AS s").rows == [(number * 300,)]


def test_a_reader_goes_on_after_a_cut(lease: Lease, proxy: Proxy) -> None:
    with open_store(through(proxy, lease), write=True) as store:
        store.apply(small(), {"weaver": b"x"})
        before = content(store)
        for _ in range(5):
            proxy.cut()
            assert store.state("weaver") == b"x"
            proxy.cut()
            assert content(store) == before


def test_a_server_that_stays_away_is_given_up_after_the_time_asked_for(lease: Lease) -> None:
    with Proxy(lease.port) as proxy:
        store = open_store(through(proxy, lease) + "?retry=2", write=True)
    begin = time.monotonic()
    with store, pytest.raises(StoreError, match="no server listens there"):
        store.apply(commit(1))
    assert time.monotonic() - begin < 30
    with open_store(lease.location) as store:
        assert store.counts() == {}


# Other writers


def test_a_change_made_from_replaced_state_is_refused_whole(lease: Lease) -> None:
    with open_store(lease.location, write=True) as one, open_store(lease.location, write=True) as other:
        one.apply(Changes(), {"weaver": b"first", "beside": b"1"})
        for store in (one, other):
            assert store.state("weaver") == b"first"
        one.apply(commit(1), {"weaver": b"one"})
        with pytest.raises(StoreConflict, match="another writer has changed 'weaver' meanwhile"):
            other.apply(commit(2), {"weaver": b"other", "beside": b"2"})
        assert one.counts()["Process"] == 1
        assert other.states() == {"weaver": b"one", "beside": b"1"}
        other.apply(commit(2), {"weaver": b"other", "beside": b"2"})  # read again, it goes through
        assert one.states() == {"weaver": b"other", "beside": b"2"}


def test_a_key_that_nobody_had_is_taken_by_one_writer_only(lease: Lease) -> None:
    """Both looked, both found nothing: one of them writes."""
    stores = [open_store(lease.location, write=True) for _ in range(6)]
    assert {store.state("session/new") for store in stores} == {None}
    barrier = threading.Barrier(len(stores))

    def write(number: int) -> bool:
        barrier.wait()
        try:
            stores[number].apply(commit(number), {"session/new": str(number).encode()})
        except StoreConflict:
            return False
        return True

    with ThreadPoolExecutor(len(stores)) as pool:
        won = list(pool.map(write, range(len(stores))))
    assert won.count(True) == 1
    assert stores[0].state("session/new") == str(won.index(True)).encode()
    assert stores[0].query("MATCH (p:Process) RETURN p.pid").rows == [(won.index(True),)]
    for store in stores:
        store.close()


def test_writers_that_meet_at_the_same_nodes_all_get_through(lease: Lease) -> None:
    def write(seed: int) -> None:
        draw = random.Random(seed)
        with open_store(lease.location, write=True) as store:
            for _ in range(15):
                changes = Changes()
                for number in draw.sample(range(60), 20):
                    changes.extend(commit(number))
                    for far in draw.sample(range(60), 2):
                        changes.put(f"artifact:h:/{far}@1.1", path=f"/{far}")
                        changes.link("USED", f"process:p/{number}", f"artifact:h:/{far}@1.1", count=1)
                store.apply(changes)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    with open_store(lease.location) as store:
        for text in (
            "MATCH (p:Process) WITH p.id AS id, count(*) AS n WHERE n > 1 RETURN id",
            "MATCH (p:Process)-[e:USED]->(a:Artifact) WITH p.id AS p, a.id AS a, count(e) AS n WHERE n > 1 RETURN p, a",
        ):
            assert store.query(text).rows == []
        assert store.counts()["Process"] == 60


def test_a_batch_with_a_missing_end_writes_nothing(lease: Lease) -> None:
    with open_store(lease.location, write=True) as store:
        changes = commit(1)
        changes.link("USED", "process:p/1", "artifact:h:/gone@1.1")
        with pytest.raises(InvalidChange, match=r"artifact:h:/gone@1\.1"):
            store.apply(changes, {"weaver": b"x"})
        assert store.counts() == {}
        assert store.state("weaver") is None


def test_writers_that_open_a_new_database_at_once_all_get_in(neo4j_servers: Pool) -> None:
    lease = neo4j_servers.lease(pristine=True)
    barrier = threading.Barrier(8)

    def write(number: int) -> None:
        barrier.wait()
        with open_store(lease.location, write=True) as store:
            store.apply(commit(number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    with open_store(lease.location) as store, lease.driver() as driver:
        assert store.counts()["USED"] == 8
        found = driver.execute_query("SHOW CONSTRAINTS YIELD name RETURN count(*)").records[0][0]
        assert found == len(schema.NODES) + 1
        assert driver.execute_query(f"MATCH (s:{statements.OWN}) RETURN count(*)").records[0][0] == 1
    neo4j_servers.release(lease)


# What a database holds


def test_a_database_with_other_data_is_refused_and_left_alone(neo4j_servers: Pool) -> None:
    lease = neo4j_servers.lease(pristine=True)
    with lease.driver() as driver:
        driver.execute_query("CREATE (:Customer {name: 'x'})")
        with pytest.raises(StoreError, match="holds other data: a store needs a database of its own"):
            open_store(lease.location, write=True)
        with pytest.raises(StoreError, match="holds no store yet"):
            open_store(lease.location)
        assert driver.execute_query("MATCH (n) RETURN count(*)").records[0][0] == 1
        assert driver.execute_query("SHOW CONSTRAINTS").records == []
    neo4j_servers.release(lease)


def test_an_empty_database_holds_no_store_for_a_reader_and_gets_none(neo4j_servers: Pool) -> None:
    lease = neo4j_servers.lease(pristine=True)
    with pytest.raises(StoreError, match="holds no store yet: ingest something first"):
        open_store(lease.location)
    with lease.driver() as driver:
        assert driver.execute_query("MATCH (n) RETURN count(*)").records[0][0] == 0
    neo4j_servers.release(lease)


@pytest.mark.parametrize("write", [True, False])
def test_a_newer_schema_is_refused_and_not_touched(lease: Lease, write: bool) -> None:
    open_store(lease.location, write=True).close()
    with lease.driver() as driver:
        driver.execute_query(f"MATCH (s:{statements.OWN}) SET s.schema = $v", {"v": schema.VERSION + 1})
        with pytest.raises(StoreTooNew, match=f"schema version {schema.VERSION + 1}, this program knows"):
            open_store(lease.location, write=write)
        kept = driver.execute_query(f"MATCH (s:{statements.OWN}) RETURN s.schema").records[0][0]
        assert kept == schema.VERSION + 1


def test_an_older_schema_is_brought_up_by_a_writer_only(lease: Lease) -> None:
    with open_store(lease.location, write=True) as store:
        store.apply(small())
    with lease.driver() as driver:
        driver.execute_query(f"MATCH (s:{statements.OWN} {{key: 'store'}}) SET s.schema = 0")
        driver.execute_query("DROP CONSTRAINT id_Gap")
        with pytest.raises(StoreError, match="open it for writing once to bring it up to date"):
            open_store(lease.location)
        open_store(lease.location, write=True).close()
        assert driver.execute_query("SHOW CONSTRAINTS WHERE name = 'id_Gap'").records
    with open_store(lease.location) as store:
        assert len(content(store)[0]) == len(small().nodes)


def test_users_do_not_see_the_stores_own_nodes(lease: Lease) -> None:
    with open_store(lease.location, write=True) as store:
        store.apply(commit(1), {"weaver": b"secret state"})
        for text in ("MATCH (n) RETURN n", "MATCH (n:_Store) RETURN n", "MATCH (n) WHERE n.key IS NOT NULL RETURN n"):
            try:
                rows = store.query(text).rows
            except UsageError:
                continue
            assert "secret state" not in str(rows)
            assert b"secret state".hex() not in str(rows)


# Stopping


def running(lease: Lease) -> list[str]:
    with lease.driver() as driver:
        shown = driver.execute_query("SHOW TRANSACTIONS YIELD currentQuery, status").records
    return [row["currentQuery"] for row in shown if "range(1, 100000)" in (row["currentQuery"] or "")]


def gone(lease: Lease) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if not running(lease):
            return True
        time.sleep(0.1)
    return False


def test_a_cancelled_query_ends_on_the_server(lease: Lease) -> None:
    open_store(lease.location, write=True).close()
    with open_store(lease.location) as store, ThreadPoolExecutor(1) as pool:
        cancellation = Cancellation()
        asked = pool.submit(store.query, ENDLESS, cancellation=cancellation)
        end = time.monotonic() + 20
        while not running(lease) and time.monotonic() < end:
            time.sleep(0.05)
        assert running(lease)
        cancellation.cancel()
        with pytest.raises(StoreError, match="the query was cancelled"):
            asked.result(20)
        assert gone(lease)
        assert store.query("RETURN 1 AS one").rows == [(1,)]


def test_a_query_out_of_time_ends_on_the_server(lease: Lease) -> None:
    open_store(lease.location, write=True).close()
    with open_store(lease.location) as store:
        with pytest.raises(StoreError, match=r"took longer than 0\.5 s and was stopped"):
            store.query(ENDLESS, timeout=0.5)
        assert gone(lease)


def test_a_row_limit_leaves_the_rest_on_the_server(lease: Lease) -> None:
    open_store(lease.location, write=True).close()
    with open_store(lease.location) as store:
        found = store.query("UNWIND range(1, 100000000) AS a RETURN a", limit=3, timeout=30)
        assert (found.rows, found.truncated) == ([(1,), (2,), (3,)], True)
        assert gone(lease)


def test_pruning_takes_no_node_that_another_writer_links(lease: Lease) -> None:
    def link(number: int) -> None:
        with open_store(lease.location, write=True) as store:
            for place in range(40):
                store.apply(commit(number * 1_000 + place))

    with open_store(lease.location, write=True) as store, ThreadPoolExecutor(3) as pool:
        store.apply(Changes(nodes={f"process:alone/{number}": {} for number in range(10)}))
        work = [pool.submit(link, number) for number in range(2)]
        pruned = 0
        while not all(one.done() for one in work):
            pruned += store.prune(["Process", "Artifact"])
        for one in work:
            one.result()
        assert pruned + store.prune(["Process", "Artifact"]) == 10
        assert store.counts() == {"Process": 80, "Artifact": 80, "USED": 80}


def test_a_store_says_where_it_is_without_its_password(lease: Lease) -> None:
    with open_store(lease.location, write=True) as store:
        assert store.uri == f"bolt://{lease.user}@127.0.0.1:{lease.port}"
        assert lease.password not in f"{store!r} {vars(store)}"
