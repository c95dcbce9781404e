"""The effect weaver on traces whose right graph is known."""

from __future__ import annotations

import pytest

from tests.weave.traces import trace, woven

START = '10 execve("/usr/bin/sh", ["sh"], ["PATH=/usr/bin"]) = 0'


def opened(fd: int, path: str, flags: str = "O_RDONLY") -> str:
    return f'openat(AT_FDCWD</w>, "{path}", {flags}) = {fd}<{path}>'


def test_copy_by_read_and_write() -> None:
    graph = woven(
        trace(
            START,
            f"10 {opened(3, '/w/a')}",
            '10 read(3</w/a>, "x", 10) = 1',
            f"10 {opened(4, '/w/b', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '10 write(4</w/b>, "x", 1) = 1',
        )
    )
    assert graph.sources(graph.last("/w/b")) == {"/w/a"}


def test_what_was_read_after_the_write_is_not_in_it() -> None:
    """Causality-based versioning: a state that something depends on takes no further input."""
    graph = woven(
        trace(
            START,
            f"10 {opened(3, '/w/a')}",
            f"10 {opened(4, '/w/b', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '10 write(4</w/b>, "x", 1) = 1',
            f"10 {opened(5, '/w/.env')}",
            '10 read(5</w/.env>, "s", 10) = 1',
        )
    )
    assert graph.sources(graph.last("/w/b")) == {"/w/a"}


def copied(source: str, target: str, flags: str) -> list[str]:
    return [
        f"10 {opened(3, source)}",
        f"10 {opened(4, target, flags)}",
        f"10 copy_file_range(3<{source}>, NULL, 4<{target}>, NULL, 9223372035781033984, 0) = 34",
    ]


def separate(pid: int, *calls: str) -> list[str]:
    """A child process of 10 that runs a program of its own."""
    return [
        f"10 clone(child_stack=NULL, flags=SIGCHLD) = {pid}",
        f'{pid} execve("/usr/bin/cp", ["cp"], ["PATH=/usr/bin"]) = 0',
        *(f"{pid} {call.partition(' ')[2]}" for call in calls),
        f"{pid} +++ exited with 0 +++",
    ]


def test_truncation_forgets_older_content() -> None:
    graph = woven(
        trace(
            START,
            *separate(11, *copied("/w/.env", "/w/up", "O_WRONLY|O_CREAT|O_EXCL, 0644")),
            *separate(12, *copied("/w/README", "/w/up", "O_WRONLY|O_TRUNC")),
        )
    )
    first, second = graph.versions("/w/up")
    assert graph.sources(first) == {"/w/.env"}
    assert graph.sources(second) == {"/w/README"}
    assert graph.edges[("REVISION_OF", second, first)]["keeps"] is False


def test_appending_keeps_older_content() -> None:
    graph = woven(
        trace(
            START,
            *separate(11, *copied("/w/.env", "/w/up", "O_WRONLY|O_CREAT|O_EXCL, 0644")),
            *separate(12, "12 " + opened(3, "/w/up"), '12 read(3</w/up>, "x", 10) = 10'),
            *separate(13, *copied("/w/README", "/w/up", "O_WRONLY|O_APPEND")),
        )
    )
    last = graph.last("/w/up")
    assert graph.sources(last) == {"/w/.env", "/w/README", "/w/up"}


def test_appending_to_a_file_from_before_the_trace_keeps_it() -> None:
    graph = woven(trace(START, f"10 {opened(4, '/w/log', 'O_WRONLY|O_APPEND')}", '10 write(4</w/log>, "x", 1) = 1'))
    old, new = graph.versions("/w/log")
    assert graph.edges[("REVISION_OF", new, old)]["keeps"] is True


def test_rename_over_replaces() -> None:
    graph = woven(
        trace(
            START,
            f"10 {opened(3, '/w/app')}",
            '10 read(3</w/app>, "x", 10) = 1',
            f"10 {opened(4, '/w/app.tmp', 'O_WRONLY|O_CREAT|O_EXCL, 0644')}",
            '10 write(4</w/app.tmp>, "y", 1) = 1',
            '10 rename("/w/app.tmp", "/w/app") = 0',
        )
    )
    old, new = graph.versions("/w/app")
    assert graph.edges[("REVISION_OF", new, old)]["keeps"] is False
    assert ("RENAMED_FROM", new, graph.versions("/w/app.tmp")[0]) in graph.edges
    assert graph.nodes[graph.last("/w/app.tmp")]["class"] == "absent"


