"""The command line: each command's answer in both forms, what goes where, exit codes, and no tracebacks."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from provenance import cli
from provenance.commands import output
from provenance.schema import NODE_KINDS
from provenance.store import open_store
from tests import handmade as g
from tests.ingested import recording
from tests.stores import Location, NewLocation

UPLOAD = "127.0.0.1:18090"


@pytest.fixture(scope="session")
def capsule() -> CliRunner:
    return CliRunner(env={"CAPSULE_STORE": None, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "10000"})


@pytest.fixture(scope="module")
def made(new_module_location: NewLocation) -> str:
    """A store with the graph made by hand."""
    folder = new_module_location()
    with open_store(folder, write=True) as store:
        store.apply(g.changes())
    return str(folder)


@pytest.fixture(scope="module")
def public(new_module_location: NewLocation, capsule: CliRunner) -> str:
    """A store with the recorded public upload, ingested by the command."""
    folder = str(new_module_location())
    result = capsule.invoke(cli.app, ["--store", folder, "ingest", str(recording("codex-egress-public"))])
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def broken(new_module_location: NewLocation, capsule: CliRunner) -> str:
    """A store with the recorded build break."""
    folder = str(new_module_location())
    result = capsule.invoke(cli.app, ["--store", folder, "ingest", str(recording("claude-build-break-source"))])
    assert result.exit_code == 0, result.output
    return folder


def ran(capsule: CliRunner, store: str, *words: str, code: int = 0, given: str | None = None) -> Any:
    result = capsule.invoke(cli.app, ["--store", store, *words], input=given)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def told(capsule: CliRunner, store: str, *words: str) -> Any:
    return json.loads(ran(capsule, store, *words, "--json").stdout)


# ----------------------------------------------------------------------------------------------------------------------
# why and impact


def test_why_answers_first(capsule: CliRunner, public: str) -> None:
    lines = ran(capsule, public, "why", UPLOAD).stdout.splitlines()
    assert lines[0] == (
        f"What was sent to {UPLOAD} (192 bytes) came from: README.md (version 0, from before the trace) via cp (copy_file_range 37 bytes) "
        "-> upload.txt@1 -> curl (read 37 bytes)"
    )
    assert lines[1].startswith("No path in this flow from what is labelled secret: .env")
    assert any(line.startswith("Not known:") for line in lines)
    assert any("toolchain files" in line for line in lines)


def test_why_in_json(capsule: CliRunner, public: str) -> None:
    answer = told(capsule, public, "why", UPLOAD)
    assert answer.keys() >= {"target", "flows", "origins", "nodes", "edges", "gaps"}
    (origin,) = [origin for origin in answer["origins"] if origin.get("class") == "file"]
    assert origin["path"].endswith("/README.md")
    assert (origin["kind"], origin["version"], origin["bytes_bound"]) == ("Artifact", 0, None)
    assert origin["path_ids"][-1] == origin["id"]
    ids = {node["id"] for node in answer["nodes"]}
    assert {node["kind"] for node in answer["nodes"]} <= set(NODE_KINDS)
    assert all({edge["tail"], edge["head"]} <= ids for edge in answer["edges"])
    assert all(edge["basis"] for edge in answer["edges"])


def test_why_of_a_failed_check_compares_it(capsule: CliRunner, broken: str) -> None:
    lines = ran(capsule, broken, "why", "toolu_5_0").stdout.splitlines()
    assert lines[0].startswith(
        "`make build` passed before (toolu_2_0). What differs and reached the failure: src/app.py ("
    )
    assert "py_compile" in lines[1]
    causes = told(capsule, broken, "why", "toolu_5_0")["comparison"]["causes"]
    assert [cause["path"] for cause in causes] == ["/home/agent/ws/src/app.py"]
    ran(capsule, broken, "why", "src/app.py", "--compare", code=2)


def test_secrets_are_marked(capsule: CliRunner, made: str) -> None:
    text = ran(capsule, made, "why", "10.0.0.9:80", "--flow", "content,decision").stdout
    assert ".env (version 1) [SECRET] [by decision, at most 12 bytes on one path]" in text
    assert "[SECRET]" not in ran(capsule, made, "why", "10.0.0.9:80").stdout


def test_impact(capsule: CliRunner, made: str) -> None:
    text = ran(capsule, made, "impact", "notes.txt").stdout
    assert text.splitlines()[0] == (
        "notes.txt (version 1) went to: via cp (copy_file_range 37 bytes) -> upload.txt@1 -> curl (read 37 bytes) "
        "-> 192 bytes to 10.0.0.9:80"
    )
    assert told(capsule, made, "impact", "notes.txt")["direction"] == "forward"


def test_gaps_of_a_path_are_said(capsule: CliRunner, made: str) -> None:
    text = ran(capsule, made, "why", "10.0.0.1:443").stdout
    assert "nothing it came from is known" in text
    assert "No path" not in text, "where an agent's memory hides the causes, absence says nothing"
    assert "through agent memory" in text
    assert [gap["reason"] for gap in told(capsule, made, "why", "10.0.0.1:443")["gaps"]] == ["through_agent_memory"]


def test_absence_is_said_with_its_limits(capsule: CliRunner, made: str) -> None:
    lines = ran(capsule, made, "why", "10.0.0.9:80").stdout.splitlines()
    assert lines[1] == (
        "No path in this flow from what is labelled secret: .env (as far as the trace could see: its gaps are below)."
    )


def test_a_bound_is_said_on_both_streams(capsule: CliRunner, made: str) -> None:
    result = ran(capsule, made, "why", "10.0.0.9:80", "--bound", "2")
    assert "cut off: stopped at 2 nodes" in result.stdout
    assert "--bound" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("why", "uplod.txt"), "did you mean /home/a/ws/upload.txt"),
        (("why", "10.0.0.9:80", "--flow", "bytes"), "there is no flow 'bytes'; there are content, argument"),
        (("gaps", "c1"), "is no session"),
        (("query", "destination"), "did you mean destinations"),
        (("query", "destinations", "x=1"), "has no parameter x"),
        (("query", "call-touched"), "needs call"),
        (("query", "destinations", "x"), "is not NAME=VALUE"),
        (("cypher", "MATCH (n:Nothing) RETURN n"), "Nothing"),
        (("cypher", "RETURN $x"), "needs a value for $x"),
        (("raw", "00000000:1"), "no source has the key"),
    ],
)
def test_wrong_calls_say_what_to_do(capsule: CliRunner, made: str, words: tuple[str, ...], said: str) -> None:
    result = ran(capsule, made, *words, code=2)
    assert result.stdout == ""
    first, hint = result.stderr.splitlines()
    assert first.startswith("capsule: ")
    assert said in first
    assert hint.startswith("  hint: ")


# ----------------------------------------------------------------------------------------------------------------------
# Queries


def test_cypher(capsule: CliRunner, made: str) -> None:
    text = "MATCH (a:Artifact) WHERE a.label = $label RETURN a.path AS path, a.version AS version"
    assert told(capsule, made, "cypher", text, "-p", "label=secret") == [{"path": f"{g.WS}/.env", "version": 1}]
    assert ".env" in ran(capsule, made, "cypher", text, "--params", "label=secret").stdout
    assert json.loads(ran(capsule, made, "cypher", "-", "--json", given="RETURN 1 AS one").stdout) == [{"one": 1}]
    assert told(capsule, made, "cypher", "UNWIND $x AS y RETURN y", "-p", "x=[1,2]") == [{"y": 1}, {"y": 2}]


def test_cypher_says_when_rows_are_left_out(capsule: CliRunner, made: str) -> None:
    result = ran(capsule, made, "cypher", "MATCH (a:Artifact) RETURN a.id", "--limit", "2", "--json")
    assert len(json.loads(result.stdout)) == 2
    assert "more than the 2 rows" in result.stderr


def test_cypher_is_guarded(capsule: CliRunner, made: str, tmp_path: Path) -> None:
    assert "CREATE at line 1, column 1" in ran(capsule, made, "cypher", "CREATE (n:Session {id: 'x'})", code=6).stderr
    target = tmp_path / "out.csv"
    ran(capsule, made, "cypher", f"COPY (MATCH (s:Session) RETURN s.id) TO '{target}'", code=6)
    assert not target.exists()


def test_queries_are_listed_and_run(capsule: CliRunner, made: str) -> None:
    listed = {query["id"] for query in told(capsule, made, "query")}
    assert "audit/destinations" in listed
    assert "audit/destinations" in ran(capsule, made, "query").stdout
    assert "MATCH" in ran(capsule, made, "query", "destinations", "--text").stdout
    assert len(told(capsule, made, "query", "destinations", "scope=private")) == 2
    by_name = told(capsule, made, "query", "call-touched", "call=c1")
    assert by_name == told(capsule, made, "query", "lineage/call-touched", "-p", f"call={g.call('c1')}")
    assert told(capsule, made, "query", "artifact-sources", "artifact=upload.txt")


# ----------------------------------------------------------------------------------------------------------------------
# What is there


def test_status(capsule: CliRunner, public: str) -> None:
    answer = told(capsule, public, "status")
    assert answer["nodes"]["Session"] == answer["sessions"] == 1
    assert {source["format"] for source in answer["sources"]} == {"codex-rollout", "codex-exec", "strace"}
    assert all(source["reachable"] and source["complete"] for source in answer["sources"])
    assert "still there" in ran(capsule, public, "status").stdout


def test_sessions_and_gaps(capsule: CliRunner, public: str, made: str) -> None:
    (session,) = told(capsule, public, "sessions")
    assert (session["agent"], session["calls"]) == ("codex", 3)
    assert "codex" in ran(capsule, public, "sessions").stdout
    assert "never_captured" in ran(capsule, public, "gaps").stdout
    assert len(told(capsule, made, "gaps", "s1")["gaps"]) == 1
    assert told(capsule, made, "gaps", "sub") == {"gaps": [], "coverage": []}


def test_raw_shows_the_line(capsule: CliRunner, public: str) -> None:
    (answer,) = told(capsule, public, "raw", "upload.txt")
    assert answer["present"]
    assert "upload.txt" in answer["text"]
    assert told(capsule, public, "raw", answer["ref"])[0]["text"] == answer["text"]
    result = ran(capsule, public, "raw", answer["ref"])
    assert result.stdout.strip() == answer["text"]
    assert "line" in result.stderr


def test_raw_says_when_the_line_is_gone(capsule: CliRunner, tmp_path: Path, location: Location) -> None:
    copy = tmp_path / "rollout.jsonl"
    shutil.copy(recording("codex-egress-public") / "rollout.jsonl", copy)
    store = str(location)
    ran(capsule, store, "ingest", str(copy))
    copy.unlink()
    (answer,) = told(capsule, store, "raw", "call_2")
    assert (answer["present"], answer["text"]) == (False, None)
    assert "no longer there" in ran(capsule, store, "raw", "call_2").stderr
    assert not told(capsule, store, "status")["sources"][0]["reachable"]


def test_schema(capsule: CliRunner, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    assert {node["name"] for node in told(capsule, nowhere, "schema")["nodes"]} == set(NODE_KINDS)
    assert ran(capsule, nowhere, "schema", "--markdown").stdout.startswith("# Schema")
    assert "GENERATED_BY" in ran(capsule, nowhere, "schema").stdout
    assert not Path(nowhere).exists()


# ----------------------------------------------------------------------------------------------------------------------
# ingest


def test_ingest_says_what_it_read_and_twice_is_once(capsule: CliRunner, location: Location) -> None:
    store, source = str(location), recording("codex-egress-public") / "rollout.jsonl"
    first = told(capsule, store, "ingest", str(source))
    (report,) = first["sources"]
    assert (report["format"], report["new"], report["lines"] > 0) == ("codex-rollout", True, True)
    before = told(capsule, store, "status")["nodes"]
    again = told(capsule, store, "ingest", str(source))
    assert (again["sources"][0]["new"], again["sources"][0]["lines"]) == (False, 0)
    assert told(capsule, store, "status")["nodes"] == before
    assert "nothing new" in ran(capsule, store, "ingest", str(source)).stdout


def test_ingest_names_what_cannot_be_read(capsule: CliRunner, tmp_path: Path, location: Location) -> None:
    store, missing = str(location), str(tmp_path / "missing.jsonl")
    assert f"{missing}: no such file" in ran(capsule, store, "ingest", missing, code=4).stderr
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("nothing of ours\n")
    assert "no known format" in ran(capsule, store, "ingest", str(tmp_path / "folder"), code=4).stderr


def test_a_file_that_cannot_be_read_keeps_no_other_out(capsule: CliRunner, tmp_path: Path, location: Location) -> None:
    store, source = str(location), recording("codex-egress-public") / "rollout.jsonl"
    ran(capsule, store, "ingest", str(tmp_path / "missing"), str(source), code=4)
    assert len(told(capsule, store, "sessions")) == 1


def test_following_takes_what_is_added_until_interrupted(
    capsule: CliRunner, tmp_path: Path, new_location: NewLocation
) -> None:
    lines = (recording("codex-egress-public") / "rollout.jsonl").read_bytes().splitlines(keepends=True)
    source, store = tmp_path / "rollout.jsonl", str(new_location())
    source.write_bytes(b"".join(lines[:10]))
    process = program("--store", store, "ingest", "--follow", str(source), stdout=subprocess.DEVNULL)
    assert process.stderr is not None
    assert b"following" in process.stderr.readline()
    with source.open("ab") as stream:
        stream.write(b"".join(lines[10:]))
    while b"rollout.jsonl" not in (told_ := process.stderr.readline()):
        assert told_, "it ended"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    process.stderr.close()
    once = str(new_location())
    ran(capsule, once, "ingest", str(source))
    assert told(capsule, store, "status")["nodes"] == told(capsule, once, "status")["nodes"]


# ----------------------------------------------------------------------------------------------------------------------
# The program as such


def test_a_store_that_is_not_there(capsule: CliRunner, tmp_path: Path) -> None:
    for words in (("status",), ("sessions",), ("why", "x"), ("gaps",), ("cypher", "RETURN 1")):
        result = ran(capsule, str(tmp_path / "none"), *words, code=3)
        assert "ingest" in result.stderr
    assert not (tmp_path / "none").exists()


def test_the_store_comes_from_the_environment_too(capsule: CliRunner, made: str) -> None:
    result = capsule.invoke(cli.app, ["status", "--json"], env={"CAPSULE_STORE": made})
    with open_store(made) as store:
        assert json.loads(result.stdout)["store"] == store.uri


def test_the_default_store_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert output.default_store() == tmp_path / "evidence-capsule" / "store"


def test_version_and_help(capsule: CliRunner) -> None:
    assert re.fullmatch(r"capsule \d+\.\d+\.\d+\n", capsule.invoke(cli.app, ["--version"]).stdout)
    text = capsule.invoke(cli.app, ["--help"]).output
    assert all(f"{code} {meaning}" in " ".join(text.split()) for code, meaning in cli.EXIT_CODES.items() if code < 3)
    assert "capsule why 127.0.0.1:18090" in capsule.invoke(cli.app, ["why", "-h"]).output


def test_control_characters_of_evidence_never_reach_a_terminal() -> None:
    assert output.clean("a\x1b[31mb\x9b\u202e\n") == "a\\x1b[31mb\\x9b\\u202e\n"
    assert output.short("one\n  two\x07" * 40, 9) == "one two\\…"


def program(*words: str, stdout: int) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONUNBUFFERED": "", "COLUMNS": ""}
    return subprocess.Popen(
        [sys.executable, "-m", "provenance.cli", *words], env=env, stdout=stdout, stderr=subprocess.PIPE
    )


def test_a_reader_that_goes_away_is_no_error(public: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = program("--store", public, "cypher", "MATCH (a:Artifact) RETURN a.id", stdout=writing)
    os.close(writing)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (141, b"")


def test_nothing_heavy_is_loaded_for_help() -> None:
    probe = "import sys, provenance.cli; print(sorted({'ladybug', 'pyarrow', 'rich.table', 'ingest.sources'} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_numbers_that_json_lacks_become_words(capsule: CliRunner, made: str) -> None:
    result = capsule.invoke(cli.app, ["--store", made, "cypher", "RETURN 1.0/0.0 AS x", "--json"])
    rows = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert rows == [{"x": "inf"}]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_an_answer_that_cannot_be_written_is_one_line(made: str) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "provenance.cli", "--store", made, "status"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert "No space left" in done.stderr
