"""Laws of the effect weaver, for any trace: acyclic, split equals whole, every line accounted for, never an exception."""

from __future__ import annotations

import graphlib
from collections import defaultdict
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.effects.strace import FORMAT
from ingest.interface import Head
from provenance import schema
from provenance.records import Skipped
from provenance.weave.effects import EffectWeaver
from tests.weave.traces import Graph, apply, parse, woven

PATHS = st.sampled_from(["/w/a", "/w/b", "/w/.env", "/w/d/c", "/tmp/t", "/usr/lib/l.so", "/w/rel"])
PIDS = st.sampled_from([10, 11, 12, 13])
FDS = st.integers(3, 6)
PIPES = st.sampled_from(["pipe:[7]", "pipe:[8]", "UNIX-STREAM:[20->21]", "UNIX-STREAM:[21->20]"])
SOCKETS = st.sampled_from(
    ["TCP:[127.0.0.1:5->127.0.0.1:80]", "TCP:[127.0.0.1:80->127.0.0.1:5]", "TCP:[10.0.0.1:9->8.8.8.8:443]"]
)
RESOURCES = st.one_of(PATHS, PATHS, PIPES, SOCKETS)
SIZES = st.integers(0, 99)
FLAGS = st.sampled_from(
    [
        "O_RDONLY",
        "O_WRONLY|O_CREAT|O_TRUNC, 0644",
        "O_WRONLY|O_APPEND",
        "O_RDWR",
        "O_WRONLY|O_CREAT|O_EXCL, 0600",
        "O_RDONLY|O_DIRECTORY",
    ]
)
CALLS = st.one_of(
    st.builds('openat(AT_FDCWD</w>, "{1}", {2}) = {0}<{1}>'.format, FDS, PATHS, FLAGS),
    st.builds('read({}<{}>, "x", 99) = {}'.format, FDS, RESOURCES, SIZES),
    st.builds('write({}<{}>, "x", 99) = {}'.format, FDS, RESOURCES, SIZES),
    st.builds('write({}<{}>, "x", 99 <unfinished ...>'.format, FDS, RESOURCES),
    st.builds("<... write resumed>) = {}".format, SIZES),
    st.builds('read({}<{}>,  <unfinished ...>'.format, FDS, RESOURCES),
    st.builds('<... read resumed>"x", 99) = {}'.format, SIZES),
    st.builds("clone(child_stack=NULL, flags={1}SIGCHLD) = {0}".format, PIDS, st.sampled_from(["", "CLONE_THREAD|", "CLONE_FILES|"])),
    st.just("clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>"),
    st.builds("<... clone resumed>) = {}".format, PIDS),
    st.builds('execve("{}", ["x", "{}"], ["A=b"]) = 0'.format, PATHS, PATHS),
    st.builds('rename("{}", "{}") = 0'.format, PATHS, PATHS),
    st.builds('link("{}", "{}") = 0'.format, PATHS, PATHS),
    st.builds('symlink("{}", "{}") = 0'.format, PATHS, PATHS),
    st.builds('renameat2(AT_FDCWD</w>, "{}", AT_FDCWD</w>, "{}", RENAME_EXCHANGE) = 0'.format, PATHS, PATHS),
    st.builds('unlink("{}") = 0'.format, PATHS),
    st.builds('stat("{}", 0x7f) = 0'.format, PATHS),
    st.builds('stat("{}", 0x7f) = -1 ENOENT (No such file or directory)'.format, PATHS),
    st.builds("ftruncate({}<{}>, 0) = 0".format, FDS, PATHS),
    st.builds("copy_file_range({}<{}>, NULL, {}<{}>, NULL, 99, 0) = {}".format, FDS, PATHS, FDS, PATHS, SIZES),
    st.builds("sendfile({}<{}>, {}<{}>, NULL, 99) = {}".format, FDS, RESOURCES, FDS, PATHS, SIZES),
    st.builds("splice({}<{}>, NULL, {}<{}>, NULL, 99, 0) = {}".format, FDS, RESOURCES, FDS, RESOURCES, SIZES),
    st.builds("mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, {}<{}>, 0) = 0x7f0000".format, FDS, PATHS),
    st.builds('mkdir("{}", 0755) = 0'.format, PATHS),
    st.builds('connect({}<TCP:[9]>, {{sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("8.8.8.8")}}, 16) = 0'.format, FDS),
    st.just("+++ exited with 0 +++"),
    st.just("+++ killed by SIGKILL +++"),
)  # fmt: skip
LINES = st.lists(st.tuples(PIDS, CALLS), max_size=60)


