"""The suite expects one answer: nothing in it may know which engine gives it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_ENGINE = re.compile(r"neo4j|ladybug|lbug|embedded|bolt\b|real_ladybug|\.engine\b|skipif|xfail", re.IGNORECASE)


@pytest.mark.parametrize("path", sorted(HERE.glob("*.py")), ids=lambda path: path.name)
def test_no_expectation_depends_on_the_engine(path: Path) -> None:
    if path == Path(__file__):
        assert _ENGINE.search(path.read_text(encoding="utf-8"))  # the words above: the search can find
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if _ENGINE.search(line)] == []
