"""What checks read, what that was built from, and whether it was the last version: for the views of checks and claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from provenance.store.interface import Store
from provenance.sufficiency.verdicts import Missing

_INPUTS = """
MATCH (c:ToolCall {id: $call})<-[:ATTRIBUTED_TO]-(p:Process)-[:USED]->(a:Artifact)
WHERE a.class = 'file' AND coalesce(a.label, '') <> 'toolchain' AND coalesce(a.label, '') <> 'agent_state'
RETURN DISTINCT a.id AS id
"""
_BUILDERS = """
UNWIND $ids AS x
MATCH (a:Artifact {id: x})-[e:GENERATED_BY]->(p:Process)
RETURN a.id AS built, a.id AS through, p.id AS state, p.process AS process, e.first AS at
UNION
UNWIND $ids AS x
MATCH (a:Artifact {id: x})-[:RENAMED_FROM]->(t:Artifact)-[e:GENERATED_BY]->(p:Process)
RETURN a.id AS built, t.id AS through, p.id AS state, p.process AS process, e.first AS at
"""
_READ = """
UNWIND $processes AS x
MATCH (p:Process)-[:USED]->(s:Artifact)
WHERE p.process = x AND s.class = 'file' AND coalesce(s.label, '') <> 'toolchain' AND coalesce(s.label, '') <> 'agent_state'
RETURN DISTINCT x AS process, s.id AS source
"""
_NEXT = """
UNWIND $ids AS x
MATCH (n:Artifact)-[:REVISION_OF]->(s:Artifact {id: x})
MATCH (n)-[e:GENERATED_BY|NAMED_BY]->(:Process)
RETURN s.id AS source, n.id AS next, min(e.first) AS at
"""
_CALL = "MATCH (c:ToolCall {id: $call}) RETURN c.start AS start, c.end AS finish"
_CLAIM = """
MATCH (o:Outcome {id: $claim})-[:OUTCOME_OF]->(:Turn)-[:PART_OF]->(s:Session)
RETURN o.subject AS subject, o.start AS at, s.id AS session
"""
_CHECKS = """
MATCH (s:Session {id: $session})<-[:PART_OF]-(:Turn)<-[:PART_OF]-(c:ToolCall)<-[:OUTCOME_OF]-(o:Outcome)
WHERE o.type = 'checked' AND o.verdict IN ['pass', 'fail'] AND o.subject IN ['test', 'build', 'lint', 'type_check']
RETURN c.id AS call, c.end AS finish, o.id AS outcome, o.verdict AS verdict, o.subject AS subject
"""
_EDITS = """
MATCH (s:Session)<-[:PART_OF]-(:Turn)<-[:PART_OF]-(c:ToolCall)
WHERE s.id = $session AND c.action IN ['edit', 'write'] AND c.status = 'completed' AND c.start >= $after AND c.start <= $until
  AND NOT EXISTS { MATCH (c)<-[:ATTRIBUTED_TO]-(:Artifact) }
RETURN c.id AS call, c.name AS name
"""
_SESSION_OF_CALL = "MATCH (c:ToolCall {id: $id})-[:PART_OF]->(:Turn)-[:PART_OF]->(s:Session) RETURN s.id AS session, c.start AS at, c.end AS finish"
_SESSION_OF_CLAIM = "MATCH (o:Outcome {id: $id})-[:OUTCOME_OF]->(:Turn)-[:PART_OF]->(s:Session) RETURN s.id AS session, o.start AS at, o.start AS finish"


def inputs_of(store: Store, call: str) -> list[str]:
    """Versions of files that the processes of a call read, the toolchain and the agent's own files left out."""
    return sorted(str(row[0]) for row in store.query(_INPUTS, {"call": call}).rows)


