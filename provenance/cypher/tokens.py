"""Cypher cut into tokens as the engines do it: comments, strings, names in backticks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from provenance.errors import QueryRefused, UsageError

_BOUNDARY = 'may begin a string that ends elsewhere than it seems; write it without "\\u"'

_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<parameter>\$(?:\w+|`[^`]*`))
    | (?P<number>0[xo][0-9A-Fa-f]+|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<word>[^\W\d]\w*)
    | (?P<mark>\.\.|[-+*/%^=<>!~&|:,.(){}\[\];])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\[uU]+([0-9A-Fa-f]{0,8})")


_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_BRACKETS.values())
_FAR = 8  # places that may be looked ahead, or before the first


class Token(NamedTuple):
    """One token that is not space or comment. `kind`: text, quoted, parameter, number, word or mark."""

    kind: str
    text: str
    place: int

    @property
    def upper(self) -> str:
        return self.text.upper()

    @property
    def name(self) -> str:
        """The text without backticks."""
        return self.text[1:-1].replace("``", "`") if self.kind == "quoted" else self.text


class Tokens:
    """The tokens of a text by place, with what is asked of them often. A place outside has the text ""."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        outside = [""] * _FAR
        self.all = tokens
        self.texts = [*(token.text for token in tokens), *outside]
        self.uppers = [*(token.upper if token.kind == "word" else token.text for token in tokens), *outside]
        self.named = [*(token.kind in ("word", "quoted") for token in tokens), *([False] * _FAR)]
        self.closing: dict[int, int] = {}  # place of the closing bracket by that of the opening one, where they fit
        stack: list[int] = []
        for place, text in enumerate(self.texts):
            if text in _BRACKETS:
                stack.append(place)
            elif text in _CLOSING and stack and _BRACKETS[self.texts[stack[-1]]] == text:
                self.closing[stack.pop()] = place
        self.opening = {last: first for first, last in self.closing.items()}

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, place: int) -> Token:
        return self.all[place]


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def tokens_of(cypher: str) -> list[Token]:
    """The tokens of a text, spaces and comments left out. Raises UsageError or QueryRefused for what cannot be read."""
    return list(_tokens(cypher))


def position(cypher: str, place: int) -> tuple[int, int]:
    """(line, column) of a place, both from 1."""
    return cypher.count("\n", 0, place) + 1, place - cypher.rfind("\n", 0, place)


def where(cypher: str, place: int) -> str:
    line, column = position(cypher, place)
    return f"line {line}, column {column}"


def _tokens(cypher: str) -> Iterator[Token]:
    escapes = "\\" in cypher
    place = 0
    while place < len(cypher):
        found = _TOKEN.match(cypher, place)
        if found is None:
            raise _unreadable(cypher, place)
        kind = found.lastgroup or ""
        if kind == "mark" and cypher.startswith("/*", place):
            raise UsageError(f"the comment that begins at {where(cypher, place)} does not end")
        if escapes:
            _check_escapes(cypher, kind, found[0], place)
        if kind not in ("space", "comment"):
            yield Token(kind, found[0], place)
        place = found.end()


def _unreadable(cypher: str, place: int) -> UsageError | QueryRefused:
    at = where(cypher, place)
    if cypher.startswith("\\", place):
        return QueryRefused(f"\\ at {at}: escapes are allowed only inside strings")
    kinds = {"'": "string", '"': "string", "`": "name", "$": "parameter"}
    if kind := kinds.get(cypher[place]):
        return UsageError(f"the {kind} that begins at {at} does not end")
    return UsageError(f"{cypher[place]!r} at {at} is no Cypher")


def _check_escapes(cypher: str, kind: str, text: str, place: int) -> None:
    for escape in _ESCAPE.finditer(text):
        at = where(cypher, place + escape.start())
        if kind != "text":
            raise QueryRefused(f"{escape[0]} at {at}: escapes are allowed only inside strings")
        digits = escape[1][:4]
        if len(digits) < 4 or chr(int(digits, 16)) in "'\"`\\\n\r":
            raise QueryRefused(f"{escape[0]} at {at}: {_BOUNDARY}")