def test_pipe_carries_content_between_processes_in_order() -> None:
    """Only the bytes that were read: what the writer learned later is not in them."""
    graph = woven(
        trace(
            START,
            "10 pipe2([3<pipe:[7]>, 4<pipe:[7]>], 0) = 0",
            *separate(
                11, "11 " + opened(5, "/w/.env"), '11 read(5</w/.env>, "s", 9) = 9', '11 write(4<pipe:[7]>, "s", 9) = 9'
            ),
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 12",
            '12 execve("/usr/bin/wc", ["wc"], ["A=b"]) = 0',
            '12 read(3<pipe:[7]>, "s", 99) = 9',
            f"12 {opened(6, '/w/count', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '12 write(6</w/count>, "9", 1) = 1',
        )
    )
    assert graph.sources(graph.last("/w/count")) == {"/w/.env"}
    ((_, pipe),) = [(tail, head) for tail, head in graph.kinds("USED") if "pipe:" in head]
    assert [
        fields["bytes"] for (kind, tail, _), fields in graph.edges.items() if kind == "GENERATED_BY" and tail == pipe
    ] == [9]


def test_pipe_is_first_in_first_out() -> None:
    graph = woven(
        trace(
            START,
            "10 pipe2([3<pipe:[7]>, 4<pipe:[7]>], 0) = 0",
            *separate(11, "11 " + opened(5, "/w/a"), '11 write(4<pipe:[7]>, "s", 9) = 9'),
            *separate(12, "12 " + opened(5, "/w/b"), '12 write(4<pipe:[7]>, "t", 9) = 9'),
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 13",
            '13 execve("/usr/bin/head", ["head"], ["A=b"]) = 0',
            '13 read(3<pipe:[7]>, "s", 9) = 9',
            f"13 {opened(6, '/w/out', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '13 write(6</w/out>, "s", 9) = 9',
        )
    )
    assert graph.sources(graph.last("/w/out")) == {"/w/a"}


def test_a_read_that_returns_before_the_writers_line_does() -> None:
    graph = woven(
        trace(
            START,
            "10 pipe2([3<pipe:[7]>, 4<pipe:[7]>], 0) = 0",
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
            f"11 {opened(5, '/w/a')}",
            '11 write(4<pipe:[7]>, "s", 5 <unfinished ...>',
            '10 read(3<pipe:[7]>, "s", 99) = 5',
            "11 <... write resumed>) = 5",
            f"10 {opened(6, '/w/out', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '10 write(6</w/out>, "s", 5) = 5',
        )
    )
    assert graph.sources(graph.last("/w/out")) == {"/w/a"}


def test_own_pipes_teach_nothing() -> None:
    graph = woven(
        trace(
            START,
            "10 pipe2([3<pipe:[7]>, 4<pipe:[7]>], 0) = 0",
            '10 write(4<pipe:[7]>, "s", 5) = 5',
            '10 read(3<pipe:[7]>, "s", 99) = 5',
        )
    )
    assert not [node for node, fields in graph.nodes.items() if fields.get("class") == "pipe"]


def test_sendfile_into_a_socket_leaves_no_read() -> None:
    graph = woven(
        trace(
            START,
            f"10 {opened(3, '/w/.env')}",
            '10 connect(4<TCP:[99]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.9")}, 16) = 0',
            "10 sendfile(4<TCP:[10.0.0.1:555->10.0.0.9:80]>, 3</w/.env>, [0] => [34], 4096) = 34",
        )
    )
    (flow,) = graph.sent("10.0.0.9:80")
    assert graph.nodes[flow]["bytes"] == 34
    assert graph.sources(flow) == {"/w/.env"}
    assert ("DERIVED_FROM", flow, graph.last("/w/.env")) in graph.edges


