"""Puts nodes and edges of one session into a subgraph, and keeps it acyclic.

Every node has a place: the order in which it was first spoken of. A dependency may only point to an earlier place. One that
points to a later place (records that contradict their own order) is not drawn; it is counted in a Gap `late_edge`, and
between model calls it stays visible as CHILD_OF, which no slice follows.
"""

from __future__ import annotations

from functools import lru_cache

from provenance import schema
from provenance.changes import EdgeKey, Fields, Value
from provenance.identity import node_id
from provenance.records import Content
from provenance.redaction import redact
from provenance.weave.strands import Entry
from provenance.weave.subgraph import Subgraph

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_LEVELS = {kind.name: kind.level for kind in schema.NODES}
_ORDERED = frozenset(("FORMED_BY", "FOLLOWS", "INFORMED_BY", "GENERATED_BY"))
_SOURCES = ("turn:", "session:")
"""Kinds that nothing but a later one of the kind depends on: what they point to cannot close a cycle."""


@lru_cache(maxsize=16384)
def redacted(text: str) -> str:
    """The text without secrets."""
    return redact(text)[0]


def fits(value: int | None) -> int | None:
    """The integer if the graph can hold it."""
    return value if value is not None and _LOWEST <= value <= _HIGHEST else None


def shortened(text: str, length: int = 60) -> str:
    """One line of at most `length` characters, for names."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


class Builder:
    """Nodes and edges of one session."""

    def __init__(self, session: str) -> None:
        self.graph = Subgraph(session)
        self.session = session
        self.node = node_id("session", session)
        self.places: dict[str, int] = {}
        self._late: Fields = {}

    def id(self, kind: str, *parts: str | int) -> str:
        """Of a node that belongs to this session."""
        return node_id(kind, self.session, *parts)

    def put(self, kind: str, identity: str, entry: Entry | None, **fields: Value) -> str:
        """Set fields of a node; None leaves a field as it is. `entry` introduced the node, where it is the session's own."""
        node = self.graph.nodes.get(identity)
        if node is None:
            node = self.graph.nodes[identity] = {"level": _LEVELS[kind]}
            if entry is not None:
                node["source"] = entry.ref
            self.places[identity] = len(self.places)
        for name, value in fields.items():
            if value is None or (value.__class__ is int and not _LOWEST <= value <= _HIGHEST):  # type: ignore[operator]
                continue
            node[name] = value
        return identity

    def link(
        self,
        kind: str,
        tail: str,
        head: str,
        entry: Entry | None,
        rule: str,
        *,
        basis: str = "reported",
        confidence: float | None = None,
        size: int | None = None,
        time: int | None = None,
        source: str | None = None,
    ) -> bool:
        """Add an edge, or another event to it. False: it came too late to be drawn."""
        if tail == head:
            return False
        if (
            kind in _ORDERED
            and not tail.startswith(_SOURCES)
            and self.places.get(tail, _HIGHEST) <= self.places.get(head, -1)
        ):
            self._refuse(kind, tail, head, entry)
            return False
        if time is None and entry is not None:
            time = entry.record.time
        if time is not None and not _LOWEST <= time <= _HIGHEST:
            time = None
        if size is not None and not _LOWEST <= size <= _HIGHEST:
            size = None
        key: EdgeKey = (kind, tail, head)
        held = self.graph.edges.get(key)
        if held is not None:
            self._again(held, time, size)
            return True
        edge: Fields = {"basis": basis, "rule": rule, "count": 1}
        if confidence is not None:
            edge["confidence"] = confidence
        if source is not None or entry is not None:
            edge["source"] = source if source is not None else entry.ref if entry is not None else None
        if time is not None:
            edge["first"] = edge["last"] = time
        if size is not None:
            edge["bytes"] = size
        self.graph.edges[key] = edge
        return True

    @staticmethod
    def _again(edge: Fields, time: int | None, size: int | None) -> None:
        count, first, last, held = edge["count"], edge.get("first"), edge.get("last"), edge.get("bytes")
        assert isinstance(count, int)
        edge["count"] = count + 1
        if time is not None:
            edge["first"] = min(time, first) if isinstance(first, int) else time
            edge["last"] = max(time, last) if isinstance(last, int) else time
        if size is not None and isinstance(held, int):
            edge["bytes"] = min(held + size, _HIGHEST)

    def _refuse(self, kind: str, tail: str, head: str, entry: Entry | None) -> None:
        if tail.startswith("modelcall:") and head.startswith("modelcall:"):
            self.link("CHILD_OF", tail, head, entry, f"late {kind}")
        count = self._late.get("count", 0)
        assert isinstance(count, int)
        self._late["count"] = count + 1
        if not count:
            self._late["detail"] = f"{kind} {tail} -> {head}"
            gap = self.gap("late_edge", "late", "dependencies on what was recorded later", self.node, entry)
            self._late["id"] = gap
        self.put("Gap", str(self._late["id"]), None, count=count + 1, detail=self._late["detail"])

    def gap(
        self, reason: str, place: str, about: str, target: str, entry: Entry | None, detail: str | None = None
    ) -> str:
        """State what is missing."""
        identity = self.id("Gap", place)
        start = entry.record.time if entry is not None else None
        self.put("Gap", identity, entry, name=reason, reason=reason, about=about, detail=detail, count=1, start=start)
        if start is not None:
            self.put("Gap", identity, None, clock="wall")
        self.link("ABOUT", identity, target, entry, reason)
        return identity


def content_fields(content: Content) -> Fields:
    """What a node keeps of a content."""
    fields: Fields = {
        "digest": content.digest,
        "size": content.size,
        "preview": content.preview,
        "redactions": content.redactions,
        "retention": "present",
    }
    if content.digest is None:
        fields["digest_reason"] = "not all bytes were seen"
    return fields


def usage_fields(usage: dict[str, int] | None, exclusive: bool) -> dict[str, int]:
    """Token counts under the schema's names. `exclusive`: the input count leaves cached tokens out (Anthropic's API)."""
    if not usage:
        return {}
    counts: dict[str, int] = {}
    for ours, theirs in _COUNTS.items():
        value = usage.get(theirs, usage.get(ours))
        if value is not None and fits(value) is not None:
            counts[ours] = value
    if exclusive and "input_tokens" in counts:
        counts["input_tokens"] += counts.get("cached_input_tokens", 0) + (usage.get("cache_creation_input") or 0)
    return {name: value for name, value in counts.items() if fits(value) is not None}


_COUNTS = {
    "input_tokens": "input",
    "cached_input_tokens": "cached_input",
    "output_tokens": "output",
    "reasoning_output_tokens": "reasoning_output",
}


def add_usage(total: dict[str, int], counts: dict[str, int]) -> None:
    """Sum token counts in place."""
    for name, value in counts.items():
        total[name] = total.get(name, 0) + value
