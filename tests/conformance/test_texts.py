"""Texts of one's own: their rows, their errors, and two phrasings that must agree."""

from __future__ import annotations

import pytest

from provenance.cypher import guard
from provenance.errors import UsageError
from tests.conformance import pair_cases, text_cases
from tests.conformance.conftest import StoreOf
from tests.conformance.forms import Pair, Read, Refused, comparable
from tests.conformance.graphs import GRAPHS


@pytest.mark.parametrize("case", text_cases.READS, ids=lambda case: case.text)
def test_the_rows_that_must_come(case: Read, store_of: StoreOf) -> None:
    rows = store_of(case.graph).query(guard(case.text), case.given, limit=case.limit)
    assert comparable(rows.rows, ordered=case.ordered) == comparable(case.rows, ordered=case.ordered)
    assert rows.truncated is case.truncated


@pytest.mark.parametrize("case", text_cases.REFUSED, ids=lambda case: case.text)
def test_a_text_at_fault_is_a_usage_error(case: Refused, store_of: StoreOf) -> None:
    with pytest.raises(UsageError) as refused:
        store_of("handmade").query(case.text, case.given)
    assert case.words in str(refused.value)
    assert "\n" not in str(refused.value).strip()


@pytest.mark.parametrize("pair", pair_cases.CASES, ids=lambda pair: pair.name)
def test_two_phrasings_have_one_answer(pair: Pair, store_of: StoreOf) -> None:
    met = False
    for graph in pair.graphs or GRAPHS:
        one, other = (store_of(graph).query(guard(text), pair.given) for text in (pair.one, pair.other))
        assert one.columns == other.columns
        assert comparable(one.rows, ordered=False) == comparable(other.rows, ordered=False), graph
        met = met or any(any(value for value in row) for row in one.rows)
    assert met, "no graph has a row for it: the pair shows nothing"


def test_there_are_enough_pairs() -> None:
    assert len({pair.name for pair in pair_cases.CASES}) == len(pair_cases.CASES) >= 25
