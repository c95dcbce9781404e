"""The store that needs nothing installed: LadybugDB in a folder, with SQLite beside it.

One process writes; any number read. A reader sees what was committed when it opened the graph, and opens it anew when the
writer has moved pages of the graph file. Why commits are as they are: `docs/decisions/`.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, cast

import ladybug

from provenance import schema
from provenance.changes import Changes, Fields, Value, validate
from provenance.errors import StoreError, StoreLocked, UsageError
from provenance.store import cypher_text, grouping, reading
from provenance.store.embedded import migrations, results, statements, writing
from provenance.store.embedded.folder import Folder
from provenance.store.embedded.locks import CommitGate, Noted, WriterLock
from provenance.store.embedded.results import Result
from provenance.store.embedded.sidecar import Sidecar
from provenance.store.embedded.writing import BATCH, Run
from provenance.store.interface import Cancellation, EdgeRow, Rows

MAXIMUM = 2**40
"""Bytes that the graph file may grow to. The engine reserves as much address space for each opening."""

ROOM = 2**25
"""Bytes that must be free on the disk beside what a commit brings: the engine's log, and what it takes to fold it."""

_ENGINE_ERRORS = (RuntimeError, MemoryError)
_CONNECTION_USES = 500
_OPEN_ATTEMPTS = 40  # a twentieth of a second apart

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Record:
    """What the graph says about itself; it commits with the graph."""

    schema: int
    commit: int

    def text(self) -> str:
        return json.dumps({"schema": self.schema, "commit": self.commit})


