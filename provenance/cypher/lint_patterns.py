"""Rules on patterns: nodes, relationships, paths, subqueries. Each yields places in the text with what to do instead."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache

from provenance import schema
from provenance.cypher.patterns import Element, Path, is_subquery, paths
from provenance.cypher.tokens import Tokens

Spot = tuple[int, str]
Find = Callable[[Tokens], Iterator[Spot]]

LONGEST = 30
"""Steps that LadybugDB lets a path have."""


@lru_cache(maxsize=4)
def _paths(tokens: Tokens) -> tuple[Path, ...]:
    return tuple(paths(tokens))


def _elements(tokens: Tokens) -> Iterator[Element]:
    for path in _paths(tokens):
        yield from path.elements


def _unlabelled_anchor(tokens: Tokens) -> Iterator[Spot]:
    named = [place + 1 for place, word in enumerate(tokens.uppers[: len(tokens)]) if word == "AS"]
    known = {(_part(tokens, place), tokens.texts[place].strip("`")) for place in named}
    for path in _paths(tokens):
        part = _part(tokens, path.first)
        if path.matched and not any(node.labels or (part, node.variable) in known for node in path.nodes):
            yield (
                tokens[path.first].place,
                "no node of this pattern has a label, and none is known from before: name a kind, as in (n:Session)",
            )
        known.update((part, element.variable) for element in path.elements if element.variable)


def _unbounded_path(tokens: Tokens) -> Iterator[Spot]:
    for edge in _elements(tokens):
        if edge.length is not None and (edge.length[1] is None or edge.length[1] > LONGEST):
            yield (
                tokens[edge.first].place,
                f"LadybugDB ends a path after {LONGEST} steps: say how far, as in [:USED*1..{LONGEST}]",
            )


def _undirected_path(tokens: Tokens) -> Iterator[Spot]:
    for edge in _elements(tokens):
        if edge.length is not None and edge.arrow == "-":
            yield (
                tokens[edge.first].place,
                "LadybugDB may go back over the edge it came by, Neo4j not: give the path a direction",
            )


def _same_edge(tokens: Tokens) -> Iterator[Spot]:
    for clause in _clauses(tokens):
        ends = list(_ends(clause))
        for one, other in itertools.combinations(ends, 2):
            if _may_share(tokens, one, other, ends):
                yield (
                    tokens[other[0].first].place,
                    "LadybugDB may take one edge for both, Neo4j not: say that the ends differ (WHERE a.id <> b.id), or "
                    "write two MATCH",
                )


_Ends = tuple[Element, Element, Element]  # edge, tail, head


def _may_share(tokens: Tokens, one: _Ends, other: _Ends, clause: list[_Ends]) -> bool:
    (edge, tail, head), (edge2, tail2, head2) = one, other
    if not _kinds(edge) & _kinds(edge2):
        return False
    if "-" in (edge.arrow, edge2.arrow):
        turned = (edge2, head2, tail2)
        return any(_may_be(tokens, one, way) for way in (other, turned))
    if _leads(head, tail2, clause) or _leads(head2, tail, clause):  # were they one, there would be a cycle
        return False
    return bool(edge.length or edge2.length) or _may_be(tokens, one, other)


def _leads(start: Element, end: Element, clause: list[_Ends]) -> bool:
    """Whether directed edges of kinds that make no cycles lead from a node to another, or they are one."""
    reached = [start]
    for node in reached:
        if _is_one(node, end):
            return True
        for edge, tail, head in clause:
            acyclic = edge.arrow != "-" and "CHILD_OF" not in _kinds(edge)
            if acyclic and _is_one(tail, node) and not any(_is_one(head, known) for known in reached):
                reached.append(head)
    return False


def _may_be(tokens: Tokens, one: _Ends, other: _Ends) -> bool:
    pairs = list(zip(one[1:], other[1:], strict=True))
    return all(_may_be_one(*pair) for pair in pairs) and not _told_apart(tokens, *pairs)


def _clauses(tokens: Tokens) -> Iterator[list[Path]]:
    """The paths of one MATCH together: commas are between them."""
    clause: list[Path] = []
    for path in _paths(tokens):
        if not path.matched:
            continue
        if clause and tokens.texts[path.first - 1] != ",":
            yield clause
            clause = []
        clause.append(path)
    if clause:
        yield clause


def _ends(clause: list[Path]) -> Iterator[_Ends]:
    for path in clause:
        for before, edge, after in zip(path.elements, path.elements[1:], path.elements[2:], strict=False):
            if not edge.is_node and before.is_node and after.is_node:
                yield (edge, after, before) if edge.arrow == "<" else (edge, before, after)


def _kinds(edge: Element) -> set[str]:
    return {label.name for label in edge.labels} or set(schema.EDGE_KINDS)


def _is_one(node: Element, other: Element) -> bool:
    return node is other or (node.variable is not None and node.variable == other.variable)


def _may_be_one(node: Element, other: Element) -> bool:
    labels, labels2 = ({label.name for label in element.labels} for element in (node, other))
    return _is_one(node, other) or not labels or not labels2 or bool(labels & labels2)


def _told_apart(tokens: Tokens, *pairs: tuple[Element, Element]) -> bool:
    """Whether a condition says that two nodes differ: `a <> b` or `a.id <> b.id`, or `<` instead."""
    wanted = {frozenset((one.variable, other.variable)) for one, other in pairs if not _is_one(one, other)}
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text == "<" and tokens.texts[place + 1] != "=":
            after = place + 1 + (tokens.texts[place + 1] == ">")
            before = place - 3 if tokens.texts[place - 2] == "." else place - 1
            plain = (tokens.texts[place - 2] == ".") == (tokens.texts[after + 1] == ".")
            fields = tokens.texts[place - 1] == "id" or tokens.texts[place - 2] != "."
            if before >= 0 and plain and fields and frozenset((tokens.texts[before], tokens.texts[after])) in wanted:
                return True
    return False


def _label_expression(tokens: Tokens) -> Iterator[Spot]:
    for element in _elements(tokens):
        text = element.label_text(tokens)
        if element.is_node and ":" in text[1:]:
            message = "(n:A:B) is either in LadybugDB, both in Neo4j: a node has one kind; write (n:A|B) for either"
        elif text[:1] not in ("", ":") or any(mark in text for mark in "&!%("):
            message = "LadybugDB knows (n:A|B) alone: no &, no !, no %, no IS"
        else:
            continue
        yield tokens[element.after_variable].place, message


def _label_predicate(tokens: Tokens) -> Iterator[Spot]:
    labels = {place for element in _elements(tokens) for place in range(element.after_variable, element.after_labels)}
    inside = [""]
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if place in tokens.closing:
            inside.append("" if text == "{" and is_subquery(tokens, place) else text)
        elif place in tokens.opening:
            inside.pop()
        elif text == ":" and inside[-1] not in ("[", "{") and place not in labels:
            yield tokens[place].place, "LadybugDB knows labels in patterns alone: put it there, as in MATCH (n:Session)"


def _inner_where(tokens: Tokens) -> Iterator[Spot]:
    for element in _elements(tokens):
        for place in range(element.after_labels, element.last + 1):
            if tokens.uppers[place] == "WHERE" and tokens.texts[place - 1] != ".":
                yield (
                    tokens[place].place,
                    "LadybugDB knows no WHERE inside a node or an edge: write it behind the pattern",
                )
                break


def _path_form(tokens: Tokens) -> Iterator[Spot]:
    for path in _paths(tokens):
        places = [path.first, *(element.last + 1 for element in path.elements)]
        for start, element in zip(places, path.elements, strict=False):
            between = tokens.texts[start : element.first]
            if between and not (len(between) == 2 and between[1] == "="):
                yield (
                    tokens[start].place,
                    "LadybugDB knows no quantified or shortest paths: write [:USED*1..3], and choose in Python",
                )
                break


def _subquery_form(tokens: Tokens) -> Iterator[Spot]:
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text == "{" and is_subquery(tokens, place):
            word = tokens.uppers[place - 1]
            if word == "COLLECT" or tokens.uppers[place + 1] != "MATCH":
                yield tokens[place - 1].place, "LadybugDB knows EXISTS { MATCH ... } and COUNT { MATCH ... } alone"


def _pattern_comprehension(tokens: Tokens) -> Iterator[Spot]:
    for path in _paths(tokens):
        if not path.matched and tokens.texts[path.first - 1] in ("[", "="):
            yield tokens[path.first].place, "LadybugDB knows no lists of patterns: write OPTIONAL MATCH and collect()"


def _edge_twice(tokens: Tokens) -> Iterator[Spot]:
    seen: set[tuple[int, str]] = set()
    for element in _elements(tokens):
        if element.is_node or element.variable is None:
            continue
        edge = (_part(tokens, element.first), element.variable)
        if edge in seen:
            yield (
                tokens[element.first].place,
                f"LadybugDB takes no edge twice: name the second one otherwise than {edge[1]}",
            )
        seen.add(edge)


def _part(tokens: Tokens, place: int) -> int:
    """How many UNIONs are before a place."""
    return tokens.uppers[:place].count("UNION")


def _optional_path(tokens: Tokens) -> Iterator[Spot]:
    for path in _paths(tokens):
        if path.matched and tokens.uppers[path.first - 2] == "OPTIONAL" and tokens.texts[path.first + 1] == "=":
            yield (
                tokens[path.first].place,
                "a path that is missing is no null in LadybugDB: name its nodes and edges instead",
            )


RULES: dict[str, tuple[Find, bool]] = {
    "unlabelled-anchor": (_unlabelled_anchor, False),
    "unbounded-path": (_unbounded_path, True),
    "undirected-path": (_undirected_path, True),
    "same-edge": (_same_edge, True),
    "label-expression": (_label_expression, True),
    "label-predicate": (_label_predicate, False),
    "inner-where": (_inner_where, False),
    "path-form": (_path_form, False),
    "subquery-form": (_subquery_form, False),
    "pattern-comprehension": (_pattern_comprehension, False),
    "edge-twice": (_edge_twice, False),
    "optional-path": (_optional_path, True),
}
