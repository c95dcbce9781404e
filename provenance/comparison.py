"""Why did a check that passed before fail now: which inputs differ, and which of these reached the failure.

The pattern: take the same check (same command, same folder) that passed last; of the inputs that both consulted (read,
asked about, or looked for in vain) those whose version differs; keep those reached by the first failing process through
content and argument. Nothing left: flaky, or not observed. No earlier pass: nothing can be told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from provenance import slices
from provenance.errors import UsageError
from provenance.schema import Flow
from provenance.store.interface import Store

Answer = Literal["found", "several_classes", "no_difference", "no_baseline", "no_processes", "no_failing_process"]

_CALLS = """
MATCH (c:ToolCall) WHERE c.command_digest = $digest AND c.cwd = $cwd
RETURN c.id AS id, c.status AS status, c.exit_code AS exit_code, c.start AS start, c.end AS finish
"""
_VERDICTS = """
MATCH (o:Outcome)-[:OUTCOME_OF]->(c:ToolCall) WHERE c.command_digest = $digest AND o.type = 'checked'
RETURN c.id AS id, o.verdict AS verdict
"""
_INPUTS = """
MATCH (c:ToolCall {id: $call})<-[:ATTRIBUTED_TO]-(p:Process)-[e:USED|CONSULTED]->(a:Artifact)
RETURN p.executable AS executable, type(e) AS how, a.id AS id, a.path AS path, a.version AS version, a.class AS kind, a.label AS label,
       a.digest AS digest, a.members AS members
"""
_OWN_USE = """
MATCH (c:ToolCall {id: $call})-[:USED]->(a:Artifact)
RETURN a.id AS id, a.path AS path, a.version AS version, a.class AS kind, a.label AS label
"""
_OUTPUTS = """
MATCH (c:ToolCall {id: $call})<-[:ATTRIBUTED_TO]-(p:Process)<-[:GENERATED_BY|NAMED_BY]-(a:Artifact) RETURN DISTINCT a.id AS id
"""
_PROCESSES = """
MATCH (c:ToolCall {id: $call})<-[:ATTRIBUTED_TO]-(p:Process)
RETURN p.id AS id, p.process AS process, p.parent AS parent, p.image AS image, p.command AS command,
       p.executable AS executable, p.exit_code AS exit_code, p.signal AS signal, p.end AS finish, p.state AS state
