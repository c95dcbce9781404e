"""What a Cypher text says that the two engines take differently, or that would scan the whole graph.

LadybugDB 0.22 and Neo4j 5.26 were asked every text in `tests/test_cypher_lint.py`; `docs/cypher.md` shows the pairs of
answers. A text without findings gives the same rows on both, up to their order where it does not say ORDER BY.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from provenance.cypher import lint_patterns, lint_values
from provenance.cypher.guard import guard
from provenance.cypher.lint_patterns import Spot
from provenance.cypher.names import unknown_names
from provenance.cypher.tokens import Tokens, position, tokens_of
from provenance.errors import QueryRefused


class Finding(NamedTuple):
    """One thing to write otherwise: the rule by name, what to do, and where (line and column from 1)."""

    rule: str
    message: str
    line: int
    column: int


def _unknown_names(tokens: Tokens) -> Iterator[Spot]:
    for unknown in unknown_names(tokens):
        yield unknown.token.place, unknown.message


class Rule(NamedTuple):
    find: Callable[[Tokens], Iterator[Spot]]
    silent: bool
    """Whether an engine answers otherwise without an error."""


RULES: dict[str, Rule] = {
    "unknown-name": Rule(_unknown_names, True),
    **{name: Rule(find, silent) for name, (find, silent) in lint_patterns.RULES.items()},
    **{name: Rule(find, silent) for name, (find, silent) in lint_values.RULES.items()},
}
"""All rules but `clause`: what the guard refuses."""


def lint(cypher: str) -> list[Finding]:
    """The findings, in the order of the text. Raises UsageError for what cannot be cut into tokens."""
    try:
        guard(cypher)
    except QueryRefused as refused:
        return [Finding("clause", str(refused), 1, 1)]
    tokens = Tokens(tokens_of(cypher))
    findings = [
        Finding(name, message, *position(cypher, place))
        for name, rule in RULES.items()
        for place, message in rule.find(tokens)
    ]
    return sorted(findings, key=lambda finding: (finding.line, finding.column, finding.rule))
