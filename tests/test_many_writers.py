"""Ingest into one Neo4j server while other programs do the same, connections are cut and the server dies: one graph."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from provenance import copying
from provenance.store import open_store
from tests.ingested import recording
from tests.neo4j_servers import Lease, Pool, Server, require
from tests.store.proxy import Proxy

RUNS = [
    recording(name)
    for name in ("codex-egress-public", "codex-outcome-mismatch", "claude-subagent", "claude-build-break-source")
]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All runs ingested once, by one writer that nothing disturbs."""
    folder = tmp_path_factory.mktemp("once") / "store"
    ends_well(writer(str(folder), RUNS))
    return folder


@pytest.fixture
def lease(neo4j_servers: Pool) -> Iterator[Lease]:
    lease = neo4j_servers.lease()
    yield lease
    neo4j_servers.release(lease)


def writer(location: str, paths: Sequence[Path]) -> subprocess.Popen[str]:
    """`capsule ingest` in a process of its own."""
    words = [sys.executable, "-m", "provenance.cli", "--store", location, "ingest", *map(str, paths)]
    seeded = os.environ | {"PYTHONHASHSEED": "0"}  # weavers keep sets in the order in which they find them
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=seeded)


def ends_well(process: subprocess.Popen[str]) -> None:
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said


def equal(location: str, once: Path) -> None:
    """Nothing lost, nothing doubled, nothing different, in the graph and in what weavers go on from."""
    with open_store(location) as store, open_store(once) as expected:
        copying.compare(expected, store)
        doubled = (
            "MATCH (a)-[e]->(b) WITH a.id AS a, type(e) AS kind, b.id AS b, count(e) AS n WHERE n > 1 RETURN a, kind, b"
        )
        assert store.query(doubled).rows == []


def test_four_programs_that_ingest_the_same_at_once_make_it_once(lease: Lease, once: Path) -> None:
    orders = [random.Random(seed).sample(RUNS, len(RUNS)) for seed in range(4)]
    for process in [writer(lease.location, order) for order in orders]:
        ends_well(process)
    equal(lease.location, once)


def test_four_programs_that_each_ingest_their_own_make_the_whole(lease: Lease, once: Path) -> None:
    for process in [writer(lease.location, [run]) for run in RUNS]:
        ends_well(process)
    equal(lease.location, once)


def test_connections_cut_during_ingest_change_nothing(lease: Lease, once: Path) -> None:
    with Proxy(lease.port) as proxy:
        location = f"bolt://{lease.user}:{lease.password}@127.0.0.1:{proxy.port}"
        draw = random.Random(3)
        processes = [writer(location, RUNS), writer(location, RUNS[::-1])]
        while any(process.poll() is None for process in processes):
            time.sleep(draw.uniform(1, 2.5))
            if draw.random() < 0.5:
                proxy.cut()
            else:
                proxy.lose_commit_answers = 1
        for process in processes:
            ends_well(process)
        assert proxy.cuts >= 3
    equal(lease.location, once)


def test_a_server_that_dies_and_comes_back_during_ingest_changes_nothing(tmp_path: Path, once: Path) -> None:
    require()
    with Server(tmp_path) as server:
        open_store(server.location, write=True).close()
        orders = [random.Random(seed).sample(RUNS, len(RUNS)) for seed in range(2)]
        processes = [writer(server.location, order) for order in orders]
        for _ in range(2):
            time.sleep(1.5)
            server.kill()
            server.start()
        for process in processes:
            ends_well(process)
        equal(server.location, once)
