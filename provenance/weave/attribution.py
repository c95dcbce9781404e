"""Whose doing it was: from tool calls (said) to processes and artifacts (seen). Pure: rows in, edges out.

A process is a tool call's when some program in it was started with the call's command in its arguments *and* it was
created inside the call's time, give or take `SLACK`; its descendants follow. The agent's own process is known by the
session's files it touches, else by its name and folder. What the agent does in its own process (reads, edits) is matched
by path and time. Where two calls cannot be told apart both edges are kept, with a confidence below 1.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from provenance import identity
from provenance.changes import EdgeKey, Fields, Value

VERSION = "attribution-1"
SLACK = 50_000_000
"""ns by which a fork may lie outside a call's reported time. (Codex reports a start that falls after the fork.)"""

_AGENT_NAME = re.compile(
    r"(?:^|/)(?:codex|claude|gemini|opencode|openclaw|aider|goose|qwen|kimi|cursor-agent)(?:$|[-./])"
)
_SHELL_ACTIONS = ("shell",)
_FILE_ACTIONS = ("read", "edit", "write")


@dataclass(slots=True)
class CallRow:
    """A tool call as the graph has it; times in wall-clock ns."""

    id: str
    session: str
    action: str
    command: str | None
    paths: tuple[str, ...]
    cwd: str | None
    start: int | None
    end: int | None
    status: str
    output: str | None = None  # id of its tool output
    output_size: int | None = None  # bytes


@dataclass(slots=True)
class ProcessRow:
    """A process state as the graph has it."""

    id: str
    process: str
    parent: str | None
    image: str | None
    began: str
    argv: tuple[str, ...]
    truncated: bool
    executable: str | None
    cwd: str | None
    start: int
    end: int | None
    exit_code: int | None
    signal: str | None
    source: str | None
    trace: str


@dataclass(slots=True)
class TouchRow:
    """A process and an artifact or flow that it touched: kind of the edge, and when."""

    kind: str
    process: str  # key
    target: str
    path: str | None
    first: int
    last: int
    count: int
    size: int | None
    label: str | None = None


@dataclass(slots=True)
class Attribution:
    """What follows: edges, roles, and what could not be attributed."""

    edges: dict[EdgeKey, Fields] = field(default_factory=dict[EdgeKey, Fields])
    roles: dict[str, str] = field(default_factory=dict[str, str])  # process state id -> role
    runtime: str | None = None  # process key of the agent's own process
    unmatched: list[str] = field(default_factory=list[str])  # shell calls without a process
    ambiguous: list[str] = field(default_factory=list[str])  # calls that share candidates
    housekeeping: int = 0  # processes of the agent that no call explains
    calls: dict[str, int] = field(default_factory=dict[str, int])  # call -> processes

    def link(
        self, kind: str, tail: str, head: str, rule: str, confidence: float, time: int | None, **more: Value
    ) -> None:
        fields: Fields = {
            "basis": "inferred", "confidence": round(confidence, 3), "rule": f"{VERSION}/{rule}", "first": time, "last": time, "count": 1,
        }  # fmt: skip
        fields.update(more)
        self.edges[(kind, tail, head)] = fields


class Tree:
    """The processes of a window, by key, with their children."""

    def __init__(self, rows: Iterable[ProcessRow]) -> None:
        self.states: dict[str, list[ProcessRow]] = defaultdict(list)
        for row in rows:
            self.states[row.process].append(row)
        self.parent: dict[str, str | None] = {}
        self.born: dict[str, int] = {}
        self.children: dict[str, list[str]] = defaultdict(list)
        for key, states in self.states.items():
            states.sort(key=lambda row: (row.start, row.id))
            self.born[key] = states[0].start
            parent = next((row.parent for row in states if row.parent), None)
            self.parent[key] = parent
            if parent:
                self.children[parent].append(key)

    def ancestors(self, key: str) -> list[str]:
        """Nearest first."""
        found: list[str] = []
        current = self.parent.get(key)
        while current is not None and current not in found:
            found.append(current)
            current = self.parent.get(current)
        return found

    def family(self, key: str) -> list[str]:
        """The process and all its descendants."""
        found: list[str] = []
        waiting = [key]
        seen: set[str] = set()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            found.append(current)
            waiting.extend(self.children.get(current, ()))
        return found

    def agent_named(self, key: str) -> bool:
        """Whether a program of the process is an agent's, by its file's name or a script's it was started with."""
        return any(
            _AGENT_NAME.search(word)
            for row in self.states.get(key, ())
            if row.began == "exec"
            for word in ((row.executable or ""), *row.argv[:2])
        )


