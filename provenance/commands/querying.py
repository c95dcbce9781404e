"""`capsule query`, `cypher` and `schema`: questions that are ready, questions of one's own, and what can be asked about."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenance.commands.output import Settings, answer_json, note, opened, say, table
from provenance.errors import UsageError

if TYPE_CHECKING:
    from provenance.changes import Value
    from provenance.store import Rows, Store
    from queries import Query

AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON: an array with one object a row.")]
Limit = Annotated[
    int, typer.Option("--limit", "-n", min=1, help="Show at most so many rows; more are said to be there.")
]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Stop after so many seconds.")]


def query(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The query; without it, all of them are listed.")
    ] = None,
    given: Annotated[
        list[str] | None, typer.Argument(metavar="PARAMETER=VALUE", help="Values for the query's parameters.")
    ] = None,
    params: Annotated[
        list[str] | None, typer.Option("--params", "-p", metavar="NAME=VALUE", help="The same, as an option.")
    ] = None,
    show_text: Annotated[bool, typer.Option("--text", help="Show what it asks and its Cypher; do not run it.")] = False,
    folders: Annotated[
        list[Path] | None,
        typer.Option(
            "--queries",
            metavar="FOLDER",
            envvar="CAPSULE_QUERIES",
            help="Take the queries of this folder too. May be given more than once.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the queries of your own folders, or NAME alone; do not run any.")
    ] = False,
    limit: Limit = 1000,
    timeout: Timeout = 60.0,
    as_json: AsJson = False,
) -> None:
    """Ask one of the questions that are ready, or list them.

    Where a parameter is a call, an artifact or a session, the end of its id or a path will do.

    \b
    Examples:
      capsule query
      capsule query destinations scope=public
      capsule query call-touched call=call_3
      capsule query file-history --text
      capsule query --queries ours --check
    """
    from provenance.cypher import guard
    from queries import catalogue, with_folders

    try:
        known = with_folders(folders or ())
    except ValueError as error:
        raise UsageError(str(error)) from None
    if check:
        _check([_found(name, known)] if name else [known[each] for each in known if each not in catalogue()], as_json)
        return
    if name is None:
        _list_queries(known.values(), as_json)
        return
    question = _found(name, known)
    if show_text:
        if as_json:
            answer_json(_described(question))
            return
        say(f"{question.title}\n{question.question}\n")
        for parameter in question.parameters:
            default = "must be given" if parameter.default is None else f"default {json.dumps(parameter.default)}"
            say(f"  {parameter.name} ({parameter.type}, {default}): {parameter.meaning}")
        say(*(f"  -> {column.name}: {column.meaning}" for column in question.columns), "", question.text)
        return
    settings: Settings = context.obj
    pairs = dict(_pair(text) for text in (*(given or ()), *(params or ())))
    with opened(settings) as store:
        try:
            values = question.values(pairs)
        except ValueError as error:
            raise UsageError(str(error)) from None
        _resolve(store, values)
        rows = store.query(guard(question.text), values, limit=limit, timeout=timeout)
    if not question.ordered:
        rows.rows.sort(key=lambda row: ["" if value is None else str(value) for value in row])
    _show(rows, as_json)


def cypher(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="CYPHER", help="The query; - reads it from standard input.")],
    params: Annotated[
        list[str] | None,
        typer.Option(
            "--params", "-p", metavar="NAME=VALUE", help="Value of $NAME; numbers, true, false and JSON lists as such."
        ),
    ] = None,
    limit: Limit = 1000,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Ask in Cypher. Only reading passes; `capsule schema` tells what there is.

    \b
    Examples:
      capsule cypher "MATCH (s:Session) RETURN s.id, s.agent, s.status"
      capsule cypher 'MATCH (a:Artifact) WHERE a.label = $l RETURN a.path' -p l=secret --json
    """
    from provenance.cypher import guard

    allowed = guard(sys.stdin.read() if text == "-" else text)
    values = {name: _value(value) for name, value in map(_pair, params or ())}
    settings: Settings = context.obj
    with opened(settings) as store:
        rows = store.query(allowed, values, limit=limit, timeout=timeout)
    _show(rows, as_json)


