"""Joining the two sides of the graph: reads what attribution needs from a store, and writes what follows from it.

Runs after ingest for every session that changed or whose time a changed trace overlaps. What it wrote before for a session
is kept as state, so that a second run only writes the difference: attribution never depends on the order of sources.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from provenance.changes import Changes, EdgeKey, Fields
from provenance.store.interface import Store
from provenance.weave.attribution import Attribution, CallRow, ProcessRow, TouchRow, Tree, attribute
from provenance.weave.outcomes import RuntimeEnd

_AROUND = 120_000_000_000
"""ns before a session's first and after its last record within which its processes are looked for."""

_SESSIONS = """
MATCH (s:Session)
RETURN s.id AS id, s.agent AS agent, s.cwd AS cwd, s.start AS start, s.end AS finish
"""
_CALLS = """
MATCH (c:ToolCall) WHERE c.id STARTS WITH $prefix
RETURN c.id AS id, c.action AS action, c.command AS command, c.paths AS paths, c.cwd AS cwd, c.start AS start, c.end AS finish,
       c.status AS status
"""
_OUTPUTS = """
MATCH (a:Artifact)-[:GENERATED_BY]->(c:ToolCall) WHERE c.id STARTS WITH $prefix AND a.class = 'tool_output'
RETURN c.id AS call, a.id AS output, a.size AS size
"""
_PROCESSES = """
MATCH (p:Process) WHERE p.clock = 'wall' AND p.start >= $first AND p.start <= $last
RETURN p.id AS id, p.process AS process, p.parent AS parent, p.image AS image, p.began AS began, p.argv AS argv,
       p.argv_truncated AS truncated, p.executable AS executable, p.cwd AS cwd, p.start AS start, p.end AS finish,
       p.exit_code AS exit_code, p.signal AS signal, p.source AS source, p.trace AS trace
"""
_TOUCHES = (
    """
MATCH (a:Artifact)-[e:GENERATED_BY|NAMED_BY]->(p:Process) WHERE p.process IN $keys
RETURN type(e) AS kind, p.process AS process, a.id AS target, a.path AS path, e.first AS first, e.last AS last, e.count AS count,
       e.bytes AS size, a.label AS label
""",
    """
MATCH (p:Process)-[e:USED|CONSULTED]->(a:Artifact) WHERE p.process IN $keys
RETURN type(e) AS kind, p.process AS process, a.id AS target, a.path AS path, e.first AS first, e.last AS last, e.count AS count,
       e.bytes AS size, a.label AS label
""",
)
_SESSION_FILES = (
    """
MATCH (a:Artifact)-[e:GENERATED_BY]->(p:Process) WHERE a.label = 'agent_state' AND a.path CONTAINS $session
RETURN 'GENERATED_BY' AS kind, p.process AS process, a.id AS target, a.path AS path, e.first AS first, e.last AS last,
       e.count AS count, e.bytes AS size, a.label AS label
""",
    """
MATCH (p:Process)-[e:USED|CONSULTED]->(a:Artifact) WHERE a.label = 'agent_state' AND a.path CONTAINS $session
RETURN 'USED' AS kind, p.process AS process, a.id AS target, a.path AS path, e.first AS first, e.last AS last,
       e.count AS count, e.bytes AS size, a.label AS label
""",
)
_COVERAGES = """
MATCH (c:Coverage)-[:RECORDED_IN]->(s:Source) RETURN c.id AS id, s.id AS source, c.start AS start, c.end AS finish
"""

_DESTINATIONS = """
MATCH (f:Flow)-[:GENERATED_BY]->(p:Process) WHERE p.process IN $keys AND f.direction = 'out' AND f.protocol = 'tcp'
MATCH (f)-[:SENT_TO]->(e:Endpoint)
RETURN e.id AS id, sum(f.bytes) AS bytes
"""
_FINISHED = "MATCH (s:Source) WHERE s.complete = true RETURN s.id AS id"


@dataclass(slots=True)
class Joined:
    """What joining one session gave."""

    session: str
    changes: Changes
    attribution: Attribution
    runtime_end: RuntimeEnd | None


class _Kept(msgspec.Struct):
    edges: list[tuple[str, str, str, dict[str, Any]]]
    roles: list[str]
    gaps: list[str]


