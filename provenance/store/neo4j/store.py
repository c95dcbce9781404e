"""The store of record of a team: one Neo4j database, over Bolt, with any number of writers at once.

A change is one managed transaction: the driver tries it again where the server or the network fails, and every statement
may run twice. Weaver state is kept under numbers: a change that was made from state which another writer has replaced
meanwhile is refused whole (StoreConflict), so whoever made it reads again. Why: `docs/decisions/`.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, LiteralString, Self, TypeVar, cast

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    GraphDatabase,
    ManagedTransaction,
    Query,
    Session,
    exceptions,
    unit_of_work,
)

from provenance import schema
from provenance.changes import Changes, Fields, Value, validate
from provenance.cypher import check_names, hide_own_nodes
from provenance.errors import StoreConflict, StoreError, StoreTooNew
from provenance.store import address, cypher_text, grouping, reading
from provenance.store.interface import Cancellation, EdgeRow, Rows
from provenance.store.neo4j import connecting, failures, results, statements, writing

IDS = 10_000
"""Ids in one reading statement."""

# What the driver does not try again by itself, and may be: a commit whose answer was lost (the token tells whether it
# went through), a transaction that the server ended because it stops, a node that another writer took away.
_AGAIN = (
    "Neo.ClientError.Transaction.Terminated",
    "Neo.TransientError.Transaction.Terminated",
    "Neo.ClientError.Transaction.TransactionNotFound",
    "Neo.ClientError.Statement.EntityNotFound",
    "Neo.ClientError.Database.DatabaseNotFound",  # while the server starts
    "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",  # IF NOT EXISTS does not see what is being made meanwhile
    "Neo.ClientError.Schema.ConstraintAlreadyExists",
    "Neo.ClientError.Schema.IndexAlreadyExists",
    "Neo.DatabaseError.Transaction.TransactionStartFailed",
    "Neo.DatabaseError.Transaction.TransactionCommitFailed",
)

T = TypeVar("T")


class Neo4jStore:
    """See `provenance.store.interface.Store`. Threads may share one."""

    def __init__(self, uri: str, *, write: bool = False) -> None:
        self._address = address.parse(uri)
        self._writable = write
        self._closed = False
        self._seen: dict[str, int] = {}
        self._mutex = threading.Lock()
        self._driver = connecting.connect(self._address)
        self._bookmarks = GraphDatabase.bookmark_manager()
        try:
            self._prepare()
        except BaseException as error:
            self.close()
            if isinstance(error, failures.FAILURES):
                raise failures.of_store(error, self._address) from error
            raise

    @property
    def uri(self) -> str:
        return self._address.shown

    @property
    def writable(self) -> bool:
        return self._writable

    # Opening and closing

    def _prepare(self) -> None:
        """Check what the database holds, and as a writer bring it up to the present schema."""
        version = self._record()
        if version is not None and version > schema.VERSION:
            raise StoreTooNew(
                f"the store in {self._address.place} has schema version {version}, this program knows {schema.VERSION}: "
                "use a newer program"
            )
        if version == schema.VERSION:
            return
        if not self._writable:
            if version is None:
                raise StoreError(f"{self._address.place} holds no store yet: ingest something first")
            raise StoreError(
                f"the store in {self._address.place} has schema version {version}, this program {schema.VERSION}: "
                "open it for writing once to bring it up to date"
            )
        if version is None and self._read(lambda tx: _scalar(tx, statements.FOREIGN)):
            raise StoreError(
                f"{self._address.place} holds other data: a store needs a database of its own, that is empty at first"
            )
        for text in statements.definitions():
            self._write(lambda tx, text=text: _run(tx, text).consume())
        record = {"key": statements.RECORD, "schema": schema.VERSION}
        self._write(lambda tx: _run(tx, statements.WRITE_RECORD, record).consume())

    def _record(self) -> int | None:
        """The schema version of the store; None where there is none yet."""
        return cast("int | None", self._read(lambda tx: _scalar(tx, statements.READ_RECORD, key=statements.RECORD)))

    def close(self) -> None:
        """Close it; a second time does nothing. What was committed is safe in any case."""
        self._closed = True
        connecting.close(self._driver)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Writing

    def apply(self, changes: Changes, state: Mapping[str, bytes | None] | None = None) -> None:
        if not self._writable:
            raise StoreError(f"the store in {self._address.place} was opened for reading only")
        validate(changes)
        grouping.check(changes)
        if not changes and not state:
            return
        state = state or {}
        token = uuid.uuid4().hex
        expected = {key: self._seen.get(key) for key in state}

        def work(tx: ManagedTransaction) -> dict[str, int] | None:
            numbers = _claimed(tx, expected, token)
            if numbers is None:  # an earlier try went through, and only its answer was lost
                return None
            writing.write(tx, changes)
            if state:
                rows = [[_state_key(key), value, numbers[key] + 1] for key, value in state.items()]
                _run(tx, statements.WRITE_STATE, {"rows": rows, "token": token}).consume()
            return numbers

        numbers = self._write(work)
        with self._mutex:
            for key in state:
                before = numbers[key] if numbers is not None else expected[key]
                if before is None:
                    self._seen.pop(key, None)
                else:
                    self._seen[key] = before + 1

    def prune(self, kinds: Sequence[str]) -> int:
        if not self._writable:
            raise StoreError(f"the store in {self._address.place} was opened for reading only")
        texts = [statements.prune(kind) for kind in kinds]
        return self._write(lambda tx: sum(cast(int, _scalar(tx, text)) for text in texts))

    def _write(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Run a transaction, again where that helps."""
        end = time.monotonic() + self._address.retry
        while True:
            try:
                with self._session(WRITE_ACCESS) as session:
                    return session.execute_write(work)
            except exceptions.IncompleteCommit as error:
                if time.monotonic() > end:
                    raise failures.of_store(error, self._address) from error
            except failures.FAILURES as error:
                code = getattr(error, "code", None) or ""
                if not code.startswith(_AGAIN) or time.monotonic() > end:
                    raise failures.of_store(error, self._address) from error
            time.sleep(0.5)

    # Reading

    def state(self, key: str) -> bytes | None:
        def read(tx: ManagedTransaction) -> tuple[bytes | None, int]:
            record = _run(tx, statements.READ_STATE, {"key": _state_key(key)}).single()
            return (record[0], cast(int, record[1])) if record else (None, 0)

        value, number = self._read(read)
        with self._mutex:
            self._seen[key] = number
        return value

    def states(self, prefix: str = "") -> dict[str, bytes]:
        def read(tx: ManagedTransaction) -> list[tuple[str, bytes | None, int]]:
            result = _run(tx, statements.READ_STATES, {"prefix": _state_key(prefix)})
            return [(record[0], record[1], record[2]) for record in result]

        found = [(key.removeprefix(_state_key("")), value, number) for key, value, number in self._read(read)]
        with self._mutex:
            self._seen.update((key, number) for key, _, number in found)
        return {key: value for key, value, _ in found if value is not None}

    def query(
        self,
        cypher: str,
        parameters: Mapping[str, Value | Sequence[Value]] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> Rows:
        given = cypher_text.checked(cypher, parameters or {})
        check_names(cypher)
        text = hide_own_nodes(cypher, statements.OWN)
        token = uuid.uuid4().hex
        cancellation = cancellation or Cancellation()

        def read(tx: ManagedTransaction) -> Rows:
            return results.rows(_run(tx, text, given), limit)

        fetch = 1_000 if limit is None else min(limit + 1, 1_000)
        work = unit_of_work(metadata={"evidence_capsule": token}, timeout=timeout)(read)
        self._check_open()
        try:
            with cancellation.stopping(lambda: self._terminate(token)):
                return self._execute_read(work, fetch)
        except (*failures.FAILURES, OverflowError) as error:
            raise failures.of_query(error, self._address, timeout, cancelled=cancellation.cancelled) from error

    def _terminate(self, token: str) -> None:
        """End the query that carries the token, on the server."""
        with suppress(*failures.FAILURES), self._session(READ_ACCESS) as session:
            session.run(Query(statements.TERMINATE), token=token).consume()

    def expand(
        self,
        identities: Iterable[str],
        kinds: Sequence[str],
        *,
        backward: bool = True,
        fields: Sequence[str] | None = None,
    ) -> list[EdgeRow]:
        wanted = None if fields is None else tuple(fields)
        plans: list[tuple[str, tuple[str, ...], Sequence[str]]] = []
        for kind, group in grouping.ids_by_kind(identities).items():
            text, columns = reading.expansion(kind, tuple(kinds), backward, wanted, statements.DIALECT)
            if text:
                plans += [(text, columns, batch) for batch in writing.batches(group, IDS)]

        def read(tx: ManagedTransaction) -> list[EdgeRow]:
            found: list[EdgeRow] = []
            for text, columns, group in plans:
                for near, kind, far, *values in _run(tx, text, {"ids": group}).values():
                    put = {name: value for name, value in zip(columns, values, strict=True) if value is not None}
                    found.append(EdgeRow(kind, near, far, put) if backward else EdgeRow(kind, far, near, put))
            return found

        return self._read(read)

    def nodes(self, identities: Iterable[str]) -> dict[str, Fields]:
        groups = grouping.ids_by_kind(identities)

        def read(tx: ManagedTransaction) -> dict[str, Fields]:
            found: dict[str, Fields] = {}
            for kind, group in groups.items():
                text = statements.read_nodes(kind)
                for batch in writing.batches(group, IDS):
                    found.update((put["id"], put) for (put,) in _run(tx, text, {"ids": batch}).values())
            return found

        return self._read(read)

    def counts(self) -> dict[str, int]:
        texts = {kind: reading.count_nodes(kind) for kind in schema.NODE_KINDS}
        texts |= {kind: reading.count_edges(kind) for kind in schema.EDGE_KINDS}

        def read(tx: ManagedTransaction) -> dict[str, int]:
            counted = {kind: cast(int, _scalar(tx, text)) for kind, text in texts.items()}
            return {kind: count for kind, count in counted.items() if count}

        return self._read(read)

    def _read(self, work: Callable[[ManagedTransaction], T]) -> T:
        self._check_open()
        try:
            return self._execute_read(work)
        except failures.FAILURES as error:
            raise failures.of_store(error, self._address) from error

    def _execute_read(self, work: Callable[[ManagedTransaction], T], fetch: int = 1_000) -> T:
        end = time.monotonic() + self._address.retry
        while True:
            try:
                with self._session(READ_ACCESS, fetch) as session:
                    return session.execute_read(work)
            except (
                exceptions.IncompleteCommit
            ):  # the end of a reading transaction has nothing to lose, but the driver stops
                if time.monotonic() > end:
                    raise

    def _session(self, access: str, fetch: int = 1_000) -> Session:
        self._check_open()
        return self._driver.session(
            database=self._address.database,
            default_access_mode=access,
            bookmark_manager=self._bookmarks,
            fetch_size=fetch,
        )

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"the store in {self._address.place} is closed")


# In a transaction


def _run(tx: ManagedTransaction, text: str, parameters: Mapping[str, object] | None = None) -> Any:
    return tx.run(cast(LiteralString, text), dict(parameters or {}))


def _scalar(tx: ManagedTransaction, text: str, **parameters: object) -> object:
    record = _run(tx, text, parameters).single()
    return record[0] if record else None


def _state_key(key: str) -> str:
    return f"state/{key}"


def _claimed(tx: ManagedTransaction, expected: Mapping[str, int | None], token: str) -> dict[str, int] | None:
    """Lock the keys until the end. How often each was written before; None where this very change wrote them.

    Raises StoreConflict where another writer did since they were read.
    """
    if not expected:
        return {}
    keys = sorted(map(_state_key, expected))
    found = {
        record[0].removeprefix(_state_key("")): (cast(int, record[1]), record[2])
        for record in _run(tx, statements.CLAIM_STATE, {"keys": keys, "token": token})
    }
    if all(by == token for _, by in found.values()):
        return None
    for key, (number, _) in found.items():
        if expected[key] not in (None, number):
            raise StoreConflict(f"another writer has changed {key!r} meanwhile")
    return {key: number for key, (number, _) in found.items()}