def schema(
    markdown: Annotated[bool, typer.Option("--markdown", help="Answer as the page docs/schema.md.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Tell the graph's schema: node and edge kinds, their fields and what they mean."""
    from provenance import schema_docs
    from provenance.schema import EDGES, NODES

    if as_json:
        answer_json(schema_docs.as_json())
        return
    if markdown:
        sys.stdout.write(schema_docs.as_markdown())
        return
    nodes = [(kind.name, kind.meaning, ", ".join(field.name for field in kind.fields)) for kind in NODES]
    say(table(("node", "meaning", "fields"), nodes, length=400), "")
    edges = [
        (kind.name, kind.flow.value, kind.meaning, ", ".join(f"{tail}→{head}" for tail, head in kind.endpoints))
        for kind in EDGES
    ]
    say(table(("edge", "flow", "meaning", "from→to"), edges, length=400))


def _found(name: str, known: Mapping[str, Query]) -> Query:
    from queries import find

    try:
        return find(name, known)
    except KeyError:
        several = [identity for identity in known if identity.rpartition("/")[2] == name]
        if several:
            raise UsageError(f"several queries are named {name}: {', '.join(several)}") from None
        import difflib

        names = {identity.rpartition("/")[2]: identity for identity in known}
        near = difflib.get_close_matches(name.rpartition("/")[2], names, n=3, cutoff=0.4)
        hint = f"; did you mean {', '.join(near)}?" if near else "; `capsule query` lists them"
        raise UsageError(f"there is no query {name!r}{hint}") from None


def _check(questions: Sequence[Query], as_json: bool) -> None:
    """Says what the engines would refuse or take differently; the exit status is 1 if there is any of it."""
    from provenance.cypher.lint import lint

    if not questions:
        raise UsageError("there is nothing to check: name a query, or a folder with --queries")
    found = [(question.id, *finding) for question in questions for finding in lint(question.text)]
    columns = ("query", "rule", "message", "line", "column")
    if as_json:
        answer_json([dict(zip(columns, row, strict=True)) for row in found])
    elif found:
        say(table(columns, found, length=400))
    else:
        say(f"{len(questions)} checked: both engines take them alike")
    if found:
        raise typer.Exit(1)


def _list_queries(questions: Iterable[Query], as_json: bool) -> None:
    if as_json:
        answer_json([_described(question) for question in questions])
        return
    rows = [
        (question.id, question.question, ", ".join(
            parameter.name if parameter.default is None else f"[{parameter.name}]" for parameter in question.parameters
        ))
        for question in questions
    ]  # fmt: skip
    say(table(("query", "question", "parameters"), rows, length=200))


def _described(question: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(question)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"{text!r} is not NAME=VALUE")
    return name, value


def _value(text: str) -> Value:
    """Numbers, true, false, null, quoted text and lists of these as JSON; anything else is text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, dict) else value


def _resolve(store: Store, values: dict[str, str | int]) -> None:
    """Names that people use become ids."""
    from provenance.resolve import resolve

    for name, prefix in (("call", "toolcall:"), ("artifact", "artifact:"), ("session", "session:")):
        value = values.get(name)
        if isinstance(value, str) and value and not value.startswith(prefix):
            found = [identity for identity in resolve(store, value).ids if identity.startswith(prefix)]
            if len(found) != 1:
                raise UsageError(f"{name}={value} names {len(found)} nodes of that kind: give an id")
            values[name] = found[0]


def _show(rows: Rows, as_json: bool) -> None:
    if as_json:
        answer_json(rows.dicts())
    elif rows.rows:
        say(table(rows.columns, rows.rows))
    else:
        note("no rows")
    if rows.truncated:
        note(f"there are more than the {len(rows.rows):,} rows shown: --limit raises that")