"""
_FLOWS = (Flow.CONTENT, Flow.ARGUMENT)
_FOLDED = ("toolchain", "pipe", "socket", "memory", "terminal", "tool_output", "message")


@dataclass(frozen=True, slots=True)
class Difference:
    """One input that both calls consulted, in two versions."""

    path: str
    kind: str
    label: str | None
    before: int
    now: int
    before_id: str
    now_id: str
    path_ids: tuple[str, ...] = ()
    """From the failing process to the input, where it was reached."""


@dataclass(slots=True)
class InputDifference:
    """The comparison of a failed call with the last one of the same command that passed."""

    failing: str
    command: str
    baseline: str | None = None
    answer: Answer = "no_baseline"
    causes: list[Difference] = field(default_factory=list[Difference])  # reached by the failing process
    others: list[Difference] = field(default_factory=list[Difference])  # differ too, and did not reach it
    process: str | None = None  # state in which the first failing program began
    process_command: str | None = None
    process_exit: int | None = None
    process_signal: str | None = None
    same: int = 0  # inputs that both consulted in the same version
    toolchain: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """executable -> toolchain files that only the passing, only the failing run of it read"""
    notes: list[str] = field(default_factory=list[str])


def failed(store: Store, call: str) -> bool:
    """Whether the call is a shell command that did not pass, and so can be compared."""
    fields = store.nodes([call]).get(call)
    if not fields or not fields.get("command_digest"):
        return False
    if fields.get("status") not in ("completed", "running", None) or fields.get("exit_code") not in (0, None):
        return True
    return "fail" in _verdicts(store, str(fields["command_digest"])).get(call, ())


def input_difference(store: Store, failing_call_id: str, baseline: str | None = None) -> InputDifference:
    """Which input of a failed check differs from its last pass. UsageError where it is no command that ran."""
    call = store.nodes([failing_call_id]).get(failing_call_id)
    if call is None or not failing_call_id.startswith("toolcall:"):
        raise UsageError(f"{failing_call_id} is not a tool call of this store")
    if not call.get("command_digest"):
        raise UsageError(f"{failing_call_id} ran no command: only commands can be compared")
    found = InputDifference(failing_call_id, str(call.get("command") or ""))
    found.baseline = baseline or _last_pass(store, call, failing_call_id)
    if found.baseline is None:
        found.notes.append("the same command did not pass before in this store: nothing to compare with")
        return found
    now, before = _inputs(store, failing_call_id), _inputs(store, found.baseline)
    if not now.processes or not before.processes:
        found.answer = "no_processes"
        found.notes.append("no trace shows the processes of both calls")
        return found
    found.toolchain = _toolchain_difference(before, now)
    differences: list[Difference] = []
    for path in sorted(now.versions.keys() & before.versions.keys()):
        new, old = now.versions[path], before.versions[path]
        if new["id"] == old["id"]:
            found.same += 1
            continue
        differences.append(
            Difference(path, new["kind"], new["label"], old["version"] or 0, new["version"] or 0, old["id"], new["id"])
        )
    failing = _first_failing(now.processes, before.processes)
    if failing is None:
        found.answer, found.others = "no_failing_process", differences
        found.notes.append("no process of the failed call ended with an error that its last pass did not have too")
        return found
    found.process, found.process_command = failing["id"], failing["command"] or failing["executable"]
    found.process_exit, found.process_signal = failing["exit_code"], failing["signal"]
    states = [row["id"] for row in now.processes if row["image"] == failing["image"]]
    reached = slices.why(store, states, _FLOWS)
    for difference in differences:
        if difference.now_id in reached.nodes:
            path_ids = tuple(reached.path_ids(difference.now_id))
            found.causes.append(
                Difference(
                    difference.path, difference.kind, difference.label, difference.before, difference.now,
                    difference.before_id, difference.now_id, path_ids,
                )
            )  # fmt: skip
        else:
            found.others.append(difference)
    if reached.cut_off:
        found.notes.append("the slice of the failing process was cut off: more may have reached it")
    found.answer = "found" if found.causes else "no_difference"
    if not found.causes:
        found.notes.append("no input that reached the failing process differs: flaky, or not observed")
    elif len({class_of(cause) for cause in found.causes}) > 1:
        found.answer = "several_classes"
        found.notes.append("inputs of several classes differ: which of them it was cannot be told apart")
    return found


def class_of(difference: Difference) -> str:
    """`source` for what people write, `environment` for what configures a build or a run, else the label."""
    name = difference.path.rpartition("/")[2].lower()
    if difference.label in ("secret", "toolchain"):
        return "environment"
    environment = (".env", ".cfg", ".ini", ".toml", ".yaml", ".yml", ".conf", ".lock", "makefile", "dockerfile")
    return "environment" if name.endswith(environment) else "source"


def _verdicts(store: Store, digest: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for call, verdict in store.query(_VERDICTS, {"digest": digest}).rows:
        found.setdefault(str(call), set()).add(str(verdict))
    return found


def _last_pass(store: Store, call: dict[str, Any], identity: str) -> str | None:
    digest = str(call["command_digest"])
    verdicts = _verdicts(store, digest)
    start = call.get("start")
    passed: list[tuple[int, str]] = []
    rows: list[dict[str, Any]] = store.query(_CALLS, {"digest": digest, "cwd": call.get("cwd") or ""}).dicts()
    for row in rows:
        if row["id"] == identity or row["status"] != "completed" or row["exit_code"] not in (0, None):
            continue
        if "fail" in verdicts.get(row["id"], ()):
            continue
        when = row["start"] if row["start"] is not None else row["finish"]
        if start is None or when is None or when < start:
            passed.append((when or 0, row["id"]))
    return max(passed)[1] if passed else None


@dataclass(slots=True)
class _Inputs:
    """What a call took in: of each path the version that was there before the call wrote any."""

    versions: dict[str, dict[str, Any]]
    toolchain: dict[str, set[str]]  # executable -> files
    processes: list[dict[str, Any]]


def _inputs(store: Store, call: str) -> _Inputs:
    own = {str(row[0]) for row in store.query(_OUTPUTS, {"call": call}).rows}
    versions: dict[str, dict[str, Any]] = {}
    toolchain: dict[str, set[str]] = {}
    rows: list[dict[str, Any]] = store.query(_INPUTS, {"call": call}).dicts()
    used: list[dict[str, Any]] = store.query(_OWN_USE, {"call": call}).dicts()
    for row in sorted([*rows, *used], key=lambda row: (row["version"] or 0, row["id"])):
        if row["kind"] == "toolchain":
            toolchain.setdefault(row["executable"] or "?", set()).update(row["members"] or ())
        elif row["kind"] in _FOLDED or row["path"] is None or row["id"] in own or row["label"] == "agent_state":
            continue
        else:
            versions.setdefault(row["path"], row)
    processes: list[dict[str, Any]] = store.query(_PROCESSES, {"call": call}).dicts()
    return _Inputs(versions, toolchain, processes)


def _toolchain_difference(before: _Inputs, now: _Inputs) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for executable in sorted(before.toolchain.keys() & now.toolchain.keys()):
        old, new = before.toolchain[executable], now.toolchain[executable]
        if old != new:
            found[executable] = (len(old - new), len(new - old))
    return found


def _first_failing(now: Iterable[dict[str, Any]], before: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The image of the failed call that ended first with an error, leaf first; errors that the last pass had too
    (a test in a shell's start-up file, a grep that finds nothing) are not the failure."""
    usual = Counter(_ending(row) for row in before if _bad(row))
    bad = sorted(
        (row for row in now if _bad(row)),
        key=lambda row: (row["finish"] if row["finish"] is not None else 2**63, -(row["state"] or 0), row["id"]),
    )
    for row in bad:
        if usual[_ending(row)] > 0:
            usual[_ending(row)] -= 1
            continue
        return row
    return None


def _bad(row: dict[str, Any]) -> bool:
    return row["exit_code"] not in (0, None) or row["signal"] is not None


def _ending(row: dict[str, Any]) -> tuple[Any, ...]:
    return (row["executable"], row["command"], row["exit_code"], row["signal"])
