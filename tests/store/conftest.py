"""The `store` fixture: one empty, writable store a test, of the engine that `--store` names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from provenance.store import Store, open_store


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    name = str(request.config.getoption("--store"))
    if name != "embedded":
        raise pytest.UsageError(f"--store={name}: the tests know no such engine")
    return name


@pytest.fixture
def store(engine: str, tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store", write=True) as opened:
        yield opened
