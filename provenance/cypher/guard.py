"""The guard in front of user Cypher: reading clauses pass, everything else is refused by name and place.

A database that is opened for reading is no protection: it may still read and write files of the machine that it runs on. So
the text is cut into tokens as the engines do it (comments, strings, names in backticks), and then
- a word where a clause or an operator may begin must be one of those listed here: a clause that nobody thought of is refused;
- a word that begins a writing or loading clause is refused anywhere but as a name (`n.set`, `:Set`, `{set: 1}`, `` `set` ``);
- procedures and functions with a dotted name must be listed;
- escapes that an engine decodes before it looks at the text (`\\u0043ALL`) are refused outside strings.

What passes is given back without comments, so an engine cannot disagree about where one ends.
"""

from __future__ import annotations

from provenance.cypher.tokens import Token, tokens_of, where, words
from provenance.errors import QueryRefused, UsageError

_PAIRED = ("OPTIONAL MATCH", "ORDER BY", "STARTS WITH", "ENDS WITH", "CASE WHEN", "UNION ALL", "IS NOT")


CLAUSES = words("MATCH OPTIONAL WHERE WITH UNWIND RETURN ORDER SKIP LIMIT UNION CALL YIELD")
"""Words that may begin a clause."""

STARTS = words("MATCH OPTIONAL WITH UNWIND RETURN CALL")
"""Of these, the ones that may begin a statement or a subquery."""

INFIX = words("AND OR XOR IN STARTS ENDS CONTAINS IS AS WHEN THEN ELSE END ASC DESC ASCENDING DESCENDING")
"""Words that may follow an expression."""

PREFIX = words("NOT CASE DISTINCT")
"""Words that may stand before an expression."""

PAIRS = frozenset((pair[0], pair[1]) for pair in map(str.split, _PAIRED))
"""Words that belong to the one before them."""

REFUSED = words(
    "CREATE MERGE SET DELETE DETACH NODETACH REMOVE DROP ALTER COPY LOAD EXPORT IMPORT ATTACH INSTALL UNINSTALL FOREACH INSERT"
)
"""Words of clauses that change something or read other places: refused wherever they might be one."""

LONGEST = 10_000
"""Characters of a text. Both engines read much longer ones, slowly; no time limit holds while they do."""

DEEPEST = 16
"""Brackets, CASE and NOT inside each other. A thousand brackets end the process that holds the embedded engine, and each CASE
inside another doubles the time it takes to read."""

PROCEDURES = words(
    "show_tables table_info show_connection db_version db.labels db.relationshiptypes db.propertykeys dbms.components"
)
"""What CALL may call: it tells of the graph's form alone."""

FUNCTIONS = words("date datetime localdatetime time localtime duration point")
"""First parts of dotted function names that may be called."""

_CHANGING = frozenset(("nextval", "currval"))
_SUBQUERIES = frozenset(("EXISTS", "COUNT", "COLLECT"))


def guard(cypher: str) -> str:
    """The text without comments and without a last semicolon, if it only reads.

    Raises QueryRefused naming the word and its place, UsageError for a text that is empty or cannot be cut into tokens.
    """
    if len(cypher) > LONGEST:
        raise UsageError(
            f"the query has {len(cypher):,} characters, more than {LONGEST:,}: give long lists as parameters"
        )
    tokens = tokens_of(cypher)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if not tokens:
        raise UsageError("the query is empty: try MATCH (s:Session) RETURN s.id")
    _check_depth(cypher, tokens)
    _check(cypher, tokens)
    return _joined(cypher, tokens)


def _check_depth(cypher: str, tokens: list[Token]) -> None:
    """Counts names like `case` too: that refuses more, never less."""
    depth = nots = 0
    for token in tokens:
        opens = token.text in ("(", "[", "{") or (token.kind == "word" and token.upper == "CASE")
        closes = token.text in (")", "]", "}") or (token.kind == "word" and token.upper == "END")
        depth = max(0, depth + opens - closes)
        nots = nots + 1 if token.kind == "word" and token.upper == "NOT" else 0
        if depth + nots > DEEPEST:
            raise UsageError(
                f"the query is nested more than {DEEPEST} deep at {where(cypher, token.place)}: make it flatter"
            )


