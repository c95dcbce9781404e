"""Intake as a whole: any order, any pieces, any number of times, any moment of death: one graph."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ingest import sources
from provenance import schema
from provenance.intake import Intake, Report
from provenance.store import Store, open_store
from tests.ingested import ingest, recording
from tests.stores import Location, NewLocation

FILES = ("rollout.jsonl", "stream.jsonl", "syscalls.strace")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording with its trace unpacked."""
    return unpacked("codex-egress-public", tmp_path_factory.mktemp("run"))


def unpacked(name: str, folder: Path) -> Path:
    for path in recording(name).rglob("*"):
        if path.suffix == ".jsonl":
            target = folder / path.relative_to(recording(name))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    with (
        (recording(name) / "syscalls.strace.zst").open("rb") as packed,
        (folder / "syscalls.strace").open("wb") as plain,
    ):
        zstandard.ZstdDecompressor().copy_stream(packed, plain)
    return folder


def graph(store: Store) -> tuple[dict[str, dict[str, Any]], dict[tuple[str, str, str], dict[str, Any]]]:
    """All of it: nodes by id, edges by kind and ends."""
    nodes: dict[str, dict[str, Any]] = {}
    for kind in schema.NODES:
        for (node,) in store.query(f"MATCH (n:{kind.name}) RETURN n AS n").rows:
            assert isinstance(node, dict)
            nodes[str(node["id"])] = {key: value for key, value in node.items() if value is not None}
    edges: dict[tuple[str, str, str], dict[str, Any]] = {}
    by_kind: dict[str, list[str]] = {}
    for identity in nodes:
        by_kind.setdefault(schema.kind_of(identity), []).append(identity)
    for identities in by_kind.values():
        for row in store.expand(identities, list(schema.EDGE_KINDS)):
            assert (row.kind, row.tail, row.head) not in edges, "an edge is there twice"
            edges[(row.kind, row.tail, row.head)] = dict(row.fields)
    return nodes, edges


def taken(store: Location, *files: Path) -> Any:
    """The graph after ingesting the files, each in a run of its own."""
    for file in files:
        with open_store(store, write=True) as opened:
            ingest(opened, [file])
    with open_store(store) as opened:
        return graph(opened)


@pytest.fixture(scope="module")
def whole(run: Path, new_module_location: NewLocation) -> Any:
    return taken(new_module_location(), *(run / name for name in FILES))


@pytest.mark.parametrize(
    "order", list(itertools.permutations(FILES))[1:], ids=lambda order: ">".join(name[:3] for name in order)
)
def test_the_order_of_sources_does_not_matter(
    run: Path, whole: Any, location: Location, order: tuple[str, ...]
) -> None:
    nodes, edges = taken(location, *(run / name for name in order))
    assert nodes == whole[0]
    assert edges == whole[1]


def test_all_at_once_is_the_same(run: Path, whole: Any, location: Location) -> None:
    assert taken(location, run) == whole


def test_twice_is_once(run: Path, whole: Any, location: Location) -> None:
    assert taken(location, run, run) == whole


def test_a_copy_elsewhere_or_compressed_is_the_same_source(
    run: Path, whole: Any, tmp_path: Path, location: Location
) -> None:
    taken(location, run)
    other = tmp_path / "elsewhere"
    other.mkdir()
    shutil.copy(recording("codex-egress-public") / "syscalls.strace.zst", other / "renamed.zst")
    with open_store(location, write=True) as store:
        reports = [
            Intake(store).take(source)
            for source in sources.discover([str(other)])
            if isinstance(source, sources.Source)
        ]
    assert [(report.lines, report.new) for report in reports] == [(0, False)]


@pytest.mark.parametrize("seed", range(4))
def test_files_that_grow_give_the_graph_of_the_whole(
    run: Path, whole: Any, tmp_path: Path, location: Location, seed: int
) -> None:
    """Each file is ingested at several random lengths, also in the middle of a line."""
    chance = random.Random(seed)
    grown = tmp_path / "run"
    grown.mkdir()
    first = {name: (run / name).read_bytes().index(b"\n") + 1 for name in FILES}
    cuts = {
        name: sorted(chance.randrange(first[name], (run / name).stat().st_size) for _ in range(2)) for name in FILES
    }
    for stage in range(3):
        for name in FILES:
            data = (run / name).read_bytes()
            (grown / name).write_bytes(data[: cuts[name][stage]] if stage < 2 else data)
        with open_store(location, write=True) as store:
            ingest(store, [grown])
    with open_store(location) as store:
        nodes, edges = graph(store)
    uris = {node: fields.pop("uri") for node, fields in nodes.items() if node.startswith("source:")}
    assert len(uris) == 3
    expected = {
        node: {key: value for key, value in fields.items() if key != "uri" or not node.startswith("source:")}
        for node, fields in whole[0].items()
    }
    assert nodes == expected
    assert edges == whole[1]


