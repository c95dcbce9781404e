"""The graphs of the cases as stores of the engine that `--store` names, each loaded once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from provenance.store import Store, open_store
from tests.conformance.graphs import changes_of
from tests.stores import NewLocation

StoreOf = Callable[[str], Store]


@pytest.fixture(scope="session")
def store_of(new_session_location: NewLocation) -> Iterator[StoreOf]:
    """The store that holds a graph, by the graph's name."""
    with ExitStack() as opened:

        @cache
        def load(graph: str) -> Store:
            store = opened.enter_context(open_store(new_session_location(), write=True))
            store.apply(changes_of(graph))
            return store

        yield load
