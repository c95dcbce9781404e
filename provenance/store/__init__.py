"""Stores of provenance graphs, all behind the one contract in `interface.py`."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from provenance.errors import StoreError
from provenance.store.interface import EdgeRow, Rows, Store

__all__ = ["EdgeRow", "Rows", "Store", "open_store"]

_EMBEDDED = ("file", "ladybug")
_NEO4J = tuple(f"{scheme}{security}" for scheme in ("neo4j", "bolt") for security in ("", "+s", "+ssc"))


def open_store(uri: str | Path, *, write: bool = False) -> Store:
    """Open a store, or with `write` create it where there is none.

    A path, or a `file:` or `ladybug:` URI, is a folder of the embedded store. Raises StoreError where it cannot be
    opened, StoreLocked where another process is its writer, StoreTooNew where a newer program wrote it.
    """
    scheme = _scheme(uri)
    if scheme is None:
        return _open_embedded(Path(uri), write)
    if scheme in _EMBEDDED:
        return _open_embedded(_path_of(str(uri)), write)
    if scheme in _NEO4J:
        raise StoreError("the Neo4j store is not available in this version: give the path of a folder instead")
    raise StoreError(f"no store for {scheme}: URIs: give the path of a folder, or file:, ladybug:")


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
