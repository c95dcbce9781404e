"""Where tests keep stores: fresh, empty locations of the engine that `--store` names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import neo4j_servers

ENGINES = ("embedded", "neo4j")

Location = Path | str
"""What `open_store` takes: a folder that is not there yet, or the URI of an empty server."""

NewLocation = Callable[[], Location]
"""Each call gives another location."""


class Locations:
    """Gives locations for one test session, starting servers when the first is needed."""

    def __init__(self, engine: str, factory: pytest.TempPathFactory) -> None:
        self.engine = engine
        self._factory = factory
        self._servers: neo4j_servers.Pool | None = None

    def servers(self) -> neo4j_servers.Pool:
        """The pool of Neo4j servers; the test is skipped where there can be none and `--store` does not ask for them."""
        if self._servers is None:
            neo4j_servers.require(asked_for=self.engine == "neo4j")
            self._servers = neo4j_servers.Pool(self._factory.mktemp("neo4j"))
        return self._servers

    @contextmanager
    def lent(self) -> Iterator[NewLocation]:
        """Any number of locations, all given back at the end."""
        leases: list[neo4j_servers.Lease] = []

        def new() -> Location:
            if self.engine == "embedded":
                return self._factory.mktemp("store") / "store"
            leases.append(self.servers().lease())
            return leases[-1].location

        yield new
        for lease in leases:
            self.servers().release(lease)

    def close(self) -> None:
        if self._servers is not None:
            self._servers.close()