def test_content_stops_at_an_exec_and_passes_a_fork() -> None:
    graph = woven(
        trace(
            START,
            f"10 {opened(3, '/w/.env')}",
            '10 read(3</w/.env>, "s", 9) = 9',
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
            f"11 {opened(4, '/w/forked', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '11 write(4</w/forked>, "s", 1) = 1',
            '11 execve("/usr/bin/date", ["date"], ["A=b"]) = 0',
            f"11 {opened(5, '/w/execed', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '11 write(5</w/execed>, "s", 1) = 1',
        )
    )
    assert graph.sources(graph.last("/w/forked")) == {"/w/.env"}
    assert graph.sources(graph.last("/w/execed")) == set()
    assert graph.kinds("STARTED_BY")


def test_threads_are_one_process() -> None:
    graph = woven(
        trace(
            START,
            "10 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, child_tid=0x7f} => {parent_tid=[11]}, 88) = 11",
            f"11 {opened(3, '/w/a')}",
            f"10 {opened(4, '/w/b', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '10 write(4</w/b>, "s", 1) = 1',
        )
    )
    assert graph.sources(graph.last("/w/b")) == {"/w/a"}
    assert len({str(fields["process"]) for fields in graph.nodes.values() if "process" in fields}) == 1


def test_traced_peers_are_joined() -> None:
    graph = woven(
        trace(
            START,
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
            f"11 {opened(3, '/w/a')}",
            '11 sendto(4<TCP:[127.0.0.1:5->127.0.0.1:80]>, "s", 9, 0, NULL, 0) = 9',
            '10 recvfrom(6<TCP:[127.0.0.1:80->127.0.0.1:5]>, "s", 99, 0, NULL, NULL) = 9',
            f"10 {opened(7, '/w/got', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '10 write(7</w/got>, "s", 9) = 9',
        )
    )
    assert graph.sources(graph.last("/w/got")) == {"/w/a"}


def test_hard_links_share_content() -> None:
    graph = woven(
        trace(
            START,
            f"10 {opened(3, '/w/a', 'O_WRONLY|O_CREAT|O_EXCL, 0644')}",
            '10 write(3</w/a>, "s", 1) = 1',
            '10 link("/w/a", "/w/b") = 0',
            *separate(
                11,
                "11 " + opened(4, "/w/secret"),
                "11 " + opened(5, "/w/a", "O_WRONLY|O_APPEND"),
                '11 write(5</w/a>, "t", 1) = 1',
            ),
            *separate(
                12,
                "12 " + opened(6, "/w/b"),
                '12 read(6</w/b>, "st", 9) = 2',
                "12 " + opened(7, "/w/out", "O_WRONLY|O_CREAT|O_TRUNC, 0644"),
                '12 write(7</w/out>, "st", 2) = 2',
            ),
        )
    )
    assert "/w/secret" in graph.sources(graph.last("/w/out"))


def test_unlink_leaves_a_tombstone_and_a_new_file_is_new() -> None:
    graph = woven(
        trace(
            START,
            *separate(11, *copied("/w/.env", "/w/f", "O_WRONLY|O_CREAT|O_EXCL, 0644")),
            '10 unlink("/w/f") = 0',
            *separate(12, *copied("/w/README", "/w/f", "O_WRONLY|O_CREAT|O_EXCL, 0644")),
        )
    )
    classes = [graph.nodes[node]["class"] for node in graph.versions("/w/f")]
    assert classes == ["file", "absent", "file"]
    assert graph.sources(graph.last("/w/f")) == {"/w/README"}


def test_a_name_looked_for_in_vain_is_an_absent_artifact() -> None:
    graph = woven(trace(START, '10 stat("/w/local.mk", 0x7ff) = -1 ENOENT (No such file or directory)'))
    (node,) = graph.versions("/w/local.mk")
    assert (graph.nodes[node]["class"], graph.nodes[node]["version"]) == ("absent", 0)
    assert [head for _, head in graph.kinds("CONSULTED")] == [node]


def test_relative_paths_follow_the_working_directory() -> None:
    graph = woven(
        trace(
            '10 execve("/usr/bin/sh", ["sh"], ["A=b"]) = 0',
            '10 chdir("/w/sub") = 0',
            '10 open("../x", O_RDONLY) = 3',
            '10 read(3, "s", 9) = 9',
            '10 open("y", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4',
            "10 dup2(4, 1) = 1",
            "10 close(4) = 0",
            '10 write(1, "s", 9) = 9',
        )
    )
    assert graph.sources(graph.last("/w/sub/y")) == {"/w/x"}


