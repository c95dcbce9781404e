"""Slices: what a node came from (`why`), and what came of it (`impact`), level by level and by flow.

The rules (backward; forward they are the same edges the other way):
- `REVISION_OF` is followed only where `keeps` is true: a truncated file passes nothing on.
- Content stops where a program starts (`STARTED_BY` is argument flow) and passes a fork as the schema declares.
- Content never passes through an agent's own process (role `agent_runtime`). At what it wrote the attributed tool call is
  followed instead; where there is none the slice says so with a gap, `through_agent_memory`.
- With the decision flow, what belongs to a tool call leads to the call, and from there to the model's context. How many
  bytes can have come that way is bounded: by the size of the call's arguments and by what came into the context.

One set of queries a level, a bound on the nodes, and what was cut off is named. The graph has no cycles, so what is
reached is an upper bound of what contributed, and what is not reached did not, as far as the sources could see.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple, cast

from provenance.changes import Fields
from provenance.schema import Flow, edges_of_flow
from provenance.store.interface import EdgeRow, Store

BOUND = 10_000
"""Nodes after which a slice is cut off, unless told otherwise."""

_RUNTIMES = "UNWIND $ids AS x MATCH (p:Process {id: x}) WHERE p.role = 'agent_runtime' RETURN p.id AS id"
_SIZES = """UNWIND $ids AS x MATCH (c:ToolCall {id: x}) WHERE c.arguments_size IS NOT NULL
RETURN c.id AS id, c.arguments_size AS size"""
_UNBOUNDED = 2**62

_sort_key = itemgetter(0, 1, 2)


class GapNote(NamedTuple):
    """What a slice could not follow: `cut_off` or `through_agent_memory`, at which node, and in words."""

    reason: str
    about: str
    detail: str


class Step(NamedTuple):
    """How a node was first reached: at which depth, over which edge (None: it is a start)."""

    depth: int
    edge: EdgeRow | None


@dataclass(slots=True)
class Slice:
    """What was reached. `origins` are the reached nodes that have nothing further in these flows."""

    starts: tuple[str, ...]
    flows: tuple[Flow, ...]
    backward: bool
    nodes: dict[str, Step] = field(default_factory=dict[str, Step])
    edges: list[EdgeRow] = field(default_factory=list[EdgeRow])
    gaps: list[GapNote] = field(default_factory=list[GapNote])
    origins: list[str] = field(default_factory=list[str])
    bounds: dict[str, int] = field(default_factory=dict[str, int])
    """Origin -> bytes that can have come over the widest one path, for origins that only decisions reach."""

    @property
    def cut_off(self) -> bool:
        return any(gap.reason == "cut_off" for gap in self.gaps)

    def path(self, identity: str) -> list[EdgeRow]:
        """A shortest path from a start to the node, nearest edge first. KeyError for what was not reached."""
        edges: list[EdgeRow] = []
        step = self.nodes[identity]
        while step.edge is not None:
            edges.append(step.edge)
            step = self.nodes[step.edge.tail if self.backward else step.edge.head]
        edges.reverse()
        return edges

    def path_ids(self, identity: str) -> list[str]:
        """The nodes of that path, the start first, the node last."""
        step = self.nodes[identity]
        ids = [identity]
        while step.edge is not None:
            ids.append(step.edge.tail if self.backward else step.edge.head)
            step = self.nodes[ids[-1]]
        ids.reverse()
        return ids


def why(
    store: Store,
    start_ids: Iterable[str],
    flows: Sequence[Flow] = (Flow.CONTENT,),
    *,
    bound: int = BOUND,
    depth: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Slice:
    """What the nodes depended on. `progress` is told the nodes reached so far, once a level."""
    return _Walk(store, start_ids, flows, bound, depth, progress, backward=True).run()


def impact(
    store: Store,
    start_ids: Iterable[str],
    flows: Sequence[Flow] = (Flow.CONTENT,),
    *,
    bound: int = BOUND,
    depth: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Slice:
    """What depended on the nodes."""
    return _Walk(store, start_ids, flows, bound, depth, progress, backward=False).run()


def calls_behind(store: Store, written: Sequence[str]) -> list[EdgeRow]:
    """The tool calls to which what an agent's own process wrote is attributed, as edges from what it wrote.

    A file that was written under another name first belongs to the call that its final name is attributed to.
    """
    found = _attributions(store, written)
    without = set(written) - {edge.tail for edge in found}
    if without:
        renames = store.expand(sorted(without), ("RENAMED_FROM",), backward=False, fields=())
        calls: dict[str, list[EdgeRow]] = {}
        for edge in _attributions(store, sorted({edge.tail for edge in renames})):
            calls.setdefault(edge.tail, []).append(edge)
        for rename in renames:
            for edge in calls.get(rename.tail, ()):
                found.append(EdgeRow(edge.kind, rename.head, edge.head, edge.fields))
    return found


def _attributions(store: Store, ids: Iterable[str]) -> list[EdgeRow]:
    rows = store.expand(ids, ("ATTRIBUTED_TO",), fields=("confidence", "rule"))
    return [edge for edge in rows if edge.head.startswith("toolcall:")]


class _Walk:
    """One slice in the making."""

    def __init__(
        self,
        store: Store,
        starts: Iterable[str],
        flows: Sequence[Flow],
        bound: int,
        depth: int | None,
        progress: Callable[[int], None] | None,
        *,
        backward: bool,
    ) -> None:
        self.store = store
        self.kinds = tuple(kind.name for kind in edges_of_flow(*flows))
        self.content = Flow.CONTENT in flows
        self.decision = Flow.DECISION in flows
        self.bound = bound
        self.depth = depth
        self.progress = progress
        self.backward = backward
        self.fields = ("keeps", "bytes") if self.decision else ("keeps",)
        self.runtimes: set[str] = set()
        self.asked: set[str] = set()
        self.hidden: set[str] = set()  # nodes whose causes an agent's memory hides
        self.deep: set[str] = set()  # nodes that were reached and not looked into
        self.left_out: set[str] = set()
        self.found = Slice(tuple(dict.fromkeys(starts)), tuple(flows), backward)

    def run(self) -> Slice:
        found = self.found
        found.nodes = {start: Step(0, None) for start in found.starts}
        frontier = list(found.nodes)
        self._ask_roles(frontier)
        level = 0
        while frontier:
            if level == self.depth:
                self.deep.update(frontier)
                break
            frontier = self._level(frontier, level + 1)
            level += 1
            if self.progress is not None:
                self.progress(len(found.nodes))
        self._finish()
        return found

    def _level(self, frontier: list[str], depth: int) -> list[str]:
        rows = self.store.expand(frontier, self.kinds, backward=self.backward, fields=self.fields)
        rows += self._decided(frontier)
        rows = [row for row in rows if row.kind != "REVISION_OF" or row.fields.get("keeps")]
        nodes = self.found.nodes
        backward = self.backward
        self._ask_roles({row.head if backward else row.tail for row in rows})
        if self.content:
            rows = self._past_memory(rows, frontier)
        rows.sort(key=_sort_key)
        after: list[str] = []
        edges = self.found.edges
        bound = self.bound
        for row in rows:
            other = row.head if backward else row.tail
            if other not in nodes:
                if len(nodes) >= bound:
                    self.left_out.add(other)
                    continue
                nodes[other] = Step(depth, row)
                after.append(other)
            edges.append(row)
        return after

    # ------------------------------------------------------------------------------------------- agents

    def _ask_roles(self, ids: Iterable[str]) -> None:
        """Which of the processes are an agent's own."""
        new = [node for node in ids if node.startswith("process:") and node not in self.asked]
        if new:
            self.asked.update(new)
            self.runtimes.update(cast(str, row[0]) for row in self.store.query(_RUNTIMES, {"ids": new}).rows)

    def _past_memory(self, rows: list[EdgeRow], frontier: list[str]) -> list[EdgeRow]:
        """The rows without those that lead into, or out of, an agent's memory, and with what is followed instead."""
        if self.backward:
            return self._calls_behind(rows)
        return self._writes_of_calls(rows, frontier)

    def _calls_behind(self, rows: list[EdgeRow]) -> list[EdgeRow]:
        runtimes = self.runtimes
        if not runtimes:
            return rows
        kept = [row for row in rows if row.tail not in runtimes and row.head not in runtimes]
        if len(kept) == len(rows):
            return rows
        blocked = sorted({row.tail for row in rows if row.head in runtimes or row.tail in runtimes})
        written = [node for node in blocked if not node.startswith("process:")]
        calls = calls_behind(self.store, written)
        have = set(map(_sort_key, kept))
        kept += [edge for edge in calls if _sort_key(edge) not in have]
        explained = {edge.tail for edge in calls} | {edge.tail for edge in kept if edge.kind == "DERIVED_FROM"}
        for node in blocked:
            if node in explained:
                continue
            self.hidden.add(node)
            what = (
                "is the agent's own process: what is in its memory cannot be told apart"
                if node in runtimes
                else "began as a copy of the agent's own process"
                if node.startswith("process:")
                else "was written by the agent's own process, and no tool call explains it"
            )
            self.found.gaps.append(GapNote("through_agent_memory", node, what))
        return kept

    def _writes_of_calls(self, rows: list[EdgeRow], frontier: list[str]) -> list[EdgeRow]:
        runtimes = self.runtimes
        kept = [row for row in rows if row.tail not in runtimes and row.head not in runtimes]
        taken_on = {row.head for row in kept if row.kind == "DERIVED_FROM" or row.tail.startswith("toolcall:")}
        for node in sorted({row.head for row in rows if row.tail in runtimes or row.head in runtimes}):
            if node not in taken_on:
                self.hidden.add(node)
                self.found.gaps.append(
                    GapNote("through_agent_memory", node, "was read by the agent's own process, and by no tool call")
                )
        calls = [node for node in frontier if node.startswith("toolcall:")]
        if calls:
            attributed = self.store.expand(calls, ("ATTRIBUTED_TO",), backward=False, fields=("confidence", "rule"))
            attributed = [row for row in attributed if row.tail.startswith(("artifact:", "flow:"))]
            have = set(map(_sort_key, kept))
            kept += [row for row in attributed if _sort_key(row) not in have]
        return kept

    def _decided(self, frontier: list[str]) -> list[EdgeRow]:
        """With the decision flow: between what was done and the calls that asked for it."""
        if not self.decision:
            return []
        if self.backward:
            done = [node for node in frontier if node.startswith(("process:", "artifact:", "flow:"))]
            # Of the agent's own process only the whole session can be said.
            return _attributions(self.store, [node for node in done if node not in self.runtimes])
        calls = [node for node in frontier if node.startswith("toolcall:")]
        rows = self.store.expand(calls, ("ATTRIBUTED_TO",), backward=False, fields=("confidence", "rule"))
        return [row for row in rows if not row.tail.startswith("session:")]

    # ------------------------------------------------------------------------------------------- the end

    def _finish(self) -> None:
        found = self.found
        inner = {edge.tail if self.backward else edge.head for edge in found.edges}
        if self.left_out:
            detail = f"stopped at {len(found.nodes):,} nodes: at least {len(self.left_out):,} more would follow"
            found.gaps.append(GapNote("cut_off", found.starts[0], detail))
        if self.deep:
            detail = f"stopped at depth {self.depth}: {len(self.deep):,} nodes there were not looked into"
            found.gaps.append(GapNote("cut_off", found.starts[0], detail))
        far = set(found.nodes) - inner - self.hidden - self.deep - set(found.starts)
        if self.left_out:
            far -= self._cut(far)
        found.origins = [node for node in found.nodes if node in far]
        if self.decision and self.backward:
            found.bounds = self._bounds()

    def _cut(self, far: set[str]) -> set[str]:
        """Of the nodes at the end those whose further edges fell to the bound."""
        rows = self.store.expand(far, self.kinds, backward=self.backward, fields=("keeps",))
        rows = [row for row in rows if row.kind != "REVISION_OF" or row.fields.get("keeps")]
        return {row.tail if self.backward else row.head for row in rows}

    def _bounds(self) -> dict[str, int]:
        """For each origin that is reached by decisions only: the bytes of its widest path."""
        found = self.found
        calls = [node for node in found.nodes if node.startswith("toolcall:")]
        sizes = {cast(str, row[0]): cast(int, row[1]) for row in self.store.query(_SIZES, {"ids": calls}).rows}
        onward: dict[str, list[tuple[str, int]]] = {}
        for edge in found.edges:
            onward.setdefault(edge.tail, []).append((edge.head, _width(edge, sizes)))
        widest = dict.fromkeys(found.starts, _UNBOUNDED)
        waiting = [(-_UNBOUNDED, start) for start in found.starts]
        while waiting:
            width, node = heapq.heappop(waiting)
            if -width < widest[node]:
                continue
            for other, limit in onward.get(node, ()):
                through = min(-width, limit)
                if through > widest.get(other, -1):
                    widest[other] = through
                    heapq.heappush(waiting, (-through, other))
        return {node: widest[node] for node in found.origins if widest.get(node, _UNBOUNDED) < _UNBOUNDED}


def _width(edge: EdgeRow, sizes: dict[str, int]) -> int:
    """Bytes that an edge can have passed on; unbounded where nothing is known, and for content."""
    if edge.kind == "INFORMED_BY":
        return cast("int | None", edge.fields.get("bytes")) or _UNBOUNDED
    if edge.kind == "FORMED_BY":
        return sizes.get(edge.tail, _UNBOUNDED)
    return _UNBOUNDED


def fields_of(store: Store, edges: Iterable[EdgeRow]) -> list[EdgeRow]:
    """The same edges with all their fields: a slice fetches only those it needs."""
    wanted = {(edge.kind, edge.tail, edge.head) for edge in edges}
    by_kind: dict[str, set[str]] = {}
    for kind, tail, _ in wanted:
        by_kind.setdefault(kind, set()).add(tail)
    full: dict[tuple[str, str, str], Fields] = {}
    for kind, tails in by_kind.items():
        for row in store.expand(sorted(tails), (kind,)):
            full[(row.kind, row.tail, row.head)] = row.fields
    return [EdgeRow(*key, full.get(key, {})) for key in sorted(wanted)]