def root_sessions(store: Store) -> list[dict[str, Any]]:
    """The sessions that are not sub-agents: id (without kind), agent, cwd, start, finish."""
    rows: list[dict[str, Any]] = store.query(_SESSIONS).dicts()
    names = {str(row["id"]).removeprefix("session:") for row in rows}
    roots: list[dict[str, Any]] = []
    for row in rows:
        name = str(row["id"]).removeprefix("session:")
        if "/" not in name or name.rpartition("/")[0] not in names:
            roots.append({**row, "id": name})
    return sorted(roots, key=lambda row: str(row["id"]))


def join(store: Store, session: dict[str, Any], kept: bytes | None) -> Joined | None:
    """Attribute what was seen to what one session said. None where no trace can be compared with it.

    `kept` is the state under `state_key` as it was before: what `kept_state` gave then.
    """
    name = str(session["id"])
    calls = _calls(store, name)
    files = _touches(store, _SESSION_FILES, {"session": name})
    times = [time for call in calls for time in (call.start, call.end) if time is not None]
    times += [time for time in (session["start"], session["finish"]) if time is not None]
    if not times:
        return None
    bounds = {"first": min(times) - _AROUND, "last": max(times) + _AROUND}
    rows = [_process(row) for row in store.query(_PROCESSES, bounds).dicts()]
    previous = msgspec.msgpack.decode(kept, type=_Kept) if kept else None
    if not rows and previous is None:
        return None
    rows = _one_trace(rows, files)
    keys = sorted({row.process for row in rows})
    touches = _touches(store, _TOUCHES, {"keys": keys}) if rows else []
    known = {(touch.kind, touch.process, touch.target) for touch in touches}
    touches += [touch for touch in files if (touch.kind, touch.process, touch.target) not in known]
    found = attribute(name, session["agent"], session["cwd"], calls, rows, touches)
    return Joined(
        name, _changes(store, name, previous, found, rows), found, _runtime_end(found, rows, _finished(store))
    )


def _one_trace(rows: list[ProcessRow], files: list[TouchRow]) -> list[ProcessRow]:
    """Where several traces overlap the session, those in which its files were touched."""
    traces = {row.trace for row in rows}
    if len(traces) < 2:
        return rows
    touched = {touch.process for touch in files}
    chosen = {row.trace for row in rows if row.process in touched}
    return [row for row in rows if row.trace in chosen] if chosen else rows


def _calls(store: Store, session: str) -> list[CallRow]:
    prefix = f"toolcall:{session}/"
    outputs: dict[str, tuple[str, int | None]] = {}
    for row in store.query(_OUTPUTS, {"prefix": prefix}).dicts():
        given: dict[str, Any] = row
        outputs[given["call"]] = (given["output"], given["size"])
    found: list[CallRow] = []
    for row in store.query(_CALLS, {"prefix": prefix}).dicts():
        values: dict[str, Any] = row
        found.append(
            CallRow(
                values["id"], session, values["action"] or "other", values["command"], tuple(values["paths"] or ()), values["cwd"],
                values["start"], values["finish"], values["status"] or "unknown", *outputs.get(values["id"], (None, None)),
            )
        )  # fmt: skip
    return sorted(found, key=lambda call: call.id)


def _process(row: dict[str, Any]) -> ProcessRow:
    return ProcessRow(
        row["id"], row["process"], row["parent"], row["image"], row["began"], tuple(row["argv"] or ()), bool(row["truncated"]),
        row["executable"], row["cwd"], row["start"], row["finish"], row["exit_code"], row["signal"], row["source"], row["trace"],
    )  # fmt: skip


def _touches(store: Store, queries: Iterable[str], parameters: dict[str, Any]) -> list[TouchRow]:
    found: list[TouchRow] = []
    for query in queries:
        for row in store.query(query, parameters).dicts():
            values: dict[str, Any] = row
            found.append(
                TouchRow(
                    values["kind"], values["process"], values["target"], values["path"], values["first"] or 0, values["last"] or 0,
                    values["count"] or 1, values["size"], values["label"],
                )
            )  # fmt: skip
    return sorted(found, key=lambda touch: (touch.first, touch.kind, touch.target, touch.process))


def state_key(session: str) -> str:
    """Where the attribution of a session is kept."""
    return f"attribution/{session}"


