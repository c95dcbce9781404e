"""Every query of the catalogue, asked of graphs that are known: the rows that must come."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from queries import Query, catalogue, find
from tests.conformance import audit_cases, lineage_cases, population_cases
from tests.conformance.conftest import StoreOf
from tests.conformance.forms import Asked, Row, comparable

CASES = [*lineage_cases.CASES, *audit_cases.CASES, *population_cases.CASES]
_COLLECTED = re.compile(r"collect\([^)]*\) AS (\w+)")
_NUMBERED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TRACE = re.compile(r"@[0-9a-f]{8}(?=\.\d)")


def named(case: Asked) -> str:
    return f"{case.query} of {case.graph} {dict(case.given) or ''}".strip()


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_rows_that_must_come(case: Asked, store_of: StoreOf) -> None:
    query = find(case.query)
    rows = store_of(case.graph).query(query.text, query.values(case.given))
    assert rows.columns == tuple(column.name for column in query.columns)
    wanted = case.columns.split() or list(rows.columns)
    collected = [column in _COLLECTED.findall(query.text) for column in wanted]

    def row_of(values: Iterable[Any]) -> Row:
        """The elements of `collect` come in any order (docs/cypher.md), those of other lists as they are kept."""
        return tuple(sorted(value) if any_order else value for value, any_order in zip(values, collected, strict=True))

    found = [row_of(_general(row[column]) for column in wanted) for row in rows.dicts()]
    expected = [row_of(row) for row in case.rows]
    assert comparable(found, ordered=query.ordered) == comparable(expected, ordered=query.ordered)


@pytest.mark.parametrize("query", catalogue().values(), ids=lambda query: query.id)
def test_every_query_has_a_case_with_rows_and_one_on_an_empty_graph(query: Query, store_of: StoreOf) -> None:
    assert any(case.rows for case in CASES if case.query == query.id)
    given: dict[str, Any] = {
        parameter.name: "none" if parameter.type == "string" else 1
        for parameter in query.parameters
        if parameter.default is None
    }
    assert store_of("empty").query(query.text, query.values(given)).rows == []


def _general(value: Any) -> Any:
    """Session numbers as `S`, trace keys as `@t`: they differ from recording to recording and say nothing."""
    if isinstance(value, str):
        return _TRACE.sub("@t", _NUMBERED.sub("S", value))
    return [_general(item) for item in value] if isinstance(value, list) else value


def test_rows_are_compared_as_written() -> None:
    rows: list[Row] = [("toolcall:34628364-4418-41ea-9e3d-ca44f0b43657/x", ["artifact:l:/a@8b3008cb.2"])]
    assert [tuple(map(_general, row)) for row in rows] == [("toolcall:S/x", ["artifact:l:/a@t.2"])]
