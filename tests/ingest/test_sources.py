"""From names on the command line to blocks of whole lines."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import itertools
import json
import lzma
import os
import random
import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import registry, sources
from ingest.compression import file_chunks, new_hasher, stream_chunks
from ingest.effects.strace import FORMAT as STRACE
from ingest.interface import Head
from ingest.jsonl import read_lines
from ingest.reading import Block, Cutter, lines_at
from ingest.sources import Source, Unreadable, discover, follow, raw_line
from ingest.split_trace import gather, stem_of
from provenance.errors import SourceError

RECORDINGS = Path(__file__).parent.parent / "data" / "recordings"


def rollout(count: int = 3, session: str = "s1") -> bytes:
    rows: list[dict[str, object]] = [
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": session, "cwd": "/w"}}
    ]
    rows += [
        {"timestamp": f"2026-01-01T00:00:{i % 60:02}Z", "type": "event_msg", "payload": {"n": i}}
        for i in range(count - 1)
    ]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstd,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def one(*paths: str | Path, final: bool = False, stdin: io.BytesIO | None = None) -> Source:
    found = list(discover(paths, stdin=stdin, final=final))
    assert len(found) == 1 and isinstance(found[0], Source), found
    return found[0]


def refused(*paths: str | Path, stdin: io.BytesIO | None = None) -> Unreadable:
    found = list(discover(paths, stdin=stdin))
    assert len(found) == 1 and isinstance(found[0], Unreadable), found
    return found[0]


def text(blocks: Sequence[Block]) -> bytes:
    return b"".join(block.data for block in blocks)


def reasons(blocks: Sequence[Block]) -> list[tuple[int, str]]:
    return [(skipped.line, skipped.reason) for block in blocks for skipped in block.skipped]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ------------------------------------------------------------------------------------------------ blocks


def test_blocks_of_a_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    data = rollout(150_000)
    path.write_bytes(data)
    source = one(path)
    assert (source.name, source.uri, source.format.name) == ("a.jsonl", str(path), "codex-rollout")
    assert source.head.data == data[: 64 * 1024]
    blocks = list(source.blocks())
    assert len(blocks) > 1 and text(blocks) == data and source.held_back == 0
    line = 1
    offset = 0
    for block in blocks:
        offset += len(block.data)
        assert (block.first_line, block.lines, block.end) == (line, block.data.count(b"\n"), offset)
        assert block.digest == sha(data[: block.end]) and block.complete
        assert 4 << 20 <= len(block.data) <= 6 << 20 or block is blocks[-1]
        line = block.next_line


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("named_so", [True, False])
def test_compression_is_told_by_content(tmp_path: Path, suffix: str, named_so: bool) -> None:
    data = rollout(5000)
    half = data.index(b"\n", len(data) // 2) - 7  # members end inside a line
    pack = PACKERS[suffix]
    plain = tmp_path / "a.jsonl"
    plain.write_bytes(data)
    path = tmp_path / ("packed.jsonl" + (suffix if named_so else ""))
    path.write_bytes(pack(data[:half]) + pack(b"") + pack(data[half:]))
    source = one(path)
    assert source.name == "packed.jsonl" and source.key == one(plain).key
    blocks = list(source.blocks())
    assert text(blocks) == data and not reasons(blocks) and blocks[-1].digest == sha(data)
    assert raw_line(str(path), 4711) == data.split(b"\n")[4710]
    source.block_size = 10_000
    first = next(iter(source.blocks()))
    assert source.prefix_digest(first.end) == first.digest
    rest = list(source.blocks(first.end, first.next_line))
    assert first.data + text(rest) == data and rest[-1].digest == sha(data)


@pytest.mark.parametrize("suffix", PACKERS)
def test_truncated_and_damaged_streams_give_what_there_is(tmp_path: Path, suffix: str) -> None:
    data = rollout(4000) + b"".join(
        json.dumps({"x": random.Random(i).random()}).encode() + b"\n" for i in range(90_000)
    )
    packed = PACKERS[suffix](data)
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(packed[: len(packed) // 2])
    blocks = list(one(path).blocks())
    assert [reason for _, reason in reasons(blocks)] == ["truncated compressed stream"]
    got = text(blocks)
    assert data.startswith(got) and got.endswith(b"\n") and len(got) > len(data) // 8
    assert blocks[-1].first_line == got.count(b"\n") + 1 and not blocks[-1].data
    ending = list(one(path, final=True).blocks())
    assert ending[-1].skipped  # also after what is left of a line
    more = text(ending)
    assert data.startswith(more) and len(more) >= len(got)

    path.write_bytes(packed[: len(packed) // 2] + b"\xff" * 3000 + packed[len(packed) // 2 + 3000 :])
    damaged = list(one(path, final=True).blocks())
    assert "corrupt compressed stream" in [reason for _, reason in reasons(damaged)]

    path.write_bytes(packed + b"\0" * 512)
    assert text(list(one(path).blocks())) == data and not reasons(list(one(path).blocks()))
    path.write_bytes(packed + b"something else altogether")
    trailing = list(one(path).blocks())
    assert text(trailing) == data and [reason for _, reason in reasons(trailing)] == [
        "trailing bytes after compressed stream"
    ]


def test_bytes_that_cannot_be_decompressed_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00" + b"\xff" * 100)
    assert refused(path).reason.startswith("corrupt compressed stream")


def test_a_small_file_may_unpack_to_much(tmp_path: Path) -> None:
    data = rollout(1) + b"0" * (200 << 20) + b"\n" + rollout(1)
    path = tmp_path / "bomb.zst"
    path.write_bytes(zstd(data))
    assert path.stat().st_size < 100_000
    blocks = list(one(path).blocks())
    assert reasons(blocks) == [(2, "line too long")] and text(blocks) == rollout(1) * 2


def test_a_line_too_long_is_named_and_reading_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(rollout(2))
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b"\nlast\n")
    source = one(path)
    blocks = list(source.blocks())
    assert text(blocks) == rollout(2) + b"last\n"
    assert reasons(blocks) == [(3, "line too long")]
    assert "100000000 bytes" in blocks[1].skipped[0].detail and blocks[1].lines == 1
    assert blocks[2].first_line == 4 and blocks[2].end == path.stat().st_size
    assert source.prefix_digest(blocks[2].end) == blocks[2].digest
    assert raw_line(str(path), 4) == b"last"
    long = raw_line(str(path), 3)
    assert long is not None and len(long) == 64 << 20 and set(long) == {ord("x")}
    assert text(list(source.blocks(blocks[1].end, blocks[1].next_line))) == b"last\n"


def test_the_limit_is_exact() -> None:
    for size in (1, 3, 100):
        for extra, skipped in ((0, False), (1, True)):
            blocks = cut(b"ab\n" + b"x" * (10 + extra) + b"\ncd\n", [3, 5], size, 10)
            assert bool(reasons(blocks)) is skipped
            assert text(blocks) == (b"ab\ncd\n" if skipped else b"ab\nxxxxxxxxxx\ncd\n")


def test_growth_in_two_goes_is_the_whole(tmp_path: Path) -> None:
    data = rollout(3000)
    path = tmp_path / "a.jsonl"
    for place in (data.index(b"\n") + 1, 5000, 5001, len(data) - 1):
        path.write_bytes(data[:place])
        before = one(path)
        first = list(before.blocks())
        assert text(first) == data[: data.rindex(b"\n", 0, place) + 1]
        assert before.held_back == place - len(text(first))
        end, line, digest = first[-1].end, first[-1].next_line, first[-1].digest
        path.write_bytes(data)
        after = one(path)
        assert after.key == before.key and after.prefix_digest(end) == digest
        rest = list(after.blocks(end, line))
        assert text(first) + text(rest) == data
        assert rest[-1].next_line == data.count(b"\n") + 1 and rest[-1].digest == sha(data)
        assert list(one(path).blocks(end, line)) == rest  # also without the digest taken along
        assert list(after.blocks(len(data), 3001)) == []


def test_a_rewritten_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(rollout(50))
    last = list(one(path).blocks())[-1]
    path.write_bytes(rollout(50).replace(b'"n": 7', b'"n": 8') + rollout(1))
    assert one(path).prefix_digest(last.end) != last.digest
    path.write_bytes(rollout(10))
    assert one(path).prefix_digest(last.end) != last.digest


def test_last_line_without_newline(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(rollout(3)[:-1])
    source = one(path)
    assert text(list(source.blocks())) == rollout(2) and source.held_back == len(rollout(3)) - 1 - len(rollout(2))
    blocks = list(one(path, final=True).blocks())
    assert text(blocks) == rollout(3)[:-1]
    assert [(block.first_line, block.lines, block.complete) for block in blocks] == [(1, 2, True), (3, 1, False)]
    assert list(source.blocks(final=True)) == blocks
    assert raw_line(str(path), 3) == rollout(3).split(b"\n")[2]


def test_bytes_come_through_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    odd = b"\0" * 5000 + b"\r\n" + b"\xff\xfe\x80 not utf-8\r\n" + b"\n\n" + b"a\rb\x0b\x0c\xe2\x80\xa8c\n"
    data = rollout(2).replace(b"\n", b"\r\n") + odd
    path.write_bytes(data)
    blocks = list(one(path).blocks())
    assert text(blocks) == data and blocks[-1].next_line == 8
    assert raw_line(str(path), 4) == b"\xff\xfe\x80 not utf-8\r" and raw_line(str(path), 5) == b""
    assert raw_line(str(path), 8) is None and raw_line(str(path), 0) is None


# ------------------------------------------------------------------------------------------------ keys


def test_key_names_the_beginning(tmp_path: Path) -> None:
    first = tmp_path / "a.jsonl"
    first.write_bytes(rollout(3))
    key = one(first).key
    assert len(key) == 8 and int(key, 16) >= 0
    other = tmp_path / "renamed.log"
    other.write_bytes(b"\r\n" + rollout(1)[:-1] + b"\r\n" + rollout(900))
    assert one(other).key == key
    other.write_bytes(rollout(3, session="s2"))
    assert one(other).key != key


def test_an_unfinished_first_line_has_no_key_yet(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(rollout(1)[:-1])
    assert "not complete" in refused(path).reason
    key = one(path, final=True).key
    path.write_bytes(rollout(1))
    assert one(path).key == key
    row = b'{"timestamp":"x","type":"session_meta","payload":{"id":"i","base_instructions":"' + b"y" * 200_000
    path.write_bytes(row)  # long enough to tell, however it goes on
    key = one(path).key
    path.write_bytes(row + b'"}}\n')
    assert one(path).key == key


def test_traces_without_times_are_told_apart_by_name(tmp_path: Path) -> None:
    bare = b'execve("/bin/true", ["true"], 0x1 /* 3 vars */) = 0\n+++ exited with 0 +++\n'
    stamped = b'1796079097.863014 execve("/bin/true", ["true"], 0x1 /* 3 vars */) = 0\n1796079097.9 exit_group(0) = ?\n'
    relative = b"     0.000000 " + bare
    keys: dict[bytes, list[str]] = {}
    for data in (bare, stamped, relative):
        for name in ("one.txt", "two.txt", "one.txt.gz"):
            path = tmp_path / name
            path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
            keys.setdefault(data, []).append(one(path).key)
            path.unlink()
    for data in (bare, relative):
        assert keys[data][0] == keys[data][2] != keys[data][1]
    assert len(set(keys[stamped])) == 1


# ------------------------------------------------------------------------------------------------ discovery


def test_recordings_folder() -> None:
    found = list(discover([RECORDINGS]))
    read = [item for item in found if isinstance(item, Source)]
    left = [item for item in found if isinstance(item, Unreadable)]
    assert {Path(item.uri).name for item in left} <= {"README.md", "truth.json", "stderr.txt"} and left
    assert not any(item.named for item in left)
    assert {source.format.name for source in read} == {form.name for form in registry.formats()}
    assert any(source.name.startswith("agent-") for source in read)
    assert len({source.key for source in read}) == len(read)
    assert all(source.name == "syscalls.strace" for source in read if source.uri.endswith(".strace.zst"))
    assert [source.uri for source in read] == sorted((source.uri for source in read), key=Path)


def test_folder_mixture(tmp_path: Path) -> None:
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.jsonl").write_bytes(rollout())
    (tmp_path / "sub" / "deep" / "z.jsonl").write_bytes(rollout())
    (tmp_path / "b.jsonl").write_bytes(rollout())
    (tmp_path / "empty").touch()
    (tmp_path / "blank").write_bytes(b"\n\n")
    (tmp_path / "bin").write_bytes(random.Random(1).randbytes(5000))
    (tmp_path / "truth.json").write_text('{"a": 1}')
    (tmp_path / "stderr.txt").write_text("warning: nothing\n")
    (tmp_path / "wide.jsonl").write_bytes(rollout().decode().encode("utf-16"))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "again.jsonl").symlink_to(tmp_path / "b.jsonl")
    found = {Path(item.uri).name: item for item in discover([tmp_path])}
    assert [name for name, item in found.items() if isinstance(item, Source)] == ["again.jsonl", "z.jsonl"]
    why = {name: item.reason for name, item in found.items() if isinstance(item, Unreadable)}
    assert why["empty"] == why["blank"] == "empty"
    assert why["truth.json"] == why["stderr.txt"] == "in no known format"
    assert why["bin"].startswith("binary") and why["wide.jsonl"].startswith("UTF-16")
    assert why["pipe"] == "not a regular file" and why["gone"] == "broken link" and "self" in why
    assert [item.uri for item in discover([tmp_path])] == [item.uri for item in discover([tmp_path])]
    assert [Path(item.uri).name for item in discover([tmp_path / ".hidden"])] == ["a.jsonl"]


def test_named_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.md").write_text("# Notes\n")
    Path("a.jsonl").write_bytes(rollout())
    notes, missing, source = discover(["notes.md", "nowhere", "a.jsonl", "a.jsonl", str(tmp_path / "a.jsonl")])
    assert isinstance(notes, Unreadable) and notes.named and "strace" in notes.reason and "notes.md" in notes.reason
    assert missing == Unreadable(str(tmp_path / "nowhere"), "no such file or folder", True)
    assert isinstance(source, Source) and source.uri == str(tmp_path / "a.jsonl")
    (forced,) = discover(["notes.md"], form=registry.named("claude-stream"))
    assert isinstance(forced, Source) and forced.format.name == "claude-stream"
    (kept,) = [item for item in discover([tmp_path], form=registry.named("claude-stream")) if isinstance(item, Source)]
    assert kept.format.name == "codex-rollout"


def test_unreadable_file_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_bytes(rollout())
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.jsonl").chmod(0)
    (tmp_path / "folder").chmod(0)
    if os.geteuid() == 0:  # root may read everything: refuse in its place
        normal_open, normal_list = Path.open, Path.iterdir

        def refuse(self: Path, *args: object, **kwargs: object) -> object:
            if not self.stat().st_mode & 0o444:
                raise PermissionError(13, "Permission denied", str(self))
            return (normal_open if args else normal_list)(self, *args, **kwargs)  # type: ignore[operator]

        monkeypatch.setattr(Path, "open", refuse)
        monkeypatch.setattr(Path, "iterdir", refuse)
    found = list(discover([tmp_path]))
    (tmp_path / "folder").chmod(0o700)
    assert found == [
        Unreadable(str(tmp_path / "a.jsonl"), "cannot be read: Permission denied"),
        Unreadable(str(tmp_path / "folder"), "cannot be read: Permission denied"),
    ]


def test_file_removed_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(rollout())
    source = one(path)
    path.unlink()
    with pytest.raises(SourceError, match="no longer be read"):
        list(source.blocks())
    assert raw_line(str(path), 1) is None


def test_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.jsonl")
    path.write_bytes(rollout())
    source = one(path)
    assert source.uri.encode().startswith(b"file:///") and source.name.encode()
    assert raw_line(source.uri, 2) == rollout().split(b"\n")[1]


@pytest.mark.parametrize("pack", [bytes, *PACKERS.values()])
def test_standard_input(pack: Callable[[bytes], bytes]) -> None:
    data = rollout(20_000)[:-1]
    source = one("-", stdin=io.BytesIO(pack(data)))
    assert (source.name, source.uri, source.final) == ("-", "stdin", True)
    assert text(list(source.blocks())) == data
    with pytest.raises(SourceError, match="only once"):
        list(source.blocks())
    assert raw_line("stdin", 1) is None


def test_standard_input_that_was_read_before_in_part() -> None:
    data = rollout(20_000)
    place = data.index(b"\n", 700_000) + 1
    source = one("-", stdin=io.BytesIO(data))
    assert source.prefix_digest(place) == sha(data[:place])
    rest = list(source.blocks(place, data.count(b"\n", 0, place) + 1))
    assert text(rest) == data[place:] and rest[-1].next_line == 20_001 and rest[-1].digest == sha(data)


def test_no_or_empty_standard_input() -> None:
    assert refused("-") == Unreadable("stdin", "there is none", True)
    assert refused("-", "-", stdin=io.BytesIO()) == Unreadable("stdin", "empty", True)


def test_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(rollout(5),))
    writer.start()
    assert text(list(one(path).blocks())) == rollout(5)
    writer.join()


class Failing(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if not data:
            raise OSError(5, "Input/output error")
        return data


def test_read_error_in_the_middle() -> None:
    blocks = list(one("-", stdin=Failing(rollout(3))).blocks())
    assert text(blocks) == rollout(3) and reasons(blocks) == [(4, "read error")]


# ------------------------------------------------------------------------------------------------ strace -ff


def split_files(folder: Path, stamps: Sequence[str] | None, name: str = "trace") -> dict[int, bytes]:
    """Three processes; line i of all has stamp i. The first program is not the one with the lowest pid."""
    plan = [(300, b'execve("/bin/sh", ["sh"], 0x1 /* 9 vars */) = 0'), (300, b"clone(child_stack=NULL, flags=SIGCHLD) = 12"),
            (12, b"getpid() = 12"), (300, b"clone(child_stack=NULL, flags=SIGCHLD) = 301"), (301, b"getppid() = 300"),
            (12, b'write(1, "a", 1) = 1'), (12, b"+++ exited with 0 +++"), (301, b"+++ exited with 0 +++"),
            (300, b"+++ exited with 0 +++")]  # fmt: skip
    files: dict[int, bytes] = {}
    for index, (pid, line) in enumerate(plan):
        stamp = stamps[index].encode() + b" " if stamps else b""
        files[pid] = files.get(pid, b"") + stamp + line + b"\n"
    for pid, data in files.items():
        (folder / f"{name}.{pid}").write_bytes(data)
    return files


WALL = [f"1796079097.{i:06}" for i in range(9)]
MIDNIGHT = [f"23:59:59.{i:06}" for i in range(2)] + [f"00:00:00.{i:06}" for i in range(2, 9)]


@pytest.mark.parametrize("stamps", [WALL, MIDNIGHT])
def test_per_pid_files_are_merged_by_time(tmp_path: Path, stamps: list[str]) -> None:
    files = split_files(tmp_path, stamps)
    (tmp_path / "trace.notes").write_text("what I did\n")
    (tmp_path / "trace.77").write_text("not of strace\n")
    found = list(discover([tmp_path]))
    assert [Path(item.uri).name for item in found if isinstance(item, Unreadable)] == ["trace.77", "trace.notes"]
    (source,) = [item for item in found if isinstance(item, Source)]
    assert (source.name, source.uri, source.format.name) == ("trace", str(tmp_path / "trace.*"), "strace")
    blocks = list(source.blocks())
    lines = text(blocks).splitlines()
    assert not reasons(blocks) and [line.split()[1].decode() for line in lines] == list(stamps)
    for pid, data in files.items():
        assert [line.split(b" ", 1)[1] for line in lines if line.startswith(b"%d " % pid)] == data.splitlines()
    assert raw_line(source.uri, 3) == lines[2] and raw_line(source.uri, 10) is None
    assert STRACE.parser(source.head).feed(text(blocks), 1)
    assert one(tmp_path / "trace.12").uri == source.uri  # one of them stands for all
    (tmp_path / "trace.300.zst").write_bytes(zstd(files[300]))
    (tmp_path / "trace.300").unlink()
    packed = one(tmp_path / "trace.12", tmp_path / "trace.301")
    assert packed.key == source.key and list(packed.blocks()) == blocks


@pytest.mark.parametrize("stamps", [None, [f"     0.{i:06}" for i in range(9)]])
def test_per_pid_files_without_comparable_times(tmp_path: Path, stamps: list[str] | None) -> None:
    files = split_files(tmp_path, stamps)
    source = one(tmp_path)
    blocks = list(source.blocks())
    assert reasons(blocks) == [(1, "order unknown")] and blocks[0].lines == 0
    assert text(blocks) == b"".join(
        b"%d %b\n" % (pid, line) for pid in (300, 12, 301) for line in files[pid].splitlines()
    )
    assert source.prefix_digest(blocks[-1].end) == blocks[-1].digest
    assert list(source.blocks(blocks[-1].end, blocks[-1].next_line)) == []
    assert raw_line(source.uri, 1) == text(blocks).splitlines()[0]


def test_growing_per_pid_files(tmp_path: Path) -> None:
    files = split_files(tmp_path, WALL)
    whole = text(list(one(tmp_path).blocks()))
    for pid, data in files.items():
        early = b"".join(line for line in data.splitlines(True) if line.split()[0].decode() < WALL[5])
        (tmp_path / f"trace.{pid}").write_bytes(early + b"17960")
    source = one(tmp_path)
    first = list(source.blocks())
    assert text(first).count(b"\n") == 5
    split_files(tmp_path, WALL)
    again = one(tmp_path)
    assert again.key == source.key and again.prefix_digest(first[-1].end) == first[-1].digest
    assert text(first) + text(list(again.blocks(first[-1].end, first[-1].next_line))) == whole
    with pytest.raises(SourceError, match="-f -o FILE"):
        next(follow(again, 0, 1, stop=threading.Event()))


def test_trouble_in_one_of_the_files(tmp_path: Path) -> None:
    split_files(tmp_path, WALL)
    with (tmp_path / "trace.12").open("ab") as file:
        file.write(b'1796079097.000006 write(1, "' + b"x" * (65 << 20) + b"\n1796079097.000006 torn(")
    source = one(tmp_path, final=True)
    blocks = list(source.blocks())
    assert [reason for _, reason in reasons(blocks)] == ["line too long"]
    number = reasons(blocks)[0][0]
    lines = text(blocks).splitlines()
    assert b"12 1796079097.000006 torn(" in lines and len(lines) == 10
    assert blocks[-1].next_line == 12 and raw_line(source.uri, number) is None
    assert raw_line(source.uri, number + 1) == lines[number - 1]
    for block in blocks:
        assert source.prefix_digest(block.end) == block.digest
        rest = list(source.blocks(block.end, block.next_line))
        assert [other.first_line for other in rest] == [b.first_line for b in blocks if b.first_line >= block.next_line]


def test_what_is_not_a_split_trace(tmp_path: Path) -> None:
    with_pids = b'7 execve("/bin/true", ["true"], 0x1 /* 3 vars */) = 0\n7 +++ exited with 0 +++\n'
    for number in (5, 6):
        (tmp_path / f"run.{number}").write_bytes(with_pids)
    (tmp_path / "log.1").write_bytes(with_pids.replace(b"7 ", b""))
    (tmp_path / "rollout.2026").write_bytes(rollout())
    assert [Path(item.uri).name for item in discover([tmp_path]) if isinstance(item, Source)] == [
        "log.1", "rollout.2026", "run.5", "run.6",
    ]  # fmt: skip
    assert stem_of("a.b.123.gz") == ("a.b", 123) and stem_of("a.1") is None and stem_of(".5") is None
    assert gather(tmp_path / "nowhere", "x") is None


def test_many_processes_need_few_open_files(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    for pid in range(100, 300):  # one after the other, each more than is read at a time
        lines = [f"1796079{pid}.{i:06} getpid() = {pid} {'x' * 90}\n" for i in range(1000)]
        (tmp_path / f"t.{pid}").write_text("".join(lines))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        blocks = list(one(tmp_path).blocks())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert text(blocks).count(b"\n") == 200_000 and not reasons(blocks)


@pytest.mark.parametrize("times", [["-ttt"], ["-tt"], []])
def test_real_strace(tmp_path: Path, times: list[str]) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    script = "for i in 1 2 3; do cat /dev/null | cat; done"
    run = subprocess.run([strace, "-ff", *times, "-o", str(tmp_path / "real"), "sh", "-c", script], capture_output=True)
    if run.returncode != 0:
        pytest.skip("strace may not trace here")
    stored = [path.read_bytes() for path in tmp_path.iterdir()]
    source = one(tmp_path)
    blocks = list(source.blocks())
    assert len(stored) > 3 and blocks[-1].next_line - 1 == sum(data.count(b"\n") for data in stored)
    parser = STRACE.parser(source.head)
    records = [record for block in blocks for record in parser.feed(block.data, block.first_line)]
    records += parser.finish()
    kinds = [type(record).__name__ for record in records]
    assert kinds.count("TaskExited") == len(stored) and kinds.count("TaskCreated") == len(stored) - 1
    assert "Skipped" not in kinds


# ------------------------------------------------------------------------------------------------ follow


def take(blocks: Sequence[Block] | object) -> tuple[list[bytes], list[str]]:
    assert isinstance(blocks, list)
    return [block.data for block in blocks], [reason for _, reason in reasons(blocks)]


@pytest.mark.parametrize("end", ["stop", "truncate", "rotate", "remove", "rewrite"])
def test_follow(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(rollout(2))
    source = one(path)
    first = list(source.blocks())[-1]
    stop = threading.Event()
    seen: list[Block] = []
    following = follow(source, first.end, first.next_line, poll=0.005, stop=stop)
    more = rollout(6)[len(rollout(2)) :]
    with path.open("ab") as file:
        file.write(more[:100])
    cutoff = more.rindex(b"\n", 0, 100) + 1
    seen.append(next(following))
    assert seen[0].data == more[:cutoff] and seen[0].first_line == 3
    with path.open("ab") as file:
        file.write(more[100:])
    seen.append(next(following))
    assert text(seen) == more and seen[-1].digest == sha(rollout(6)) and seen[-1].next_line == 7
    if end == "stop":
        with path.open("ab") as file:
            file.write(b"{}\n{")
        stop.set()
        assert [block.data for block in following] == [b"{}\n"]  # what was there when it was told to stop
        return
    if end == "truncate":
        path.write_bytes(b"")
    elif end == "rotate":
        path.rename(tmp_path / "a.jsonl.1")
        path.write_bytes(rollout(20, session="next"))
    elif end == "remove":
        path.unlink()
    else:
        path.write_bytes(rollout(20, session="other"))
    rest = list(following)
    assert reasons(rest) == [(7, "source was truncated")] and rest[0].lines == 0 and rest[0].end == seen[-1].end


def test_follow_of_a_compressed_file(tmp_path: Path) -> None:
    packed = zstd(rollout(40))
    path = tmp_path / "a.zst"
    path.write_bytes(zstd(rollout(2)) + packed[: len(packed) // 2])
    stop = threading.Event()
    following = follow(one(path), 0, 1, poll=0.005, stop=stop)
    assert next(following).data.startswith(rollout(2))
    path.write_bytes(zstd(rollout(2)) + packed)
    stop.set()
    rest = list(following)
    assert not reasons(rest) and rest[-1].next_line == 43


def test_follow_of_standard_input() -> None:
    source = one("-", stdin=io.BytesIO(rollout(9)))
    assert text(list(follow(source, 0, 1, stop=threading.Event()))) == rollout(9)


# ------------------------------------------------------------------------------------------------ laws


def cut(data: bytes, cuts: Sequence[int], size: int, limit: int, final: bool = True) -> list[Block]:
    """Blocks of bytes that come in pieces cut at these places."""
    places = sorted({min(place, len(data)) for place in cuts} | {0, len(data)})
    pieces = (data[a:b] for a, b in itertools.pairwise(places))
    return list(Cutter(0, 1, new_hasher(), size=size, limit=limit).cut(pieces, final))


LINES = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.sampled_from(
            [b"", b"\r", b"\0" * 30, b'{"a": 1}', b'{"a"', b"\xff", b"\xef\xbb\xbf{}", b"7 getpid() = 7", b"x" * 60]
        ),
    ),
    max_size=12,
)
CUTS = st.lists(st.integers(0, 300), max_size=8)


@settings(max_examples=400, deadline=None)
@given(LINES, st.booleans(), CUTS, st.integers(1, 200), st.integers(1, 50), st.booleans())
def test_every_byte_and_line_is_accounted_for(
    lines: list[bytes], ended: bool, cuts: list[int], size: int, limit: int, final: bool
) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    blocks = cut(data, cuts, size, limit, final)
    expected = data.split(b"\n")
    last = expected.pop()
    if final and last:
        expected.append(last)
    offset, line = 0, 1
    got: list[bytes | None] = []
    for block in blocks:
        assert block.first_line == line and (block.data == b"") == bool(block.skipped)
        part = data[offset : block.end]
        assert block.digest == sha(data[: block.end])
        if block.data:
            assert part == block.data and block.lines == len(part.split(b"\n")) - block.complete
            got += part.split(b"\n")[: block.lines]
        else:
            assert block.lines == 1 and block.skipped[0].line == line
            assert block.skipped[0].detail == f"{len(part.rstrip(chr(10).encode()))} bytes"
            got.append(None)
        offset, line = block.end, block.next_line
    assert got == [None if len(item) > limit else item for item in expected]
    assert offset == len(data) - (0 if final else len(last))
    for number, item in enumerate(data.split(b"\n")[: len(got)], 1):
        pieces = (data[a : a + size] for a in range(0, len(data), size))
        assert lines_at(pieces, [number], limit=limit) == {number: item[:limit]}
    pieces = (data[a : a + size] for a in range(0, len(data), size))
    there = dict(enumerate((item[:limit] for item in data.split(b"\n")[: len(got)]), 1))
    assert {number: there.get(number) for number in there} == lines_at(pieces, [*there, len(data) + 2], limit=limit)


@settings(max_examples=200, deadline=None)
@given(LINES, st.booleans(), CUTS, st.integers(1, 200), CUTS, st.integers(1, 200))
def test_lines_do_not_depend_on_pieces(
    lines: list[bytes], ended: bool, a: list[int], x: int, b: list[int], y: int
) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    assert text(cut(data, a, x, 50)) == text(cut(data, b, y, 50))
    assert reasons(cut(data, a, x, 50)) == reasons(cut(data, b, y, 50))


@settings(max_examples=200, deadline=None)
@given(LINES, st.booleans(), CUTS, st.integers(1, 200))
def test_a_parser_fed_by_blocks_finds_the_same(lines: list[bytes], ended: bool, cuts: list[int], size: int) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    blocks = cut(data, cuts, size, 1000)
    rows = [row for block in blocks for row in read_lines(block.data, block.first_line)]
    assert rows == list(read_lines(data, 1))
    start = b"7 getpid() = 7\n"
    data = data.replace(b"\r", b"")  # the strace parser sees a block's last CRLF differently
    blocks = cut(data, cuts, size, 1000)
    whole, parts = (STRACE.parser(Head("t", start)) for _ in range(2))
    at_once = [*whole.feed(data, 1), *whole.finish()] if data else []
    in_parts = [record for block in blocks for record in parts.feed(block.data, block.first_line)]
    assert [*in_parts, *parts.finish()] == at_once


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=3000), st.integers(0, 3000), st.sampled_from([bytes, *PACKERS.values()]), st.integers(1, 400))
def test_any_bytes_unpack_to_themselves(data: bytes, place: int, pack: Callable[[bytes], bytes], size: int) -> None:
    class Slow(io.BytesIO):
        def read(self, wanted: int | None = -1) -> bytes:
            return super().read(min(size, wanted or 0))

    if pack is bytes and sources.compression_of(data):
        return
    stored = pack(data[:place]) + pack(data[place:])
    assert b"".join(item for item in stream_chunks(Slow(stored)) if isinstance(item, bytes)) == data


def test_reading_on_from_any_block(tmp_path: Path) -> None:
    data = rollout(400)
    for suffix, pack in {"": bytes, ".gz": gzip.compress}.items():
        path = tmp_path / f"a.jsonl{suffix}"
        path.write_bytes(pack(data))
        source = one(path)
        source.block_size = 1000
        for block in list(source.blocks()):
            assert (
                b"".join(item for item in file_chunks(path, block.end) if isinstance(item, bytes)) == data[block.end :]
            )
            rest = list(one(path).blocks(block.end, block.next_line))
            assert text(rest) == data[block.end :] and (not rest or rest[-1].next_line == 401)


BEGINNINGS = st.sampled_from(
    [b"", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY", b"\xfd7zXZ\x00", b"\xff\xfe", b"[" * 3000,
     b'{"type":"session_meta","payload":', b'{"type":"thread.started"}\n', b"7 getpid() = 7\n", b"\n\n", b'{"uuid":1,"type":[]}\n']
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(BEGINNINGS, st.binary(max_size=300), st.booleans())
def test_nothing_that_a_file_holds_is_an_exception(
    tmp_path_factory: pytest.TempPathFactory, start: bytes, rest: bytes, final: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.77"
    path.write_bytes(start + rest)
    for item in [*discover([path], final=final), *discover(["-"], stdin=io.BytesIO(start + rest))]:
        if isinstance(item, Source):
            blocks = list(item.blocks())
            assert blocks or item.held_back
            again = [other.key for other in discover([path], final=True) if isinstance(other, Source)]
            assert item.uri == "stdin" or again == [item.key]
