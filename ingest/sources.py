"""Sources: from what a user names on the command line to blocks of whole lines.

`discover` turns files, folders and `-` into sources and into what cannot be read, with the reason; nothing is dropped
without a word and nothing here raises for what a file holds. How to keep up with a growing source: store `(end,
next_line, digest)` of the last block; next time, if `prefix_digest(end) == digest`, go on with `blocks(end, next_line)`.
The digest is taken along, so that this hashes the old part once and reads a plain file's new part only.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import unquote_to_bytes

from ingest import registry
from ingest.compression import Fault, Hasher, compression_of, file_chunks, head_of, new_hasher, skip
from ingest.content import mend
from ingest.interface import EffectParser, Format, Head
from ingest.origins import MergedFiles, Origin, StoredFile, Stream
from ingest.reading import BLOCK_SIZE, LINE_LIMIT, Block, Cutter, lines_at
from ingest.split_trace import SplitTrace, gather, plain_name, stem_of
from provenance.errors import SourceError
from provenance.identity import key_of
from provenance.records import Clock, Skipped

STDIN = "stdin"
KEY_BYTES = 4096
"""At most so many bytes of the first line tell which source it is."""
_TAIL = 256  # bytes before the present place by which `follow` knows the file again


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or folder that is no source, and why. `named`: the user asked for this very one."""

    uri: str
    reason: str
    named: bool = False


@dataclass(slots=True)
class Source:
    """One source of evidence, ready to be read in pieces.

    `key` names the content's beginning, so that a renamed, copied, recompressed or grown file is the same source: eight
    hex digits of the first line that is not empty, its first 4096 bytes. A trace without times that could tell two runs
    apart adds the file name without compression suffix.

    `final`: nothing will be added, so a last line without newline is a line. Otherwise it is held back until it is whole
    (`held_back` tells its size after reading).
    """

    name: str  # file name without folders and compression suffix; `-` for standard input
    uri: str  # absolute path, `FOLDER/NAME.*` for per-pid files, `stdin`; a name that is not UTF-8 as a file: URL
    format: Format
    head: Head
    key: str
    final: bool
    origin: Origin = field(repr=False)
    path: Path | None = None  # of a single file
    block_size: int = BLOCK_SIZE
    line_limit: int = LINE_LIMIT
    held_back: int = 0
    _hashed: tuple[int, Hasher] | None = field(default=None, repr=False)

    def blocks(self, offset: int = 0, line: int = 1, *, final: bool | None = None) -> Iterator[Block]:
        """Whole lines from a place that `Block.end` and `Block.next_line` gave. SourceError if the file is gone."""
        final = self.final if final is None else final
        if offset == 0:
            hasher, chunks = new_hasher(), self.origin.chunks(0, final)
        elif self._hashed and self._hashed[0] == offset:
            hasher, chunks = self._hashed[1].copy(), self.origin.chunks(offset, final)
        else:
            hasher = new_hasher()
            chunks = skip(self.origin.chunks(0, final), offset, hasher)
        cutter = Cutter(offset, line, hasher, size=self.block_size, limit=self.line_limit)
        for block in cutter.cut(chunks, final):
            self._hashed = (block.end, cutter.hashed)
            yield block
        self.held_back = cutter.held_back

    def prefix_digest(self, offset: int) -> str:
        """SHA-256 of the first `offset` decompressed bytes; of all there are where the source is shorter now."""
        hasher = self.origin.prefix(offset)
        self._hashed = (offset, hasher.copy())
        return hasher.hexdigest()


