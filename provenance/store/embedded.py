"""The store that needs nothing installed: LadybugDB in a folder, with SQLite beside it.

The folder holds `store.json` (a marker, so that no other folder is taken for a store), `graph.lbug` with the engine's log,
`sidecar.sqlite` and the lock files. One process writes; any number read. A reader sees what was committed when it opened
the graph, and opens it anew when the writer has moved pages of the graph file.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import ladybug

from provenance import schema
from provenance.changes import Changes, EdgeKey, Fields, Value, validate
from provenance.errors import InvalidChange, StoreError, StoreLocked, StoreTooNew, UsageError
from provenance.store import batches, cypher_text, migrations, statements
from provenance.store.interface import EdgeRow, Rows
from provenance.store.locks import CommitGate, Noted, WriterLock
from provenance.store.sidecar import Sidecar

FORMAT = 1
"""Of the folder: which files there are and what the marker says."""

BATCH = 10_000
"""Ids in one reading statement."""

MAXIMUM = 2**40
"""Bytes that the graph file may grow to. The engine reserves as much address space for each opening."""

ROOM = 2**25
"""Bytes that must be free on the disk beside what a commit brings: the engine's log, and what it takes to fold it."""

_ENGINE_ERRORS = (RuntimeError, MemoryError)
_CONNECTION_USES = 500
_OPEN_ATTEMPTS = 40  # a twentieth of a second apart

_WRITE = re.compile(r"Cannot write to file\. path: (.+) fileDescriptor: .* Error: (.+)")
_CLASS = re.compile(r"^[A-Z]\w+( \w+)? exception: ")
_LABEL = re.compile(r"LABEL\((\w+)\._ID,\[[^\]]*\]\)")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Record:
    """What the graph says about itself; it commits with the graph."""

    schema: int
    commit: int

    def text(self) -> str:
        return json.dumps({"schema": self.schema, "commit": self.commit})