def test_signal_from_another_process_names_the_sender() -> None:
    graph = woven(
        trace(
            START,
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
            '11 execve("/usr/bin/sleep", ["sleep"], ["A=b"]) = 0',
            "11 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=10, si_uid=0} ---",
            "11 +++ killed by SIGTERM +++",
        )
    )
    ((tail, head),) = graph.kinds("SIGNALLED_BY")
    assert "/11@" in tail
    assert "/10@" in head
    assert graph.nodes[tail]["signal"] == "SIGTERM"
    assert graph.nodes[tail]["signal_origin"] == "traced"


@pytest.mark.parametrize(
    ("told", "origin"),
    [
        ("si_code=SI_USER, si_pid=99, si_uid=0", "outside"),
        ("si_code=SI_TKILL, si_pid=11, si_uid=0", "itself"),
        ("si_code=SI_KERNEL", "kernel"),
        ("si_code=SI_TIMER", None),
    ],
)
def test_where_a_signal_came_from_is_told_as_far_as_the_source_says(told: str, origin: str | None) -> None:
    graph = woven(
        trace(
            START,
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
            f"11 --- SIGTERM {{si_signo=SIGTERM, {told}}} ---",
            "11 +++ killed by SIGTERM +++",
        )
    )
    (ended,) = [node for node in graph.nodes.values() if node.get("signal") == "SIGTERM"]
    assert ended.get("signal_origin") == origin
    assert not graph.kinds("SIGNALLED_BY")


def test_a_sender_that_had_ended_was_traced_all_the_same() -> None:
    graph = woven(
        trace(
            START,
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 12",
            "12 +++ exited with 0 +++",
            "11 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=12, si_uid=0} ---",
            "11 +++ killed by SIGTERM +++",
        )
    )
    assert [node.get("signal_origin") for node in graph.nodes.values() if node.get("signal")] == ["traced"]


@pytest.mark.parametrize(
    ("call", "shortage", "path"),
    [
        ('write(3</w/big>, "x", 9) = -1 ENOSPC (No space left on device)', "write ENOSPC", "/w/big"),
        ('openat(AT_FDCWD, "/w/f", O_RDONLY) = -1 EMFILE (Too many open files)', "openat EMFILE", "/w/f"),
        ("mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (Cannot allocate memory)", "mmap ENOMEM", None),
        ("clone(child_stack=NULL, flags=SIGCHLD) = -1 EAGAIN (Resource temporarily unavailable)", "clone EAGAIN", None),
        ('read(3</w/f>, 0x7f, 9) = -1 EAGAIN (Resource temporarily unavailable)', None, None),
        ('openat(AT_FDCWD, "/w/f", O_RDONLY) = -1 ENOENT (No such file or directory)', None, None),
    ],
)  # fmt: skip
def test_calls_that_fail_for_lack_of_something_are_kept(call: str, shortage: str | None, path: str | None) -> None:
    graph = woven(trace(START, f"10 {call}", "10 exit_group(1) = ?"))
    assert [node["shortage"] for node in graph.nodes.values() if "shortage" in node] == ([shortage] if shortage else [])
    asked = [graph.nodes[head].get("path") for _, head in graph.kinds("CONSULTED")]
    assert path is None or path in asked


@pytest.mark.parametrize(
    "call",
    [
        'write(3<TCP:[1.2.3.4:50->9.9.9.9:80]>, "POST /orders HTTP/1.1\\r\\n", 30) = 30',
        'sendto(3<TCP:[1.2.3.4:50->9.9.9.9:80]>, "POST /orders HTTP/1.1\\r\\n", 30, MSG_NOSIGNAL, NULL, 0) = 30',
        'writev(3<TCP:[1.2.3.4:50->9.9.9.9:80]>, [{iov_base="POST /orders HTTP/1.1\\r\\n", iov_len=30}], 1) = 30',
    ],
)
def test_the_method_of_a_request_in_the_clear_is_kept(call: str) -> None:
    graph = woven(trace(START, f"10 {call}"))
    assert [node.get("method") for node in graph.nodes.values() if node.get("direction") == "out"] == ["POST"]


