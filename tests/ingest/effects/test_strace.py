"""strace output in the ways that strace writes it."""

from __future__ import annotations

import pytest

from ingest.effects import strace_text as text
from ingest.effects.strace import FORMAT, Trace
from ingest.interface import Head
from provenance import records as r
from provenance.records import Clock, Skipped
from tests.shared import shared_files


def parse(body: str) -> tuple[Trace, list[r.Effect], list[Skipped]]:
    data = body.encode("utf-8", "surrogateescape")
    parser = FORMAT.parser(Head("trace", data[:65536]))
    results = [*parser.feed(data, 1), *parser.finish()]
    return parser, [x for x in results if not isinstance(x, Skipped)], [x for x in results if isinstance(x, Skipped)]


@pytest.mark.parametrize(
    ("prefix", "clock", "time"),
    [
        ("7 1700000000.000001 ", Clock.WALL, 1_700_000_000_000_001_000),
        ("1700000000.000001 ", Clock.WALL, 1_700_000_000_000_001_000),
        ("7 12:00:01.000002 ", Clock.TIME_OF_DAY, 43_201_000_002_000),
        ("7 12:00:01 ", Clock.TIME_OF_DAY, 43_201_000_000_000),
        ("7      0.000300 ", Clock.RELATIVE, 300_000),
        ("[pid     7] 1700000000.000001 ", Clock.WALL, 1_700_000_000_000_001_000),
        ("[pid 7] ", Clock.ORDER, 1),
        ("7 ", Clock.ORDER, 1),
        ("7     ", Clock.ORDER, 1),
        ("", Clock.ORDER, 1),
    ],
)
def test_prefixes(prefix: str, clock: Clock, time: int) -> None:
    parser, records, skipped = parse(f'{prefix}stat("/w/a", 0x7f) = 0\n')
    assert (parser.clock, skipped) == (clock, [])
    assert [(type(record), record.time) for record in records] == [(r.Consulted, time)]


