"""Slices whose answer is known."""

from __future__ import annotations

import pytest

from provenance import slices
from provenance.schema import Flow
from tests.conformance.conftest import StoreOf
from tests.conformance.forms import Sliced
from tests.conformance.slice_cases import CASES


def named(case: Sliced) -> str:
    more = f"{' depth ' + str(case.depth) if case.depth else ''}{' bound' if case.bound < 10_000 else ''}"
    return f"{'impact' if case.forward else 'why'} {case.start} by {case.flows}{more}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_what_must_be_reached(case: Sliced, store_of: StoreOf) -> None:
    walk = slices.impact if case.forward else slices.why
    flows = [Flow(name) for name in case.flows.split()]
    found = walk(store_of(case.graph), [case.start], flows, bound=case.bound, depth=case.depth)
    assert set(found.nodes) == case.nodes
    assert set(found.origins) == case.origins
    assert [(gap.reason, gap.about) for gap in found.gaps] == case.gaps
    assert found.bounds == case.bounds