class _Graph:
    """One opening of the engine's files, with idle connections: several threads may read at once."""

    def __init__(self, path: Path, *, write: bool) -> None:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self._database = ladybug.Database(
            str(path), read_only=not write, buffer_pool_size=max(memory // 4, 2**28), max_db_size=MAXIMUM
        )
        self._idle: list[tuple[ladybug.Connection, int]] = []

    @contextmanager
    def connection(self, *, keep: bool = True) -> Generator[ladybug.Connection]:
        """A connection of one's own. It keeps a plan for each statement it has run, so it serves a bounded number."""
        connection, uses = self._idle.pop() if keep and self._idle else (ladybug.Connection(self._database), 0)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if keep and uses < _CONNECTION_USES:
            self._idle.append((connection, uses + 1))
        else:
            connection.close()

    def record(self) -> _Record | None:
        with self.connection(keep=False) as connection:
            rows = _run(connection, statements.read_record()).get_all()
        if not rows:
            return None
        found = json.loads(cast("list[str]", rows[0])[0])
        return _Record(found["schema"], found["commit"])

    def close(self) -> None:
        while self._idle:
            self._idle.pop()[0].close()
        self._database.close()

    def abandon(self) -> None:
        """Let go of it without closing. After a failed write, closing ends the whole process with `abort`: the engine
        tries the write again where no error can be reported. So its memory stays until the process ends."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._database))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))


class EmbeddedStore:
    """See `provenance.store.interface.Store`. Threads may share one; a writer serves them one after the other."""

    def __init__(self, folder: Path, *, write: bool = False) -> None:
        self._folder = folder
        self._writable = write
        self._mutex = threading.RLock()
        self._gate = CommitGate(folder)
        self._graph: _Graph | None = None
        self._closed = False
        self._lock: WriterLock | None = None
        self._stamp: tuple[int, ...] = ()
        self._log: tuple[int, ...] = ()
        if write:
            self._open_writer()
        else:
            self._check_marker()
            with self._reading():
                pass
        self.sidecar = Sidecar(folder / "sidecar.sqlite")

    @property
    def uri(self) -> str:
        return str(self._folder)

    @property
    def writable(self) -> bool:
        return self._writable

    # Writing

    def apply(self, changes: Changes, state: Mapping[str, bytes | None] | None = None) -> None:
        if not self._writable:
            raise StoreError(f"the store in {self._folder} was opened for reading only")
        validate(changes)
        batches.check(changes)
        if not changes and not state:
            return
        with self._mutex:
            record = replace(self._record, commit=self._record.commit + 1)
            try:
                self._check_ends(changes)
            except _ENGINE_ERRORS as error:
                raise self._failure(error) from error
            self._check_room(changes, state or {})
            if state:
                self.sidecar.put_state(state, record.commit)
            self._transact(record, lambda connection: _write(connection, changes))

    def _check_ends(self, changes: Changes) -> None:
        """Raise InvalidChange where an edge has an end that is neither in the store nor in the changes."""
        keys = [*changes.edges, *changes.edge_updates]
        wanted = {end for _, tail, head in keys for end in (tail, head) if end not in changes.nodes}
        if not wanted:
            return
        with self._engine().connection() as connection:
            missing = wanted - _present(connection, wanted - changes.removed_nodes)
        for kind, tail, head in keys if missing else ():
            if tail in missing or head in missing:
                end = tail if tail in missing else head
                raise InvalidChange(f"edge {kind} {tail} -> {head}: there is no node {end}")

    def _check_room(self, changes: Changes, state: Mapping[str, bytes | None]) -> None:
        """Refuse early what would fail late: an engine that meets a full disk has to be abandoned."""
        elements = len(changes.nodes) + len(changes.edges) + len(changes.edge_updates)
        wanted = ROOM + 2_000 * elements + 2 * sum(len(value or b"") for value in state.values())
        free = shutil.disk_usage(self._folder).free
        if free < wanted:
            raise StoreError(
                f"the disk of {self._folder} is nearly full: {free >> 20} MB free, {wanted >> 20} MB wanted for this commit"
            )

    def _transact(self, record: _Record, work: Callable[[ladybug.Connection], None]) -> None:
        """Do the work and commit it under the record's number, or leave the store as it was."""
        graph = self._engine()
        try:
            with graph.connection(keep=False) as connection:
                _run(connection, "BEGIN TRANSACTION")
                try:
                    work(connection)
                    _run(connection, statements.write_record(record.text()))
                except BaseException:
                    with suppress(*_ENGINE_ERRORS):  # the engine may have rolled back by itself
                        _run(connection, "ROLLBACK")
                    raise
                with self._gate.committing() as noted:
                    before = _stamp(self._graph_path)
                    _run(connection, "COMMIT")
                    self._gate.note(noted.epoch + (_stamp(self._graph_path) != before), self._log_size())
        except (*_ENGINE_ERRORS, OSError) as error:
            if self._reopen_after(error).commit != record.commit:
                raise self._failure(error) from error
        self._record = record

    def _reopen_after(self, error: BaseException) -> _Record:
        """Open the graph again after a failure, as what the engine holds in memory may not be what is on disk."""
        try:
            with self._gate.committing() as noted:
                if self._graph is not None:
                    self._graph.abandon()
                    self._graph = None
                self._graph = self._open_for_writing(noted)
                record = self._graph.record()
        except (*_ENGINE_ERRORS, OSError) as again:
            raise StoreError(
                f"the store in {self._folder} failed ({_clean(error)}) and cannot be opened again ({_clean(again)}): "
                "what was committed before is still there"
            ) from error
        if record is None:
            raise StoreError(f"the graph in {self._folder} was never finished")
        self._record = record
        return record

    def _open_for_writing(self, noted: Noted) -> _Graph:
        """While committing."""
        if noted.log is not None and not self._folding() and not self._log_is_whole(noted):
            os.truncate(self._log_path, noted.log)
        graph = _Graph(self._graph_path, write=True)
        self._gate.note(noted.epoch + 1, self._log_size())
        return graph

    def _log_is_whole(self, noted: Noted) -> bool:
        """False where the log holds part of a commit that never ended: the engine may crash on it."""
        return noted.log is None or self._log_size() <= noted.log

    def _folding(self) -> bool:
        """Whether the engine was moving its log into the graph file. It finishes that itself, given all its files."""
        own = {self._graph_path, self._log_path}
        return any(path not in own for path in self._folder.glob(f"{self._graph_path.name}*"))

    # Reading

    def state(self, key: str) -> bytes | None:
        return self._read_state(lambda number: self.sidecar.state(key, number))

    def states(self, prefix: str = "") -> dict[str, bytes]:
        return self._read_state(lambda number: self.sidecar.states(prefix, number))

    def _read_state(self, read: Callable[[int], T]) -> T:
        """Read state as of the last commit: a reader's older graph would ask for state that is gone."""
        if self._writable:
            with self._mutex:
                self._engine()
                return read(self._record.commit)
        with self._reading(fresh=True):
            return read(self._record.commit)

    def query(
        self,
        cypher: str,
        parameters: Mapping[str, Value | Sequence[Value]] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Rows:
        parameters = parameters or {}
        if missing := cypher_text.parameters(cypher) - parameters.keys():
            raise UsageError(f"the query needs a value for ${', $'.join(sorted(missing))}")
        given = {cypher_text.parameter(name): _parameter(name, value) for name, value in parameters.items()}
        text = cypher_text.prepared(cypher)

        def read(connection: ladybug.Connection) -> Rows:
            connection.set_query_timeout(round(timeout * 1000) or 1 if timeout else 0)
            try:
                return _rows(_run(connection, text, given), limit)
            finally:
                connection.set_query_timeout(0)

        try:
            return self._read(read)
        except _ENGINE_ERRORS as error:
            message = str(error)
            if message.startswith("Interrupted"):
                raise StoreError(f"the query took longer than {timeout:g} s and was stopped") from error
            if isinstance(error, RuntimeError) and not message.startswith(("IO exception", "Buffer manager exception")):
                raise UsageError(_clean(error)) from error
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
        for kind, group in batches.ids_by_kind(identities).items():
            text, columns = _expansion(kind, kinds, backward, fields)
            if text:
                plans += [(text, columns, group[at : at + BATCH]) for at in range(0, len(group), BATCH)]

        def read(connection: ladybug.Connection) -> list[EdgeRow]:
            found: list[EdgeRow] = []
            for text, columns, group in plans:
                found += _edge_rows(_run(connection, text, {"ids": group}), columns, backward)
            return found

        return self._primitive(read) if plans else []

    def nodes(self, identities: Iterable[str]) -> dict[str, Fields]:
        groups = batches.ids_by_kind(identities)

        def read(connection: ladybug.Connection) -> dict[str, Fields]:
            found: dict[str, Fields] = {}
            for kind, group in groups.items():
                names = [field.name for field in schema.node_columns(schema.NODE_KINDS[kind])]
                for at in range(0, len(group), BATCH):
                    result = _run(connection, statements.read_nodes(kind, names), {"ids": group[at : at + BATCH]})
                    found.update((cast(str, put["id"]), put) for put in _puts(_table(result), 0, names))
            return found

        return self._primitive(read) if groups else {}

    def counts(self) -> dict[str, int]:
        def read(connection: ladybug.Connection) -> dict[str, int]:
            texts = {kind: statements.count_nodes(kind) for kind in schema.NODE_KINDS}
            texts |= {kind: statements.count_edges(kind) for kind in schema.EDGE_KINDS}
            counted = {kind: _scalar(_run(connection, text)) for kind, text in texts.items()}
            return {kind: count for kind, count in counted.items() if count}

        return self._primitive(read)

    def _primitive(self, work: Callable[[ladybug.Connection], T]) -> T:
        try:
            return self._read(work)
        except _ENGINE_ERRORS as error:
            raise self._failure(error) from error

    def _read(self, work: Callable[[ladybug.Connection], T]) -> T:
        """Run a read so that no commit of another process can touch the pages under it."""
        if self._writable:
            with self._mutex, self._engine().connection() as connection:
                _run(connection, "BEGIN TRANSACTION READ ONLY")
                result = work(connection)
                _run(connection, "COMMIT")
                return result
        with self._reading() as graph, graph.connection() as connection:
            return work(connection)

    @contextmanager
    def _reading(self, *, fresh: bool = False) -> Generator[_Graph]:
        """Keep other processes from committing, and give the graph. Where pages have moved since it was opened, or with
        `fresh` where anything was committed, it is opened anew; no thread can be reading the old one then."""
        for attempt in range(_OPEN_ATTEMPTS):
            with self._gate.reading() as noted:
                with self._mutex:
                    graph = self._current(noted, fresh)
                if graph is not None:
                    yield graph
                    return
            self._finish_for_the_dead()
            if attempt:
                time.sleep(0.05)
        raise StoreError(
            f"the store in {self._folder} cannot be read: a commit in it never ended; open it for writing once"
        )

    def _current(self, noted: Noted, fresh: bool) -> _Graph | None:
        """The graph as it is on disk; None where a writer died and left work to finish. Inside the gate."""
        if self._closed:
            raise StoreError(f"the store in {self._folder} is closed")
        stamp, log = (noted.epoch, *_stamp(self._graph_path)), _stamp(self._log_path)
        if self._graph is not None and self._stamp == stamp and not (fresh and self._log != log):
            return self._graph
        if self._folding() or not self._log_is_whole(noted):
            return None
        self._close_graph()
        self._graph, self._record = self._open_for_reading()
        self._stamp, self._log = stamp, log
        return self._graph

    def _finish_for_the_dead(self) -> None:
        """Do what a writer that died left to do, unless a new one is there to do it."""
        try:
            lock = WriterLock(self._folder / "writer.lock")
        except StoreLocked:
            return
        try:
            with self._gate.committing() as noted:
                self._open_for_writing(noted).close()
                self._gate.note(noted.epoch + 2, self._log_size())
        except _ENGINE_ERRORS as error:
            raise self._failure(error) from error
        finally:
            lock.release()

    # Opening and closing

    @property
    def _graph_path(self) -> Path:
        return self._folder / "graph.lbug"

    @property
    def _log_path(self) -> Path:
        return self._folder / "graph.lbug.wal"

    @property
    def _marker_path(self) -> Path:
        return self._folder / "store.json"

    def _engine(self) -> _Graph:
        if self._graph is None:
            raise StoreError(f"the store in {self._folder} is closed")
        return self._graph

    def _check_marker(self) -> None:
        """Raise unless the folder is a store that this program can read; nothing is opened for it."""
        try:
            marker = json.loads(self._marker_path.read_bytes())
            version, written_by = int(marker["format"]), int(marker["schema"])
        except FileNotFoundError:
            what = "is not a store" if self._folder.exists() else "does not exist"
            raise StoreError(f"{self._folder} {what}: ingest something first, or give another path") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self._marker_path} cannot be read: {error}") from error
        if version > FORMAT:
            raise StoreTooNew(
                f"the store in {self._folder} has format {version}, this program knows {FORMAT}: use a newer one"
            )
        self._refuse_newer(written_by)

    def _refuse_newer(self, version: int) -> None:
        if version > schema.VERSION:
            raise StoreTooNew(
                f"the store in {self._folder} has schema version {version}, this program knows {schema.VERSION}: "
                "use a newer program; nothing was changed"
            )

    def _open_for_reading(self) -> tuple[_Graph, _Record]:
        if not self._graph_path.exists():
            raise StoreError(f"the store in {self._folder} was never finished: open it for writing once")
        try:
            graph = _Graph(self._graph_path, write=False)
        except _ENGINE_ERRORS as error:
            raise self._failure(error) from error
        try:
            record = graph.record()
            if record is None:
                raise StoreError(f"the store in {self._folder} was never finished: open it for writing once")
            self._refuse_newer(record.schema)
            if record.schema != schema.VERSION:
                raise StoreError(
                    f"the store in {self._folder} has schema version {record.schema}, this program {schema.VERSION}: "
                    "open it for writing once to bring it up to date"
                )
        except BaseException as error:
            graph.close()
            if isinstance(error, _ENGINE_ERRORS):
                raise self._failure(error) from error
            raise
        return graph, record

    def _open_writer(self) -> None:
        new = not self._marker_path.exists()
        if new:
            self._make_folder()
        else:
            self._check_marker()
        self._lock = WriterLock(self._folder / "writer.lock")
        try:
            self._gate.create()
            if new:
                self._write_marker()
            with self._gate.committing() as noted:
                self._graph = self._open_for_writing(noted)
                found = self._graph.record()
            self._record = found or _Record(schema.VERSION, 0)
            Sidecar(self._folder / "sidecar.sqlite", create=True)
            if found is None:
                self._transact(_Record(schema.VERSION, 1), _create)
            elif found.schema != schema.VERSION:
                self._refuse_newer(found.schema)
                self._transact(
                    _Record(schema.VERSION, found.commit + 1),
                    lambda connection: migrations.migrate(
                        lambda text: _tuples(_run(connection, text)), found.schema, schema.VERSION
                    ),
                )
                self._write_marker()
        except BaseException as error:
            self.close()
            if isinstance(error, (*_ENGINE_ERRORS, OSError)):
                raise self._failure(error) from error
            raise

    def _make_folder(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            others = sorted(entry.name for entry in self._folder.iterdir() if entry.suffix != ".lock")
        except OSError as error:
            raise StoreError(f"cannot create a store in {self._folder}: {error.strerror}") from error
        if others and not self._marker_path.exists():
            raise StoreError(f"{self._folder} is not a store and not empty (it holds {others[0]}): give another path")

    def _write_marker(self) -> None:
        marker = {"format": FORMAT, "engine": "ladybug", "schema": schema.VERSION}
        temporary = self._marker_path.with_suffix(".lock")
        try:
            temporary.write_text(json.dumps(marker) + "\n")
            temporary.replace(self._marker_path)
        except OSError as error:
            raise StoreError(f"cannot write {self._marker_path}: {error.strerror}") from error

    def _log_size(self) -> int:
        return self._log_path.stat().st_size if self._log_path.exists() else 0

    def _failure(self, error: BaseException) -> StoreError:
        return StoreError(f"the store in {self._folder} failed: {_clean(error)}")

    def _close_graph(self) -> None:
        graph, self._graph = self._graph, None
        if graph is not None:
            with suppress(*_ENGINE_ERRORS):
                graph.close()

    def close(self) -> None:
        """Close it; a second time does nothing. What was committed is safe in any case."""
        with self._mutex:
            self._closed = True
            if self._writable and self._graph is not None:
                with self._gate.committing() as noted:  # the engine moves its log into the graph file
                    self._close_graph()
                    self._gate.note(noted.epoch + 1, self._log_size())
            self._close_graph()
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


# Statements


def _run(
    connection: ladybug.Connection, text: str, parameters: Mapping[str, object] | None = None
) -> ladybug.QueryResult:
    result = connection.execute(text, dict(parameters or {}))
    return result[-1] if isinstance(result, list) else result


def _create(connection: ladybug.Connection) -> None:
    for text in statements.create_graph():
        _run(connection, text)


def _present(connection: ladybug.Connection, identities: Iterable[str]) -> set[str]:
    """Those of the ids that the store has."""
    found: set[str] = set()
    for kind, group in batches.ids_by_kind(identities).items():
        for at in range(0, len(group), BATCH):
            result = _run(connection, statements.find_nodes(kind), {"ids": group[at : at + BATCH]})
            found.update(_strings(result)[0])
    return found


def _write(connection: ladybug.Connection, changes: Changes) -> None:
    """All changes, in the order that the contract gives. The ends of edges have been checked.

    Never by COPY: it bypasses the log, and a process killed after its commit may leave the commit's number without the
    commit's data (see `docs/decisions/`).
    """
    for batch in batches.bare_edges(changes.removed_edges):
        _run(connection, statements.remove_edges(*batch.ends, by_tail=batch.by_tail), {"rows": batch.rows})
    for kind, group in batches.ids_by_kind(changes.removed_nodes).items():
        _run(connection, statements.remove_nodes(kind), {"rows": batches.strings(group)})

    known = _present(connection, changes.nodes)
    # An edge can be there already, from the same changes applied before, only where both ends were.
    candidates = [key for key in changes.edges if not (_new(key[1], changes, known) or _new(key[2], changes, known))]
    linked = _linked(connection, candidates)
    edges = {key: put for key, put in changes.edges.items() if key not in linked} if linked else changes.edges
    nodes = {key: put for key, put in changes.nodes.items() if key not in known} if known else changes.nodes

    for batch in batches.known_nodes({key: changes.nodes[key] for key in known}):
        _run(connection, statements.set_nodes(batch.kind, batch.fields), {"rows": batch.rows})
    for batch in batches.new_nodes(nodes):
        _run(connection, statements.create_nodes(batch.kind, batch.fields), {"rows": batch.rows})
    for batch in batches.new_edges(edges):
        _run(connection, statements.create_edges(*batch.ends, batch.fields), {"rows": batch.rows})
    for updates in ({key: changes.edges[key] for key in linked}, changes.edge_updates):
        for batch in batches.known_edges(updates):
            _update(connection, batch)


def _new(identity: str, changes: Changes, known: set[str]) -> bool:
    return identity in changes.nodes and identity not in known


def _linked(connection: ladybug.Connection, keys: Iterable[EdgeKey]) -> set[EdgeKey]:
    """Those of the edges that the store has."""
    found: set[EdgeKey] = set()
    for batch in batches.bare_edges(keys):
        result = _run(connection, statements.find_edges(*batch.ends, by_tail=batch.by_tail), {"rows": batch.rows})
        tails, heads = _strings(result)
        found.update((batch.ends[0], tail, head) for tail, head in zip(tails, heads, strict=True))
    return found


def _update(connection: ladybug.Connection, batch: batches.EdgeBatch) -> None:
    if batch.fields:
        text = statements.set_edges(*batch.ends, batch.fields, by_tail=batch.by_tail)
        found = _scalar(_run(connection, text, {"rows": batch.rows}))
    else:
        found = len(_linked(connection, batch.keys))
    if found != len(batch.keys):
        absent = set(batch.keys) - _linked(connection, batch.keys)
        kind, tail, head = min(absent)
        raise InvalidChange(f"edge {kind} {tail} -> {head} is to be updated, but is not in the store")


def _expansion(
    kind: str, kinds: Sequence[str], backward: bool, fields: Sequence[str] | None
) -> tuple[str, tuple[str, ...]]:
    """The statement that expands nodes of a kind, and the edge fields it gives. No statement: nothing to follow."""
    edges: list[str] = []
    others: dict[str, None] = {}
    columns: dict[str, None] = {}
    for name in dict.fromkeys(kinds):
        declared = schema.EDGE_KINDS.get(name)
        if declared is None:
            raise UsageError(f"there is no edge kind {name!r}")
        far = [head if backward else tail for tail, head in declared.endpoints if (tail if backward else head) == kind]
        if far:
            edges.append(name)
            others.update(dict.fromkeys(far))
            columns.update(dict.fromkeys(f for f in declared.by_name if fields is None or f in fields))
    if not edges:
        return "", ()
    text = statements.expand(kind, edges, list(others), list(columns), backward=backward)
    return text, tuple(columns)


# Results


def _edge_rows(result: ladybug.QueryResult, names: Sequence[str], backward: bool) -> Iterable[EdgeRow]:
    table = _table(result)
    if table.column(2).null_count:  # nodes without edges
        table = table.filter(table.column(2).is_valid())
    near, kinds, far = (table.column(place).to_pylist() for place in range(3))
    tails, heads = (near, far) if backward else (far, near)
    return map(EdgeRow, kinds, tails, heads, _puts(table, 3, names))


def _puts(table: Any, first: int, names: Sequence[str]) -> list[Fields]:
    """The fields of each row that are set, from the columns of these names."""
    count: int = table.num_rows
    columns = {name: table.column(first + place) for place, name in enumerate(names)}
    full = [name for name, column in columns.items() if not column.null_count]
    mixed = [name for name, column in columns.items() if 0 < column.null_count < count]
    values: list[list[Value]] = [columns[name].to_pylist() for name in full]
    puts: list[Fields] = [dict(zip(full, row, strict=True)) for row in zip(*values, strict=True)] if full else []
    puts = puts or [{} for _ in range(count)]
    for name in mixed:
        column: list[Value] = columns[name].to_pylist()
        for put, value in zip(puts, column, strict=True):
            if value is not None:
                put[name] = value
    return puts


def _table(result: ladybug.QueryResult) -> Any:
    """The result as an Arrow table: ten times as fast as row by row. For plain types only."""
    return cast(Any, result).get_as_arrow(chunk_size=-1)


def _strings(result: ladybug.QueryResult) -> list[list[str]]:
    """A result that holds strings alone, by column."""
    return [column.to_pylist() for column in _table(result).columns]


def _tuples(result: ladybug.QueryResult) -> list[tuple[object, ...]]:
    return [tuple(cast("list[object]", row)) for row in result.get_all()]


def _scalar(result: ladybug.QueryResult) -> int:
    return cast(int, cast("list[object]", result.get_next())[0])


def _rows(result: ladybug.QueryResult, limit: int | None) -> Rows:
    columns = tuple(_LABEL.sub(r"label(\1)", name) for name in result.get_column_names())
    rows: list[tuple[object, ...]] = []
    truncated = False
    while result.has_next():
        if limit is not None and len(rows) >= limit:
            truncated = True
            break
        rows.append(tuple(_plain(value) for value in cast("list[object]", result.get_next())))
    return Rows(columns, rows, truncated)


def _plain(value: Any) -> object:
    """A value as the contract has it: no engine internals, integers as int."""
    if isinstance(value, dict):
        return _plain_dict(cast("dict[str, Any]", value))
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _plain_dict(value: dict[str, Any]) -> object:
    if "_NODES" in value:
        return {"nodes": _plain(value["_NODES"]), "edges": _plain(value["_RELS"])}
    if "_LABEL" in value:
        fields = {key: _plain(item) for key, item in value.items() if not key.startswith("_") and item is not None}
        return {"_kind": value["_LABEL"], **fields}
    if value.keys() == {"offset", "table"}:
        return f"{value['table']}:{value['offset']}"
    return {key: _plain(item) for key, item in value.items()}


def _parameter(name: str, value: Value | Sequence[Value]) -> object:
    values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if any(isinstance(item, str) and not batches.storable(item) for item in values):
        raise UsageError(f"the value for ${name} is not text that can be written as UTF-8: {value!r}")
    return value if isinstance(value, str) or not isinstance(value, Sequence) else values


def _clean(error: BaseException) -> str:
    """The engine's message without its class, the repeated query and the list of every word it would have taken."""
    message = (str(error).partition("\n")[0] or type(error).__name__).partition(" expecting {")[0]
    if found := _WRITE.search(message):
        return f"cannot write to {found[1]}: {found[2]}"
    return _CLASS.sub("", message)