def outdated(store: Store, versions: Iterable[str], call: str) -> dict[str, list[str]]:
    """Of versions that a call read: those that were built, before it began, from a version of a file that was no longer the
    last when it began. Version -> what shows it: the builder's state, the version it read, and the younger one."""
    ids = sorted(versions)
    began = _one(store, _CALL, {"call": call}).get("start")
    if not ids or began is None:
        return {}
    builders = [row for row in store.query(_BUILDERS, {"ids": ids}).dicts() if _before(row["at"], began)]
    processes = sorted({str(row["process"]) for row in builders})
    if not processes:
        return {}
    sources: dict[str, set[str]] = {}
    for process, source in store.query(_READ, {"processes": processes}).rows:
        sources.setdefault(str(process), set()).add(str(source))
    later = _nexts(store, {source for found in sources.values() for source in found})
    found: dict[str, list[str]] = {}
    for row in sorted(builders, key=lambda row: (str(row["built"]), str(row["state"]))):
        built, process = str(row["built"]), str(row["process"])
        for source in sorted(sources.get(process, ())):
            for young, at in later.get(source, ()):
                if source != built and young not in ids and _before(row["at"], at) and _before(at, began):
                    found.setdefault(built, [str(row["through"]), str(row["state"]), source, young])
    return found


def changed_after(store: Store, versions: Iterable[str], call: str, until: int) -> dict[str, str]:
    """Younger version -> version, where what a call read, or what that was built from, was written anew after the call ended
    and before the time `until`."""
    ids = set(versions)
    ended = _one(store, _CALL, {"call": call}).get("finish")
    if not ids or ended is None:
        return {}
    processes = sorted({str(row["process"]) for row in store.query(_BUILDERS, {"ids": sorted(ids)}).dicts()})
    if processes:
        ids |= {str(row[1]) for row in store.query(_READ, {"processes": processes}).rows}
    found: dict[str, str] = {}
    for source, nexts in _nexts(store, ids).items():
        for young, at in nexts:
            if _before(ended, at) and _before(at, until):
                found[young] = source
    return dict(sorted(found.items()))


def last_check(store: Store, claim: str) -> tuple[str, str, str, int] | None:
    """(call, outcome, verdict, time of the claim) of the last check before a claim that fits its subject; any, for a claim
    about the run. A call with a failing and a passing outcome counts as failing."""
    told = _one(store, _CLAIM, {"claim": claim})
    if not told or told["at"] is None:
        return None
    rows = [
        row
        for row in store.query(_CHECKS, {"session": told["session"]}).dicts()
        if _before(row["finish"], told["at"]) and (told["subject"] == "run" or row["subject"] == told["subject"])
    ]
    if not rows:
        return None
    last = max(rows, key=lambda row: (cast(int, row["finish"]), row["verdict"] == "fail", str(row["call"])))
    return str(last["call"]), str(last["outcome"]), str(last["verdict"]), cast(int, told["at"])


def edits_without_effect(store: Store, first: str, last: str) -> list[Missing]:
    """Edits between two calls, or a call and a claim, that completed, and of which no effect is seen."""
    begin = _one(store, _SESSION_OF_CALL, {"id": first})
    end = _one(store, _SESSION_OF_CALL if last.startswith("toolcall:") else _SESSION_OF_CLAIM, {"id": last})
    if not begin or not end or begin["finish"] is None or end["at"] is None:
        return []
    given = {"session": end["session"], "after": begin["finish"], "until": end["at"]}
    return [
        Missing(f"what {row['name']} wrote", "the call completed, and no effect of it is seen", str(row["call"]))
        for row in sorted(store.query(_EDITS, given).dicts(), key=lambda row: str(row["call"]))
    ]


def _nexts(store: Store, ids: Iterable[str]) -> dict[str, list[tuple[str, int | None]]]:
    found: dict[str, list[tuple[str, int | None]]] = {}
    for source, young, at in store.query(_NEXT, {"ids": sorted(ids)}).rows:
        found.setdefault(str(source), []).append((str(young), cast("int | None", at)))
    return {source: sorted(nexts, key=str) for source, nexts in found.items()}


def _before(first: object, second: object) -> bool:
    return isinstance(first, int) and isinstance(second, int) and first < second


def _one(store: Store, text: str, given: dict[str, Any]) -> dict[str, Any]:
    rows = store.query(text, given).dicts()
    return rows[0] if rows else {}
