"""The files of `strace -ff -o NAME`, `NAME.<pid>` each, as the one trace they are parts of.

Each line gets its pid in front, as `strace -f -o` writes it, and the lines are merged by time stamp; within a file the
order stays, at equal times the file that began first goes first (with `-t`, whole seconds, `order unknown` says so). A call stands where it *began*: such files do not tell
when a call returned, so what a blocking read waited for may follow it. Without comparable times (none, or `-r`, whose
differences are taken over all files) it is file by file, the first program's first, and `order unknown` says so.

A merged trace is read on from an offset only if what comes before it is the same as then, which its digest tells:
with time stamps it nearly always is, without them growth of any file but the last moves everything behind it.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.compression import PIECE, SUFFIXES, Chunks, Fault, file_chunks, head_of, new_hasher, skip
from ingest.effects import strace, strace_text
from ingest.interface import Head
from ingest.reading import Cutter
from provenance.records import Clock

_MEMBER = re.compile(r"(.+)\.(\d+)", re.DOTALL)
_HAS_PID = re.compile(rb"\[pid +\d+\] |\d+ +")
_BEGINS = re.compile(rb" *(?:[\d:.]+ +)?(?:[a-z_][a-z0-9_]*\(|<\.\.\. |--- |\+\+\+ |\?\?\?\?\()")
_PROGRAM = re.compile(rb" *(?:[\d:.]+ +)?execve(?:at)?\(")
_STAMP = re.compile(rb" *([\d:.]+) ")
_DAY = 86_400_000_000_000
_SHARE = 64 * 1024  # bytes that are read of one file at a time
_JITTER = 60_000_000_000  # a clock set back by less than this does not begin another day


def plain_name(name: str) -> str:
    """A file name without its compression suffix."""
    for suffix in SUFFIXES:
        if name.endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def stem_of(name: str) -> tuple[str, int] | None:
    """NAME and pid of a file name `NAME.<pid>`, compressed or not. Pid 1 is a rotated or numbered file instead."""
    match = _MEMBER.fullmatch(plain_name(name))
    return (match[1], int(match[2])) if match and 1 < int(match[2]) < 1 << 31 else None


@dataclass(frozen=True, slots=True)
class Member:
    """One process' file."""

    pid: int
    path: Path
    first: bytes  # its first line
    certain: bool  # strace beyond doubt


@dataclass(frozen=True, slots=True)
class SplitTrace:
    """Files that belong together, the first program's first, then by pid."""

    folder: Path
    name: str
    members: tuple[Member, ...]

    @property
    def timed(self) -> bool:
        return self._clock() in (Clock.WALL, Clock.TIME_OF_DAY)

    def _clock(self) -> Clock:
        return _clock_of(self.members[0].first)

    def _coarse(self) -> bool:
        """Times are whole seconds (`-t`): too coarse to tell the order of what several processes did."""
        stamp = self.members[0].first.split(b"(")[0]
        return self._clock() is Clock.TIME_OF_DAY and b"." not in stamp and len(self.members) > 1

    def chunks(self, offset: int, final: bool) -> Chunks:
        """The merged lines. A file's last line without newline is given (with one) only when final."""
        return skip(_gathered(self._merged(final)) if self.timed else self._one_by_one(final), offset)

    def _one_by_one(self, final: bool) -> Chunks:
        if len(self.members) > 1:
            yield Fault(
                "order unknown", f"{len(self.members)} files of strace -ff without time stamps: read file by file"
            )
        for member in self.members:
            prefix = b"%d " % member.pid
            for item in _lines(member, final):
                yield item if isinstance(item, Fault) else b"".join([prefix + line for line in item])

    def _merged(self, final: bool) -> Chunks:
        clock = self._clock()
        if self._coarse():
            yield Fault(
                "order unknown",
                f"{len(self.members)} files of strace -ff with whole seconds: the order within one is a guess",
            )
        origin = _time(clock, self.members[0].first) or 0
        # Files are opened when the merge reaches their first line: only processes alive together are open together.
        waiting = sorted(
            (
                (_since(clock, _time(clock, member.first) or 0, origin), order)
                for order, member in enumerate(self.members)
            ),
            reverse=True,
        )
        heap: list[tuple[int, int, bytes | Fault, Iterator[tuple[int, bytes | Fault]]]] = []
        while waiting or heap:
            while waiting and (not heap or waiting[-1] <= heap[0][:2]):
                start, order = waiting.pop()
                rest = _stamped(self.members[order], final, clock, origin, start)
                head = next(rest, None)
                if head is not None:
                    heapq.heappush(heap, (head[0], order, head[1], rest))
            if not heap:
                continue
            _, order, item, rest = heap[0]
            yield item
            following = next(rest, None)
            if following is None:
                heapq.heappop(heap)
            else:
                heapq.heapreplace(heap, (following[0], order, following[1], rest))


