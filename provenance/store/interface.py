"""The store contract: what every engine gives, so that nothing above it knows which one it has.

A writer's view: `apply` changes and weaver state together, in one transaction, or not at all. A reader's view: Cypher
in the common subset, and one primitive that slices are made of, `expand`. Implementations: `embedded/` (LadybugDB in a
folder), `neo4j/` (a Neo4j database).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple, Protocol, Self, runtime_checkable

from provenance.changes import Changes, Fields, Value
from provenance.errors import StoreError


class Rows(NamedTuple):
    """The result of a query: column names in order, and one tuple a row. `truncated`: a row limit cut it."""

    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]
    truncated: bool = False

    def dicts(self) -> list[dict[str, object]]:
        """One dict a row, keyed by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class EdgeRow(NamedTuple):
    """One edge met by `expand`."""

    kind: str
    tail: str
    head: str
    fields: Fields


class Cancellation:
    """Stops a query from another thread: hand it to `Store.query`, and call `cancel` when the answer is not wanted any more."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self.cancelled = False

    def cancel(self) -> None:
        """Stop the query if it runs, or as soon as it begins. The query then raises StoreError."""
        with self._mutex:
            self.cancelled = True
            if self._stop is not None:
                self._stop()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Generator[None]:
        """For stores: how to stop what runs inside."""
        with self._mutex:
            if self.cancelled:
                raise StoreError("the query was cancelled")
            self._stop = stop
        try:
            yield
        finally:
            with self._mutex:
                self._stop = None


@runtime_checkable
class Store(Protocol):
    """A graph with the state of its weavers. Open it with `provenance.store.open_store`; close it, or use `with`."""

    @property
    def uri(self) -> str:
        """Where it is, in the form that opens it again. Never holds a password."""
        ...

    @property
    def writable(self) -> bool: ...

    def apply(self, changes: Changes, state: Mapping[str, bytes | None] | None = None) -> None:
        """Write changes and weaver state (None deletes a key) in one transaction.

        Raises InvalidChange before anything is written where the changes break the schema or an edge's end does not
        exist, StoreError where the engine fails (disk full, connection lost); the store is then as before. Raises
        StoreConflict where another writer has changed one of the state's keys since it was read here: the changes may
        rest on what is no longer so, and nothing of them is written.
        """
        ...

    def prune(self, kinds: Sequence[str]) -> int:
        """Remove the nodes of these kinds that no edge touches, and count them. Safe beside other writers."""
        ...

    def state(self, key: str) -> bytes | None:
        """The state last applied under the key."""
        ...

    def states(self, prefix: str = "") -> dict[str, bytes]:
        """All state whose key begins with the prefix."""
        ...

    def query(
        self,
        cypher: str,
        parameters: Mapping[str, Value | Sequence[Value]] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> Rows:
        """Run one reading statement of our own (not a user's: see `provenance.cypher.guard`).

        `limit` bounds the rows fetched, `timeout` the seconds; `cancellation` stops it from another thread. Nodes and relationships come as dicts with `_kind`;
        integers as int, lists as list. Raises UsageError where the engine rejects the text, StoreError on time-out.
        """
        ...

    def expand(
        self,
        identities: Iterable[str],
        kinds: Sequence[str],
        *,
        backward: bool = True,
        fields: Sequence[str] | None = None,
    ) -> list[EdgeRow]:
        """All edges of the kinds that leave (backward: towards causes) or enter (forward) the nodes. Unknown ids have none.

        `fields` names the edge fields to fetch; None is all that are set. A wide walk that needs few is twice as fast.
        """
        ...

    def nodes(self, identities: Iterable[str]) -> dict[str, Fields]:
        """The nodes' fields that are set, by id; ids that the store lacks are left out."""
        ...

    def counts(self) -> dict[str, int]:
        """Number of nodes and of edges by kind; kinds without any are left out."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