def _pool(memory: int, write: bool) -> int:
    """Bytes of page cache. A writer appends and looks up by key: little is enough. A reader slices: more helps."""
    return min(2**28, memory // 4) if write else max(memory // 4, 2**28)


class _Graph:
    """One opening of the engine's files, with idle connections: several threads may read at once."""

    def __init__(self, path: Path, *, write: bool) -> None:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self._database = ladybug.Database(
            str(path), read_only=not write, buffer_pool_size=_pool(memory, write), max_db_size=MAXIMUM
        )
        self._idle: list[tuple[ladybug.Connection, int]] = []
        self.readers = 0
        self.retired = False
        try:
            self.record = self._read_record()
        except BaseException:
            self._database.close()
            raise

    def _read_record(self) -> _Record | None:
        """None where the graph was never finished."""
        with self.connection(keep=False) as run:
            rows = results.tuples(run(statements.read_record()))
        if not rows:
            return None
        found = json.loads(cast(str, rows[0][0]))
        return _Record(found["schema"], found["commit"])

    @contextmanager
    def connection(
        self, *, keep: bool = True, timeout: float | None = None, cancellation: Cancellation | None = None
    ) -> Generator[Run]:
        """A connection of one's own. It keeps a plan for each statement it has run, so it serves a bounded number."""
        try:
            connection, uses = self._idle.pop() if keep else (ladybug.Connection(self._database), 0)
        except IndexError:
            connection, uses = ladybug.Connection(self._database), 0

        def run(text: str, parameters: Mapping[str, object] | None = None, /) -> Result:
            result = connection.execute(text, dict(parameters or {}))
            return result[-1] if isinstance(result, list) else result

        try:
            connection.set_query_timeout(round(timeout * 1000) or 1 if timeout is not None else 0)
            with cancellation.stopping(connection.interrupt) if cancellation is not None else nullcontext():
                yield run
        except BaseException:
            connection.close()
            raise
        if keep and uses < _CONNECTION_USES:
            self._idle.append((connection, uses + 1))
        else:
            connection.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop()[0].close()
        with suppress(*_ENGINE_ERRORS):
            self._database.close()

    def abandon(self) -> None:
        """Let go of it without closing. After a failed write, closing ends the whole process with `abort`: the engine
        tries the write again where no error can be reported. So its memory stays until the process ends."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._database))


class EmbeddedStore:
    """See `provenance.store.interface.Store`. Threads may share one; a writer serves them one after the other."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self._folder = Folder(path.absolute())
        self._writable = write
        self._mutex = threading.RLock()
        self._gate = CommitGate(self._folder.path)
        self._graph: _Graph | None = None
        self._closed = False
        self._lock: WriterLock | None = None
        self._stamp: tuple[int, ...] = ()
        self._log: tuple[int, ...] = ()
        if write:
            self._open_writer()
        else:
            self._folder.check()
            with self._reading():
                pass
        self.sidecar = Sidecar(self._folder.sidecar)

    @property
    def uri(self) -> str:
        return str(self._folder.path)

    @property
    def writable(self) -> bool:
        return self._writable

    # Writing

    def apply(self, changes: Changes, state: Mapping[str, bytes | None] | None = None) -> None:
        if not self._writable:
            raise StoreError(f"the store in {self._folder.path} was opened for reading only")
        validate(changes)
        grouping.check(changes)
        if not changes and not state:
            return
        with self._mutex:
            graph = self._open_graph()
            record = replace(self._record_of(graph), commit=self._record_of(graph).commit + 1)
            try:
                with graph.connection() as run:
                    writing.check_ends(run, changes)
            except _ENGINE_ERRORS as error:
                raise self._failure(error) from error
            # Refuse early what would fail late: an engine that meets a full disk has to be abandoned.
            elements = len(changes.nodes) + len(changes.edges) + len(changes.edge_updates)
            blobs = sum(len(value or b"") for value in (state or {}).values())
            self._folder.check_room(ROOM + 2_000 * elements + 2 * blobs)
            if state:
                self.sidecar.put_state(state, record.commit)
            self._transact(record, lambda run: writing.write(run, changes))

    def _transact(self, record: _Record, work: Callable[[Run], None]) -> None:
        """Do the work and commit it under the record's number, or leave the store as it was."""
        graph = self._open_graph()
        committing = False
        try:
            with graph.connection(keep=False) as run:
                run("BEGIN TRANSACTION")
                try:
                    work(run)
                    run(statements.write_record(record.text()))
                except BaseException:
                    with suppress(*_ENGINE_ERRORS):  # the engine may have rolled back by itself
                        run("ROLLBACK")
                    raise
                with self._gate.committing() as noted:
                    committing = True
                    before = self._folder.graph_stamp()
                    run("COMMIT")
                    moved = self._folder.graph_stamp() != before
                    self._gate.note(noted.epoch + moved, self._folder.log_size())
        except (*_ENGINE_ERRORS, OSError) as error:
            if not committing or self._reopen_after(error).commit != record.commit:
                raise self._failure(error) from error
        else:
            graph.record = record

    def _reopen_after(self, error: BaseException) -> _Record:
        """Open the graph again after a commit failed, as what the engine has in memory may not be what is on disk."""
        try:
            with self._gate.committing() as noted:
                if self._graph is not None:
                    self._graph.abandon()
                    self._graph = None
                self._graph = self._open_for_writing(noted)
                return self._record_of(self._graph)
        except (*_ENGINE_ERRORS, OSError) as again:
            raise StoreError(
                f"the store in {self._folder.path} failed ({results.cleaned(error)}) and cannot be opened again "
                f"({results.cleaned(again)}): what was committed before is still there"
            ) from error

    def prune(self, kinds: Sequence[str]) -> int:
        with self._mutex:
            alone = [
                cast(str, row[0])
                for kind in kinds
                for row in self.query(f"MATCH (n:{kind}) WHERE NOT EXISTS {{ MATCH (n)-[]-() }} RETURN n.id AS id").rows
            ]
            self.apply(Changes(removed_nodes=set(alone)))
        return len(alone)

    # Reading

    def state(self, key: str) -> bytes | None:
        return self._read_state(lambda number: self.sidecar.state(key, number))

    def states(self, prefix: str = "") -> dict[str, bytes]:
        return self._read_state(lambda number: self.sidecar.states(prefix, number))

    def _read_state(self, read: Callable[[int], T]) -> T:
        """Read state as of the last commit: a reader's older graph would ask for state that is gone."""
        if self._writable:
            with self._mutex:
                return read(self._record_of(self._open_graph()).commit)
        with self._reading(fresh=True) as graph:
            return read(self._record_of(graph).commit)

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
        given = {cypher_text.parameter(name): value for name, value in given.items()}
        text = cypher_text.prepared(cypher)
        try:
            return self._read(lambda run: results.rows(run(text, given), limit), timeout, cancellation)
        except _ENGINE_ERRORS as error:
            message = str(error)
            if message.startswith("Interrupted"):
                if cancellation is not None and cancellation.cancelled:
                    raise StoreError("the query was cancelled") from error
                raise StoreError(f"the query took longer than {timeout:g} s and was stopped") from error
            if isinstance(error, RuntimeError) and not message.startswith(("IO exception", "Buffer manager exception")):
                raise UsageError(results.cleaned(error)) from error
            raise self._failure(error) from error

    def expand(
        self,
        identities: Iterable[str],
        kinds: Sequence[str],
        *,
        backward: bool = True,
        fields: Sequence[str] | None = None,
    ) -> list[EdgeRow]:
        plans: list[tuple[str, tuple[str, ...], list[str]]] = []
        wanted = None if fields is None else tuple(fields)
        for kind, group in grouping.ids_by_kind(identities).items():
            text, columns = reading.expansion(kind, tuple(kinds), backward, wanted, statements.DIALECT)
            if text:
                plans += [(text, columns, group[at : at + BATCH]) for at in range(0, len(group), BATCH)]

        def read(run: Run) -> list[EdgeRow]:
            found: list[EdgeRow] = []
            for text, columns, group in plans:
                found += results.edge_rows(run(text, {"ids": group}), columns, backward)
            return found

        return self._primitive(read)

    def nodes(self, identities: Iterable[str]) -> dict[str, Fields]:
        groups = grouping.ids_by_kind(identities)

        def read(run: Run) -> dict[str, Fields]:
            found: dict[str, Fields] = {}
            for kind, group in groups.items():
                names = [field.name for field in schema.node_columns(schema.NODE_KINDS[kind])]
                for at in range(0, len(group), BATCH):
                    result = run(reading.read_nodes(kind, names), {"ids": group[at : at + BATCH]})
                    found.update((cast(str, put["id"]), put) for put in results.nodes(result, names))
            return found

        return self._primitive(read)

    def counts(self) -> dict[str, int]:
        texts = {kind: reading.count_nodes(kind) for kind in schema.NODE_KINDS}
        texts |= {kind: reading.count_edges(kind) for kind in schema.EDGE_KINDS}

        def read(run: Run) -> dict[str, int]:
            counted = {kind: results.scalar(run(text)) for kind, text in texts.items()}
            return {kind: count for kind, count in counted.items() if count}

        return self._primitive(read)

    def _primitive(self, work: Callable[[Run], T]) -> T:
        try:
            return self._read(work)
        except _ENGINE_ERRORS as error:
            raise self._failure(error) from error

    def _read(
        self, work: Callable[[Run], T], timeout: float | None = None, cancellation: Cancellation | None = None
    ) -> T:
        """Run a read so that no commit of another process can touch the pages under it."""
        if self._writable:
            with self._mutex, self._open_graph().connection(timeout=timeout, cancellation=cancellation) as run:
                run("BEGIN TRANSACTION READ ONLY")
                result = work(run)
                run("COMMIT")
                return result
        with self._reading() as graph, graph.connection(timeout=timeout, cancellation=cancellation) as run:
            return work(run)

    @contextmanager
    def _reading(self, *, fresh: bool = False) -> Generator[_Graph]:
        """Keep other processes from committing, and give the graph: opened anew where pages have moved since it was, or
        with `fresh` where anything was committed."""
        for attempt in range(_OPEN_ATTEMPTS):
            with self._gate.reading() as noted:
                with self._mutex:
                    graph = self._current(noted, fresh)
                    if graph is not None:
                        graph.readers += 1
                if graph is not None:
                    try:
                        yield graph
                    finally:
                        with self._mutex:
                            graph.readers -= 1
                            self._close_if_done(graph)
                    return
            self._finish_for_the_dead()
            if attempt:
                time.sleep(0.05)
        raise StoreError(
            f"the store in {self._folder.path} cannot be read: a commit in it never ended; open it for writing once"
        )

    def _current(self, noted: Noted, fresh: bool) -> _Graph | None:
        """The graph as it is on disk; None where a writer died and left work to finish. Inside the gate."""
        if self._closed:
            raise StoreError(f"the store in {self._folder.path} is closed")
        stamp, log = (noted.epoch, *self._folder.graph_stamp()), self._folder.log_stamp()
        if self._graph is not None and self._stamp == stamp and not (fresh and self._log != log):
            return self._graph
        if self._folder.folding() or not self._folder.log_is_whole(noted):
            return None
        graph = self._open_for_reading()
        self._retire()
        self._graph, self._stamp, self._log = graph, stamp, log
        return graph

    def _open_for_reading(self) -> _Graph:
        if not self._folder.graph.exists():
            raise StoreError(f"the store in {self._folder.path} was never finished: open it for writing once")
        try:
            graph = _Graph(self._folder.graph, write=False)
        except _ENGINE_ERRORS as error:
            raise self._failure(error) from error
        try:
            version = self._record_of(graph).schema
            self._folder.refuse_newer(version)
            if version != schema.VERSION:
                raise StoreError(
                    f"the store in {self._folder.path} has schema version {version}, this program {schema.VERSION}: "
                    "open it for writing once to bring it up to date"
                )
        except BaseException:
            graph.close()
            raise
        return graph

    def _finish_for_the_dead(self) -> None:
        """Do what a writer that died left to do, unless a new one is there to do it."""
        try:
            lock = WriterLock(self._folder.writer_lock)
        except StoreLocked:
            return
        try:
            with self._gate.committing() as noted:
                self._open_for_writing(noted).close()
                self._gate.note(noted.epoch + 2, self._folder.log_size())
        except (*_ENGINE_ERRORS, OSError) as error:
            raise self._failure(error) from error
        finally:
            lock.release()

    # Opening and closing

    def _open_writer(self) -> None:
        new = not self._folder.is_store()
        if new:
            self._folder.make()
        else:
            self._folder.check()
        self._lock = WriterLock(self._folder.writer_lock)
        try:
            if new:
                self._folder.mark()
            self._gate.create()
            with self._gate.committing() as noted:
                self._graph = self._open_for_writing(noted)
            Sidecar(self._folder.sidecar, create=True)
            found = self._graph.record
            if found is None:
                self._transact(_Record(schema.VERSION, 1), _create)
            elif found.schema != schema.VERSION:
                self._folder.refuse_newer(found.schema)
                self._transact(
                    _Record(schema.VERSION, found.commit + 1),
                    lambda run: migrations.migrate(
                        lambda text: results.tuples(run(text)), found.schema, schema.VERSION
                    ),
                )
                self._folder.mark()
        except BaseException as error:
            self.close()
            if isinstance(error, (*_ENGINE_ERRORS, OSError)):
                raise self._failure(error) from error
            raise

    def _open_for_writing(self, noted: Noted) -> _Graph:
        """While committing."""
        self._folder.mend_log(noted)
        graph = _Graph(self._folder.graph, write=True)
        self._gate.note(noted.epoch + 1, self._folder.log_size())
        return graph

    def _open_graph(self) -> _Graph:
        """The writer's graph."""
        if self._graph is None:
            raise StoreError(f"the store in {self._folder.path} is closed")
        return self._graph

    def _record_of(self, graph: _Graph) -> _Record:
        if graph.record is None:
            raise StoreError(f"the store in {self._folder.path} was never finished: open it for writing once")
        return graph.record

    def _retire(self) -> None:
        """Close the graph, or leave that to the last thread that reads it."""
        graph, self._graph = self._graph, None
        if graph is not None:
            graph.retired = True
            self._close_if_done(graph)

    def _close_if_done(self, graph: _Graph) -> None:
        if graph.retired and not graph.readers:
            graph.close()

    def _failure(self, error: BaseException) -> StoreError:
        return StoreError(f"the store in {self._folder.path} failed: {results.cleaned(error)}")

    def close(self) -> None:
        """Close it; a second time does nothing. What was committed is safe in any case."""
        with self._mutex:
            self._closed = True
            if self._writable and self._graph is not None:
                with self._gate.committing() as noted:  # the engine folds its log into the graph file
                    self._retire()
                    self._gate.note(noted.epoch + 1, self._folder.log_size())
            self._retire()
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _create(run: Run) -> None:
    for text in statements.create_graph():
        run(text)