def test_bytes_that_are_no_request_have_no_method() -> None:
    graph = woven(trace(START, '10 write(3<TCP:[1.2.3.4:50->9.9.9.9:443]>, "\\26\\3\\1POST ", 30) = 30'))
    assert [node.get("method") for node in graph.nodes.values() if node.get("direction") == "out"] == [None]


def test_toolchain_reads_fold_into_one_set() -> None:
    graph = woven(
        trace(
            START,
            f"10 {opened(3, '/usr/lib/libc.so')}",
            f"10 {opened(3, '/usr/lib/libm.so')}",
            "10 +++ exited with 0 +++",
        )
    )
    (folded,) = [fields for fields in graph.nodes.values() if fields.get("class") == "toolchain"]
    assert folded["members"] == ["/usr/bin/sh", "/usr/lib/libc.so", "/usr/lib/libm.so"]


def test_a_toolchain_file_that_the_trace_writes_is_no_longer_folded() -> None:
    graph = woven(
        trace(
            START,
            *separate(11, *copied("/w/evil.so", "/usr/lib/x.so", "O_WRONLY|O_CREAT|O_EXCL, 0644")),
            *separate(
                12,
                "12 " + opened(3, "/usr/lib/x.so"),
                "12 " + opened(4, "/w/out", "O_WRONLY|O_CREAT|O_TRUNC, 0644"),
                '12 write(4</w/out>, "x", 1) = 1',
            ),
        )
    )
    assert "/w/evil.so" in graph.sources(graph.last("/w/out"))


def test_secrets_in_variables_are_kept_as_digests() -> None:
    graph = woven(trace('10 execve("/usr/bin/sh", ["sh"], ["API_TOKEN=swordfish-123", "LANG=C"]) = 0'))
    (environment,) = [fields for node, fields in graph.nodes.items() if node.startswith("environment:")]
    kept = environment["variables"]
    assert isinstance(kept, list)
    assert kept[1] == "LANG=C"
    assert kept[0].startswith("API_TOKEN=sha256:")
    assert "swordfish" not in str(graph.nodes)


def test_a_here_document_through_a_pipe_survives_the_exec() -> None:
    """The shell's child writes the text, becomes cat, and reads it: one pid, two programs."""
    graph = woven(
        trace(
            START,
            f"10 {opened(5, '/w/.env')}",
            '10 read(5</w/.env>, "s", 9) = 9',
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
            "11 pipe2([3<pipe:[7]>, 4<pipe:[7]>], 0) = 0",
            '11 write(4<pipe:[7]>, "s", 9) = 9',
            '11 execve("/usr/bin/cat", ["cat"], ["A=b"]) = 0',
            '11 read(0<pipe:[7]>, "s", 99) = 9',
            f"11 {opened(6, '/w/out', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '11 write(6</w/out>, "s", 9) = 9',
        )
    )
    assert graph.sources(graph.last("/w/out")) == {"/w/.env"}


def test_a_deleted_file_that_is_still_open_keeps_its_content() -> None:
    """Shells pass here documents through a temporary file that they unlink before it is read."""
    graph = woven(
        trace(
            START,
            *separate(11, *copied("/w/.env", "/tmp/sh-thd.1", "O_RDWR|O_CREAT|O_EXCL, 0600")),
            '10 unlink("/tmp/sh-thd.1") = 0',
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 12",
            '12 execve("/usr/bin/cat", ["cat"], ["A=b"]) = 0',
            '12 read(0</tmp/sh-thd.1>(deleted), "s", 99) = 34',
            f"12 {opened(6, '/w/out', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '12 write(6</w/out>, "s", 34) = 34',
        )
    )
    assert "/w/.env" in graph.sources(graph.last("/w/out"))


def test_what_the_former_program_wrote_is_news_to_the_next() -> None:
    graph = woven(
        trace(
            START,
            f"10 {opened(5, '/w/.env')}",
            f"10 {opened(4, '/w/t', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '10 write(4</w/t>, "s", 9) = 9',
            '10 execve("/usr/bin/curl", ["curl"], ["A=b"]) = 0',
            f"10 {opened(3, '/w/t')}",
            '10 sendto(5<TCP:[10.0.0.1:5->10.0.0.9:80]>, "s", 9, 0, NULL, 0) = 9',
        )
    )
    (flow,) = graph.sent("10.0.0.9:80")
    assert graph.sources(flow) == {"/w/t", "/w/.env"}


