"""The `store` fixture: one empty, writable store a test, of the engine that `--store` names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from provenance.store import Store, open_store
from tests.stores import Location


@pytest.fixture
def store(location: Location) -> Iterator[Store]:
    with open_store(location, write=True) as opened:
        yield opened