def test_a_file_that_changed_before_the_place_reached_is_refused(run: Path, tmp_path: Path, location: Location) -> None:
    changed = tmp_path / "rollout.jsonl"
    lines = (run / "rollout.jsonl").read_bytes().splitlines(keepends=True)
    changed.write_bytes(b"".join(lines[:10]))
    taken(location, changed)
    lines[5] = lines[5].replace(b"turn", b"TURN")
    changed.write_bytes(b"".join(lines))
    with open_store(location, write=True) as store:
        reports = _reports(store, changed)
    assert reports[0].lines == 0
    assert "changed before" in reports[0].note


def _reports(store: Store, *paths: Path) -> list[Report]:
    intake = Intake(store)
    found = [
        intake.take(source)
        for source in sources.discover([str(path) for path in paths])
        if isinstance(source, sources.Source)
    ]
    intake.finish()
    return found


_CHILD = """
import sys
from provenance import intake
from provenance.store import open_store
from tests.ingested import ingest
intake.COMMIT_LINES = 4000
import ingest.reading
ingest.reading.BLOCK_SIZE = 100_000
with open_store(sys.argv[1], write=True) as store:
    print("open", flush=True)
    ingest_paths = sys.argv[2:]
    from tests import ingested
    ingested.ingest(store, ingest_paths)
"""


def test_killed_at_any_moment_nothing_is_lost_or_doubled(run: Path, whole: Any, location: Location) -> None:
    root = Path(__file__).resolve().parent.parent
    chance = random.Random(7)
    command = [sys.executable, "-c", _CHILD.replace("from tests.ingested import ingest\n", ""), str(location), str(run)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    killed = 0
    for _ in range(6):
        child = subprocess.Popen(
            command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(chance.uniform(0.02, 0.9))
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            killed += 1
        child.wait()
        child.stdout.close()
    assert killed
    assert taken(location, run) == whole


def test_every_line_is_accounted_for(run: Path, tmp_path: Path, location: Location) -> None:
    """Noise in a trace and in a rollout is counted with its place; the rest is as without it."""
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    lines = (run / "syscalls.strace").read_bytes().splitlines(keepends=True)
    lines[500:500] = [b"a program's own words\n", b"\x00\x00\xff\xfe\n"]
    (noisy / "syscalls.strace").write_bytes(b"".join(lines))
    rollout = (run / "rollout.jsonl").read_bytes().splitlines(keepends=True)
    rollout[5:5] = [b"{not json\n", b'{"timestamp":"2026-11-30T22:51:27.314Z","type":"from_the_future","payload":{}}\n']
    (noisy / "rollout.jsonl").write_bytes(b"".join(rollout))
    with open_store(location, write=True) as store:
        reports = {report.format: report for report in _reports(store, noisy)}
        gaps = store.query(
            "MATCH (g:Gap)-[:ABOUT]->(s:Source) RETURN g.about AS about, g.count AS count, g.detail AS detail"
        ).dicts()
    assert sum(reports["strace"].skipped.values()) == 2
    assert sum(reports["codex-rollout"].skipped.values()) == 2
    assert sum(int(str(gap["count"])) for gap in gaps) == 4
    assert any("line 501" in str(gap["detail"]) for gap in gaps)


def test_two_sources_that_begin_alike_are_two(run: Path, tmp_path: Path, location: Location) -> None:
    other = tmp_path / "other.jsonl"
    lines = (run / "rollout.jsonl").read_bytes().splitlines(keepends=True)
    other.write_bytes(b"".join([lines[0], *lines[8:]]))
    with open_store(location, write=True) as store:
        reports = _reports(store, run / "rollout.jsonl", other)
        assert store.counts()["Source"] == 2
    assert [report.new for report in reports] == [True, True]
    assert reports[1].lines == len(lines) - 7


def test_a_truncated_compressed_source_is_not_complete(run: Path, tmp_path: Path, location: Location) -> None:
    import gzip

    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress((run / "rollout.jsonl").read_bytes())[:2500])
    with open_store(location, write=True) as store:
        (report,) = _reports(store, cut)
        assert store.query("MATCH (s:Source) RETURN s.complete AS complete").rows == [(False,)]
    assert "truncated compressed stream" in report.skipped
