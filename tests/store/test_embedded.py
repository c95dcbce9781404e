"""What is particular to the embedded store: its folder, its processes, and what it survives."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from graphs import content, small
from hammering import BATCH, check, commit

from provenance import schema
from provenance.changes import Changes
from provenance.errors import StoreError, StoreLocked, StoreTooNew
from provenance.store import open_store
from provenance.store.embedded import migrations, statements
from provenance.store.embedded import store as embedded

HERE = Path(__file__).parent


def program(name: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE / f"{name}.py"), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


# The folder and its address


@pytest.mark.parametrize("form", [str, Path, "file:{}".format, "file://{}".format, "ladybug:{}".format])
def test_a_folder_has_several_names(tmp_path: Path, form: Callable[[Path], str | Path]) -> None:
    with open_store(form(tmp_path / "a b"), write=True) as store:
        store.apply(small())
        assert store.writable
    with open_store(store.uri) as store:
        assert store.counts()["Artifact"] == 2
        assert not store.writable
        with pytest.raises(StoreError, match="reading only"):
            store.apply(small())


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("http://host/x", "no store for http: URIs"),
        ("file://elsewhere/x", "another machine"),
    ],
)
def test_other_addresses_are_refused(uri: str, words: str) -> None:
    with pytest.raises(StoreError, match=words) as caught:
        open_store(uri, write=True)
    assert "secret" not in str(caught.value)


def test_reading_needs_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        open_store(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(StoreError, match="is not a store"):
        open_store(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"notes\.txt"):
        open_store(tmp_path, write=True)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_store_whose_making_was_cut_short_is_finished(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    open_store(folder, write=True).close()
    for path in folder.glob("graph.lbug*"):
        path.unlink()
    with pytest.raises(StoreError, match="never finished"):
        open_store(folder)
    (folder / "commits").unlink()
    with pytest.raises(StoreError, match="for writing once"):
        open_store(folder)
    with open_store(folder, write=True) as store:
        store.apply(small())
    with open_store(folder) as store:
        assert store.counts()["Artifact"] == 2


# Versions


def test_a_newer_schema_is_refused_and_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "store"
    with monkeypatch.context() as newer:
        newer.setattr(schema, "VERSION", schema.VERSION + 1)
        with open_store(folder, write=True) as store:
            store.apply(small())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for write in (False, True):
        with pytest.raises(StoreTooNew, match="newer program"):
            open_store(folder, write=write)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    marker = json.loads((folder / "store.json").read_text())
    (folder / "store.json").write_text(json.dumps(marker | {"schema": schema.VERSION}))  # it may lag behind the graph
    for write in (False, True):
        with pytest.raises(StoreTooNew, match="newer program"):
            open_store(folder, write=write)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    open_store(tmp_path / "store", write=True).close()
    marker = tmp_path / "store" / "store.json"
    marker.write_text(json.dumps({"format": 2, "schema": 1}))
    with pytest.raises(StoreTooNew):
        open_store(tmp_path / "store")
    marker.write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        open_store(tmp_path / "store", write=True)


def test_an_older_store_gets_what_the_schema_has_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "store"
    process, artifact = schema.NODE_KINDS["Process"], schema.NODE_KINDS["Artifact"]
    used = schema.EDGE_KINDS["USED"]
    with monkeypatch.context() as older:  # a schema with fewer kinds, fields and ends
        fewer = (
            schema.NodeKind("Process", "", process.fields[:-3], "", "", ""),
            artifact,
            *(kind for kind in schema.NODES if kind.name not in ("Process", "Artifact", "Access")),
        )
        ends = {kind.name for kind in fewer}
        edges = tuple(
            schema.EdgeKind(kind.name, "", tuple(e for e in kind.endpoints if ends.issuperset(e)), kind.flow, "", "")
            for kind in schema.EDGES
            if kind.name != "CONSULTED"
        )
        older.setattr(schema, "NODES", fewer)
        older.setattr(schema, "EDGES", edges)
        older.setattr(schema, "NODE_KINDS", {kind.name: kind for kind in fewer})
        older.setattr(schema, "EDGE_KINDS", {kind.name: kind for kind in edges})
        with open_store(folder, write=True) as store:
            old = Changes(nodes={"process:1": {"pid": 1}, "artifact:1": {}})
            old.link("USED", "process:1", "artifact:1", count=1)
            store.apply(old, {"weaver": b"kept"})

    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with pytest.raises(StoreError, match="no step leads"):
        open_store(folder, write=True)
    monkeypatch.setitem(migrations.STEPS, schema.VERSION, migrations.add_what_is_missing)
    with pytest.raises(StoreError, match="open it for writing once"):
        open_store(folder)
    with open_store(folder, write=True) as store:
        new = Changes(nodes={"process:1": {"end": 5}, "access:1": {"who": "me"}, "artifact:2": {}})
        new.link("CONSULTED", "process:1", "artifact:2")
        new.link("ABOUT", "access:1", "process:1")
        new.edge_updates["USED", "process:1", "artifact:1"] = {"last": 3}
        store.apply(new)
    with open_store(folder) as store:
        assert store.nodes(["process:1"])["process:1"] == {"id": "process:1", "pid": 1, "end": 5}
        assert store.expand(["process:1"], ["USED"])[0].fields == {"count": 1, "last": 3}
        assert store.state("weaver") == b"kept"
    assert json.loads((folder / "store.json").read_text())["schema"] == schema.VERSION
    assert used.endpoints


def test_migration_runs_each_step_once_in_order() -> None:
    ran: list[int] = []
    steps = {version: (lambda run, version=version: ran.append(version)) for version in (1, 2, 3, 4)}
    migrations.migrate(lambda text: [], 2, 4, steps)
    assert ran == [3, 4]
    with pytest.raises(StoreError, match="no step leads to version 5"):
        migrations.migrate(lambda text: [], 2, 6, steps | {6: steps[1]})
    assert ran == [3, 4]


def test_a_failing_migration_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "store"
    with open_store(folder, write=True) as store:
        store.apply(small())

    def broken(run: migrations.Run) -> None:
        run("ALTER TABLE Process ADD nonsense STRING")
        run("ALTER TABLE Nowhere ADD nonsense STRING")

    with monkeypatch.context() as newer:
        newer.setattr(schema, "VERSION", schema.VERSION + 1)
        newer.setitem(migrations.STEPS, schema.VERSION, broken)
        with pytest.raises(StoreError, match="Nowhere"):
            open_store(folder, write=True)
    with open_store(folder) as store:
        assert "nonsense" not in {row[0] for row in store.query(statements.list_columns("Process")).rows}


# Commits


def test_known_and_new_elements_mix_in_one_commit(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", write=True) as store:
        store.apply(small())
        more = small()
        more.put("process:h/1", name="renamed")
        more.put("process:h/2", argv=[], argv_truncated=True, cwd="/a, 'b' \"c\"\n\\")
        more.link("USED", "process:h/2", "artifact:h:/a.c@1", confidence=0.5)
        more.link("FORKED_FROM", "process:h/2", "process:h/1")
        store.apply(more)
        nodes, edges, doubled = content(store)
        assert doubled == []
        assert nodes["process:h/1"]["name"] == "renamed"
        assert nodes["process:h/2"]["argv"] == []
        assert nodes["process:h/2"]["cwd"] == "/a, 'b' \"c\"\n\\"
        assert edges["USED", "process:h/2", "artifact:h:/a.c@1"] == {"confidence": 0.5}
        assert edges["FORKED_FROM", "process:h/2", "process:h/1"] == {}
        assert len(edges) == 4


def test_an_interrupted_commit_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(tmp_path / "store", write=True) as store:
        store.apply(small(), {"weaver": b"1"})

        def interrupt(record: str) -> str:
            raise KeyboardInterrupt

        with monkeypatch.context() as interrupted:
            interrupted.setattr(statements, "write_record", interrupt)
            with pytest.raises(KeyboardInterrupt):
                store.apply(commit(1), {"weaver": b"2"})
        assert store.counts()["Process"] == 1
        assert store.state("weaver") == b"1"
        store.apply(commit(1), {"weaver": b"3"})
        assert store.counts()["Process"] == 1 + BATCH
        assert store.state("weaver") == b"3"


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    filling = program("filling", tmp_path / "store")
    output, errors = filling.communicate(timeout=120)
    assert filling.returncode == 0, output + errors
    assert output.count("cannot ") == 3, output


def test_a_nearly_full_disk_is_refused_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(tmp_path / "store", write=True) as store:
        monkeypatch.setattr(embedded, "ROOM", 2**60)
        with pytest.raises(StoreError, match="nearly full"):
            store.apply(small())
        assert store.counts() == {}


# Several processes


def test_a_second_writer_learns_who_the_first_is(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with open_store(folder, write=True), pytest.raises(StoreLocked, match=f"process {os.getpid()} is writing"):
        open_store(folder, write=True)
    open_store(folder, write=True).close()

    writer = program("hammering", "write", folder, 60)
    assert writer.stdout is not None
    writer.stdout.readline()
    with pytest.raises(StoreLocked, match=f"process {writer.pid} is writing"):
        open_store(folder, write=True)
    writer.kill()
    writer.communicate()
    with open_store(folder, write=True) as store:
        check(store, 1)


def test_a_reader_sees_state_and_graph_of_the_last_commit(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", write=True) as writer, open_store(tmp_path / "store") as reader:
        for number in range(1, 4):
            writer.apply(commit(number), {"number": str(number).encode(), "once": b"x" if number == 1 else None})
            assert reader.state("number") == str(number).encode()
            assert reader.states() == {"number": str(number).encode()} | ({"once": b"x"} if number == 1 else {})
            assert reader.counts()["Process"] == number * BATCH


def test_a_reader_goes_on_when_the_writer_closes(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", write=True) as writer:
        writer.apply(commit(1))
        reader = open_store(tmp_path / "store")
        writer.apply(commit(2))
    assert check(reader, 1) == 2
    with open_store(tmp_path / "store", write=True) as writer:
        writer.apply(commit(3))
    assert check(reader, 2) == 3
    reader.close()


def test_threads_share_a_reader(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", write=True) as writer, open_store(tmp_path / "store") as reader:
        writer.apply(commit(1))
        failed: list[BaseException] = []

        def read() -> None:
            try:
                last = 0
                for _ in range(15):
                    last = check(reader, last)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(2, 12):
            writer.apply(commit(number) if number % 4 else _with_padding(number))
        for thread in threads:
            thread.join()
        assert failed == []


def _with_padding(number: int) -> Changes:
    changes = commit(number)
    for place in range(20_000):
        changes.put(f"gap:pad/{number}.{place}", detail="y" * 800)
    return changes


def test_readers_and_a_writer_at_full_speed(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with open_store(folder, write=True) as store:
        store.apply(commit(1), {"number": b"1", "blob": b"\1" * 200_000})
    seconds = 8
    writer = program("hammering", "write", folder, seconds)
    readers = [program("hammering", "read", folder, seconds, seed) for seed in range(3)]
    for process in (writer, *readers):
        output, errors = process.communicate(timeout=seconds + 60)
        assert process.returncode == 0, errors
        if process is not writer:
            reads, last = map(int, output.split())
            assert reads > 5
            assert last > 1


def test_a_killed_writer_loses_no_commit_it_had_finished(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    draw = random.Random(0)
    last = 0
    for attempt in range(10):
        writer = program("hammering", "write", folder, 60)
        assert writer.stdout is not None
        seen = int(writer.stdout.readline())
        time.sleep(draw.random() * 0.7)
        writer.send_signal(signal.SIGKILL)
        done = writer.communicate()[0].split()
        seen = int(done[-1]) if done else seen
        assert seen > last
        with open_store(folder, write=attempt % 2 == 1) as store:
            last = check(store, seen)
            assert last in (seen, seen + 1)
            assert store.state("number") == str(last).encode()
            assert store.state("blob") == bytes([last % 256]) * 200_000


def test_the_end_of_a_log_that_was_never_committed_is_cut_off(tmp_path: Path) -> None:
    """A writer may die inside the write of its log; the engine itself can crash on what that leaves."""
    folder = tmp_path / "store"
    writer = program("hammering", "write", folder, 60)
    assert writer.stdout is not None
    seen = int(writer.stdout.readline())
    writer.kill()
    seen = int((writer.communicate()[0].split() or [seen])[-1])
    log = folder / "graph.lbug.wal"
    good = log.read_bytes()
    for tail in (b"\0", b"\xff" * 5_000, good[:2_000], good[-3_000:-1]):
        with log.open("ab") as file:
            file.write(tail)
        with open_store(folder) as store:
            assert check(store, seen) in (seen, seen + 1)
        if not log.exists():
            break