def discover(
    paths: Sequence[str | Path], *, stdin: BinaryIO | None = None, final: bool = False, form: Format | None = None
) -> Iterator[Source | Unreadable]:
    """What the named files, folders and `-` hold, in that order, a folder's files by name, each file once.

    Folders are walked through links, hidden folders in them are passed over. One of several per-pid files of
    `strace -ff` stands for all of them. Standard input and named pipes are always final. `form` is what the files that
    are named themselves are in, whatever they look like; files of a named folder are always recognised by content.
    """
    seen: set[str] = set()
    traces: dict[tuple[Path, str], SplitTrace | None] = {}
    for given in paths:
        if str(given) == "-":
            if STDIN not in seen:
                seen.add(STDIN)
                yield _from_stream(stdin, "-", STDIN, form) if stdin else Unreadable(STDIN, "there is none", True)
            continue
        path = Path(os.path.abspath(given))  # noqa: PTH100 - links stay as the user wrote them
        named = not os.path.isdir(path)  # noqa: PTH112 - never raises
        forced = form if named else None
        for item in (path,) if named else _walk(path):
            if isinstance(item, Unreadable):
                yield item
                continue
            real = os.path.realpath(item)
            if real in seen:
                continue
            seen.add(real)
            trace = None
            if forced is None and (stem := stem_of(item.name)):
                place = (item.parent, stem[0])
                if place not in traces:
                    traces[place] = gather(*place)
                trace = traces[place]
            if trace and any(member.path == item for member in trace.members):
                seen.update(os.path.realpath(member.path) for member in trace.members)
                yield _from_split(trace, final, named)
            else:
                yield _from_file(item, final, named, forced)


def _walk(folder: Path) -> Iterator[Path | Unreadable]:
    """Files below a folder, sorted by name level by level; a folder reached twice (links) is walked once."""
    visited: set[tuple[int, int]] = set()
    stack = [folder]
    while stack:
        path = stack.pop()
        try:
            status = path.stat()
            if not stat.S_ISDIR(status.st_mode):
                yield path
                continue
            if (status.st_dev, status.st_ino) in visited:
                continue
            visited.add((status.st_dev, status.st_ino))
            entries = sorted(path.iterdir(), reverse=True)
        except OSError as error:
            yield Unreadable(uri_of(path), "broken link" if path.is_symlink() else _why(error))
            continue
        stack.extend(entry for entry in entries if not (entry.name.startswith(".") and os.path.isdir(entry)))  # noqa: PTH112


def uri_of(path: Path) -> str:
    """The absolute path; as a `file:` URL where it is not UTF-8 and could not be stored."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return path.as_uri()
    return str(path)


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    return f"cannot be read: {error.strerror or error}"


def _from_file(path: Path, final: bool, named: bool, form: Format | None) -> Source | Unreadable:
    uri = uri_of(path)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            if named and (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
                return _from_stream(path.open("rb"), mend(path.name), uri, form)
            return Unreadable(uri, "not a regular file", named)
        data, fault = head_of(file_chunks(path))
    except OSError as error:
        return Unreadable(uri, _why(error), named)
    return _known(mend(plain_name(path.name)), uri, data, fault, final, named, StoredFile(path), path, form)


def _from_stream(stream: BinaryIO, name: str, uri: str, form: Format | None) -> Source | Unreadable:
    origin = Stream(stream)
    data, fault = origin.head()
    return _known(name, uri, data, fault, True, True, origin, None, form)


def _from_split(trace: SplitTrace, final: bool, named: bool) -> Source | Unreadable:
    data, fault = head_of(trace.chunks(0, final))
    uri = uri_of(trace.folder / f"{trace.name}.*")
    return _known(mend(trace.name), uri, data, fault, final, named, MergedFiles(trace, final))


def _known(
    name: str,
    uri: str,
    data: bytes,
    fault: Fault | None,
    final: bool,
    named: bool,
    origin: Origin,
    path: Path | None = None,
    form: Format | None = None,
) -> Source | Unreadable:
    """The source, once its format and its key are known."""
    head = Head(name, data)
    if not data.strip():
        return Unreadable(uri, f"{fault.reason}: {fault.detail}" if fault else "empty", named)
    try:
        found = form or registry.detect(head)
    except SourceError as error:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return Unreadable(uri, "UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)", named)
        if b"\0" in data:
            return Unreadable(uri, "binary, in no known format", named)
        return Unreadable(uri, str(error) if named else "in no known format", named)
    key = key_for(head, found, final)
    if key is None:
        return Unreadable(uri, "its first line is not complete yet", named)
    return Source(name, uri, found, head, key, final, origin, path)


def key_for(head: Head, form: Format, final: bool) -> str | None:
    """A source's key (see `Source`); None while more may still come to a first line that is too short to tell."""
    line, newline, _ = head.data.lstrip(b"\r\n").partition(b"\n")
    if not newline and not final and len(line) < KEY_BYTES:
        return None
    beginning = line[:KEY_BYTES].rstrip(b"\r")
    if form.family == "effects":
        clock = cast(EffectParser, form.parser(head)).facts().clock
        if clock in (Clock.ORDER, Clock.RELATIVE):
            beginning += b"\0" + head.name.encode("utf-8", "replace")
    return key_of(beginning)