def test_descriptors_follow_a_rename_where_the_trace_shows_only_numbers() -> None:
    graph = woven(
        trace(
            '10 execve("/usr/bin/sh", ["sh"], ["A=b"]) = 0',
            '10 open("/w/a", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3',
            '10 rename("/w/a", "/w/b") = 0',
            '10 open("/w/.env", O_RDONLY) = 4',
            '10 read(4, "s", 9) = 9',
            '10 write(3, "s", 9) = 9',
        )
    )
    assert graph.sources(graph.last("/w/b")) >= {"/w/.env"}


def test_a_clone_of_content_is_a_copy() -> None:
    graph = woven(
        trace(
            START,
            f"10 {opened(3, '/w/a')}",
            f"10 {opened(4, '/w/b', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            "10 ioctl(4</w/b>, BTRFS_IOC_CLONE or FICLONE, 3</w/a>) = 0",
        )
    )
    assert ("DERIVED_FROM", graph.last("/w/b"), graph.last("/w/a")) in graph.edges


def test_who_only_empties_a_file_gives_it_nothing() -> None:
    """`x=$(cat .env); cat a > out`: the shell that read the secret opens `out`, and cat writes it."""
    graph = woven(
        trace(
            START,
            f"10 {opened(5, '/w/.env')}",
            '10 read(5</w/.env>, "s", 9) = 9',
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
            f"11 {opened(1, '/w/out', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '11 execve("/usr/bin/cat", ["cat", "a"], ["A=b"]) = 0',
            f"11 {opened(3, '/w/a')}",
            '11 read(3</w/a>, "a", 9) = 9',
            '11 write(1</w/out>, "a", 9) = 9',
            f"10 {opened(6, '/w/empty', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            f"10 {opened(7, '/w/echo', 'O_WRONLY|O_CREAT|O_TRUNC, 0644')}",
            '10 write(7</w/echo>, "s", 9) = 9',
        )
    )
    assert graph.sources(graph.last("/w/out")) == {"/w/a"}
    assert graph.sources(graph.last("/w/empty")) == set()
    assert graph.sources(graph.last("/w/echo")) == {"/w/.env"}


def test_files_move_with_their_folder() -> None:
    graph = woven(
        trace(
            START,
            '10 mkdir("/w/D", 0755) = 0',
            *separate(11, *copied("/w/.env", "/w/D/f", "O_WRONLY|O_CREAT|O_EXCL, 0644")),
            '10 rename("/w/D", "/w/E") = 0',
            *separate(12, *copied("/w/E/f", "/w/z", "O_WRONLY|O_CREAT|O_EXCL, 0644")),
        )
    )
    assert graph.sources(graph.last("/w/z")) == {"/w/.env", "/w/D/f", "/w/E/f"}


def test_names_through_a_symbolic_link_to_a_folder() -> None:
    graph = woven(
        trace(
            START,
            '10 symlink("D", "/w/L") = 0',
            *separate(11, *copied("/w/.env", "/w/D/f", "O_WRONLY|O_CREAT|O_EXCL, 0644")),
            '10 rename("/w/L/f", "/w/z") = 0',
        )
    )
    assert graph.sources(graph.last("/w/z")) == {"/w/.env", "/w/D/f"}


def test_relative_names_without_a_known_folder_are_still_joined() -> None:
    graph = woven(
        trace(
            '10 execve("/usr/bin/sh", ["sh"], ["A=b"]) = 0',
            '10 open("a", O_RDONLY) = 3',
            '10 read(3, "s", 9) = 9',
            '10 open("c", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4',
            '10 write(4, "s", 9) = 9',
        )
    )
    assert graph.sources(graph.last("?/c")) == {"?/a"}


def test_getcwd_tells_the_folder() -> None:
    graph = woven(
        trace(
            '10 execve("/usr/bin/sh", ["sh"], ["A=b"]) = 0',
            '10 getcwd("/w", 4096) = 3',
            '10 open("a", O_RDONLY) = 3',
            '10 open("c", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4',
            '10 write(4, "s", 9) = 9',
        )
    )
    assert graph.sources(graph.last("/w/c")) == {"/w/a"}
