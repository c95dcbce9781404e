"""Bytes as they were written, from files that may be compressed, cut off or damaged; with bounded memory.

They come as `Chunks`: pieces in order, with a `Fault` where something is missing. Offsets count *decompressed* bytes, so
that they mean the same for a file and its compressed copy.

Formats: gzip (RFC 1952), zstd (RFC 8878), bzip2 and xz, each with any number of members, told by their magic bytes.
Reasons: `truncated compressed stream`, `corrupt compressed stream`, `trailing bytes after compressed stream`,
`read error`.
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

HEAD_SIZE = 64 * 1024
"""So many decompressed bytes tell a source's format."""
PIECE = 1024 * 1024
"""Bytes of one read."""
SUFFIXES = (".gz", ".zst", ".zstd", ".bz2", ".xz")

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
                    out = decoder.decompress(data, PIECE)
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
        while begun and not decoder.eof and (out := decoder.decompress(b"", PIECE)):
            yield out
    except _BROKEN as error:
        trailing = members > 0 and not told
        reason = "trailing bytes after compressed stream" if trailing else "corrupt compressed stream"
        yield Fault(reason, str(error)[:200])
        return
    if begun and not decoder.eof:
        yield Fault("truncated compressed stream", "the file ends inside a compressed member")


def stream_chunks(stream: BinaryIO, piece: int = PIECE) -> Chunks:
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
        yield from _raw(stream, start, piece)
    else:
        yield from _unpack(_raw(stream, start, _PACKED_ZSTD if kind == "zstd" else _PACKED), _DECODERS[kind])


def file_chunks(path: Path, offset: int = 0, piece: int = PIECE) -> Chunks:
    """The file's decompressed bytes from the offset on. Raises OSError on the first piece if it cannot be opened."""
    with path.open("rb") as stream:
        if offset and compression_of(stream.read(_MAGIC_SIZE)) is None:
            stream.seek(offset)
            yield from _raw(stream, b"", piece)
            return
        stream.seek(0)
        yield from skip(stream_chunks(stream, piece), offset)


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