def test_relative_times_add_up() -> None:
    _, records, _ = parse('7      0.000300 stat("/a", 0x7f) = 0\n7      0.000200 stat("/b", 0x7f) = 0\n')
    assert [record.time for record in records] == [300_000, 500_000]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>', r.Opened(1, 7, 1, 3, "/w/a", 1, r.AT_CWD, True)),
        ('openat(AT_FDCWD, "a", O_RDONLY) = 3', r.Opened(1, 7, 1, 3, "a", 1, r.AT_CWD, False)),
        (
            'openat(5</w/d>, "../b", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3</w/b>',
            r.Opened(1, 7, 1, 3, "/w/b", 2 | 4 | 8, r.AT_CWD, True),
        ),
        ('read(3</w/a b>, "x>, y", 9) = 5', r.Read(1, 7, 1, 3, "/w/a b", 5)),
        ('read(3, "<html>", 9) = 6', r.Read(1, 7, 1, 3, None, 6)),
        ('read(3</w/gone>(deleted), "x", 9) = 1 <0.000011>', r.Read(1, 7, 1, 3, "/w/gone (deleted)", 1)),
        ('read(3</w/\\303\\251>, "x", 9) = 1', r.Read(1, 7, 1, 3, "/w/é", 1)),
        ('write(1</dev/pts/0<char 136:0>>, "x", 1) = 1', r.Wrote(1, 7, 1, 1, "/dev/pts/0", 1)),
        (
            'writev(4<TCP:[1.2.3.4:5->6.7.8.9:10]>, [{iov_base="a", iov_len=1}, {iov_base="b", iov_len=1}], 2) = 2',
            r.Wrote(1, 7, 1, 4, "tcp:1.2.3.4:5>6.7.8.9:10", 2),
        ),
        (
            'sendto(4<UDP:[0.0.0.0:9]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("9.9.9.9")}, 16) = 1',
            r.Wrote(1, 7, 1, 4, "udp:0.0.0.0:9", 1, "9.9.9.9:53"),
        ),
        (
            "copy_file_range(3</w/a>, NULL, 4</w/b>, NULL, 9223372035781033984, 0) = 37",
            r.Copied(1, 7, 1, 3, "/w/a", 4, "/w/b", 37, "copy_file_range"),
        ),
        ("sendfile(4</w/b>, 3</w/a>, [0] => [34], 4096) = 34", r.Copied(1, 7, 1, 3, "/w/a", 4, "/w/b", 34, "sendfile")),
        (
            "splice(3<pipe:[7]>, NULL, 4</w/b>, NULL, 65536, 0) = 9",
            r.Copied(1, 7, 1, 3, "pipe:[7]", 4, "/w/b", 9, "splice"),
        ),
        ("pipe2([8, 9], O_CLOEXEC)          = 0", r.Piped(1, 7, 1, 8, None, 9, None, False)),
        ("pipe([8<pipe:[5]>, 9<pipe:[5]>]) = 0", r.Piped(1, 7, 1, 8, "pipe:[5]", 9, "pipe:[5]", False)),
        (
            "socketpair(AF_UNIX, SOCK_STREAM, 0, [3<UNIX-STREAM:[1->2]>, 4<UNIX-STREAM:[2->1]>]) = 0",
            r.Piped(1, 7, 1, 3, "unix:[1>2]", 4, "unix:[2>1]", True),
        ),
        (
            'connect(4<TCP:[99]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.1")}, 16) = -1 EINPROGRESS (Operation now in progress)',
            r.Connected(1, 7, 1, 4, "tcp:[99]", "10.0.0.1:80", "pending"),
        ),
        (
            'connect(4, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28) = 0',
            r.Connected(1, 7, 1, 4, None, "[::1]:443", "connected"),
        ),
        ('rename("/w/a", "b c") = 0', r.Renamed(1, 7, 1, "/w/a", r.AT_CWD, "b c", r.AT_CWD, False)),
        (
            'renameat2(AT_FDCWD</w>, "a", AT_FDCWD</w>, "b", RENAME_NOREPLACE) = 0',
            r.Renamed(1, 7, 1, "/w/a", r.AT_CWD, "/w/b", r.AT_CWD, False),
        ),
        ('unlinkat(AT_FDCWD, "server.pid", 0) = 0', r.Unlinked(1, 7, 1, "server.pid", r.AT_CWD, False)),
        ('unlink("/w/\\"q\\"") = 0', r.Unlinked(1, 7, 1, '/w/"q"', r.AT_CWD, False)),
        ("ftruncate(3</w/a>, 0) = 0", r.Truncated(1, 7, 1, "", r.AT_CWD, 3, "/w/a", 0)),
        ('execve("/x", ["x"], 0x7ffc /* 2 vars */) = 0', r.ProgramExecuted(1, 7, 1, "/x", ("x",), None, False)),
        (
            'execve("/x", ["x", "a]\\"b"...], ["A=1"]) = 0',
            r.ProgramExecuted(1, 7, 1, "/x", ("x", 'a]"b'), ("A=1",), True),
        ),
        ('execve("\\x2f\\x78", ["\\x78"], [/* 9 vars */]) = 0', r.ProgramExecuted(1, 7, 1, "/x", ("x",), None, False)),
        (
            'execve("/no", ["no"], 0x7f /* 1 var */) = -1 ENOENT (No such file or directory)',
            r.Consulted(1, 7, 1, "/no", r.AT_CWD, False, "execve", "ENOENT"),
        ),
        (
            'readlink("/etc", 0x7ffd, 1023) = -1 EINVAL (Invalid argument)',
            r.Consulted(1, 7, 1, "/etc", r.AT_CWD, True, "readlink"),
        ),
        ('unlink("/w/a") = -1 EACCES (Permission denied)', r.CallRefused(1, 7, 1, "unlink", "/w/a", "EACCES")),
        ("exit_group(0)   = ?", None),
        ("mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f", None),
        ("mmap(NULL, 9, PROT_READ|PROT_WRITE, MAP_SHARED, 3</w/a>, 0) = 0x7f", r.Mapped(1, 7, 1, 3, "/w/a", True)),
        ("clone(child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD) = 8", r.TaskCreated(1, 7, 1, 8, False, False)),
        ("+++ exited with 3 +++", r.TaskExited(1, 7, 1, 3, None)),
        ("+++ killed by SIGSEGV (core dumped) +++", r.TaskExited(1, 7, 1, None, "SIGSEGV")),
        ("--- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=5, si_uid=0} ---", r.Signalled(1, 7, 1, "SIGTERM", 5)),
        (
            "--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0xc8} ---",
            r.Signalled(1, 7, 1, "SIGSEGV", None),
        ),
    ],
)
def test_calls(line: str, expected: r.Effect | None) -> None:
    _, records, skipped = parse(f"7 {line}\n")
    assert skipped == []
    kept = [record for record in records if not isinstance(record, r.DirectoryKnown)]
    assert kept == ([expected] if expected is not None else [])


def test_a_resumed_call_is_one_record_at_its_return() -> None:
    _, records, _ = parse(
        '7 read(3<pipe:[5]>,  <unfinished ...>\n8 stat("/a", 0x7f) = 0\n7 <... read resumed>"x>", 9) = 2\n'
    )
    assert records[-1] == r.Read(3, 7, 3, 3, "pipe:[5]", 2)


