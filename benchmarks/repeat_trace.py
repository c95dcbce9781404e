"""Repeats a trace to a wanted length: `python benchmarks/repeat_trace.py IN OUT LINES`.

Reads the output of `strace -f -ttt` (plain or `.zst`) and writes LINES lines (plain, or `.zst`). Every repetition starts
after the one before, by its time stamps, and has pids and pipe and socket numbers of its own. Inside one repetition these
stay consistent: the line's pid, what clone, fork and wait answer, `si_pid=`, kill's target, `/proc/PID/`, `pipe:[N]` and the
like are shifted together. A number is taken for a pid only where some line of the trace begins with it, so a signal from
outside the traced tree keeps its sender. Paths, ports and file contents repeat as they are: the later repetitions read and
write the same files again. The last repetition stops at the wanted line, as a killed recording would.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import zstandard

START = re.compile(rb"^(\d+)( +)(\d+)\.(\d{6}) ", re.MULTILINE)
PID_CALLS = rb"clone3?|v?fork|wait4|waitpid|waitid|getpid|gettid|getppid|getpgid|setsid|set_tid_address"
TOKEN = re.compile(
    rb"^(?P<pid>\d+ *) (?P<time>\d+\.\d{6}) "
    rb"|(?:pipe|socket|[A-Z][A-Za-z0-9-]*):\[(?P<inode>\d+)(?:->(?P<peer>\d+))?(?=[\],])"
    rb"|\b(?:si_pid=|wait4\(|waitpid\(|waitid\(P_PID, |kill\(-?|tkill\(|tgkill\(|pidfd_open\(|[gs]etpgid\(|"
    rb"superseded by execve in pid |parent_tid=\[|child_tid=\[|(?<=<)pid:|(?<=/)proc/)(?P<named>\d+)\b",
    re.MULTILINE,
)
ANSWER = re.compile(rb"(?:^|[ >])(?:<\.\.\. )?(?:" + PID_CALLS + rb")(?:\(| resumed>).*\) += (\d+)$")
SECOND_OF_PAIR = re.compile(rb"\b(?:tgkill|setpgid)\(\d+, (\d+)\b")
PIECE_LINES = 50_000
GAP_US = 1000


class Template:
    """A stretch of a trace, cut into fixed text (even places) and numbers to shift (odd places)."""

    def __init__(self, lines: list[bytes], pids: set[int]) -> None:
        self.count = len(lines)
        self.parts: list[bytes] = []
        self.times: list[tuple[int, int]] = []
        self.pids: list[tuple[int, int, int]] = []
        self.inodes: list[tuple[int, int]] = []
        text = bytearray()

        def put(fixed: bytes) -> int:
            text.extend(fixed)
            self.parts.extend((bytes(text), b""))
            text.clear()
            return len(self.parts) - 1

        for line in lines:
            at = 0
            for start, end, kind in sorted(_numbers(line)):
                number = line[start:end]
                if kind == "time":
                    seconds, micros = number.split(b".")
                    self.times.append((put(line[at:start]), int(seconds) * 1_000_000 + int(micros)))
                elif kind == "inode":
                    self.inodes.append((put(line[at:start]), int(number)))
                elif int(number) in pids:
                    self.pids.append((put(line[at:start]), int(number), end - start if kind == "pid" else 0))
                else:
                    continue
                at = end
            text.extend(line[at:])
        self.parts.append(bytes(text))

    def render(self, time_us: int, pid: int, inode: int) -> bytes:
        """The text with times, pids and inode numbers moved by the given amounts."""
        parts = self.parts
        for place, value in self.times:
            seconds, micros = divmod(value + time_us, 1_000_000)
            parts[place] = b"%d.%06d" % (seconds, micros)
        for place, value, width in self.pids:
            parts[place] = b"%-*d" % (width, value + pid) if width else b"%d" % (value + pid)
        for place, value in self.inodes:
            parts[place] = b"%d" % (value + inode)
        return b"".join(parts)


def _numbers(line: bytes) -> Iterator[tuple[int, int, str]]:
    for match in TOKEN.finditer(line):
        if match["pid"] is not None:
            yield *match.span("pid"), "pid"
            yield *match.span("time"), "time"
        elif match["inode"] is not None:
            yield *match.span("inode"), "inode"
            if match["peer"] is not None:
                yield *match.span("peer"), "inode"
        elif match["named"] is not None:
            yield *match.span("named"), "named"
    if (match := SECOND_OF_PAIR.search(line)) is not None:
        yield *match.span(1), "named"
    if (match := ANSWER.search(line)) is not None:
        yield *match.span(1), "named"


def _open_in(path: Path) -> bytes:
    data = path.read_bytes()
    return zstandard.ZstdDecompressor().decompressobj().decompress(data) if path.suffix == ".zst" else data


def _pieces(data: bytes, wanted: int) -> Iterator[bytes]:
    lines = data.splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
    starts = [match for match in map(START.match, lines) if match is not None]
    if not starts:
        raise SystemExit("no line begins with a pid and a time stamp: was this written by strace -f -ttt?")
    pids = {int(match[1]) for match in starts}
    stamps = [int(match[3]) * 1_000_000 + int(match[4]) for match in starts]
    numbers = [int(line[start:end]) for line in lines for start, end, kind in _numbers(line) if kind == "inode"] or [0]
    period = max(stamps) - min(stamps) + GAP_US
    pid_step = max(pids) - min(pids) + 1
    inode_step = max(numbers) - min(numbers) + 1
    templates = [Template(lines[at : at + PIECE_LINES], pids) for at in range(0, len(lines), PIECE_LINES)]
    written = repetition = 0
    while True:
        for template in templates:
            text = template.render(repetition * period, repetition * pid_step, repetition * inode_step)
            if written + template.count >= wanted:
                yield b"".join(text.splitlines(keepends=True)[: wanted - written])
                return
            yield text
            written += template.count
        repetition += 1


def repeat(source: Path, out: Path, lines: int) -> None:
    """Writes `lines` lines to `out`; nothing is written when the source is no trace."""
    pieces = _pieces(_open_in(source), lines)
    first = next(pieces)

    def write_to(stream: BinaryIO) -> None:
        stream.write(first)
        for piece in pieces:
            stream.write(piece)

    with out.open("wb") as raw:
        if out.suffix == ".zst":
            with zstandard.ZstdCompressor(level=3).stream_writer(raw, closefd=False) as packed:
                write_to(packed)
        else:
            write_to(raw)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("lines", type=int)
    options = parser.parse_args(arguments)
    started = time.monotonic()
    repeat(options.source, options.out, options.lines)
    seconds = time.monotonic() - started
    print(f"{options.out}: {options.lines} lines in {seconds:.1f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
