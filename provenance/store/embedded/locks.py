"""Who may write, and when nobody may read: advisory locks (flock) on small files beside the graph.

One process holds the writer lock for as long as it has the store open. The engine moves pages in place when it folds its
log into the graph file, which a reader in another process would not survive; so commits run behind a gate that readers
hold open for the length of one read. The kernel releases all of it when a process dies.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from provenance.errors import StoreError, StoreLocked


class WriterLock:
    """The right to be a store's one writer."""

    def __init__(self, path: Path) -> None:
        """Take it. Raises StoreLocked naming the holder, StoreError where the folder cannot be written."""
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(f"cannot write to the store in {path.parent}: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._file)
            raise StoreLocked(
                f"process {holder} is writing to the store in {path.parent}, and a store has one writer at a time: "
                "wait until it has finished or stop it, or open the store for reading"
            ) from None
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        except OSError:  # a full disk: the message to a second writer will not know the holder
            pass

    def release(self) -> None:
        with suppress(OSError):
            os.ftruncate(self._file, 0)
        os.close(self._file)


class Noted(NamedTuple):
    """What the last commit left for whoever comes next."""

    epoch: int
    """How often the graph file has changed in place: a reader that sees another number opens the graph anew."""
    log: int | None
    """How many bytes of the engine's log are good. What lies beyond belongs to a commit that never ended. None: unknown."""


class CommitGate:
    """Keeps reads and commits of different processes apart, and remembers how far commits have come.

    Two files: whoever waits to commit holds the queue, so that a stream of overlapping reads cannot keep it out for ever.
    """

    def __init__(self, folder: Path) -> None:
        self._gate = folder / "commits"
        self._queue = folder / "queue.lock"

    def create(self) -> None:
        for path in (self._gate, self._queue):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))

    @contextmanager
    def reading(self) -> Generator[Noted]:
        """Hold commits off."""
        with _locked(self._queue, fcntl.LOCK_SH) as queue, _locked(self._gate, fcntl.LOCK_SH) as gate:
            fcntl.flock(queue, fcntl.LOCK_UN)
            yield _noted(gate)

    @contextmanager
    def committing(self) -> Generator[Noted]:
        """Wait for reads to end and hold new ones off. Never inside `reading`."""
        with _locked(self._queue, fcntl.LOCK_EX), _locked(self._gate, fcntl.LOCK_EX) as gate:
            yield _noted(gate)

    def note(self, epoch: int, log: int) -> None:
        """Replace what is noted, on disk when this returns. Only while committing."""
        gate = os.open(self._gate, os.O_RDWR | os.O_CLOEXEC)
        try:  # always as long, so that a full disk is no obstacle
            os.pwrite(gate, f"{epoch:020d} {log:020d}\n".encode(), 0)
            os.fdatasync(gate)
        finally:
            os.close(gate)


@contextmanager
def _locked(path: Path, how: int) -> Generator[int]:
    # An open of its own each time: locks belong to the open file, so threads of one process count separately.
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(
            f"the store in {path.parent} cannot be used: {path.name}: {error.strerror}; open it for writing once"
        ) from error
    try:
        fcntl.flock(file, how)
        yield file
    finally:
        os.close(file)


def _noted(gate: int) -> Noted:
    epoch, _, log = os.pread(gate, 64, 0).decode("ascii", "replace").partition(" ")
    return Noted(int(epoch), int(log)) if epoch.isdigit() and log.strip().isdigit() else Noted(0, None)
