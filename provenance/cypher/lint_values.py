"""Rules on values: functions, lists, comparisons, columns. Each yields places in the text with what to do instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from provenance import schema
from provenance.cypher.clauses import Item, Projection, projections
from provenance.cypher.lint_patterns import Find, Spot
from provenance.cypher.patterns import is_subquery, paths
from provenance.cypher.tokens import Tokens, words

FUNCTIONS = words(
    """
    count sum avg min max collect percentilecont percentiledisc coalesce size abs sign sqrt floor ceil log10 pi sin cos atan2
    degrees tolower toupper lower upper trim ltrim rtrim left right replace range length nodes relationships type
    any all none single
    """
)
"""Functions that answer alike on both engines."""

DIFFERENT = {
    "substring": "begins to count at 1 in LadybugDB, at 0 in Neo4j: use left() or right(), or cut in Python",
    "reverse": "turns round the text of a list in LadybugDB",
    "round": "rounds -2.5 to -3 in LadybugDB, to -2 in Neo4j: round in Python",
    "log": "is to base 10 in LadybugDB, to base e in Neo4j: use log10()",
    "labels": "is a text in LadybugDB, a list in Neo4j: name the kinds in the pattern",
    "properties": "has the fields that are null in LadybugDB alone: name the fields",
    "keys": "has the fields that are null in LadybugDB alone: name the fields",
    "id": "is the engine's own number: use n.id",
    "elementid": "is the engine's own number: use n.id",
    "exists": "is known to Neo4j alone: write EXISTS { MATCH ... }",
    "shortestpath": "is known to Neo4j alone: write [:USED*1..3], and choose in Python",
    "allshortestpaths": "is known to Neo4j alone: write [:USED*1..3], and choose in Python",
    "label": "is known to LadybugDB alone: use type() of an edge, name the kinds of a node",
}
"""Functions of which it is known what differs."""

RESERVED = words(
    """
    acyclic all and any asc ascending case cast column create dbtype default desc descending distinct else end ends exists
    false glob group headers hint in index install join macro multi_join none not null on only optional or order primary
    profile shortest single starts table then trail true union unwind when where with wshortest xor
    """
)
"""Words that LadybugDB takes as the name of a variable or a column in backticks alone."""

_KEYWORDS = words(
    """
    MATCH WHERE WITH RETURN UNWIND BY AND OR XOR NOT IN WHEN THEN ELSE CASE DISTINCT EXISTS COUNT COLLECT CALL YIELD AS IS
    UNION SKIP LIMIT CONTAINS
    """
)
_NUMBERS = (schema.Type.INTEGER, schema.Type.FLOAT)


def _function(tokens: Tokens) -> Iterator[Spot]:
    for place, name in _calls(tokens):
        if name not in FUNCTIONS and name not in DIFFERENT:
            yield tokens[place].place, f"{name}() is not known to be the same on both engines: do it in Python"


def _function_differs(tokens: Tokens) -> Iterator[Spot]:
    for place, name in _calls(tokens):
        if name in DIFFERENT:
            yield tokens[place].place, f"{name}() {DIFFERENT[name]}"


def _calls(tokens: Tokens) -> Iterator[tuple[int, str]]:
    """(place, name) of the functions that are called, not of procedures."""
    for place, named in enumerate(tokens.named[: len(tokens)]):
        if not named or tokens.texts[place + 1] != "(" or tokens.texts[place - 1] == ":":
            continue
        first = place
        while tokens.texts[first - 1] == "." and tokens.named[first - 2]:
            first -= 2
        if tokens.uppers[first - 1] == "CALL":
            continue
        if tokens.uppers[place] not in _KEYWORDS or tokens.uppers[place] in ("COUNT", "COLLECT", "EXISTS"):
            yield first, "".join(token.name for token in tokens.all[first : place + 1]).lower()


def _procedure(tokens: Tokens) -> Iterator[Spot]:
    for place, word in enumerate(tokens.uppers[: len(tokens)]):
        called = tokens.named[place + 1] or tokens.texts[place + 1] in ("{", "(")
        if word == "CALL" and called and tokens.uppers[place - 1] not in (".", ":", "AS"):
            yield (
                tokens[place].place,
                "CALL names what one engine alone knows: `capsule schema` tells what there is",
            )


def _list_comprehension(tokens: Tokens) -> Iterator[Spot]:
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text == "[" and tokens.named[place + 1] and tokens.uppers[place + 2] == "IN":
            yield tokens[place].place, "LadybugDB knows no list comprehensions: UNWIND the list, and collect() again"


def _list_place(tokens: Tokens) -> Iterator[Spot]:
    elements = {element.first for path in paths(tokens) for element in path.elements}
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text != "[" or place - 1 in elements or tokens.texts[place - 1] in ("-", ""):
            continue
        indexed = tokens.texts[place - 1] in (")", "]", "}") or (
            (tokens.named[place - 1] or tokens[place - 1].kind in ("text", "parameter"))
            and (tokens.uppers[place - 1] not in _KEYWORDS or tokens.texts[place - 2] == ".")
        )
        from_end = tokens.texts[place + 1] == "-" and tokens.closing.get(place) == place + 3
        if indexed and not from_end:
            yield (
                tokens[place].place,
                "places count from 1 in LadybugDB, from 0 in Neo4j: count from the end ([-1]), or take it in Python",
            )


def _map_projection(tokens: Tokens) -> Iterator[Spot]:
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text == "{" and tokens.named[place - 1] and tokens.texts[place + 1] in (".", "*"):
            yield tokens[place].place, "LadybugDB knows no map projections: name the fields as columns"


def _null_in_list(tokens: Tokens) -> Iterator[Spot]:
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text == "[" and "NULL" in tokens.uppers[place : tokens.closing.get(place, place)]:
            yield (
                tokens[place].place,
                "a null in a list is no element in LadybugDB, an unknown one in Neo4j: leave it out",
            )


def _mixed_types(tokens: Tokens) -> Iterator[Spot]:
    """Lists, and the results of CASE."""
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text == "[" and place in tokens.closing:
            values = [tokens.texts[at] for at in range(place + 1, tokens.closing[place]) if _is_value(tokens, at, "[,")]
        elif tokens.uppers[place] == "CASE":
            end = next((at for at in range(place, len(tokens)) if tokens.uppers[at] == "END"), place)
            values = [tokens.texts[at] for at in range(place, end) if _is_value(tokens, at, ("THEN", "ELSE"))]
        else:
            continue
        kinds = {"text" if value[0] in "'\"" else "decimal" if set(value) & set(".eE") else "whole" for value in values}
        if len(kinds) > 1:
            yield (
                tokens[place].place,
                f"LadybugDB makes one type of these ({', '.join(sorted(kinds))}): write them alike",
            )


def _is_value(tokens: Tokens, place: int, after: str | tuple[str, ...]) -> bool:
    return tokens[place].kind in ("text", "number") and tokens.uppers[place - 1] in after


def _types_compared(tokens: Tokens) -> Iterator[Spot]:
    """A literal against a field, or another literal, of another type."""
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text not in ("=", "<", ">") or tokens.texts[place - 1] in ("<", ">"):
            continue
        after = place + 1
        while tokens.texts[after] in ("=", "<", ">"):
            after += 1
        if after < len(tokens) and place > 0:
            kinds = {_kind(tokens, place - 1, 2), _kind(tokens, after, -2)}
            if len(kinds) == 2 and "" not in kinds:
                yield (
                    tokens[place].place,
                    f"LadybugDB converts before it compares {' with '.join(sorted(kinds))}: use one type",
                )


def _kind(tokens: Tokens, place: int, other_part: int) -> str:
    """Of a literal, or of a field that has one type in all kinds: text, number or truth. Nothing: not known."""
    token = tokens[place]
    if token.kind in ("text", "number"):
        return token.kind
    if token.upper in ("TRUE", "FALSE"):
        return "truth"
    if other_part < 0 and tokens.texts[place + 1] == ".":
        place, token = place + 2, tokens[min(place + 2, len(tokens) - 1)]
    if tokens.texts[place - 1] != "." or not tokens.named[place]:
        return ""
    kinds = (*schema.NODES, *schema.EDGES)
    types = {kind.by_name[token.name].type for kind in kinds if token.name in kind.by_name}
    if types and types <= set(_NUMBERS):
        return "number"
    return {schema.Type.STRING: "text", schema.Type.BOOLEAN: "truth"}.get(types.pop(), "") if len(types) == 1 else ""


def _comparison_chain(tokens: Tokens) -> Iterator[Spot]:
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if not _compares(tokens, place):
            continue
        after = place + 1
        while tokens.texts[after] in ("=", "<", ">"):
            after += 1
        while after < len(tokens) and not _compares(tokens, after):
            if tokens.texts[after] in (",", ")", "]", "}", "|") or _ends_comparison(tokens, after):
                break
            after = tokens.closing.get(after, after) + 1
        if after < len(tokens) and _compares(tokens, after):
            yield (
                tokens[place].place,
                f"LadybugDB compares two at a time: put AND between, as in a {text} b AND b {text} c",
            )


def _compares(tokens: Tokens, place: int) -> bool:
    if tokens.texts[place] not in ("=", "<", ">") or tokens.texts[place - 1] in ("=", "<", ">", "-"):
        return False
    return tokens.texts[place + 1] != "-" or tokens.texts[place] == "="


def _ends_comparison(tokens: Tokens, place: int) -> bool:
    return tokens.uppers[place] in _KEYWORDS | {"ORDER", "OPTIONAL", "END"} and tokens.texts[place - 1] != "."


def _concatenation(tokens: Tokens) -> Iterator[Spot]:
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text == "|" and tokens.texts[place + 1] == "|":
            yield tokens[place].place, "LadybugDB knows no ||: use +"


def _empty_text(tokens: Tokens) -> Iterator[Spot]:
    for place, word in enumerate(tokens.uppers[: len(tokens)]):
        if word == "CONTAINS" and tokens.texts[place + 1] in ("''", '""'):
            yield tokens[place].place, "nothing contains '' in LadybugDB, everything in Neo4j: leave the condition out"


def _regex(tokens: Tokens) -> Iterator[Spot]:
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text == "=" and tokens.texts[place + 1] == "~":
            pattern = tokens.texts[place + 2]
            if any(mark in pattern for mark in ("(?=", "(?!", "(?<", "(?>", "++", "*+", "?+")):
                yield (
                    tokens[place].place,
                    "LadybugDB's patterns (RE2) have no look-ahead, look-behind or possessive parts",
                )


def _number_form(tokens: Tokens) -> Iterator[Spot]:
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if tokens[place].kind == "number" and text[1:2] in ("x", "o"):
            yield tokens[place].place, "LadybugDB knows decimal numbers alone"


def _reserved_word(tokens: Tokens) -> Iterator[Spot]:
    elements = {element.first for path in paths(tokens) for element in path.elements}
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if tokens[place].kind == "word" and text.lower() in RESERVED:
            in_pattern = place - 1 in elements or (tokens.texts[place - 1] == "[" and place - 2 in elements)
            if tokens.uppers[place - 1] == "AS" or (in_pattern and text.upper() != "WHERE"):
                yield tokens[place].place, f"LadybugDB reserves the word {text}: put it in backticks, or use another"


# Columns


def _sum_of_nothing(tokens: Tokens) -> Iterator[Spot]:
    for place, name in _calls(tokens):
        guarded = tokens.texts[place - 1] == "(" and tokens.uppers[place - 2] == "COALESCE"
        if name == "sum" and not guarded and not (_is_never_null(tokens, place + 2) and _grouped(tokens, place)):
            yield (
                tokens[place].place,
                "the sum of nothing is null in LadybugDB, 0 in Neo4j: write coalesce(sum(x), 0), or sum(coalesce(x, 0)) beside "
                "a column that groups",
            )


def _is_never_null(tokens: Tokens, place: int, carried: bool = True) -> bool:
    """Whether the expression at a place is a coalesce, a count, a CASE with ELSE, or a column that is one of these."""
    if tokens.uppers[place] == "CASE":
        return "ELSE" in tokens.uppers[place : tokens.closing.get(place - 1, place)]
    if tokens.uppers[place] in ("COALESCE", "COUNT"):
        return tokens.texts[place + 1] in ("(", "{")
    if not carried or tokens.texts[place + 1] != ")":
        return False
    columns = [item for found in projections(tokens) for item in found.items if item.expression < item.end]
    sources = [item for item in columns if item.column(tokens) == tokens.texts[place] and item.end <= place]
    return bool(sources) and all(_is_never_null(tokens, item.first, carried=False) for item in sources)


def _grouped(tokens: Tokens, place: int) -> bool:
    """Whether a column beside an aggregate groups, so that no group is empty."""
    for projection in projections(tokens):
        if projection.first < place < projection.end:
            return any(not item.aggregates(tokens) for item in projection.items)
    return False


def _count_alone(tokens: Tokens) -> Iterator[Spot]:
    for projection in projections(tokens):
        counted = [item for item in projection.items if _counts(tokens, item)]
        if counted and not any(_is_plain(tokens, item) for item in projection.items):
            yield (
                tokens[counted[0].first].place,
                "LadybugDB loses the rows where COUNT { } is 0 unless a field of the same node is a column beside it",
            )


def _counts(tokens: Tokens, item: Item) -> bool:
    places = range(item.first, item.expression)
    inside = any(
        tokens.texts[place] == "{" and is_subquery(tokens, place) and tokens.uppers[place - 1] == "COUNT"
        for place in places
    )
    return inside and not item.aggregates(tokens)


def _is_plain(tokens: Tokens, item: Item) -> bool:
    """Whether an item is a variable or a field."""
    return item.expression - item.first in (1, 3) and tokens.named[item.first] and tokens.texts[item.first + 1] != "{"


def _column_twice(tokens: Tokens) -> Iterator[Spot]:
    for projection in projections(tokens):
        names = Counter(item.column(tokens) for item in projection.items)
        for item in projection.items:
            if names[item.column(tokens)] > 1:
                yield tokens[item.first].place, f"two columns are named {item.column(tokens)}: Neo4j refuses that"
                break


def _results(tokens: Tokens) -> list[Projection]:
    return [found for found in projections(tokens) if found.word == "RETURN" and not found.in_subquery]


def _union_columns(tokens: Tokens) -> Iterator[Spot]:
    results = _results(tokens)
    for result in results[1:]:
        if [item.column(tokens) for item in result.items] != [item.column(tokens) for item in results[0].items]:
            yield (
                tokens[result.first].place,
                "LadybugDB joins the columns of a UNION by place, Neo4j by name: give all parts the same names in one order",
            )


def _union_twin(tokens: Tokens) -> Iterator[Spot]:
    results = _results(tokens)
    if len(results) < 2:
        return
    for found in projections(tokens):
        texts = Counter(_expression(tokens, item) for item in found.items)
        for item in found.items:
            if texts[_expression(tokens, item)] > 1 and any(tokens.named[item.first : item.expression]):
                yield (
                    tokens[item.first].place,
                    "where one part of a UNION returns an expression twice, LadybugDB confuses the two columns in the others",
                )
                break


def _expression(tokens: Tokens, item: Item) -> str:
    return "".join(tokens.texts[item.first : item.expression])


def _star(tokens: Tokens) -> Iterator[Spot]:
    for place, text in enumerate(tokens.texts[: len(tokens)]):
        if text == "*" and (tokens.uppers[place - 1] == "RETURN" or tokens.texts[place - 1] == "."):
            yield (
                tokens[place].place,
                "the columns of * come in another order on each engine, and n.* is LadybugDB's: name them",
            )


def _order_of_union(tokens: Tokens) -> Iterator[Spot]:
    results = _results(tokens)
    if len(results) > 1 and tokens.uppers[results[-1].end] in ("ORDER", "SKIP", "LIMIT"):
        yield tokens[results[-1].end].place, "it holds for the last part of the UNION alone: sort and cut in Python"


def _order_in_with(tokens: Tokens) -> Iterator[Spot]:
    for projection in projections(tokens):
        if projection.word == "WITH" and tokens.uppers[projection.end] == "ORDER":
            place = projection.end + 1
            while place < len(tokens) and tokens.uppers[place] not in (
                "SKIP",
                "LIMIT",
                "MATCH",
                "RETURN",
                "WITH",
                "UNWIND",
                "WHERE",
            ):
                place += 1
            if tokens.uppers[place] not in ("SKIP", "LIMIT"):
                yield tokens[projection.end].place, "LadybugDB takes ORDER BY in WITH together with LIMIT alone"


def _column_is_variable(tokens: Tokens) -> Iterator[Spot]:
    variables = {element.variable for path in paths(tokens) for element in path.elements}
    for result in _results(tokens):
        if tokens.uppers[result.end] != "ORDER":
            continue
        for item in result.items:
            column = item.column(tokens)
            renamed = item.expression < item.end and column in variables and column != _expression(tokens, item)
            if renamed and column in tokens.texts[result.end : len(tokens)]:
                yield (
                    tokens[item.end - 1].place,
                    "LadybugDB sorts by the variable of this name: name the column otherwise",
                )


RULES: dict[str, tuple[Find, bool]] = {
    "function": (_function, False),
    "function-differs": (_function_differs, True),
    "procedure": (_procedure, False),
    "list-comprehension": (_list_comprehension, False),
    "list-place": (_list_place, True),
    "map-projection": (_map_projection, False),
    "null-in-list": (_null_in_list, True),
    "mixed-types": (_mixed_types, True),
    "types-compared": (_types_compared, True),
    "comparison-chain": (_comparison_chain, False),
    "concatenation": (_concatenation, False),
    "empty-text": (_empty_text, True),
    "regex": (_regex, True),
    "number-form": (_number_form, False),
    "reserved-word": (_reserved_word, False),
    "sum-of-nothing": (_sum_of_nothing, True),
    "count-alone": (_count_alone, True),
    "column-twice": (_column_twice, False),
    "union-columns": (_union_columns, True),
    "union-twin": (_union_twin, True),
    "star": (_star, True),
    "order-of-union": (_order_of_union, False),
    "order-in-with": (_order_in_with, False),
    "column-is-variable": (_column_is_variable, False),
}
