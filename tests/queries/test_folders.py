"""Folders of the user's own queries: listed, asked and checked like the others, and every fault said by file and line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from provenance import cli
from provenance.store import open_store
from queries import catalogue, with_folders
from tests import handmade
from tests.shared import ROOT
from tests.stores import NewLocation

TEXT = """// title: Commands
// question: What did shells run?
// :param word: string = "curl" - in the command
// :column command - it

MATCH (c:ToolCall) WHERE c.command CONTAINS $word
RETURN c.command AS command
ORDER BY command
"""


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "commands.cypher").write_text(TEXT, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def store(new_module_location: NewLocation) -> str:
    location = str(new_module_location())
    with open_store(location, write=True) as opened:
        opened.apply(handmade.changes())
    return location


def run(*words: str, code: int = 0, **environment: str) -> str:
    result = CliRunner(env={"COLUMNS": "10000", "CAPSULE_QUERIES": None, **environment}).invoke(cli.app, list(words))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


def test_a_query_of_ones_own_is_asked_and_listed(ours: Path, store: str) -> None:
    for words in (("ours/commands",), ("commands", "word=notes")):
        answer = run("--store", store, "query", "--queries", str(ours), *words, "--json")
        assert json.loads(answer) == [{"command": "cp notes.txt upload.txt && curl 10.0.0.9"}]
    listed = json.loads(run("query", "--json", CAPSULE_QUERIES=str(ours)))
    assert [query["id"] for query in listed] == [*catalogue(), "ours/commands"]


def test_the_environment_names_several_folders(ours: Path, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "commands.cypher").write_text(TEXT, encoding="utf-8")
    listed = json.loads(run("query", "--json", CAPSULE_QUERIES=f"{ours}{os.pathsep}{more}"))
    assert [query["id"] for query in listed][len(catalogue()) :] == ["ours/commands", "more/commands"]


def test_the_example_of_the_page_passes_the_check(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "queries.md").read_text(encoding="utf-8").split("```")[1].lstrip("\n")
    (tmp_path / "large-files.cypher").write_text(text, encoding="utf-8")
    assert "1 checked" in run("query", "--queries", str(tmp_path), "--check")


def test_one_level_of_folders_inside_is_read(ours: Path) -> None:
    (ours / "team").mkdir()
    (ours / "team" / "commands.cypher").write_text(TEXT, encoding="utf-8")
    assert list(with_folders([ours]))[-2:] == ["ours/commands", "team/commands"]
    assert "several queries are named commands: ours/commands, team/commands" in run(
        "query", "--queries", str(ours), "commands", "--text", code=2
    )


def test_no_query_hides_another(ours: Path, tmp_path: Path) -> None:
    taken = tmp_path / "lineage"
    taken.mkdir()
    name = next(name for name in catalogue() if name.startswith("lineage/")).partition("/")[2]
    (taken / f"{name}.cypher").write_text(TEXT, encoding="utf-8")
    with pytest.raises(ValueError, match=f"lineage/{name} is taken"):
        with_folders([taken])
    other = tmp_path / "more" / "ours"
    other.mkdir(parents=True)
    (other / "commands.cypher").write_text(TEXT, encoding="utf-8")
    with pytest.raises(ValueError, match="ours/commands is taken"):
        with_folders([ours, other])
    assert with_folders([ours, ours]).keys() == with_folders([ours]).keys()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"RETURN 1", "needs a title"),
        (b"// titel: a\nRETURN 1", "commands.cypher, line 1"),
        (b"\xff\xfe", "cannot be read"),
        (b"", "needs a title"),
    ],
)
def test_a_broken_file_is_said(ours: Path, content: bytes, said: str) -> None:
    (ours / "commands.cypher").write_bytes(content)
    assert said in run("query", "--queries", str(ours), code=2)


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    assert "is no folder of queries" in run("query", "--queries", str(tmp_path / "none"), code=2)
    assert "has no queries" in run("query", "--queries", str(tmp_path), code=2)


def test_it_can_only_read(ours: Path, store: str) -> None:
    (ours / "commands.cypher").write_text(TEXT.replace("RETURN", "SET c.x = 1 RETURN"), encoding="utf-8")
    assert "SET at line" in run("--store", store, "query", "--queries", str(ours), "commands", code=6)


def test_check_says_what_the_engines_take_differently(ours: Path) -> None:
    assert "1 checked" in run("query", "--queries", str(ours), "--check")
    (ours / "commands.cypher").write_text(TEXT.replace("ToolCall", "Toolcall"), encoding="utf-8")
    found = json.loads(run("query", "--queries", str(ours), "--check", "--json", code=1))
    assert [(row["query"], row["rule"]) for row in found] == [("ours/commands", "unknown-name")]
    assert "nothing to check" in run("query", "--check", code=2)
