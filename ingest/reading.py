"""From bytes in pieces to blocks of whole lines, with bounded memory.

The lines do not depend on how the bytes came in pieces, nor on the size of a block. `Skipped` has the reasons of
`ingest.compression`, and `line too long`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ingest.compression import PIECE, Chunks, Fault, Hasher, mark
from provenance.records import Skipped

BLOCK_SIZE = 4 * 1024 * 1024
"""About so many bytes make a block."""
LINE_LIMIT = 64 * 1024 * 1024
"""A line with more bytes than this is not held in memory: it is skipped and named."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a source, or the report of what is missing between them; never both.

    To read on after it: `blocks(block.end, block.next_line)`. A last line without newline (given only when the source is
    final) is a block of its own, `complete` false: who expects the file to grow stores the position before it.
    """

    data: bytes  # each line ends in a newline, but for an incomplete one
    first_line: int  # 1-based number of the first line
    lines: int  # how many lines of the source the block stands for, also a skipped one
    end: int  # decompressed offset after the block
    skipped: tuple[Skipped, ...]
    digest: str  # SHA-256 of the source's first `end` decompressed bytes

    @property
    def next_line(self) -> int:
        return self.first_line + self.lines

    @property
    def complete(self) -> bool:
        return not self.data or self.data.endswith(b"\n")


class Cutter:
    """Cuts chunks into blocks of whole lines. The lines do not depend on how the bytes came in pieces.

    After the last block `held_back` is the size of the unfinished last line that was not given.
    """

    def __init__(
        self, offset: int, line: int, hasher: Hasher, *, size: int = BLOCK_SIZE, limit: int = LINE_LIMIT
    ) -> None:
        self.offset = offset  # after the last block given
        self.line = line  # number of the line there
        self.hashed = hasher.copy()  # of everything before `offset`
        self.held_back = 0
        self._hasher = hasher
        self._size = size
        self._limit = limit
        self._whole: list[bytes] = []
        self._whole_size = 0
        self._open: list[bytes] = []  # the line under way
        self._open_size = 0
        self._dropping = False  # the line under way is too long: only its size is kept

    def cut(self, chunks: Chunks, final: bool) -> Iterator[Block]:
        """Blocks up to the end of the chunks; the last line without newline only when final."""
        faults: list[Fault] = []
        piece_size = max(1, min(PIECE, self._size, self._limit))
        for item in chunks:
            if not isinstance(item, Fault):
                for start in range(0, len(item), piece_size):
                    yield from self._feed(item if len(item) <= piece_size else item[start : start + piece_size])
            elif self._open_size:
                faults.append(item)
            else:
                yield from self._flush()
                yield self._fault(item)
        yield from self._flush()
        if self._open_size and final:
            yield self._skip_open(0) if self._dropping else self._block(b"".join(self._open), 1)
            self._open, self._open_size, self._dropping = [], 0, False
        self.held_back = self._open_size
        for fault in faults:
            yield self._fault(fault)

    def _feed(self, piece: bytes) -> Iterator[Block]:
        first = piece.find(b"\n")
        grown = self._open_size + (len(piece) if first < 0 else first)
        if grown > self._limit and not self._dropping:
            yield from self._flush()
            for part in self._open:
                self._hasher.update(part)
            self._open = []
            self._dropping = True
        if first < 0:
            self._open_size = grown
            if self._dropping:
                self._hasher.update(piece)
            else:
                self._open.append(piece)
            return
        if self._dropping:
            self._hasher.update(piece[: first + 1])
            self._open_size = grown
            yield self._skip_open(1)
            self._open_size, self._dropping = 0, False
            piece = piece[first + 1 :]
        last = piece.rfind(b"\n") + 1
        if last:
            self._whole.extend(self._open)
            self._whole.append(piece[:last])
            self._whole_size += self._open_size + last
            self._open, self._open_size = [], 0
        if last < len(piece):
            self._open.append(piece[last:])
            self._open_size += len(piece) - last
        if self._whole_size >= self._size:
            yield from self._flush()

    def _flush(self) -> Iterator[Block]:
        if self._whole:
            data = b"".join(self._whole)
            self._whole, self._whole_size = [], 0
            yield self._block(data, data.count(b"\n"))

    def _block(self, data: bytes, lines: int) -> Block:
        self._hasher.update(data)
        return self._advance(data, lines, len(data), ())

    def _skip_open(self, newline: int) -> Block:
        skipped = Skipped(self.line, "line too long", f"{self._open_size} bytes")
        return self._advance(b"", 1, self._open_size + newline, (skipped,))

    def _fault(self, fault: Fault) -> Block:
        self._hasher.update(mark(fault))
        return self._advance(b"", fault.lines, fault.size, (Skipped(self.line, fault.reason, fault.detail),))

    def _advance(self, data: bytes, lines: int, size: int, skipped: tuple[Skipped, ...]) -> Block:
        self.offset += size
        self.hashed = self._hasher.copy()
        block = Block(data, self.line, lines, self.offset, skipped, self.hashed.hexdigest())
        self.line += lines
        return block


def lines_at(chunks: Chunks, wanted: Iterable[int], *, limit: int = LINE_LIMIT) -> dict[int, bytes]:
    """The lines of these numbers without their newlines; of those longer than the limit, the beginning. What there is not is
    left out."""
    left = deque(sorted(set(wanted)))
    found: dict[int, bytes] = {}
    number = 1
    held: list[bytes] = []
    size = 0
    for item in chunks:
        if isinstance(item, Fault):
            number += item.lines
            held, size = [], 0
            while left and left[0] < number:
                left.popleft()
            continue
        position = 0
        while left:
            if number < left[0]:
                ends = item.count(b"\n", position)
                if number + ends < left[0]:
                    number += ends
                    break
                while number < left[0]:
                    position = item.index(b"\n", position) + 1
                    number += 1
            end = item.find(b"\n", position)
            part = item[position:] if end < 0 else item[position:end]
            if size < limit:
                held.append(part[: limit - size])
            size += len(part)
            if end < 0:
                break
            found[left.popleft()] = b"".join(held)
            held, size = [], 0
            position, number = end + 1, number + 1
        if not left:
            break
    if left and size:
        found[left[0]] = b"".join(held)
    return found
