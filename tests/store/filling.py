"""Program of the full-disk test: files may not grow while a commit is made. Exits with 0 where the store keeps its word."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from graphs import content, small

from provenance.changes import Changes
from provenance.errors import StoreError
from provenance.store import Store, open_store


def big(count: int) -> Changes:
    changes = Changes()
    for number in range(count):
        changes.put(f"gap:{number}", detail=f"{number} " + "z" * 2_000)
    return changes


def fails(store: Store, changes: Changes, state: dict[str, bytes | None], room: int) -> None:
    """Apply with so much room in each file; the store must refuse, and then hold what it held."""
    before = content(store)
    folder = Path(store.uri)
    size = max(path.stat().st_size for path in folder.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
    try:
        store.apply(changes, state)
    except StoreError as error:
        print(error)
    else:
        raise AssertionError("the commit went through")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert content(store) == before
    assert store.state("weaver") == b"before"


def main(folder: Path) -> None:
    with open_store(folder, write=True) as store:
        store.apply(small(), {"weaver": b"before"})
        fails(store, big(1_000), {"weaver": b"after"}, 100_000)  # the engine's log
        fails(store, big(25_000), {"weaver": b"after"}, 1_000_000)  # the graph file
        fails(store, Changes(nodes={"gap:1": {}}), {"weaver": bytes(50_000_000)}, 1_000_000)  # the sidecar
        store.apply(big(1_000), {"weaver": b"after"})
        assert store.counts()["Gap"] == 1_000
    with open_store(folder) as store:
        assert store.counts()["Gap"] == 1_000
        assert store.state("weaver") == b"after"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