def find_runtime(
    tree: Tree, touches: Sequence[TouchRow], session: str, agent: str | None, cwd: str | None
) -> tuple[str | None, str, float]:
    """The agent's own process: key, rule and confidence."""
    counts: dict[str, int] = defaultdict(int)
    for touch in touches:
        if touch.path and session in touch.path and touch.process in tree.states:
            counts[touch.process] += touch.count
    if counts:
        named = [key for key in counts if tree.agent_named(key)] or list(counts)
        return max(named, key=lambda key: (counts[key], -tree.born[key])), "session_file", 0.99
    word = "claude" if agent and "claude" in agent else (agent or "")
    candidates = [
        key
        for key, states in tree.states.items()
        if word and any(row.began == "exec" and any(word in part for part in ((row.executable or ""), *row.argv[:2])) for row in states)
        and (cwd is None or any(row.cwd == cwd for row in states if row.cwd))
    ]  # fmt: skip
    if candidates:  # the innermost: the wrapper script is its ancestor
        return (
            max(
                candidates,
                key=lambda key: (len([other for other in tree.ancestors(key) if other in candidates]), -tree.born[key]),
            ),
            "agent_name",
            0.7,
        )
    return None, "", 0.0


def similarity(command: str, row: ProcessRow) -> tuple[float, str]:
    """How surely the program was started for the command: confidence and rule; 0 for not."""
    if not command.strip():
        return 0.0, ""
    quoted = shlex.quote(command)
    for argument in row.argv[1:]:
        if argument == command:
            return 1.0, "exact_argument"
        if quoted in argument:
            return 0.97, "quoted_argument"
        if len(command) >= 4 and command in argument:
            return 0.9, "contained_argument"
    if row.truncated:
        for argument in row.argv[1:]:
            head = argument.partition("... (")[0]
            if len(head) >= 16 and (command.startswith(head) or quoted.startswith(head)):
                return 0.8, "truncated_argument"
    words = list(row.argv)
    if words and shlex.join(words) == command:
        return 0.9, "same_words"
    return 0.0, ""


def attribute(
    session: str,
    agent: str | None,
    cwd: str | None,
    calls: Sequence[CallRow],
    rows: Sequence[ProcessRow],
    touches: Sequence[TouchRow],
) -> Attribution:
    """Attribute the processes and artifacts of a trace to the calls of one session and its sub-agents."""
    result = Attribution()
    tree = Tree(rows)
    runtime, rule, confidence = find_runtime(tree, touches, session, agent, cwd)
    if runtime is None:
        return result
    result.runtime = runtime
    family = set(tree.family(runtime))
    matched = _match_shells(result, tree, family, runtime, calls)
    session_node = f"session:{session}"
    for key in tree.family(runtime):
        owners = matched.get(key)
        if owners:
            continue
        if key != runtime:
            result.housekeeping += 1
        for row in tree.states[key]:
            result.link("ATTRIBUTED_TO", row.id, session_node, rule if key == runtime else "agent_housekeeping",
                        confidence if key == runtime else 0.9, row.start)  # fmt: skip
            if key != runtime:
                result.roles[row.id] = "agent_helper"
    wrappers = [key for key in tree.ancestors(runtime) if tree.agent_named(key)]
    for key in (runtime, *wrappers):
        for row in tree.states[key]:
            result.roles[row.id] = "agent_runtime"
            if key != runtime:
                result.link("ATTRIBUTED_TO", row.id, session_node, "agent_wrapper", 0.9, row.start)
    _match_files(result, calls, touches, {runtime, *wrappers}, cwd)
    _match_outputs(result, calls, touches, matched, {runtime, *wrappers})
    return result


def _window(call: CallRow) -> tuple[int, int]:
    start = call.start if call.start is not None else -(2**62)
    return start, (call.end if call.end is not None else 2**62)