def test_a_write_takes_effect_where_it_begins() -> None:
    _, records, _ = parse(
        '7 write(4<pipe:[5]>, "x", 1 <unfinished ...>\n8 stat("/a", 0x7f) = 0\n7 <... write resumed>) = 1\n'
    )
    assert [type(record) for record in records] == [r.WriteEntered, r.Consulted, r.WriteLeft]


def test_a_child_is_known_before_its_fork_returns() -> None:
    """vfork: the child's exec comes before the parent's return."""
    body = (
        '7 stat("/a", 0x7f) = 0\n7 vfork( <unfinished ...>\n8 execve("/x", ["x"], []) = 0\n7 <... vfork resumed>) = 8\n'
    )
    _, records, _ = parse(body)
    assert records[1:] == [r.TaskCreated(3, 7, 2, 8, False, False), r.ProgramExecuted(3, 8, 3, "/x", ("x",), (), False)]


def test_a_child_of_one_of_several_forks_waits_until_it_is_named() -> None:
    body = (
        '5 stat("/a", 0x7f) = 0\n6 stat("/a", 0x7f) = 0\n'
        "5 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n6 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n"
        '9 stat("/child", 0x7f) = 0\n6 <... clone resumed>) = 9\n5 <... clone resumed>) = 8\n'
    )
    _, records, _ = parse(body)
    told = [record for record in records if isinstance(record, r.TaskCreated)]
    assert [(record.pid, record.child) for record in told] == [(6, 9), (5, 8)]
    place = [(type(record), record.pid) for record in records].index((r.TaskCreated, 6))
    assert records[place + 1] == r.Consulted(5, 9, 5, "/child", r.AT_CWD, True, "stat")


def test_the_first_process_has_no_pid_until_there_is_a_second() -> None:
    body = 'execve("/x", ["x"], []) = 0\nfork() = 8\n[pid     7] stat("/a", 0x7f) = 0\n[pid     8] stat("/b", 0x7f) = 0\n[pid     8] +++ exited with 0 +++\nstat("/c", 0x7f) = 0\n'
    _, records, _ = parse(body)
    assert [record.pid for record in records] == [0, 0, 0, 8, 8, 0]


def test_a_programs_own_output_is_counted() -> None:
    _, records, skipped = parse('7 write(1, "hel\\n", 4hel\n) = 4\nplain words\n7 stat("/a", 0x7f) = 0\n')
    assert [(item.line, item.reason) for item in skipped] == [
        (1, "torn line"),
        (2, "not a strace line"),
        (3, "not a strace line"),
    ]
    assert [record.line for record in records] == [4]


def test_calls_of_a_process_that_was_attached_to() -> None:
    body = '29063 restart_syscall(<... resuming interrupted restart_syscall ...> <unfinished ...>\n29064 <... read resumed>"x", 9) = 1\n'
    _, _, skipped = parse(body)
    assert [item.reason for item in skipped] == ["resumed without a beginning"]


@pytest.mark.parametrize("path", shared_files("real/strace/*"), ids=lambda path: path.name)
def test_public_traces(path: object) -> None:
    """Counts that a plain search of the text gives; see INDEX.md of the shared data."""
    from pathlib import Path

    assert isinstance(path, Path)
    data = path.read_bytes()
    head = Head(path.name, data[:65536])
    assert FORMAT.score(head) > 0.5
    parser = FORMAT.parser(head)
    results = [*parser.feed(data, 1), *parser.finish()]
    body = data.decode("utf-8", "replace")
    exits = sum(
        1 for line in body.splitlines() if text.CALL_LINE.match(line) and ("+++ exited" in line or "+++ killed" in line)
    )
    assert sum(isinstance(result, r.TaskExited) for result in results) == exits
    skipped = [result for result in results if isinstance(result, Skipped)]
    assert len(skipped) <= body.count("\n") * (0.15 if "tokio" in path.name or "mongo" in path.name else 0.01)
    execs = sum(1 for line in body.splitlines() if "execve(" in line and line.rstrip().endswith("= 0"))
    resumed = sum(1 for line in body.splitlines() if "execve resumed>" in line and line.rstrip().endswith("= 0"))
    assert sum(isinstance(result, r.ProgramExecuted) for result in results) == execs + resumed


def test_a_time_beyond_what_can_be_kept_is_counted() -> None:
    _, records, skipped = parse('7 1700000000.000001 stat("/a", 0x7f) = 0\n7 9999000000.000001 stat("/b", 0x7f) = 0\n')
    assert [item.reason for item in skipped] == ["time out of range"]
    assert [record.line for record in records] == [1]
