"""Real Neo4j servers: the pool and the single ones that tests lease, and `run.py neo4j` that users start."""

from __future__ import annotations

from pathlib import Path

import neo4j
import pytest
from neo4j.exceptions import AuthError, ServiceUnavailable

from tests.neo4j_servers import Lease, Pool, Server, require


def count(lease: Lease) -> int:
    with lease.driver() as driver:
        return driver.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"]


def fill(lease: Lease, nodes: int) -> None:
    with lease.driver() as driver:
        driver.execute_query("UNWIND range(1, $nodes) AS i CREATE (:Test {i: i})-[:NEXT]->(:Test)", {"nodes": nodes})


def test_a_lease_is_a_server_of_its_own(neo4j_servers: Pool) -> None:
    first, second = neo4j_servers.lease(), neo4j_servers.lease()
    fill(first, 3)
    assert (count(first), count(second)) == (6, 0)
    for lease in (first, second):
        neo4j_servers.release(lease)


def test_nobody_gets_in_without_the_password(neo4j_servers: Pool) -> None:
    lease = neo4j_servers.lease()
    for password in ("neo4j", lease.password[::-1] + "x"):
        with pytest.raises(AuthError), neo4j.GraphDatabase.driver(lease.uri, auth=("neo4j", password)) as driver:
            driver.verify_connectivity()
    neo4j_servers.release(lease)


def test_a_lease_is_empty_again_when_it_is_given_out_again(neo4j_servers: Pool) -> None:
    lease = neo4j_servers.lease()
    fill(lease, 12_000)
    with lease.driver() as driver, driver.session() as session:
        left_open = session.begin_transaction()
        left_open.run("MATCH (n) SET n.locked = true").consume()
        neo4j_servers.release(lease)
        again = neo4j_servers.lease()
        assert again == lease
        assert count(again) == 0
    neo4j_servers.release(again)


def test_a_pristine_lease_has_no_constraints_either(neo4j_servers: Pool) -> None:
    used = neo4j_servers.lease()
    with used.driver() as driver:
        driver.execute_query("CREATE CONSTRAINT IF NOT EXISTS FOR (n:Test) REQUIRE n.i IS UNIQUE")
    neo4j_servers.release(used)
    lease = neo4j_servers.lease(pristine=True)
    with lease.driver() as driver:
        assert driver.execute_query("SHOW CONSTRAINTS").records == []
    neo4j_servers.release(lease)


def test_a_killed_server_comes_back_with_what_was_committed(tmp_path: Path) -> None:
    require()
    with Server(tmp_path) as server:
        before = server.lease
        fill(before, 5)
        server.kill()
        with pytest.raises(ServiceUnavailable), before.driver() as driver:
            driver.verify_connectivity()
        server.start()
        assert server.lease == before
        assert count(server.lease) == 10
