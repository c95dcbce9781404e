"""Each query's text as an auditor pastes it into Neo4j Browser: the plain driver, the text as it stands in its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache

import neo4j
import pytest

from provenance.store import Store, open_store
from queries import find
from tests.conformance.forms import Asked, comparable
from tests.conformance.graphs import changes_of
from tests.conformance.test_catalogue_cases import CASES, named
from tests.neo4j_servers import Lease
from tests.stores import Locations


@pytest.fixture(scope="module")
def loaded(locations: Locations) -> Iterator[object]:
    """Gives, by a graph's name, the server that holds it: as a store, and through the driver alone."""
    leases: list[Lease] = []
    with ExitStack() as opened:

        @cache
        def load(graph: str) -> tuple[Store, neo4j.Driver]:
            leases.append(locations.servers().lease())
            store = opened.enter_context(open_store(leases[-1].location, write=True))
            store.apply(changes_of(graph), {"weaver": b"state that no query shows"})
            return store, opened.enter_context(leases[-1].driver())

        yield load
    for lease in leases:
        locations.servers().release(lease)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_text_alone_gives_the_same_rows(case: Asked, loaded: object) -> None:
    store, driver = loaded(case.graph)  # type: ignore[operator]
    query = find(case.query)
    values = query.values(case.given)
    records = driver.execute_query(query.text, values).records
    found = [tuple(record.values()) for record in records]
    expected = store.query(query.text, values).rows
    assert comparable(found, ordered=query.ordered) == comparable(expected, ordered=query.ordered)
    assert all(list(record.keys()) == [column.name for column in query.columns] for record in records)
