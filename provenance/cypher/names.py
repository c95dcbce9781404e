"""The kinds and fields that a Cypher text names, against the schema. LadybugDB refuses a name that it does not know; Neo4j
answers null, or nothing at all."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from provenance import schema
from provenance.cypher import patterns
from provenance.cypher.clauses import NO_CLAUSE, items
from provenance.cypher.patterns import Element
from provenance.cypher.tokens import Token, Tokens, tokens_of, where
from provenance.errors import UsageError

_KINDS: tuple[Mapping[str, schema.NodeKind | schema.EdgeKind], ...] = (schema.EDGE_KINDS, schema.NODE_KINDS)


class Unknown(NamedTuple):
    """A name that the schema lacks."""

    what: str  # kind or field
    token: Token
    message: str  # without the place


class _Known(NamedTuple):
    """What a variable is: a node or an edge, of some kinds. No kinds: of any."""

    is_node: bool
    kinds: frozenset[str]


_Scope = dict[str, _Known]


@lru_cache(maxsize=256)
def check_names(cypher: str) -> None:
    """Raises UsageError for the first kind or field that is not declared, as it is written, with the names near it.

    A field is checked where its variable is bound by a pattern, or carried from there by WITH.
    """
    for unknown in unknown_names(Tokens(tokens_of(cypher))):
        raise UsageError(f"{unknown.message} ({where(cypher, unknown.token.place)})")


def unknown_names(tokens: Tokens) -> Iterator[Unknown]:
    """Kinds and fields that are not declared, in the order of the text."""
    return iter(_Check(tokens))


class _Check:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._text = tokens.texts
        self._upper = tokens.uppers
        elements = [element for path in patterns.paths(tokens) for element in path.elements]
        self._elements = {element.first: element for element in elements}
        self._labels = {place for element in elements for place in range(element.after_variable, element.after_labels)}

    def __iter__(self) -> Iterator[Unknown]:
        scope: _Scope = {}
        outer: list[tuple[int, _Scope, _Scope]] = []  # end of the subquery, the scope around it, the one it began with
        base: _Scope = {}
        after: tuple[int, _Scope] | None = None  # where a WITH ends, and what it carries
        inside = [""]  # the brackets that are open
        for place, token in enumerate(self._tokens.all):
            if outer and place == outer[-1][0]:
                _, scope, base = outer.pop()
            if after is not None and place == after[0]:
                scope, after = after[1], None
            if element := self._elements.get(place):
                yield from self._of_element(element)
                _bind(scope, element)
            if place in self._tokens.closing:
                subquery = token.text == "{" and patterns.is_subquery(self._tokens, place)
                inside.append("subquery" if subquery else token.text)
                if subquery:
                    outer.append((self._tokens.closing[place], scope, base))
                    scope, base = dict(scope), scope
                continue
            if place in self._tokens.opening:
                inside.pop()
            elif token.text == ":" and inside[-1] not in ("[", "{") and place not in self._labels:
                yield from self._of_predicate(place)
            if not self._tokens.named[place] or self._text[place - 1] == "." or place in self._labels:
                continue
            word = self._upper[place]
            if word == "UNION":
                scope = dict(base)
            elif word == "WITH" and self._upper[place - 1] not in NO_CLAUSE:
                after = self._carried(place + 1, scope)
            elif self._is_bound_anew(place, after[0] if after else 0):
                scope.pop(token.name, None)
            elif self._text[place + 1] == "." and (known := scope.get(token.name)):
                yield from self._of_field(known, place + 2)

    def _is_bound_anew(self, place: int, carried: int) -> bool:
        """Whether a name becomes something other here: `... AS x` but for WITH, or `any(x IN ...)`."""
        if self._upper[place - 1] == "AS":
            return place >= carried
        return self._upper[place + 1] == "IN" and self._text[place - 1] in ("(", "[")

    def _of_element(self, element: Element) -> Iterator[Unknown]:
        kinds = _KINDS[element.is_node]
        for label in element.labels:
            if label.name not in kinds:
                yield _unknown("node kind" if element.is_node else "edge kind", label, kinds)
        known = _Known(element.is_node, frozenset(label.name for label in element.labels))
        for key in element.keys:
            yield from _unknown_field(known, key)

    def _of_predicate(self, colon: int) -> Iterator[Unknown]:
        """`n:Session` in an expression."""
        if not (self._tokens.named[colon - 1] and self._tokens.named[colon + 1]):  # `::` for one
            return
        label = self._tokens[colon + 1]
        if label.name not in schema.NODE_KINDS and label.name not in schema.EDGE_KINDS:
            yield _unknown("kind", label, {**schema.NODE_KINDS, **schema.EDGE_KINDS})

    def _of_field(self, known: _Known, place: int) -> Iterator[Unknown]:
        if self._tokens.named[place]:
            yield from _unknown_field(known, self._tokens[place])

    def _carried(self, place: int, scope: _Scope) -> tuple[int, _Scope]:
        """Where the items of a WITH end, and the variables known behind it."""
        carried: _Scope = {}
        found, end = items(self._tokens, place)
        for item in found:
            self._carry(item.first, item.end, scope, carried)
        return end, carried

    def _carry(self, first: int, end: int, scope: _Scope, carried: _Scope) -> None:
        if self._text[first] == "*":
            carried.update(scope)
        renamed = end - first == 3 and self._upper[first + 1] == "AS"
        if (renamed or end - first == 1) and (known := scope.get(self._tokens[first].name)):
            carried[self._tokens[end - 1].name] = known


def _bind(scope: _Scope, element: Element) -> None:
    if element.variable is None:
        return
    if element.length is not None:  # the variable is a list, or a path
        scope.pop(element.variable, None)
        return
    known = scope.get(element.variable)
    kinds = frozenset(label.name for label in element.labels)
    if known is None:
        scope[element.variable] = _Known(element.is_node, kinds)
    elif kinds and known.kinds:
        scope[element.variable] = _Known(element.is_node, known.kinds | kinds)


def _unknown_field(known: _Known, token: Token) -> Iterator[Unknown]:
    declared = _fields(known)
    if declared and token.name not in declared:
        if known.kinds:
            holder = f"{' and '.join(sorted(known.kinds))} {'has' if len(known.kinds) == 1 else 'have'} no field"
        else:
            holder = f"no {'node' if known.is_node else 'edge'} has a field"
        yield Unknown("field", token, f"{holder} {token.name!r}{_near(token.name, declared)}")


@lru_cache(maxsize=256)
def _fields(known: _Known) -> frozenset[str]:
    """The fields of the kinds; none where a kind is not declared, which is told already."""
    kinds = _KINDS[known.is_node]
    if not known.kinds <= kinds.keys():
        return frozenset()
    return frozenset(name for kind in known.kinds or kinds for name in kinds[kind].by_name)


def _unknown(what: str, token: Token, declared: Iterable[str]) -> Unknown:
    return Unknown("kind", token, f"there is no {what} {token.name!r}{_near(token.name, declared)}")


def _near(name: str, declared: Iterable[str]) -> str:
    """A hint: the names that are nearest, whatever their case."""
    names = list(declared)
    folded: Callable[[str], str] = str.casefold
    by_folded = {folded(known): known for known in names}
    near = difflib.get_close_matches(folded(name), by_folded, n=3, cutoff=0.6)
    return (
        f": did you mean {' or '.join(by_folded[found] for found in near)}?"
        if near
        else ": `capsule schema` tells what there is"
    )
