"""The documentation against the program and the tree: links, paths, commands, queries, tables, and what must not be said."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.registry import formats
from provenance import cli_docs, schema
from provenance.store import open_store
from tests.shared import ROOT
from tests.stores import Location

PAGES = sorted(
    [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("docker/*.md"), *ROOT.glob("tests/data/*/*.md")]
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```[a-z]*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
CYPHER = re.compile(r"```cypher\n(.*?)```", re.DOTALL)
CALL = re.compile(
    r"(?:^|[\s/`|;&(])capsule((?:[ \t]+(?:--store[= ]\S+|--?[a-z-]+))*)[ \t]+([a-z][a-z-]*)(?:[ \t]+([a-z][a-z-]*))?"
)
TOP = ("provenance", "ingest", "queries", "explorer", "tests", "docs", "docker", "benchmarks", ".ci")
OURS = re.compile(rf"(?<![\w./-])((?:{'|'.join(map(re.escape, TOP))})/[\w./*-]*\w)")

PAGE_IDS = [page.relative_to(ROOT).as_posix() for page in PAGES]
every_page = pytest.mark.parametrize("page", PAGES, ids=PAGE_IDS)


def code(page: Path) -> Iterator[str]:
    """Code blocks and code words of a page."""
    for block, word in CODE.findall(page.read_text()):
        yield block or word


# ----------------------------------------------------------------------------------------------------------------------
# Links and paths


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    targets = [target for target in LINK.findall(page.read_text()) if not re.match(r"[a-z]+:|#", target)]
    assert not [target for target in targets if not (page.parent / target.partition("#")[0]).exists()]


@every_page
def test_paths_that_are_named_exist(page: Path) -> None:
    named = {path for text in code(page) for path in OURS.findall(text)}
    assert not [path for path in sorted(named) if not (list(ROOT.glob(path)) or list(page.parent.glob(path)))]


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    pages = {page.name for page in folder.glob("*.md")} - {"README.md"}
    assert pages == set(LINK.findall((folder / "README.md").read_text()))


# ----------------------------------------------------------------------------------------------------------------------
# Commands


def calls(text: str) -> list[tuple[str, ...]]:
    """The commands that a text calls, each as up to two words."""
    return [tuple(filter(None, found[1:])) for found in CALL.findall(text)]


def test_calls_are_found_where_they_stand() -> None:
    assert calls("capsule why x") == [("why", "x")]
    assert calls(".venv/bin/capsule --store build/demo gaps") == [("gaps",)]
    assert calls("capsule --store=a --json query egress") == [("query", "egress")]
    assert calls("evidence-capsule is; capsule --version; pip install capsule") == []


@every_page
def test_commands_that_are_named_are_real(page: Path) -> None:
    known = {path[1:] for path, _ in cli_docs.program()}
    groups = {path[:1] for path in known if len(path) > 1}
    called = [words for text in code(page) for words in calls(text)]
    assert not [words for words in called if words[:1] not in known or (words[:1] in groups and words not in known)]


def test_cli_page_is_what_the_program_says() -> None:
    page = ROOT / "docs" / "cli.md"
    assert page.read_text() == cli_docs.render(), "out of date: run `python -m provenance.cli_docs docs/cli.md`"


def test_every_command_and_parameter_is_explained() -> None:
    unexplained = [" ".join(path) for path, command in cli_docs.program() if not cli_docs.text_of(command.help)]
    for path, command in cli_docs.program():
        unexplained += [f"{' '.join(path)} {parameter.name}" for parameter in command.params if not parameter.help]
    assert not unexplained


# ----------------------------------------------------------------------------------------------------------------------
# The model and the formats

MODEL = ROOT / "docs" / "model.md"


@pytest.mark.parametrize("query", [query for page in PAGES for query in CYPHER.findall(page.read_text())])
def test_queries_of_the_pages_run(query: str, location: Location) -> None:
    for label in re.findall(r"\(\w*:(\w+)", query):
        assert label in schema.NODE_KINDS
    for kind in re.findall(r"\[\w*:(\w+)", query):
        assert kind in schema.EDGE_KINDS
    with open_store(location, write=True) as store:
        assert store.query(query).columns


def test_the_table_of_flows_is_the_schema() -> None:
    rows = re.findall(r"^\| (\w+) \| [^|]+ \| ((?:`[A-Z_]+`(?:, )?)+) \|$", MODEL.read_text(), re.MULTILINE)
    told = {flow: set(re.findall(r"`([A-Z_]+)`", kinds)) for flow, kinds in rows}
    assert told == {
        flow.value: {kind.name for kind in schema.edges_of_flow(flow)} for flow in schema.Flow if flow != "none"
    }


def test_kinds_of_the_model_page_are_declared() -> None:
    words = {word for text in code(MODEL) for word in re.findall(r"\b[A-Z][A-Za-z_]+\b", text) if "\n" not in text}
    assert words - {"PYTHON"} <= set(schema.NODE_KINDS) | set(schema.EDGE_KINDS)
    assert set(schema.NODE_KINDS) <= words, "kinds that the page does not name"


def test_every_format_has_its_row() -> None:
    rows = set(re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs" / "formats.md").read_text(), re.MULTILINE))
    assert rows == {known.name for known in formats()}


# ----------------------------------------------------------------------------------------------------------------------
# What no file may say

HOSTS = ("pypi.org", "pythonhosted.org", "npmjs.org", "npmjs.com", "maven.org", "golang.org", "crates.io", "docker.io")
"""Package indexes: which one is used is the reader's setting."""
UNWANTED = re.compile(
    r"(?<![\w./~-])/(?:work|root)(?=[/\s'\"`:)]|$)|" + "|".join(map(re.escape, HOSTS)), re.IGNORECASE | re.MULTILINE
)
SAYS_THEM = ("tests/test_docs.py",)


def tracked() -> list[str]:
    answer = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if answer.returncode:
        pytest.skip("not a git checkout")
    return [name for name in answer.stdout.split("\0") if name and not name.startswith("tests/data/")]


def test_no_file_names_a_machine_or_a_registry() -> None:
    found: list[str] = []
    for name in tracked():
        path = ROOT / name
        if name in SAYS_THEM or not path.is_file() or b"\0" in (data := path.read_bytes()):
            continue
        text = data.decode("utf-8", "replace")
        found += [f"{name}:{text.count(chr(10), 0, hit.start()) + 1}: {hit[0]}" for hit in UNWANTED.finditer(text)]
    assert not found


@pytest.mark.parametrize(
    "text", ["cd /work/main", "HOME=/root", "'/root/.local'", "https://pypi.org/simple", "at /work"]
)
def test_the_rule_finds_them(text: str) -> None:
    assert UNWANTED.search(text)


@pytest.mark.parametrize("text", ["/home/a/work/x", "file:///home/a/root", "/rootless", "./work/", "repo/root/x"])
def test_the_rule_leaves_others_alone(text: str) -> None:
    assert not UNWANTED.search(text)
