"""The store of record of a team: a Neo4j database, over Bolt."""

from __future__ import annotations

from provenance.store.neo4j.store import Neo4jStore

__all__ = ["Neo4jStore"]
