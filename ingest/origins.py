"""Where a source's bytes come from: a file, the files of a split trace, or a stream that is read once."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from ingest.compression import Chunks, Fault, Hasher, file_chunks, head_of, mark, new_hasher, skip, stream_chunks
from ingest.content import mend
from ingest.split_trace import SplitTrace
from provenance.errors import SourceError


class Origin(Protocol):
    """Where a source's bytes come from."""

    def chunks(self, offset: int, final: bool) -> Chunks: ...
    def prefix(self, offset: int) -> Hasher: ...


@dataclass(frozen=True, slots=True)
class StoredFile:
    path: Path

    def chunks(self, offset: int, final: bool) -> Chunks:
        try:
            yield from file_chunks(self.path, offset)
        except OSError as error:
            raise SourceError(f"{mend(str(self.path))} can no longer be read: {error.strerror}.") from error

    def prefix(self, offset: int) -> Hasher:
        return _hash(self.chunks(0, True), offset)


@dataclass(frozen=True, slots=True)
class MergedFiles:
    trace: SplitTrace
    final: bool

    def chunks(self, offset: int, final: bool) -> Chunks:
        return self.trace.chunks(offset, final)

    def prefix(self, offset: int) -> Hasher:
        return _hash(self.chunks(0, self.final), offset)


class Stream:
    """Standard input or a named pipe: read once, forwards."""

    def __init__(self, stream: BinaryIO) -> None:
        self._items = stream_chunks(stream)
        self._ahead: deque[bytes | Fault] = deque()
        self._position = 0

    def head(self) -> tuple[bytes, Fault | None]:
        """Reads up to HEAD_SIZE bytes ahead; waits for them, or for the end."""

        def remembered() -> Chunks:
            for item in self._items:
                self._ahead.append(item)
                yield item

        return head_of(remembered())

    def _take(self) -> Chunks:
        while True:
            item = self._ahead.popleft() if self._ahead else next(self._items, None)
            if item is None:
                return
            self._position += 0 if isinstance(item, Fault) else len(item)
            yield item

    def chunks(self, offset: int, final: bool) -> Chunks:
        if offset < self._position:
            raise SourceError("Standard input can be read only once; save it to a file to read it again.")
        yield from skip(self._take(), offset - self._position)

    def prefix(self, offset: int) -> Hasher:
        if self._position:
            raise SourceError("Standard input can be read only once; save it to a file to read it again.")
        hasher = new_hasher()
        for item in self._take():
            if isinstance(item, Fault):
                self._ahead.appendleft(item)
                break
            over = self._position - offset
            if over <= 0:
                hasher.update(item)
                continue
            hasher.update(item[:-over])
            self._ahead.appendleft(item[-over:])
            self._position = offset
            break
        return hasher


def _hash(chunks: Chunks, offset: int) -> Hasher:
    hasher = new_hasher()
    left = offset
    for item in chunks:
        if left <= 0:
            break
        if isinstance(item, Fault):
            hasher.update(mark(item))
            left -= item.size
        else:
            hasher.update(item[:left])
            left -= len(item)
    return hasher