def gather(folder: Path, name: str) -> SplitTrace | None:
    """The files NAME.<pid> of a folder that strace wrote with -ff; None where there are none."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return None
    found: dict[int, Member] = {}
    for path in paths:
        stem = stem_of(path.name)
        if stem and stem[0] == name and stem[1] not in found and (member := _member(path, stem[1])):
            found[stem[1]] = member
    members = sorted(found.values(), key=lambda member: member.pid)
    if not any(member.certain for member in members):
        return None
    clock = _clock_of(members[0].first)

    def rank(member: Member) -> tuple[bool, int, int]:
        # Times of day do not tell which was first: midnight may lie between.
        started = _time(clock, member.first) or 0 if clock is Clock.WALL else 0
        return not _PROGRAM.match(member.first), started, member.pid

    root = min(members, key=rank)
    return SplitTrace(folder, name, (root, *(member for member in members if member is not root)))


def _member(path: Path, pid: int) -> Member | None:
    try:
        if not path.is_file():
            return None
        data, _ = head_of(file_chunks(path))
    except OSError:
        return None
    head = Head(path.name, data)
    lines = head.lines(40)
    if not lines or b"\0" in data[:4096] or any(_HAS_PID.match(line) for line in lines) or not _BEGINS.match(lines[0]):
        return None
    return Member(pid, path, lines[0], strace.FORMAT.score(head) >= 0.5)


def _clock_of(line: bytes) -> Clock:
    return strace_text.clock_of([line.decode("utf-8", "replace")])


def _time(clock: Clock, line: bytes) -> int | None:
    """Nanoseconds of a line's stamp; None where it has none."""
    match = _STAMP.match(line)
    if not match or clock not in (Clock.WALL, Clock.TIME_OF_DAY):
        return None
    try:
        return strace_text.nanoseconds(clock, match[1].decode("ascii"))
    except ValueError:
        return None


def _since(clock: Clock, time: int, origin: int) -> int:
    """A place in time that can be compared: times of day are counted from the first program's start, over midnight."""
    return (time - origin + _JITTER) % _DAY if clock is Clock.TIME_OF_DAY else time


def _lines(member: Member, final: bool) -> Iterator[list[bytes] | Fault]:
    """The file's lines, each with its newline. Little is held at a time: many files may be open together."""
    before = 0
    try:
        cutter = Cutter(0, 1, new_hasher(), size=_SHARE)
        for block in cutter.cut(file_chunks(member.path, piece=_SHARE), final):
            for skipped in block.skipped:
                detail = f"{member.path.name}: {skipped.detail}"[:200]
                yield Fault(skipped.reason, detail, block.lines, block.end - before)
            if block.data:
                lines = block.data.split(b"\n")
                if not lines[-1]:
                    lines.pop()
                yield [line + b"\n" for line in lines]
            before = block.end
    except OSError as error:
        yield Fault("read error", f"{member.path.name}: {error.strerror}"[:200])


def _stamped(member: Member, final: bool, clock: Clock, origin: int, time: int) -> Iterator[tuple[int, bytes | Fault]]:
    """Each line, its pid in front, with its place in time; one without a stamp follows the line before it."""
    prefix = b"%d " % member.pid
    microseconds = clock is Clock.WALL
    for item in _lines(member, final):
        if isinstance(item, Fault):
            yield time, item
            continue
        for line in item:
            if (
                microseconds
                and line[10:11] == b"."
                and line[17:18] == b" "
                and (stamp := line[:10] + line[11:17]).isdigit()
            ):
                time = int(stamp) * 1000
            elif (own := _time(clock, line)) is not None:
                time = _since(clock, own, origin)
            yield time, prefix + line


def _gathered(items: Chunks) -> Chunks:
    """Lines joined to larger pieces."""
    lines: list[bytes] = []
    size = 0
    for item in items:
        if isinstance(item, Fault):
            yield b"".join(lines)
            lines, size = [], 0
            yield item
            continue
        lines.append(item)
        size += len(item)
        if size >= PIECE:
            yield b"".join(lines)
            lines, size = [], 0
    if lines:
        yield b"".join(lines)
