"""Stores of provenance graphs, all behind the one contract in `interface.py`."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from provenance.errors import StoreError
from provenance.store import address
from provenance.store.interface import Cancellation, EdgeRow, Rows, Store

__all__ = ["Cancellation", "EdgeRow", "Rows", "Store", "open_store"]

_EMBEDDED = ("file", "ladybug")


def open_store(uri: str | Path, *, write: bool = False) -> Store:
    """Open a store, or with `write` create it where there is none.

    A path, or a `file:` or `ladybug:` URI, is a folder of the embedded store; `neo4j://` and `bolt://` URIs are databases
    of a Neo4j server (see `provenance.store.address`). Raises StoreError where it cannot be
    opened, StoreLocked where another process is its writer, StoreTooNew where a newer program wrote it.
    """
    scheme = _scheme(uri)
    if scheme is None:
        return _open_embedded(Path(uri), write)
    if scheme in _EMBEDDED:
        return _open_embedded(_path_of(str(uri)), write)
    if scheme in address.SCHEMES:
        from provenance.store.neo4j import Neo4jStore

        return Neo4jStore(str(uri), write=write)
    raise StoreError(
        f"no store for {scheme}: URIs: give the path of a folder, or a file:, ladybug:, neo4j: or bolt: URI"
    )


def _open_embedded(path: Path, write: bool) -> Store:
    from provenance.store.embedded import EmbeddedStore

    return EmbeddedStore(path.expanduser(), write=write)


def _scheme(uri: str | Path) -> str | None:
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", uri) if isinstance(uri, str) else None
    return found[1].lower() if found else None


def _path_of(uri: str) -> Path:
    parts = urlsplit(uri)
    if parts.netloc not in ("", "localhost"):
        raise StoreError(f"{uri} names another machine: the embedded store is a folder of this one")
    return Path(unquote(parts.path))