def _match_shells(
    result: Attribution, tree: Tree, family: set[str], runtime: str, calls: Sequence[CallRow]
) -> dict[str, dict[str, tuple[float, str]]]:
    """Process key -> the calls it belongs to, with confidence and rule."""
    candidates: dict[str, dict[str, tuple[float, str, bool]]] = defaultdict(
        dict
    )  # process -> call -> (confidence, rule, strictly inside)
    shells = [call for call in calls if call.action in _SHELL_ACTIONS and call.command]
    for key in family:
        if key == runtime:
            continue
        born = tree.born[key]
        programs = [row for row in tree.states[key] if row.began == "exec" and row.argv]
        if not programs:
            continue
        for call in shells:
            start, end = _window(call)
            if not start - SLACK <= born <= end + SLACK:
                continue
            best = max((similarity(call.command or "", row) for row in programs), key=lambda pair: pair[0])
            if best[0] > 0:
                candidates[key][call.id] = (*best, start <= born <= end)
    # A process inside another that matches the same call belongs to it as a descendant.
    roots = {
        key: found
        for key, found in candidates.items()
        if not any(set(candidates.get(above, ())) & set(found) for above in tree.ancestors(key))
    }
    owners: dict[str, dict[str, tuple[float, str]]] = {}
    claimed: dict[str, list[str]] = defaultdict(list)
    for key, found in roots.items():
        strict = {call: value for call, value in found.items() if value[2]}
        exact = strict or found
        top = max(value[0] for value in exact.values())
        chosen = {call: value for call, value in exact.items() if value[0] >= top - 0.1}
        if len(chosen) > 1:
            result.ambiguous.extend(call for call in chosen if call not in result.ambiguous)
        owners[key] = {call: (value[0] / len(chosen), value[1]) for call, value in chosen.items()}
        for call in chosen:
            claimed[call].append(key)
    matched: dict[str, dict[str, tuple[float, str]]] = {}
    for root, found in owners.items():
        for key in tree.family(root):
            for call, (confidence, rule) in found.items():
                known = matched.setdefault(key, {})
                if call not in known or known[call][0] < confidence:
                    known[call] = (confidence, rule if key == root else "descendant")
    for key, found in matched.items():
        for call, (confidence, rule) in found.items():
            result.calls[call] = result.calls.get(call, 0) + 1
            for row in tree.states[key]:
                result.link("ATTRIBUTED_TO", row.id, call, rule, confidence, row.start)
                result.roles[row.id] = "tool"
    result.unmatched.extend(
        call.id
        for call in shells
        if call.id not in claimed and call.status not in ("refused",) and call.start is not None
    )
    return matched


def _absolute(path: str, cwd: str | None) -> str:
    return path if path.startswith("/") or not cwd else identity.absolute(cwd, path)


def _match_files(
    result: Attribution, calls: Sequence[CallRow], touches: Sequence[TouchRow], runtimes: set[str], cwd: str | None
) -> None:
    """Reads, edits and writes happen inside the agent's process: path and time tell whose they are."""
    by_path: dict[str, list[TouchRow]] = defaultdict(list)
    for touch in touches:
        if touch.process in runtimes and touch.path:
            by_path[touch.path].append(touch)
    for call in calls:
        if call.action not in _FILE_ACTIONS or call.start is None:
            continue
        start, end = _window(call)
        for path in call.paths:
            for touch in by_path.get(_absolute(path, call.cwd or cwd), ()):
                inside = start - SLACK <= touch.first <= end + SLACK or start - SLACK <= touch.last <= end + SLACK
                between = touch.count > 1 and touch.first <= end and touch.last >= start
                if not inside and not between:
                    continue
                confidence = 0.95 if inside else 0.7
                if touch.kind in ("GENERATED_BY", "NAMED_BY"):
                    if call.action != "read":
                        result.link("ATTRIBUTED_TO", touch.target, call.id, "path_and_time", confidence, touch.first)
                elif touch.kind == "USED" and touch.target.startswith("artifact:"):
                    result.link(
                        "USED", call.id, touch.target, "path_and_time", confidence, touch.first, bytes=touch.size
                    )


def _match_outputs(
    result: Attribution,
    calls: Sequence[CallRow],
    touches: Sequence[TouchRow],
    matched: dict[str, dict[str, tuple[float, str]]],
    runtimes: set[str],
) -> None:
    """A call's output came through what its processes wrote and the agent read.

    Where one of these channels carried just as many bytes as the output has (give or take a final newline), it is the one.
    """
    outputs = {call.id: call for call in calls if call.output}
    read: dict[str, TouchRow] = {}
    for touch in touches:
        if touch.kind == "USED" and touch.process in runtimes and (touch.path is None or touch.label == "agent_state"):
            read[touch.target] = touch
    channels: dict[str, dict[str, tuple[float, TouchRow]]] = defaultdict(dict)
    for touch in touches:
        if touch.kind == "GENERATED_BY" and touch.target in read:
            for call, (confidence, _) in matched.get(touch.process, {}).items():
                if call in outputs:
                    channels[call][touch.target] = (confidence, read[touch.target])
    for call, found in channels.items():
        size = outputs[call].output_size
        fitting = {
            target: value
            for target, value in found.items()
            if size is not None and 0 <= (value[1].size or 0) - size <= 1 and size > 0
        }
        for target, (confidence, touch) in (fitting or found).items():
            rule, share = ("output_channel_and_size", 0.95) if fitting else ("output_channel", 0.6)
            result.link(
                "DERIVED_FROM",
                outputs[call].output or "",
                target,
                rule,
                share * confidence,
                touch.first,
                bytes=touch.size,
            )
