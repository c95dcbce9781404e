"""`capsule status`, `sessions`, `gaps` and `raw`: what is in the store, what is missing, and where it came from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenance.commands.output import (
    Settings,
    answer_json,
    clean,
    count_of,
    note,
    opened,
    say,
    short,
    table,
    time_of,
)
from provenance.errors import UsageError

if TYPE_CHECKING:
    from provenance.store import Store

_SOURCES = """
MATCH (s:Source)
RETURN s.id AS source, s.name AS name, s.format AS format, s.uri AS uri, s.lines AS lines, s.records AS records,
       s.skipped AS skipped, s.complete AS complete, s.size AS size
ORDER BY name, source
"""
_REF = re.compile(r"([0-9a-f]{8}):(\d+)")

AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Tell what is in the store: counts, sources and whether they are still there, sessions."""
    from provenance import schema

    settings: Settings = context.obj
    with opened(settings) as store:
        counts = store.counts()
        sources = [{**row, "reachable": reachable(str(row["uri"]))} for row in store.query(_SOURCES).dicts()]
        sessions_ = _asked(store, "population/sessions")
        where = store.uri
    nodes = {kind: count for kind, count in counts.items() if kind in schema.NODE_KINDS}
    edges = {kind: count for kind, count in counts.items() if kind in schema.EDGE_KINDS}
    if as_json:
        answer_json(
            {
                "store": where,
                "schema": schema.VERSION,
                "nodes": nodes,
                "edges": edges,
                "sources": sources,
                "sessions": len(sessions_),
            }
        )
        return
    say(f"store     {clean(where)} (schema {schema.VERSION})")
    say(f"graph     {count_of(sum(nodes.values()), 'node')}, {count_of(sum(edges.values()), 'edge')}")
    say(f"sessions  {len(sessions_):,}\n")
    if nodes:
        say(table(("node", "count"), [(kind, f"{count:,}") for kind, count in nodes.items()]), "")
    rows = [
        (row["name"], row["format"], f"{row['lines'] or 0:,}", f"{row['records'] or 0:,}", row["skipped"],
         row["complete"], row["reachable"], row["uri"])
        for row in sources
    ]  # fmt: skip
    if rows:
        say(table(("source", "format", "lines", "records", "skipped", "complete", "still there", "where"), rows))
    else:
        say("nothing was ingested yet: capsule ingest FOLDER")


def sessions(context: typer.Context, as_json: AsJson = False) -> None:
    """List the sessions: which agent, how it ended, how many calls, and whether its claims hold."""
    settings: Settings = context.obj
    with opened(settings) as store:
        rows = _asked(store, "population/sessions")
    if as_json:
        answer_json(rows)
        return
    if not rows:
        say("no sessions: `capsule ingest` reads them from an agent's session files or its printed stream")
        return
    shown = [
        (row["session"].removeprefix("session:"), row["agent"], row["status"], time_of(row["start"], row["clock"]),
         row["turns"], row["calls"], row["troubled"], row["contradicted"], row["covered"], row["cwd"])
        for row in rows
    ]  # fmt: skip
    columns = ("session", "agent", "status", "begin", "turns", "calls", "troubled", "contradicted", "traces", "folder")
    say(table(columns, shown))


def gaps(
    context: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="Only of this session, by the end or the beginning of its id."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what is missing, about what and why, and what each source could see.

    No record never means that nothing happened: only inside a coverage without gaps does absence count.
    """
    settings: Settings = context.obj
    with opened(settings) as store:
        identity = _session(store, session) if session else ""
        found = _asked(store, "audit/gaps", session=identity)
        covered = _asked(store, "audit/coverage")
        if identity:
            covered = [row for row in covered if identity in row["sessions"]]
    if as_json:
        answer_json({"gaps": found, "coverage": covered})
        return
    if found:
        rows = [(row["reason"], row["about"], row["count"], row["subject"], row["detail"]) for row in found]
        say(table(("reason", "about", "count", "of", "detail"), rows, length=90))
    else:
        say("no gaps are known")
    if covered:
        shown = [
            (row["source"], row["complete"], row["lost"], row["attached_late"], row["environment"], row["processes"],
             len(row["sessions"]))
            for row in covered
        ]  # fmt: skip
        columns = ("coverage", "complete", "lost", "attached late", "environment", "processes", "sessions")
        say("", table(columns, shown))
    else:
        say("\nno source shows what the machine did: effects are not covered")


def raw(
    context: typer.Context,
    target: Annotated[
        str, typer.Argument(metavar="NODE|REF", help="A node, as for `why`, or a reference KEY:LINE of a record.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show the line of the source behind a node, if it is still there. It is evidence as it was recorded: not redacted."""
    from ingest.sources import raw_line
    from provenance.resolve import resolve

    settings: Settings = context.obj
    answers: list[dict[str, Any]] = []
    with opened(settings) as store:
        found = _REF.fullmatch(target)
        pairs: list[tuple[str | None, str]] = [(None, target)] if found else []
        if not found:
            ids = resolve(store, target).ids
            fields = store.nodes(ids)
            pairs = [(node, str(fields[node].get("source") or "")) for node in ids]
        for node, reference in pairs:
            key, _, line = reference.rpartition(":")
            source = store.nodes([f"source:{key}"]).get(f"source:{key}") if key else None
            if found and source is None:
                raise UsageError(f"no source has the key {key}: `capsule status --json` lists them")
            uri = str(source.get("uri")) if source else None
            data = raw_line(uri, int(line)) if uri and line.isdigit() else None
            answers.append(
                {
                    "node": node,
                    "ref": reference or None,
                    "source": uri,
                    "line": int(line) if line.isdigit() else None,
                    "present": data is not None,
                    "text": data.decode("utf-8", "backslashreplace") if data is not None else None,
                }
            )
    if as_json:
        answer_json(answers)
        return
    for answer in answers:
        if answer["node"] and not answer["ref"]:
            note(f"{answer['node']}: no single record introduced it")
            continue
        where = f"{answer['source'] or 'unknown source'}, line {answer['line']}"
        if answer["present"]:
            note(where)
            say(clean(answer["text"]))
        else:
            note(f"{where}: no longer there (moved, cut, or read from standard input)")


def reachable(uri: str) -> bool:
    """Whether a source can still be read where it was."""
    if uri == "stdin":
        return False
    if uri.startswith("file://"):
        from ingest.sources import raw_line

        return raw_line(uri, 1) is not None
    path = Path(uri)
    if path.name.endswith(".*"):
        return any(path.parent.glob(path.name))
    return path.is_file()


def _asked(store: Store, name: str, **given: str) -> list[dict[str, Any]]:
    from queries import find

    question = find(name)
    return store.query(question.text, question.values(given)).dicts()


def _session(store: Store, name: str) -> str:
    from provenance.resolve import resolve

    ids = resolve(store, name).ids
    if len(ids) != 1 or not ids[0].startswith("session:"):
        raise UsageError(f"{short(name)} is no session: `capsule sessions` lists them")
    return ids[0]
