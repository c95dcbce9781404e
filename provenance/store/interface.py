"""The store contract: what every engine gives, so that nothing above it knows which one it has.

One writer's view: `apply` changes and weaver state together, in one transaction, or not at all. A reader's view: Cypher
in the common subset, and one primitive that slices are made of, `expand`. Implementations: `embedded.py` (LadybugDB in a
folder), later `neo4j.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self, runtime_checkable

from provenance.changes import Changes, Fields, Value


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
        exist, StoreError where the engine fails (disk full, connection lost); the store is then as before.
        """
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
    ) -> Rows:
        """Run one reading statement of our own (not a user's: see `provenance.cypher.guard`).

        `limit` bounds the rows fetched, `timeout` the seconds. Nodes and relationships come as dicts with `_kind`;
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