def _changes(store: Store, session: str, previous: _Kept | None, found: Attribution, rows: list[ProcessRow]) -> Changes:
    """The difference to what was written for the session before."""
    changes = Changes()
    gaps = _gaps(session, found)
    coverages = _covering(store, rows, found)
    for coverage in coverages:
        found.edges[("COVERED_BY", f"session:{session}", coverage)] = {
            "basis": "inferred", "confidence": 0.9, "rule": "runtime_in_trace", "count": 1,
        }  # fmt: skip
    for gap, (_, about) in gaps.items():
        found.edges[("ABOUT", gap, about)] = {"basis": "inferred", "confidence": 1.0, "rule": "attribution", "count": 1}
    before: dict[EdgeKey, Fields] = (
        {(kind, tail, head): fields for kind, tail, head, fields in previous.edges} if previous else {}
    )
    for key, fields in found.edges.items():
        if key not in before:
            changes.edges[key] = fields
        elif before[key] != fields:
            changes.edge_updates[key] = fields
    changes.removed_edges = set(before) - set(found.edges)
    for gap, (fields, _) in gaps.items():
        changes.put(gap, **fields)
    changes.removed_nodes = set(previous.gaps) - set(gaps) if previous else set()
    for node, role in found.roles.items():
        changes.put(node, role=role)
    for node in set(previous.roles) - set(found.roles) if previous else ():
        changes.put(node, role=None)
    if found.runtime is not None:
        changes.put(f"session:{session}", runtime=found.runtime)
        model = _model_endpoint(store, found.runtime)
        if model is not None:
            changes.put(model, role="model_endpoint")
    return changes


def _model_endpoint(store: Store, runtime: str) -> str | None:
    """Where the agent's own process sent most: its model."""
    rows: list[dict[str, Any]] = store.query(_DESTINATIONS, {"keys": [runtime]}).dicts()
    sent = [(row["bytes"] or 0, str(row["id"])) for row in rows]
    return max(sent)[1] if sent and max(sent)[0] > 0 else None


def kept_state(session: str, joined: Joined, previous: bytes | None) -> dict[str, bytes]:
    """The state to commit with the changes."""
    edges = [(*key, fields) for key, fields in sorted(joined.attribution.edges.items())]
    gaps = sorted(tail for kind, tail, _ in joined.attribution.edges if kind == "ABOUT")
    kept = _Kept(edges, sorted(joined.attribution.roles), gaps)
    data = msgspec.msgpack.encode(kept)
    return {} if data == previous else {state_key(session): data}


def _gaps(session: str, found: Attribution) -> dict[str, tuple[Fields, str]]:
    """Gap id -> its fields and what it is about."""
    gaps: dict[str, tuple[Fields, str]] = {}
    common: Fields = {"level": 1, "retention": "present"}
    for call in found.unmatched:
        if found.runtime is not None:
            gaps[f"gap:{call}/unattributed"] = (
                {**common, "name": "unattributed", "reason": "unattributed", "about": "processes of the call", "count": 1,
                 "detail": "the trace has no process whose arguments and time fit the command"},
                call,
            )  # fmt: skip
    for call in found.ambiguous:
        gaps[f"gap:{call}/ambiguous"] = (
            {**common, "name": "ambiguous", "reason": "ambiguous", "about": "processes of the call", "count": 1,
             "detail": "another call with the same command ran at the same time: either may be the cause"},
            call,
        )  # fmt: skip
    if found.housekeeping:
        gaps[f"gap:{session}/housekeeping"] = (
            {**common, "name": "unattributed", "reason": "unattributed", "about": "processes that the agent started by itself",
             "count": found.housekeeping, "detail": "no tool call explains them; they are attributed to the session"},
            f"session:{session}",
        )  # fmt: skip
    return gaps


def _covering(store: Store, rows: list[ProcessRow], found: Attribution) -> list[str]:
    if found.runtime is None:
        return []
    traces = {row.trace for row in rows if row.process == found.runtime}
    return [
        str(row["id"])
        for row in store.query(_COVERAGES).dicts()
        if str(row["source"]).removeprefix("source:") in traces
    ]


def _finished(store: Store) -> set[str]:
    """Keys of the traces that were read to their end."""
    return {str(row["id"]).removeprefix("source:") for row in store.query(_FINISHED).dicts()}


def _runtime_end(found: Attribution, rows: list[ProcessRow], finished: set[str]) -> RuntimeEnd | None:
    """How the agent's own process ended, as the trace saw it."""
    if found.runtime is None:
        return None
    tree = Tree(rows)
    mine = tree.states[found.runtime]
    ended = [row for row in mine if row.signal is not None or row.exit_code is not None]
    if not ended:
        last = max((row.end or row.start for row in rows), default=None)
        return RuntimeEnd(
            time=last, complete=False, process=mine[-1].id, source=mine[0].source, cut_off=mine[0].trace in finished
        )
    row = ended[-1]
    return RuntimeEnd(
        time=row.end, signal=row.signal, status=row.exit_code, complete=True, source=row.source, process=row.id
    )
