"""The catalogue: every file in its form, within the schema, in the common subset, and with the right rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from provenance import schema
from provenance.cypher import Token, tokens_of
from provenance.store import Store, open_store
from queries import Query, catalogue, find, parse
from tests import handmade as g
from tests.shared import ROOT

QUERIES = list(catalogue().values())
every_query = pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.id)

GIVEN: dict[str, dict[str, str | int]] = {
    "lineage/artifact-sources": {"artifact": g.file("upload.txt")},
    "lineage/file-history": {"path": f"{g.WS}/src/app.py"},
    "lineage/call-touched": {"call": g.call("c1")},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("queries") / "store", write=True) as opened:
        opened.apply(g.changes())
        yield opened


def asked(store: Store, name: str, **more: str | int) -> list[dict[str, Any]]:
    query = find(name)
    return store.query(query.text, query.values({**GIVEN.get(query.id, {}), **more})).dicts()


# ----------------------------------------------------------------------------------------------------------------------
# Form


def test_every_file_is_in_the_catalogue() -> None:
    files = {
        path.relative_to(ROOT / "queries").with_suffix("").as_posix() for path in (ROOT / "queries").rglob("*.cypher")
    }
    assert files == set(catalogue())
    assert len(files) >= 12


@every_query
def test_kinds_and_fields_are_declared(query: Query) -> None:
    tokens = tokens_of(query.text)
    variables: dict[str, set[str]] = {}
    for place, token in enumerate(tokens):
        if token.text not in (":", "|") or place == 0:
            continue
        name = tokens[place + 1].text
        kind = _bracket(tokens, place)
        if kind == "(":
            assert name in schema.NODE_KINDS, name
            declared = set(schema.NODE_KINDS[name].by_name)
        elif kind == "[":
            assert name in schema.EDGE_KINDS, name
            declared = set(schema.EDGE_KINDS[name].by_name)
        else:
            continue
        if tokens[place - 1].kind == "word":
            variables.setdefault(tokens[place - 1].text, set()).update(declared)
    for place, token in enumerate(tokens[:-2]):
        if token.kind == "word" and tokens[place + 1].text == "." and token.text in variables:
            assert tokens[place + 2].text.strip("`") in variables[token.text], f"{token.text}.{tokens[place + 2].text}"


def _bracket(tokens: list[Token], place: int) -> str:
    """The bracket that is open at a place."""
    depth = 0
    for token in reversed(tokens[:place]):
        if token.text in (")", "]", "}"):
            depth += 1
        elif token.text in ("(", "[", "{"):
            if depth == 0:
                return token.text
            depth -= 1
    return ""


@every_query
def test_it_keeps_to_the_common_subset(query: Query) -> None:
    text = query.text
    assert not re.search(r"\[\s*\w+\s+IN\b", text), "list comprehension"
    assert not re.search(r"\*\s*(\]|\.\.\s*\])", text), "a path without bound"
    assert not re.search(r"\b(CALL|FOREACH|reduce|shortestPath|labels|properties|substring)\b", text)
    assert not re.search(r"WHERE[^\n]*\b\w+:[A-Z]\w+\b(?![^\n]*\))", text), "label in WHERE"
    first = re.search(r"MATCH \((\w*)(:\w+)?", text)
    assert first is not None
    assert first[2], "the anchor has no label"


@every_query
def test_it_orders_its_rows_where_it_can(query: Query) -> None:
    assert query.ordered == bool(re.search(r"^ORDER BY \w", query.text, re.MULTILINE))


@every_query
def test_parameters_are_those_of_the_text(query: Query) -> None:
    assert set(re.findall(r"\$(\w+)", query.text)) == {parameter.name for parameter in query.parameters}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("// title: a\n// question: b\nRETURN 1", "columns"),
        ("// title: a\n// question: b\n// :column x - y\n", "text"),
        ("// titel: a\nRETURN 1", "line 1"),
        ("// title: a\n// :param x: number - y\nRETURN 1", "line 2: no type"),
        ('// title: a\n// :param x: integer = "1" - y\nRETURN 1', "line 2: the default"),
    ],
)
def test_a_file_that_breaks_the_form_is_refused(content: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse("a/b", content)


def test_values_are_checked() -> None:
    query = parse(
        "a/b",
        "// title: a\n// question: b\n// :param n: integer = 3 - c\n// :param s: string - d\n// :column x - y\nRETURN $n",
    )
    assert query.values({"s": "1"}) == {"n": 3, "s": "1"}
    assert query.values({"s": "1", "n": "7"}) == {"n": 7, "s": "1"}
    for wrong, said in (
        ({}, "needs s"),
        ({"s": "1", "n": "x"}, "whole number"),
        ({"s": "1", "t": "2"}, "no parameter t"),
    ):
        with pytest.raises(ValueError, match=said):
            query.values(wrong)


def test_find_takes_a_name_alone() -> None:
    assert find("sessions").id == "population/sessions"
    assert find("audit/gaps").id == "audit/gaps"
    with pytest.raises(KeyError):
        find("nothing")


# ----------------------------------------------------------------------------------------------------------------------
# Rows


@every_query
def test_it_runs_and_gives_the_columns_it_names(query: Query, store: Store) -> None:
    rows = store.query(query.text, query.values(GIVEN.get(query.id, {})))
    assert rows.columns == tuple(column.name for column in query.columns)
    assert rows.rows or query.id in ("audit/troubled-calls", "audit/writes-outside-workspace")


def test_artifact_sources(store: Store) -> None:
    assert [(row["how"], row["source"], row["bytes"]) for row in asked(store, "artifact-sources")] == [
        ("DERIVED_FROM", g.file("notes.txt"), 37),
        ("GENERATED_BY", g.CP, 37),
        ("REVISION_OF", g.file("upload.txt", 0), None),
    ]


def test_file_history(store: Store) -> None:
    assert [(row["version"], row["call"]) for row in asked(store, "file-history")] == [(1, None), (2, g.call("c2"))]


def test_call_touched(store: Store) -> None:
    did = {(row["did"], row["what"]) for row in asked(store, "call-touched") if row["class"] != "toolchain"}
    assert did == {
        ("read", f"{g.WS}/script.sh"), ("read", f"{g.WS}/notes.txt"), ("read", f"{g.WS}/upload.txt"),
        ("wrote", f"{g.WS}/upload.txt"), ("sent", "10.0.0.9:80"), ("received", "10.0.0.9:80"),
    }  # fmt: skip


def test_reported_and_done(store: Store) -> None:
    rows = {row["call"]: (row["processes"], row["wrote"], row["sent"]) for row in asked(store, "reported-and-done")}
    assert rows == {g.call("c0"): (1, 0, 0), g.call("c1"): (3, 1, 192), g.call("c2"): (0, 1, 0)}


def test_destinations(store: Store) -> None:
    rows = [(row["address"], row["origin"], row["bytes"]) for row in asked(store, "destinations")]
    assert rows == [("10.0.0.1:443", g.SESSION, 192), ("10.0.0.9:80", g.call("c1"), 192)]
    assert asked(store, "destinations", scope="public") == []


def test_secrets_touched(store: Store) -> None:
    assert [(row["did"], row["command"], row["origin"]) for row in asked(store, "secrets-touched")] == [
        ("read", "/bin/cat", g.call("c0"))
    ]


def test_unattributed_effects(store: Store) -> None:
    assert {row["target"] for row in asked(store, "unattributed-effects")} == {g.file("state.json"), g.MODEL_FLOW}


def test_claims_and_checks(store: Store) -> None:
    rows = {row["outcome"]: row for row in asked(store, "claims-and-checks")}
    assert rows["outcome:s1/claimed"]["contradicts"] == ["outcome:s1/checked"]
    assert rows["outcome:s1/checked"]["about"] == g.call("c1")
    assert rows["outcome:s1/claimed"]["judge"] == "agent's own words"


@pytest.mark.parametrize(("session", "count"), [("", 1), (g.SESSION, 1), ("session:s1/sub", 0), ("session:none", 0)])
def test_gaps(store: Store, session: str, count: int) -> None:
    assert len(asked(store, "gaps", session=session)) == count


def test_sessions_and_delegation(store: Store) -> None:
    rows = {row["session"]: row for row in asked(store, "sessions")}
    assert (rows[g.SESSION]["calls"], rows[g.SESSION]["contradicted"], rows[g.SESSION]["covered"]) == (3, 1, 1)
    assert [(row["session"], row["delegated_by"], row["parent"]) for row in asked(store, "delegation")] == [
        ("session:s1/sub", g.call("c2"), g.SESSION)
    ]


def test_writes_outside_and_troubled_calls(tmp_path_factory: pytest.TempPathFactory) -> None:
    changes = g.changes()
    changes.put("artifact:h:/etc/x@t.1", path="/etc/x", version=1, **{"class": "file"})
    changes.link("GENERATED_BY", "artifact:h:/etc/x@t.1", g.CP, rule="create")
    changes.put("artifact:h:/home/a/wsx@t.1", path="/home/a/wsx", version=1, label="agent_state", **{"class": "file"})
    changes.link("GENERATED_BY", "artifact:h:/home/a/wsx@t.1", g.CP, rule="create")
    changes.put(g.call("c2"), status="refused", error="not allowed")
    with open_store(tmp_path_factory.mktemp("outside") / "store", write=True) as opened:
        opened.apply(changes)
        assert [row["path"] for row in asked(opened, "writes-outside-workspace")] == ["/etc/x"]
        assert [(row["call"], row["error"]) for row in asked(opened, "troubled-calls")] == [
            (g.call("c2"), "not allowed")
        ]
