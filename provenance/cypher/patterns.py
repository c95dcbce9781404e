"""The patterns of a Cypher text: its nodes and relationships, with their variables, labels and property maps.

Tells apart by grammar what only looks alike: `MATCH (n)` from `WHERE (n)`, `[e:USED]` from a list, `{id: 1}` from a subquery.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from provenance.cypher.tokens import Token, Tokens

SUBQUERIES = frozenset(("EXISTS", "COUNT", "COLLECT"))
_SELECTORS = frozenset(("ALL", "ANY", "SHORTEST", "PATH", "PATHS", "GROUP", "GROUPS"))
_SHORTEST = frozenset(("SHORTESTPATH", "ALLSHORTESTPATHS"))
_BEFORE_PATTERN = frozenset(
    ("WHERE", "AND", "OR", "XOR", "NOT", "RETURN", "WITH", "WHEN", "THEN", "ELSE", "IN", "CASE", "DISTINCT", "BY", "AS")
)
_LABEL_MARKS = frozenset((":", "|", "&", "!", "%", "(", ")"))


@dataclass(frozen=True, slots=True)
class Element:
    """A node or a relationship of a pattern. Places are positions in the list of tokens."""

    is_node: bool
    first: int
    last: int  # inclusive
    variable: str | None
    after_variable: int  # where labels are, or would be
    after_labels: int
    labels: tuple[Token, ...]
    keys: tuple[Token, ...]  # of the property map
    length: tuple[int, int | None] | None  # least and most steps of a path; None: one relationship
    arrow: str  # of a relationship: "-", "<" or ">"
    lone: bool  # a node that a match may consist of

    def label_text(self, tokens: Tokens) -> str:
        return "".join(tokens.texts[self.after_variable : self.after_labels])


@dataclass(frozen=True, slots=True)
class Path:
    """Nodes and relationships in the order of the text. `matched`: of MATCH or a subquery, not of an expression."""

    first: int
    elements: tuple[Element, ...]
    matched: bool

    @property
    def nodes(self) -> list[Element]:
        return [element for element in self.elements if element.is_node]

    @property
    def edges(self) -> list[Element]:
        return [element for element in self.elements if not element.is_node]


def is_subquery(tokens: Tokens, brace: int) -> bool:
    """Whether a `{` begins a subquery, and no map."""
    return tokens.uppers[brace - 1] in SUBQUERIES


def paths(tokens: Tokens) -> list[Path]:
    """All path patterns, those within others' maps and predicates too, in the order of the text."""
    return list(_Walk(tokens).paths())


