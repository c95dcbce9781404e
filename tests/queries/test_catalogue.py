"""The catalogue: every file in its form. `tests/test_cypher_lint.py` holds the texts to the common subset, and
`tests/conformance/` says the rows that must come."""

from __future__ import annotations

import re

import pytest

from queries import Query, catalogue, find, parse
from tests.shared import ROOT

every_query = pytest.mark.parametrize("query", catalogue().values(), ids=lambda query: query.id)


def test_every_file_is_in_the_catalogue() -> None:
    files = {path.relative_to(ROOT / "queries").with_suffix("") for path in (ROOT / "queries").rglob("*.cypher")}
    assert {file.as_posix() for file in files if file.parts[0] != "sufficiency"} == set(catalogue())


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
