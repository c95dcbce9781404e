"""From stored bytes to blocks of whole lines, with bounded memory: decompression and cutting.

Bytes come as `Chunks`: pieces in order, with a `Fault` where something is missing. Positions (`offset`, `Block.end`) count
*decompressed* bytes from the source's beginning, so that they mean the same for a file and its compressed copy.

Formats: gzip (RFC 1952), zstd (RFC 8878), bzip2 and xz, each with any number of members, told by their magic bytes.
Reasons of `Skipped`: `line too long`, `truncated compressed stream`, `corrupt compressed stream`,
`trailing bytes after compressed stream`, `read error`.
"""

from __future__ import annotations

import bz2
import hashlib
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard

from provenance.records import Skipped

BLOCK_SIZE = 4 * 1024 * 1024
"""About so many bytes make a block."""
LINE_LIMIT = 64 * 1024 * 1024
"""A line with more bytes than this is not held in memory: it is skipped and named."""
HEAD_SIZE = 64 * 1024
"""So many decompressed bytes tell a source's format."""
SUFFIXES = (".gz", ".zst", ".zstd", ".bz2", ".xz")

_PIECE = 1024 * 1024
_PACKED = 64 * 1024
_PACKED_ZSTD = 8 * 1024  # zstd's decoder takes no output limit: 8 KiB of it hold at most 256 MiB, and usually 100 KiB
_XZ_MEMORY = 512 * 1024 * 1024
_MAGIC_SIZE = 16


@dataclass(frozen=True, slots=True)
class Fault:
    """Something is missing at this place of the bytes: `lines` lines that have `size` bytes."""

    reason: str
    detail: str = ""
    lines: int = 0
    size: int = 0


Chunks = Iterator[bytes | Fault]


class Hasher(Protocol):
    """A running SHA-256."""

    def update(self, data: bytes, /) -> None: ...
    def copy(self) -> Hasher: ...
    def hexdigest(self) -> str: ...


def new_hasher() -> Hasher:
    return hashlib.sha256()


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


# --------------------------------------------------------------------------------------------------------------------
# Decompression


class _Decoder(Protocol):
    """What bz2 and lzma offer for one member; the others are brought to it."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


class _Zstd:
    needs_input = True

    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor().decompressobj()

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(data) if data else b""


def _new_xz() -> _Decoder:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


_DECODERS: dict[str, Callable[[], _Decoder]] = {
    "gzip": _Gzip,
    "zstd": _Zstd,
    "bzip2": bz2.BZ2Decompressor,
    "xz": _new_xz,
}
_BROKEN = (zlib.error, zstandard.ZstdError, lzma.LZMAError, OSError, ValueError, EOFError)


def compression_of(start: bytes) -> str | None:
    """`gzip`, `zstd`, `bzip2` or `xz` by the first 16 bytes; None for anything else, which is read as it is."""
    if start.startswith(b"\x1f\x8b\x08"):
        return "gzip"
    if start.startswith(b"\x28\xb5\x2f\xfd") or (start[1:4] == b"\x2a\x4d\x18" and start[0] & 0xF0 == 0x50):
        return "zstd"  # or one of its skippable frames
    if start[:3] == b"BZh" and start[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    return "xz" if start.startswith(b"\xfd7zXZ\x00") else None


def _raw(stream: BinaryIO, start: bytes, size: int) -> Chunks:
    """What a stream holds: its beginning, already read, then the rest."""
    if start:
        yield start
    try:
        while data := stream.read(size):
            yield data
    except OSError as error:
        yield Fault("read error", str(error.strerror or error)[:200])


def _unpack(raw: Chunks, new: Callable[[], _Decoder]) -> Chunks:
    decoder = new()
    members = 0
    begun = False  # the present member has got input
    told = False  # ... and has given output
    try:
        for data in raw:
            if isinstance(data, Fault):
                yield data
                return
            while data:
                if not begun:
                    data = data.lstrip(b"\0")  # padding between members
                    if not data:
                        break
                begun = True
                while True:
                    out = decoder.decompress(data, _PIECE)
                    data = b""
                    if out:
                        told = True
                        yield out
                    if decoder.eof or decoder.needs_input:
                        break
                if decoder.eof:
                    data = decoder.unused_data
                    members += 1
                    decoder, begun, told = new(), False, False
        while begun and not decoder.eof and (out := decoder.decompress(b"", _PIECE)):
            yield out
    except _BROKEN as error:
        trailing = members > 0 and not told
        reason = "trailing bytes after compressed stream" if trailing else "corrupt compressed stream"
        yield Fault(reason, str(error)[:200])
        return
    if begun and not decoder.eof:
        yield Fault("truncated compressed stream", "the file ends inside a compressed member")


def stream_chunks(stream: BinaryIO) -> Chunks:
    """All decompressed bytes from the stream's present place on, which has to be its beginning."""
    start = b""
    try:
        while len(start) < _MAGIC_SIZE and (more := stream.read(_MAGIC_SIZE - len(start))):
            start += more
    except OSError as error:
        yield Fault("read error", str(error.strerror or error)[:200])
        return
    kind = compression_of(start)
    if kind is None:
        yield from _raw(stream, start, _PIECE)
    else:
        yield from _unpack(_raw(stream, start, _PACKED_ZSTD if kind == "zstd" else _PACKED), _DECODERS[kind])


