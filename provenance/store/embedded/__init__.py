"""The embedded store: LadybugDB in a folder, with SQLite beside it."""

from __future__ import annotations

from provenance.store.embedded.store import EmbeddedStore

__all__ = ["EmbeddedStore"]
