"""Who may import whom, how long a module may be, and that each says what it is for. Read from the syntax tree: nothing runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

PACKAGES = ("provenance", "ingest", "queries", "explorer")
LONGEST = 450
LONGER: dict[str, str] = {
    "provenance/schema.py": "the one declaration of all node and edge kinds: a table, read as one",
    "provenance/records.py": "one record type after the other: the vocabulary between parsers and weaver",
    "provenance/intake.py": "one writer: what is committed together is put together in one place",
    "provenance/store/embedded/store.py": "one class: the connections, transactions and recovery of one engine hang together",
    "ingest/effects/strace_calls.py": "one decoder a system call, and the table of them",
    "provenance/weave/effects.py": "one handler an effect record, over one trace's state",
    "provenance/weave/tracegraph.py": "one class: the rules that keep a trace's graph acyclic hang together",
}
"""Modules that may be longer than LONGEST lines, each with the reason."""

INGEST_MAY = ("ingest", "provenance.records", "provenance.identity", "provenance.errors", "provenance.redaction")
COMPOSITION = ("provenance/cli.py", "provenance/commands/")
"""The only places in `provenance` that know the ingestors and the explorer."""

ENGINES: dict[str, tuple[str, ...]] = {
    "neo4j": ("provenance/store/neo4j/",),
    "ladybug": ("provenance/store/embedded/",),
    "dash": ("explorer/",),
}
"""Third-party packages that one part of ours owns: package, beginnings of the paths that may import it."""


def modules() -> list[str]:
    """Every module of ours, as a path from the project's folder."""
    return sorted(
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "__pycache__" not in path.parts
    )


def imported(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything imported anywhere, also inside functions, `if TYPE_CHECKING` and by name."""
    package = Path(module).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *filter(None, [node.module])))
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("import_module", "importlib.import_module"):
            for argument in node.args[:1]:
                # Text that is put together at run time counts by its beginning.
                text = argument.values[0] if isinstance(argument, ast.JoinedStr) and argument.values else argument
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield node.lineno, text.value


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def forbidden(module: str, name: str) -> str | None:
    """Why the module may not import the name; None where it may."""
    for package, owners in ENGINES.items():
        if within(name, (package,)) and not module.startswith(owners):
            return f"only {', '.join(owners)} may import {package}"
    ours = within(name, PACKAGES)
    part = module.partition("/")[0]
    if part == "queries" and ours and not within(name, ("queries",)):
        return "queries import nothing of ours"
    if part == "ingest" and ours and not within(name, INGEST_MAY):
        return f"ingest may import only {', '.join(INGEST_MAY)}"
    if part == "provenance" and within(name, ("ingest", "explorer")) and not module.startswith(COMPOSITION):
        return f"only {', '.join(COMPOSITION)} may import ingest and explorer"
    if part == "explorer" and within(name, ("ingest",)):
        return "the explorer reads stores, never sources"
    return None


def breaches(source: str, module: str) -> list[str]:
    return [
        f"{module}:{line} imports {name}: {reason}"
        for line, name in imported(ast.parse(source), module)
        if (reason := forbidden(module, name))
    ]


@pytest.mark.parametrize("module", modules())
def test_imports_keep_the_layers(module: str) -> None:
    assert not breaches((ROOT / module).read_text(), module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("queries/catalogue.py", "from provenance.errors import UsageError"),
        ("ingest/turns/codex_rows.py", "from provenance import schema"),
        ("ingest/turns/codex_rows.py", "from provenance.store import open_store"),
        ("ingest/interface.py", "import explorer.app"),
        ("provenance/weave/sessions.py", "from ingest.registry import detect"),
        ("provenance/weave/sessions.py", "def late():\n    import ingest.registry"),
        ("provenance/weave/sessions.py", "import importlib\nimportlib.import_module('ingest.registry')"),
        ("provenance/weave/sessions.py", "from importlib import import_module\nimport_module(f'explorer.{1}')"),
        ("provenance/weave/sessions.py", "from ...ingest import registry"),
        ("provenance/slices.py", "import ladybug"),
        ("provenance/store/embedded/store.py", "from neo4j import GraphDatabase"),
        ("provenance/cli.py", "import dash"),
        ("explorer/reads.py", "from ingest.interface import Head"),
    ],
)
def test_the_rule_finds_what_it_forbids(module: str, source: str) -> None:
    assert breaches(source, module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ingest/turns/codex_rows.py", "from provenance import records as r\nfrom provenance.identity import digest"),
        ("ingest/turns/codex_rows.py", "from . import lines\nfrom ..content import redacted"),
        ("provenance/cli.py", "from ingest.registry import detect"),
        ("provenance/commands/ingest.py", "import ingest.registry, explorer"),
        ("provenance/weave/sessions.py", "import queries.catalogue, ingestion, dashboard"),
        ("explorer/app.py", "import dash\nfrom provenance.store import open_store"),
    ],
)
def test_the_rule_lets_the_rest_pass(module: str, source: str) -> None:
    assert not breaches(source, module)


@pytest.mark.parametrize("module", modules())
def test_every_module_says_what_it_is_for(module: str) -> None:
    tree = ast.parse((ROOT / module).read_text())
    if tree.body:  # an empty __init__.py has nothing to explain
        assert ast.get_docstring(tree), f"{module} has no docstring"


def test_no_module_is_too_long() -> None:
    lengths = {module: (ROOT / module).read_text().count("\n") for module in modules()}
    assert not {module: length for module, length in lengths.items() if length > LONGEST and module not in LONGER}


def test_exceptions_to_length_are_still_needed() -> None:
    for module, reason in LONGER.items():
        path = ROOT / module
        assert reason
        assert not path.exists() or path.read_text().count("\n") > LONGEST, (
            f"{module} is short enough now: remove it here"
        )