def file_chunks(path: Path, offset: int = 0) -> Chunks:
    """The file's decompressed bytes from the offset on. Raises OSError on the first piece if it cannot be opened."""
    with path.open("rb") as stream:
        if offset and compression_of(stream.read(_MAGIC_SIZE)) is None:
            stream.seek(offset)
            yield from _raw(stream, b"", _PIECE)
            return
        stream.seek(0)
        yield from skip(stream_chunks(stream), offset)


def skip(chunks: Chunks, offset: int, hasher: Hasher | None = None) -> Chunks:
    """What comes after the first `offset` bytes, which are hashed on the way. Faults before that place were told before."""
    position = 0
    for item in chunks:
        if isinstance(item, Fault):
            before = position
            position += item.size
            if offset == 0 or position > offset or (position == offset and before == offset):
                yield item
            elif hasher is not None:
                hasher.update(mark(item))
            continue
        if position < offset:
            part = item[: offset - position]
            if hasher is not None:
                hasher.update(part)
            position += len(item)
            if len(part) < len(item):
                yield item[len(part) :]
        else:
            yield item


def mark(fault: Fault) -> bytes:
    """What stands in a digest for lines that are not there to be hashed."""
    return f"{fault.reason} {fault.size}\n".encode() if fault.size else b""


def head_of(chunks: Chunks) -> tuple[bytes, Fault | None]:
    """Up to HEAD_SIZE bytes, and the fault that ended them early."""
    parts: list[bytes] = []
    size = 0
    for item in chunks:
        if isinstance(item, Fault):
            if not item.lines and item.reason != "order unknown":
                return b"".join(parts)[:HEAD_SIZE], item
            continue
        parts.append(item)
        size += len(item)
        if size >= HEAD_SIZE:
            break
    return b"".join(parts)[:HEAD_SIZE], None


# --------------------------------------------------------------------------------------------------------------------
# Cutting


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
        piece_size = max(1, min(_PIECE, self._size, self._limit))
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


def line_at(chunks: Chunks, line: int, *, limit: int = LINE_LIMIT) -> bytes | None:
    """The line of this number without its newline; of one longer than the limit, its beginning. None where there is none."""
    number = 1
    found: list[bytes] = []
    size = 0
    for item in chunks:
        if isinstance(item, Fault):
            if number <= line < number + item.lines:
                return None
            number += item.lines
            continue
        position = 0
        if number < line:
            ends = item.count(b"\n")
            if number + ends < line:
                number += ends
                continue
            while number < line:
                position = item.index(b"\n", position) + 1
                number += 1
        end = item.find(b"\n", position)
        part = item[position:] if end < 0 else item[position:end]
        if size < limit:
            found.append(part[: limit - size])
        size += len(part)
        if end >= 0:
            return b"".join(found)
    return b"".join(found) if size else None
