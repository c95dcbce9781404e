"""What RETURN and WITH give: their items, and the column each one makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provenance.cypher.tokens import Tokens

NO_CLAUSE = frozenset((".", "AS", "STARTS", "ENDS"))
"""What stands before a word that begins no clause, whatever it is."""

_CLAUSES = frozenset(
    ("MATCH", "OPTIONAL", "WHERE", "WITH", "UNWIND", "RETURN", "ORDER", "SKIP", "OFFSET", "LIMIT", "UNION", "CALL")
)
AGGREGATES = frozenset(("COUNT", "SUM", "AVG", "MIN", "MAX", "COLLECT", "PERCENTILECONT", "PERCENTILEDISC"))


@dataclass(frozen=True, slots=True)
class Item:
    """One item. Places are positions in the list of tokens; `expression` ends where the expression does."""

    first: int
    expression: int
    end: int

    def column(self, tokens: Tokens) -> str:
        """The name of the column that it makes; an expression without AS is its own name."""
        if self.expression < self.end:
            return tokens[self.end - 1].name
        return "".join(tokens.texts[self.first : self.end])

    def aggregates(self, tokens: Tokens) -> bool:
        places = range(self.first, self.expression)
        return any(tokens.uppers[place] in AGGREGATES and tokens.texts[place + 1] == "(" for place in places)


@dataclass(frozen=True, slots=True)
class Projection:
    """One RETURN or WITH. `part` counts the UNIONs before it, `end` is the place behind its items."""

    word: str
    first: int
    items: tuple[Item, ...]
    end: int
    part: int
    in_subquery: bool


def items(tokens: Tokens, place: int) -> tuple[list[Item], int]:
    """The items that begin at a place, behind RETURN or WITH, and the place behind the last."""
    place += tokens.uppers[place] == "DISTINCT"
    found: list[Item] = []
    first = place
    while place < len(tokens) and tokens.texts[place] not in ("}", ";"):
        if place > first and tokens.uppers[place] in _CLAUSES and tokens.uppers[place - 1] not in NO_CLAUSE:
            break
        if tokens.texts[place] == ",":
            found.append(_item(tokens, first, place))
            first = place + 1
        place = tokens.closing.get(place, place) + 1
    found.append(_item(tokens, first, min(place, len(tokens))))
    return found, place


def _item(tokens: Tokens, first: int, end: int) -> Item:
    named = end - first > 2 and tokens.uppers[end - 2] == "AS"
    return Item(first, end - 2 if named else end, end)


def projections(tokens: Tokens) -> Iterator[Projection]:
    """All RETURN and WITH, in the order of the text."""
    part = depth = 0
    for place, word in enumerate(tokens.uppers[: len(tokens)]):
        if word in ("{", "}"):
            depth += 1 if word == "{" else -1
        if word not in ("RETURN", "WITH", "UNION") or tokens.uppers[place - 1] in (*NO_CLAUSE, ":"):
            continue
        if tokens.texts[place + 1] == ":":  # a key
            continue
        if word == "UNION":
            part += not depth
            continue
        found, end = items(tokens, place + 1)
        yield Projection(word, place, tuple(found), end, part, depth > 0)
