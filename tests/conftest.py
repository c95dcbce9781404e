"""Options of the whole suite, and where its stores are: `--store` reruns it on another engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import ingested
from tests.neo4j_servers import Pool
from tests.stores import ENGINES, Location, Locations, NewLocation


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store",
        default="embedded",
        choices=ENGINES,
        help="engine that tests keep their stores in: embedded (the default), or neo4j, of which real servers are started",
    )


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--store"))


@pytest.fixture(scope="session")
def locations(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locations]:
    made = Locations(engine, tmp_path_factory)
    yield made
    made.close()


@pytest.fixture(scope="session", autouse=True)
def recordings_are_ingested_into_the_engine(locations: Locations) -> None:
    if locations.engine == "neo4j":
        ingested.servers = locations.servers()


@pytest.fixture
def new_location(locations: Locations) -> Iterator[NewLocation]:
    """Makes fresh, empty locations for one test."""
    with locations.lent() as new:
        yield new


@pytest.fixture(scope="module")
def new_module_location(locations: Locations) -> Iterator[NewLocation]:
    """Makes fresh, empty locations that last for a module's tests."""
    with locations.lent() as new:
        yield new


@pytest.fixture(scope="session")
def new_session_location(locations: Locations) -> Iterator[NewLocation]:
    """Makes fresh, empty locations that last to the end."""
    with locations.lent() as new:
        yield new


@pytest.fixture
def location(new_location: NewLocation) -> Location:
    return new_location()


@pytest.fixture(scope="module")
def module_location(new_module_location: NewLocation) -> Location:
    return new_module_location()


@pytest.fixture
def neo4j_servers(locations: Locations) -> Pool:
    """The pool of real Neo4j servers, whatever `--store` says; skips where Java or Maven is missing."""
    return locations.servers()


@pytest.fixture
def neo4j_location(neo4j_servers: Pool) -> Iterator[str]:
    """An empty Neo4j server's URI, whatever `--store` says."""
    lease = neo4j_servers.lease()
    yield lease.location
    neo4j_servers.release(lease)
