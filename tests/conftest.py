"""Options of the whole suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store",
        default="embedded",
        help="engine that the store's contract tests run on: embedded (the default); others join in tests/store/conftest.py",
    )