# --------------------------------------------------------------------------------------------------------------------
# Keeping up, and going back


def follow(source: Source, offset: int, line: int, *, poll: float = 0.5, stop: threading.Event) -> Iterator[Block]:
    """New whole lines as they come, until `stop` is set; looked for every `poll` seconds.

    Ends with a `source was truncated` report when the file got shorter, holds something else at this place (rotated,
    rewritten), or is gone; its digest is that of the block before, "" where there was none. A pipe is read to its end. SourceError for per-pid files: record with `-f -o FILE` instead.
    """
    if source.path is None:
        if isinstance(source.origin, MergedFiles):
            raise SourceError(
                f"{source.uri} cannot be followed: its lines are merged. Record with `strace -f -o FILE`."
            )
        for block in source.blocks(offset, line):
            yield block
            if stop.is_set():
                return
        return
    path = source.path
    tail: bytes | None = None
    last: tuple[int, int] | None = None
    digest = ""
    while True:
        stopping = stop.is_set()
        try:
            status = path.stat()
            packed, found = _tail(path, offset)
        except OSError as error:
            yield _truncated(offset, line, digest, _why(error))
            return
        if not packed and (status.st_size < offset or (tail is not None and found != tail)):
            yield _truncated(offset, line, digest, f"it has {status.st_size} bytes, {offset} were read")
            return
        if packed and last and status.st_size < last[0]:
            yield _truncated(offset, line, digest, f"it has {status.st_size} bytes, {last[0]} were there")
            return
        tail = found
        if last != (status.st_size, status.st_mtime_ns):
            last = (status.st_size, status.st_mtime_ns)
            try:
                for block in source.blocks(offset, line, final=False):
                    if block.skipped and block.skipped[0].reason == "truncated compressed stream":
                        continue  # it is still being written
                    yield block
                    offset, line, digest = block.end, block.next_line, block.digest
                    tail = (tail + block.data)[-_TAIL:] if tail is not None and block.data else None
            except SourceError as error:
                yield _truncated(offset, line, digest, str(error))
                return
        if stopping:
            return
        stop.wait(poll)


def _tail(path: Path, offset: int) -> tuple[bool, bytes]:
    """Whether the file is compressed, and the bytes just before this place of one that is not."""
    with path.open("rb") as stream:
        if compression_of(stream.read(16)) is not None:
            return True, b""
        start = max(0, offset - _TAIL)
        stream.seek(start)
        return False, stream.read(offset - start)


def _truncated(offset: int, line: int, digest: str, detail: str) -> Block:
    return Block(b"", line, 0, offset, (Skipped(line, "source was truncated", detail[:200]),), digest)


def raw_line(uri: str, line: int) -> bytes | None:
    """A line again, by the uri of its source and its number, without its newline.

    Of a line that was too long, the beginning. None where the source is gone, shorter, or was standard input.
    """
    return raw_lines(uri, [line]).get(line)


def raw_lines(uri: str, wanted: Collection[int]) -> dict[int, bytes]:
    """As `raw_line`, for many lines in one reading; those that are not there are left out."""
    if uri == STDIN or not wanted or min(wanted) < 1:
        return {}
    path = Path(os.fsdecode(unquote_to_bytes(uri[7:]))) if uri.startswith("file://") else Path(uri)
    try:
        if path.is_file():
            return lines_at(file_chunks(path), wanted)
        if path.name.endswith(".*") and (trace := gather(path.parent, path.name[:-2])):
            return lines_at(trace.chunks(0, True), wanted)
    except OSError:
        return {}
    return {}
