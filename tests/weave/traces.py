"""Traces written by hand, woven into a graph in memory, and questions asked of it."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.effects.strace import FORMAT, Trace
from ingest.interface import Head
from provenance import schema
from provenance.changes import Changes, EdgeKey, Fields, validate
from provenance.records import Effect, Skipped
from provenance.weave.effects import EffectWeaver

CONTENT = frozenset(kind.name for kind in schema.edges_of_flow(schema.Flow.CONTENT))


def parse(text: str) -> tuple[Trace, list[Effect], list[Skipped]]:
    data = text.encode("utf-8", "surrogateescape")
    parser = FORMAT.parser(Head("trace", data[:65536]))
    results = [*parser.feed(data, 1), *parser.finish()]
    return (
        parser,
        [result for result in results if not isinstance(result, Skipped)],
        [result for result in results if isinstance(result, Skipped)],
    )


def apply(graph: Graph, changes: Changes) -> None:
    """What a store does, without one; refuses what a store refuses."""
    validate(changes)
    for key in changes.removed_edges:
        graph.edges.pop(key, None)
    for node in changes.removed_nodes:
        graph.nodes.pop(node, None)
    for node, fields in changes.nodes.items():
        graph.nodes.setdefault(node, {}).update(fields)
    for key, fields in changes.edges.items():
        assert key not in graph.edges, f"edge added twice: {key}"
        assert key[1] in graph.nodes, f"no tail: {key}"
        assert key[2] in graph.nodes, f"no head: {key}"
        graph.edges[key] = dict(fields)
    for key, fields in changes.edge_updates.items():
        graph.edges[key].update(fields)


@dataclass
class Graph:
    """A woven trace."""

    nodes: dict[str, Fields]
    edges: dict[EdgeKey, Fields]

    def sources(self, *starts: str) -> set[str]:
        """Paths of the files whose content may be in the given versions or flows; only kept content of older versions."""
        seen = set(starts)
        waiting = list(starts)
        while waiting:
            node = waiting.pop()
            for (kind, tail, head), fields in self.edges.items():
                if tail == node and kind in CONTENT and head not in seen and fields.get("keeps") is not False:
                    seen.add(head)
                    waiting.append(head)
        found = {str(self.nodes[node]["path"]) for node in seen - set(starts) if self.nodes[node].get("path")}
        return {path for path in found if not path.startswith("/usr")}

    def versions(self, path: str) -> list[str]:
        """Ids of a path's versions, in order."""
        mine = [(fields.get("version"), node) for node, fields in self.nodes.items() if fields.get("path") == path]
        return [node for _, node in sorted(mine, key=lambda pair: pair[0] if isinstance(pair[0], int) else -1)]

    def last(self, path: str) -> str:
        return self.versions(path)[-1]

    def sent(self, address: str) -> list[str]:
        return [
            node
            for node, fields in self.nodes.items()
            if fields.get("remote") == address and fields.get("direction") == "out"
        ]

    def kinds(self, kind: str) -> list[tuple[str, str]]:
        return sorted((tail, head) for name, tail, head in self.edges if name == kind)


def woven(text: str) -> Graph:
    parser, records, _ = parse(text)
    weaver = EffectWeaver("0123abcd", "local", parser.clock)
    weaver.feed(records)
    weaver.finish()
    graph = Graph({}, {})
    apply(graph, weaver.flush())
    return graph


def trace(*calls: str) -> str:
    """`PID CALL` lines with time stamps, one millisecond apart."""
    lines: list[str] = []
    for number, call in enumerate(calls):
        pid, _, rest = call.partition(" ")
        lines.append(f"{pid} {1700000000 + number // 1000}.{number % 1000:03d}000 {rest}\n")
    return "".join(lines)