class _Walk:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._text = tokens.texts
        self._upper = tokens.uppers
        self._named = tokens.named
        self._taken: set[int] = set()  # brackets that are known to be elements

    def paths(self) -> Iterator[Path]:
        for place, upper in enumerate(self._upper[: len(self._tokens)]):
            if (upper == "MATCH" and self._begins_match(place)) or (upper == "{" and is_subquery(self._tokens, place)):
                yield from self._matched(place + 1)
            elif upper == "(" and place not in self._taken and self._may_be_pattern(place):
                path, _ = self._path(place, matched=False)
                if path is not None and path.edges:
                    yield path

    def _begins_match(self, place: int) -> bool:
        if self._upper[place - 1] in (".", ":", "AS"):
            return False
        after = self._upper[place + 1]
        named = self._named[place + 1] and self._text[place + 2] == "="
        return after == "(" or named or after in _SELECTORS or after in _SHORTEST

    def _may_be_pattern(self, place: int) -> bool:
        before = self._upper[place - 1]
        return not self._named[place - 1] or before in _BEFORE_PATTERN or before in _SHORTEST

    def _matched(self, place: int) -> Iterator[Path]:
        """The paths after MATCH, or at the beginning of a subquery: separated by commas."""
        while True:
            path, end = self._path(place, matched=True)
            if path is None:
                return
            yield path
            if self._text[end] != ",":
                return
            place = end + 1

    def _path(self, place: int, *, matched: bool) -> tuple[Path | None, int]:
        """The path that begins at a place, and the place behind it."""
        first = place
        elements: list[Element] = []
        ends: list[int] = []  # of the groups that are open
        while place < len(self._tokens):
            text, upper = self._text[place], self._upper[place]
            if matched and text == "(" and (self._text[place + 1] == "(" or self._group_is_named(place)):
                ends.append(self._tokens.closing.get(place, len(self._tokens)))
                place += 1
            elif text == "(" and not self._follows_node(elements, place) and (node := self._node(place, matched)):
                elements.append(node)
                place = node.last + 1
            elif text in ("-", "<") and self._follows_node(elements, place, matched) and (edge := self._edge(place)):
                elements.append(edge)
                place = edge.last + 1
            elif ends and place == ends[-1]:
                ends.pop()
                place += 1
            elif ends and (upper == "WHERE" or text == ","):
                place = ends[-1]
            elif upper in _SHORTEST and self._text[place + 1] == "(":
                ends.append(self._tokens.closing.get(place + 1, len(self._tokens)))
                place += 2
            elif matched and elements and text in ("{", "+", "*") and self._text[place - 1] in (")", "-", ">"):
                place = self._tokens.closing.get(place, place) + 1
            elif matched and not elements and self._named[place] and self._text[place + 1] == "=":
                place += 2
            elif matched and not elements and (upper in _SELECTORS or self._tokens[place].kind == "number"):
                place += 1
            else:
                break
        if not elements:
            return None, place
        self._taken.update(element.first for element in elements)
        return Path(first, tuple(elements), matched), place

    def _group_is_named(self, place: int) -> bool:
        return self._named[place + 1] and self._text[place + 2] == "=" and self._text[place + 3] == "("

    def _follows_node(self, elements: list[Element], place: int, grouped: bool = False) -> bool:
        """Whether a node is what stands before a place; `grouped`: or a group of them."""
        return bool(elements) and ((elements[-1].is_node and elements[-1].last == place - 1) or grouped)

    def _node(self, place: int, matched: bool) -> Element | None:
        """The node whose bracket opens at a place; in an expression only what can be nothing else."""
        last = self._tokens.closing.get(place)
        if last is None:
            return None
        lone = not (self._has_step_before(place) or self._has_step_after(last))
        node, end = self._element(place, last, lone)
        return node if matched or end == last else None

    def _has_step_before(self, place: int) -> bool:
        """Whether one relationship at least ends at the node that begins at a place."""
        at = place - 1
        if self._text[at] not in ("-", ">"):
            return False
        while self._text[at] in ("-", ">"):
            at -= 1
        return self._is_step(self._tokens.opening.get(at, at))

    def _has_step_after(self, place: int) -> bool:
        at = place + 1
        if self._text[at] not in ("-", "<"):
            return False
        while self._text[at] in ("-", "<", ">"):
            at += 1
        end = at
        if self._text[at] == "[":
            end = self._tokens.closing.get(at, at) + 1
            while self._text[end] in ("-", ">"):
                end += 1
        return self._text[end] == "(" and self._is_step(at)  # behind a quantifier there may be no step

    def _is_step(self, bracket: int) -> bool:
        length = self._length(bracket) if self._text[bracket] == "[" else None
        return length is None or length[0] > 0

    def _edge(self, place: int) -> Element | None:
        """`-[e:KIND]->`, `<--`, `--` ...: the relationship at a place, if one is there."""
        first = place
        arrow = self._text[place]
        place += arrow == "<"
        bracketed = self._text[place + 1] == "["
        last = self._tokens.closing.get(place + 1, -2) + 1 if bracketed else place + 1
        if self._text[place] != "-" or self._text[last] != "-":
            return None
        if self._text[last + 1] == ">":
            arrow = ">" if arrow == "-" else "-"
            last += 1
        if self._text[last + 1] not in ("(", "{", "*", "+"):
            return None
        if not bracketed:
            return Element(False, first, last, None, first, first, (), (), None, arrow, False)
        inner, _ = self._element(place + 1, self._tokens.closing[place + 1], False)
        return replace(inner, is_node=False, first=first, last=last, length=self._length(place + 1), arrow=arrow)

    def _length(self, bracket: int) -> tuple[int, int | None] | None:
        """What `*1..3` in a relationship says."""
        end = self._tokens.closing.get(bracket, bracket)
        place = bracket + 1
        while place < end and self._text[place] != "*":
            if self._text[place] in ("{", "$"):
                return None
            place += 1
        if place >= end:
            return None
        bounds: list[int | None] = [None]
        for token in self._tokens.all[place + 1 : end]:
            if token.text == "..":
                bounds.append(None)
            elif token.kind == "number" and token.text.isdigit():
                bounds[-1] = int(token.text)
            else:
                break
        if bounds == [None]:
            return 1, None
        return (1 if bounds[0] is None else bounds[0]), bounds[-1]

    def _element(self, first: int, last: int, lone: bool) -> tuple[Element, int]:
        """What the brackets hold, and the place behind what was understood of it."""
        place = first + 1
        variable = None
        if place < last and self._named[place] and not self._is_keyword(place, last):
            variable = self._tokens[place].name
            place += 1
        after_variable = place
        labels: list[Token] = []
        if place < last and (self._text[place] == ":" or self._upper[place] == "IS"):
            place += 1
            while place < last and (self._text[place] in _LABEL_MARKS or self._is_label(place)):
                if self._named[place]:
                    labels.append(self._tokens[place])
                place += 1
        after_labels = place
        while (
            place < last
            and self._text[place] != "{"
            and self._upper[place] != "WHERE"
            and self._text[after_labels] == "*"
        ):
            place += 1
        keys: tuple[Token, ...] = ()
        if place < last and self._text[place] == "{":
            keys = tuple(self._keys(place))
            place = self._tokens.closing.get(place, last - 1) + 1
        if self._upper[place] == "WHERE":
            place = last
        return Element(
            True, first, last, variable, after_variable, after_labels, tuple(labels), keys, None, "", lone
        ), place  # fmt: skip

    def _is_keyword(self, place: int, last: int) -> bool:
        """Whether WHERE or IS at the beginning of an element is no variable."""
        return self._upper[place] in ("WHERE", "IS") and place + 1 < last and self._text[place + 1] not in (":", "{")

    def _is_label(self, place: int) -> bool:
        if not self._named[place]:
            return False
        return self._text[place - 1] in (":", "|", "&", "!", "(") or self._upper[place - 1] == "IS"

    def _keys(self, brace: int) -> Iterator[Token]:
        """The keys of a map."""
        place, end = brace + 1, self._tokens.closing.get(brace, brace)
        while place < end:
            if self._text[place] in ("(", "[", "{"):
                place = self._tokens.closing.get(place, place)
            elif self._text[place] == ":" and self._text[place - 2] in ("{", ",") and self._named[place - 1]:
                yield self._tokens[place - 1]
            place += 1