def text_of(lines: list[tuple[int, str]]) -> str:
    return "".join(f"{pid} 1700000000.{number:06d} {call}\n" for number, (pid, call) in enumerate(lines))


@settings(max_examples=400, deadline=None)
@given(LINES)
def test_acyclic(lines: list[tuple[int, str]]) -> None:
    causes: dict[str, set[str]] = defaultdict(set)
    for kind, tail, head in woven(text_of(lines)).edges:
        if schema.EDGE_KINDS[kind].flow is not schema.Flow.NONE:
            causes[tail].add(head)
    list(graphlib.TopologicalSorter(causes).static_order())


@settings(max_examples=200, deadline=None)
@given(LINES, st.lists(st.integers(0, 60), max_size=4))
def test_split_equals_whole(lines: list[tuple[int, str]], cuts: list[int]) -> None:
    """Also with every part's state saved and restored, and its changes flushed."""
    whole = woven(text_of(lines))
    rows = text_of(lines).splitlines(keepends=True)
    head = Head("trace", text_of(lines).encode()[:65536])
    graph = Graph({}, {})
    parser_state, weaver_state = b"", b""
    places = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    parts = list(pairwise(places)) or [(0, 0)]
    for start, end in parts:
        parser = FORMAT.parser(head)
        if parser_state:
            parser.restore(parser_state)
        weaver = EffectWeaver("0123abcd", "local", parser.clock)
        if weaver_state:
            weaver.restore(weaver_state)
        data = "".join(rows[start:end]).encode()
        results = [*parser.feed(data, start + 1)] if data else []
        parser_state = parser.save()
        if end == len(rows):
            results += parser.finish()
        weaver.feed([result for result in results if not isinstance(result, Skipped)])
        if end == len(rows):
            weaver.finish()
        apply(graph, weaver.flush())
        weaver_state = weaver.save()
    assert graph.nodes == whole.nodes
    assert graph.edges == whole.edges


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.lists(st.tuples(PIDS, CALLS), max_size=10), st.integers(0, 400))
def test_any_damage_is_survived(noise: bytes, lines: list[tuple[int, str]], place: int) -> None:
    clean = text_of(lines).encode()
    damaged = clean[:place] + noise + clean[place:]
    parser = FORMAT.parser(Head("trace", damaged[:65536]))
    results = [*parser.feed(damaged, 1), *parser.finish()]
    lines_seen = damaged.count(b"\n") + (0 if damaged.endswith(b"\n") else 1)
    assert all(1 <= result.line <= max(lines_seen, 1) for result in results)
    weaver = EffectWeaver("0123abcd", "local", parser.clock)
    weaver.feed([result for result in results if not isinstance(result, Skipped)])
    weaver.finish()
    weaver.flush()


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_what_strace_did_not_write_is_counted(noise: str) -> None:
    """A line of a program's own output inside the log is a Skipped, not a silent drop."""
    _, records, skipped = parse(f'10 1700000000.000000 stat("/w/a", 0x7f) = 0\n{noise}\n')
    assert (
        noise.strip() == ""
        or len(skipped) + len(records) >= 2
        or FORMAT.score(Head("x", noise.encode())) > 0
        or "(" in noise
    )
