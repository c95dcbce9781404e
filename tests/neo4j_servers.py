"""Real Neo4j servers for tests: a pool of them in one Java process, and single ones that can be killed.

The Community edition has one database a server, so tests are kept apart by servers. Signing in is on, as in use.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import neo4j
import pytest

from docker.neo4j import launch

USER = "neo4j"
DELETE = "MATCH (n) WITH n LIMIT 10000 DETACH DELETE n RETURN count(*) AS deleted"
QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SMALL = {"server.memory.pagecache.size": "16m", "db.tx_log.rotation.retention_policy": "keep_none"}


def require(*, asked_for: bool = False) -> None:
    """Skip the test where Neo4j cannot be had; let it fail where it was asked for, or in CI."""
    try:
        launch.java()
        launch.class_path()
    except launch.Unavailable as missing:
        if asked_for or os.environ.get("CI"):
            pytest.fail(f"no Neo4j: {missing}", pytrace=False)
        pytest.skip(f"no Neo4j: {missing}")


def settings(port: int = 0) -> dict[str, str]:
    """Small, on loopback; port 0 is any free one."""
    return SMALL | {"server.bolt.listen_address": f"127.0.0.1:{port}"}


@dataclass(frozen=True)
class Lease:
    """An empty server that belongs to one user until it is given back."""

    home: Path
    port: int
    password: str
    user: str = USER

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def location(self) -> str:
        """What `open_store` takes."""
        return f"bolt://{self.user}:{self.password}@127.0.0.1:{self.port}"

    def driver(self) -> neo4j.Driver:
        """The plain driver, connected; close it after use."""
        return neo4j.GraphDatabase.driver(self.uri, auth=(self.user, self.password))


class Pool:
    """Servers on demand in one Java process. Those given back are emptied when they are leased again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._servers = launch.Servers(folder / "java.log", heap="1g", options=QUICK_START)
        self._opened = 0
        self._free: list[Lease] = []

    def lease(self, *, pristine: bool = False) -> Lease:
        """An empty server. Constraints and indexes of its last user may be there, unless it must be pristine."""
        if self._free and not pristine:
            lease = self._free.pop()
            empty(lease)
            return lease
        home = self.folder / f"server-{self._opened}"
        self._opened += 1
        password = secrets.token_hex(8)
        return Lease(home, self._servers.open(home, password, settings()), password)

    def release(self, lease: Lease) -> None:
        self._free.append(lease)

    def close(self) -> None:
        self._servers.kill()  # nothing in them is kept, and a clean stop takes seconds a server


def empty(lease: Lease) -> None:
    """Ends what still runs there and deletes all nodes, in batches."""
    with lease.driver() as driver:
        running = driver.execute_query("SHOW TRANSACTIONS YIELD transactionId, currentQuery").records
        others = [row["transactionId"] for row in running if "SHOW TRANSACTIONS" not in (row["currentQuery"] or "")]
        if others:
            driver.execute_query("TERMINATE TRANSACTIONS $others", {"others": others})
        while driver.execute_query(DELETE).records[0]["deleted"]:
            pass


class Server:
    """One server in a process of its own, for tests of faults: it can be killed and started again on its data and port."""

    def __init__(self, folder: Path, extra: Mapping[str, str] | None = None) -> None:
        """Starts it, with extra Neo4j settings."""
        self.folder = folder
        self.extra = dict(extra or {})
        self.lease = Lease(folder / "home", 0, secrets.token_hex(8))
        self.start()

    @property
    def location(self) -> str:
        return self.lease.location

    def start(self) -> None:
        """Answers on the port it had before, with the data that was committed."""
        home, password = self.lease.home, self.lease.password
        self._servers = launch.Servers(self.folder / "java.log", options=QUICK_START)
        port = self._servers.open(home, password, settings(self.lease.port) | self.extra)
        self.lease = Lease(home, port, password)

    def stop(self) -> None:
        """A clean stop."""
        self._servers.stop()

    def kill(self) -> None:
        """SIGKILL, as a crash of the machine's software would look."""
        self._servers.kill()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