def _check(cypher: str, tokens: list[Token]) -> None:
    ended = False  # whether the token before could end an expression, so that a clause may begin here
    start = True  # whether a statement or subquery begins here
    for position, token in enumerate(tokens):
        before = tokens[position - 1] if position else None
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if token.text == ";":
            raise QueryRefused(f"; at {where(cypher, token.place)}: one statement at a time")
        if token.kind == "mark":
            ended, start = _after_mark(tokens, position)
            continue
        if token.kind != "word":
            if start:
                raise _refusal(cypher, token)
            ended = True
            if token.kind == "quoted":
                _check_call(cypher, tokens, position)
            continue
        word = token.upper
        named = _is_name(tokens, position)
        if not named and (word in REFUSED or (start and word not in STARTS) or (ended and word not in CLAUSES | INFIX)):
            raise _refusal(cypher, token)
        if named or not (start or ended or _belongs(before, word)):
            _check_call(cypher, tokens, position)
            ended, start = True, False
            continue
        if word == "CALL":
            _check_procedure(cypher, tokens, position)
        ended = word in ("END", "ASC", "DESC", "ASCENDING", "DESCENDING")
        start = word == "ALL" or (word == "UNION" and (after is None or after.upper != "ALL"))


def _belongs(before: Token | None, word: str) -> bool:
    """Whether a word where an expression is due is a keyword there, and not a name."""
    previous = before.upper if before is not None and before.kind == "word" else ""
    return previous != "AS" and (word in PREFIX or (previous, word) in PAIRS)


def _is_name(tokens: list[Token], position: int) -> bool:
    """Whether a word is the name of a field, a label or a map's key, and so never a clause."""
    if not position or tokens[position - 1].kind != "mark":
        return False
    before = tokens[position - 1].text
    if before in (".", ":"):
        return True
    if before == "|":  # of labels and kinds; elsewhere (`FOREACH (x IN y | ...)`) a clause may follow
        return position > 2 and tokens[position - 3].text in (":", "|")
    return before in ("{", ",") and position + 1 < len(tokens) and tokens[position + 1].text == ":"


def _after_mark(tokens: list[Token], position: int) -> tuple[bool, bool]:
    """(an expression may have ended, a subquery begins)"""
    text = tokens[position].text
    before = tokens[position - 1] if position else None
    if text == "*":
        return before is not None and (before.upper in ("RETURN", "WITH", "DISTINCT") or before.text == "("), False
    if text == "{" and before is not None and before.kind == "word" and before.upper in _SUBQUERIES:
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        return False, after is not None and after.kind != "mark"
    return text in (")", "]", "}"), False


def _check_call(cypher: str, tokens: list[Token], position: int) -> None:
    """A function whose name has dots, or that changes something."""
    if position + 1 >= len(tokens) or tokens[position + 1].text != "(":
        return
    token = tokens[position]
    first = position
    while first >= 2 and tokens[first - 1].text == "." and tokens[first - 2].kind in ("word", "quoted"):
        first -= 2
    name = ".".join(part.name for part in tokens[first : position + 1 : 2])
    if name.lower() in _CHANGING or (first < position and tokens[first].name.lower() not in FUNCTIONS):
        if name.lower() in PROCEDURES and first and tokens[first - 1].upper == "CALL":
            return
        raise QueryRefused(f"{name} at {where(cypher, tokens[first].place)}: this function may not be called")
    if token.kind == "quoted" and name.upper() in REFUSED:
        raise _refusal(cypher, token)


def _check_procedure(cypher: str, tokens: list[Token], position: int) -> None:
    name = ""
    place = position + 1
    while place < len(tokens) and (tokens[place].kind in ("word", "quoted") or tokens[place].text == "."):
        name += tokens[place].name
        place += 1
    called = place < len(tokens) and tokens[place].text == "("
    if not called or name.lower() not in PROCEDURES:
        shown = f"CALL {name}".strip()
        allowed = ", ".join(sorted(PROCEDURES))
        raise QueryRefused(f"{shown} at {where(cypher, tokens[position].place)}: only these may be called: {allowed}")


def _refusal(cypher: str, token: Token) -> QueryRefused:
    return QueryRefused(
        f"{token.text} at {where(cypher, token.place)}: a query may only read (MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, "
        "RETURN, ORDER BY, SKIP, LIMIT, UNION); a name that looks like a clause goes in backticks"
    )


def _joined(cypher: str, tokens: list[Token]) -> str:
    """The tokens with what was between them, comments as one space, line breaks kept."""
    parts: list[str] = []
    end = 0
    for token in tokens:
        between = cypher[end : token.place]
        if between:
            parts.append(between if between.isspace() else "\n" if "\n" in between else " ")
        parts.append(token.text)
        end = token.place + len(token.text)
    return "".join(parts).strip()
