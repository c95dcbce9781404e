"""What lies beside the graph in SQLite: weaver state, and what several processes write.

The graph has one writer; the access log and saved queries have many, so they cannot live there. Weaver state is here
because a graph keeps blobs badly, and still commits with the graph: it is written under the number of the commit to come,
and only the graph's own commit makes that number current (see `docs/decisions/`).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from provenance.errors import StoreError, StoreTooNew

VERSION = 1
"""Of the tables below, kept in `user_version`."""

_TABLES = """
CREATE TABLE IF NOT EXISTS state (
  key TEXT NOT NULL,
  number INTEGER NOT NULL,  -- of the graph commit that makes it current
  value BLOB,               -- NULL: deleted
  PRIMARY KEY (key, number)
) STRICT;
CREATE TABLE IF NOT EXISTS access_log (
  at INTEGER NOT NULL,      -- wall-clock ns
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  why TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS saved_queries (
  name TEXT PRIMARY KEY,
  cypher TEXT NOT NULL,
  saved INTEGER NOT NULL    -- wall-clock ns
) STRICT;
"""


class Access(NamedTuple):
    at: int
    who: str
    what: str
    why: str | None


class Sidecar:
    """One opening of the file. Methods may be called from any thread; each raises StoreError where SQLite fails."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self._path = path
        if create:
            with self._writing() as database:
                self._check(database)
                database.executescript(f"{_TABLES} PRAGMA user_version = {VERSION};")

    # Weaver state, by the store only

    def put_state(self, state: Mapping[str, bytes | None], number: int) -> None:
        """Write state that becomes current with graph commit `number`, the next one."""
        with self._writing() as database:
            # What a failed or killed commit left, and what this commit makes the last but one.
            database.execute("DELETE FROM state WHERE number >= ?", (number,))
            for key, value in state.items():
                database.execute(
                    "DELETE FROM state WHERE key = ? AND number < (SELECT max(number) FROM state WHERE key = ?)",
                    (key, key),
                )
                database.execute("INSERT INTO state (key, number, value) VALUES (?, ?, ?)", (key, number, value))

    def states(self, prefix: str, number: int) -> dict[str, bytes]:
        """State under the prefix as of graph commit `number`."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT key, value FROM state AS s WHERE substr(key, 1, ?) = ? AND number = "
                "(SELECT max(number) FROM state WHERE key = s.key AND number <= ?) AND value IS NOT NULL ORDER BY key",
                (len(prefix), prefix, number),
            )
            return dict(rows.fetchall())

    def state(self, key: str, number: int) -> bytes | None:
        """State under the key as of graph commit `number`."""
        with self._reading() as database:
            row = database.execute(
                "SELECT value FROM state WHERE key = ? AND number <= ? ORDER BY number DESC LIMIT 1", (key, number)
            ).fetchone()
            return row[0] if row else None

    # Shared by all processes

    def log_access(self, who: str, what: str, why: str | None = None) -> None:
        with self._writing() as database:
            database.execute("INSERT INTO access_log VALUES (?, ?, ?, ?)", (time.time_ns(), who, what, why))

    def accesses(self) -> list[Access]:
        """The access log, oldest first."""
        with self._reading() as database:
            rows = database.execute("SELECT at, who, what, why FROM access_log ORDER BY at, rowid")
            return [Access(*row) for row in rows]

    def save_query(self, name: str, cypher: str) -> None:
        """Keep a query under a name, in place of what the name had."""
        with self._writing() as database:
            database.execute("INSERT OR REPLACE INTO saved_queries VALUES (?, ?, ?)", (name, cypher, time.time_ns()))

    def forget_query(self, name: str) -> None:
        with self._writing() as database:
            database.execute("DELETE FROM saved_queries WHERE name = ?", (name,))

    def saved_queries(self) -> dict[str, str]:
        """name -> Cypher."""
        with self._reading() as database:
            return dict(database.execute("SELECT name, cypher FROM saved_queries ORDER BY name").fetchall())

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        """A transaction, on disk when it ends: the graph must never be ahead of its state."""
        with self._opened("rwc") as database:
            database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
            with database:
                yield database

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        with self._opened("ro") as database:
            self._check(database)
            yield database

    @contextmanager
    def _opened(self, mode: str) -> Generator[sqlite3.Connection]:
        # Opened for each use: cheap (under 1 ms), and leaves nothing to a fork or another thread.
        try:
            with closing(
                sqlite3.connect(f"{self._path.absolute().as_uri()}?mode={mode}", uri=True, timeout=30)
            ) as database:
                yield database
        except (sqlite3.Error, OverflowError) as error:
            raise StoreError(f"{self._path} cannot be used: {error}") from error

    def _check(self, database: sqlite3.Connection) -> None:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StoreTooNew(f"{self._path} has version {version}, this program knows {VERSION}: use a newer program")
