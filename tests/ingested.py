"""Recordings ingested as a user would, once a test session each, and counts read back from the graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from ingest import sources
from provenance.intake import Intake, Summary
from provenance.store import Store, open_store
from tests.neo4j_servers import Lease, Pool
from tests.shared import shared_folder

DATA = Path(__file__).parent / "data" / "recordings"


def recordings() -> list[Path]:
    """Every recording there is: the repository's own, and the shared ones where they are."""
    found = {path.parent.name: path.parent for path in sorted(DATA.glob("*/truth.json"))}
    if shared_folder().is_dir():
        for path in sorted((shared_folder() / "recordings").glob("*/truth.json")):
            found.setdefault(path.parent.name, path.parent)
    return [found[name] for name in sorted(found)]


def recording(name: str) -> Path:
    """A recording of the repository by name."""
    return DATA / name


def ingest(store: Store, paths: Sequence[Path | str]) -> Summary:
    """What `capsule ingest` does."""
    intake = Intake(store)
    for source in sources.discover([str(path) for path in paths]):
        if isinstance(source, sources.Source):
            intake.take(source)
    return intake.finish()


@dataclass
class Ingested:
    """A recording, its truth and a store that holds just it, open for reading."""

    path: Path
    truth: dict[str, Any]
    store: Store
    summary: Summary

    def rows(self, cypher: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.store.query(cypher, parameters).rows]

    def value(self, cypher: str, **parameters: Any) -> Any:
        return self.rows(cypher, **parameters)[0][0]


_HELD: dict[Path, tuple[Ingested, Lease | None]] = {}
_LEASES = 6
"""Servers that hold recordings at once. More are asked for one after the other, so the oldest is given back."""

servers: Pool | None = None
"""Where recordings are ingested into; None: into folders. `--store` sets it."""


def ingested(path: Path) -> Ingested:
    """The recording, ingested into a store of its own of the engine that `--store` names; not to be held for long."""
    if path in _HELD:
        _HELD[path] = _HELD.pop(path)
        return _HELD[path][0]
    if servers is None:
        lease, place = None, str(Path(mkdtemp(prefix="capsule-test-")) / "store")
    else:
        if len(_HELD) >= _LEASES:
            oldest, free = _HELD.pop(next(iter(_HELD)))
            oldest.store.close()
            assert free is not None
            servers.release(free)
        lease = servers.lease()
        place = lease.location
    with open_store(place, write=True) as store:
        summary = ingest(store, [path])
    truth = json.loads((path / "truth.json").read_text())
    _HELD[path] = (Ingested(path, truth, open_store(place), summary), lease)
    return _HELD[path][0]
