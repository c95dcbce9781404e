"""Where the nodes of a causal graph are drawn: in layers by causal depth, with few crossings and short, straight edges.

The steps are those of Sugiyama, Tagawa, Toda (1981) and Gansner et al., "A technique for drawing directed graphs" (1993):
layers by longest path, then drawn together; an invisible node where an edge passes a layer; orders by barycentres, the
one with the fewest crossings kept; places by least squares under a least distance. Everything is deterministic.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SWEEPS = 16
STRAIGHTENINGS = 24
ROOM = 1.0
"""Least distance between the middles of two nodes of a layer; of two passing edges it is PASSING."""
PASSING = 0.22

Edge = tuple[int, int]


@dataclass(slots=True)
class Drawing:
    """For each node its (layer, place across), for each edge the points that it passes, its ends included."""

    places: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    routes: list[list[tuple[int, float]]] = field(default_factory=list[list[tuple[int, float]]])

    @property
    def layers(self) -> int:
        return 1 + max((layer for layer, _ in self.places), default=-1)

    @property
    def across(self) -> float:
        """The furthest place; the nearest is 0."""
        return max((place for _, place in self.places), default=0.0)


def draw(size: int, edges: Sequence[Edge]) -> Drawing:
    """A drawing of nodes 0 to size - 1. An edge (a, b) puts b in a later layer than a, unless it closes a cycle."""
    closing = _closing(size, edges)
    forward = [(head, tail) if turned else (tail, head) for (tail, head), turned in zip(edges, closing, strict=True)]
    drawing = Drawing([(0, 0.0)] * size, [[] for _ in edges])
    offset = 0.0
    for members in _components(size, forward):
        index = {node: place for place, node in enumerate(members)}
        numbers = [number for number, (tail, _) in enumerate(forward) if tail in index]
        part = _component(len(members), [(index[forward[n][0]], index[forward[n][1]]) for n in numbers])
        for node, (layer, place) in zip(members, part.places, strict=True):
            drawing.places[node] = (layer, place + offset)
        for number, route in zip(numbers, part.routes, strict=True):
            shifted = [(layer, place + offset) for layer, place in route]
            drawing.routes[number] = shifted if forward[number] == edges[number] else shifted[::-1]
        offset += part.across + ROOM
    return drawing


def _closing(size: int, edges: Sequence[Edge]) -> list[bool]:
    """Which edges close a cycle, in a depth-first walk; an edge to its own node does not count."""
    out: list[list[int]] = [[] for _ in range(size)]
    for number, (tail, _) in enumerate(edges):
        out[tail].append(number)
    closing = [False] * len(edges)
    state = [0] * size  # 1: on the way down, 2: done
    for root in range(size):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(out[root]))]
        while stack:
            node, numbers = stack[-1]
            number = next(numbers, None)
            if number is None:
                state[node] = 2
                stack.pop()
            elif state[head := edges[number][1]] == 1:
                closing[number] = head != node
            elif not state[head]:
                state[head] = 1
                stack.append((head, iter(out[head])))
    return closing


def _components(size: int, edges: Sequence[Edge]) -> list[list[int]]:
    """The nodes by connected part, the part of the lowest node first."""
    above = list(range(size))

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    for tail, head in edges:
        one, other = sorted((top(tail), top(head)))
        above[other] = one
    parts: dict[int, list[int]] = {}
    for node in range(size):
        parts.setdefault(top(node), []).append(node)
    return list(parts.values())


def _component(size: int, edges: list[Edge]) -> Drawing:
    ranks = _ranks(size, edges)
    proper: list[Edge] = []
    passed: list[list[int]] = []  # for each edge all its nodes, the invisible ones included
    for tail, head in edges:
        chain = [tail]
        for rank in range(ranks[tail] + 1, ranks[head]):
            chain.append(len(ranks))
            ranks.append(rank)
        chain.append(head)
        passed.append(chain)
        proper += [(one, other) for one, other in pairwise(chain) if one != other]
    proper = sorted(set(proper))
    before: list[list[int]] = [[] for _ in ranks]
    after: list[list[int]] = [[] for _ in ranks]
    for tail, head in proper:
        after[tail].append(head)
        before[head].append(tail)
    rows = _ordered(ranks, before, after)
    across = _straightened(rows, before, after, size)
    least = min(across[:size])
    points = [(rank, place - least) for rank, place in zip(ranks, across, strict=True)]
    return Drawing(points[:size], [[points[node] for node in chain] for chain in passed])


def _ranks(size: int, edges: Sequence[Edge]) -> list[int]:
    """Layers by longest path; a node is then moved towards the side on which it has more edges."""
    after: list[list[int]] = [[] for _ in range(size)]
    before: list[list[int]] = [[] for _ in range(size)]
    for tail, head in edges:
        if tail != head:
            after[tail].append(head)
            before[head].append(tail)
    waiting = [len(nodes) for nodes in before]
    order = [node for node in range(size) if not waiting[node]]
    ranks = [0] * size
    for node in order:
        for head in after[node]:
            ranks[head] = max(ranks[head], ranks[node] + 1)
            waiting[head] -= 1
            if not waiting[head]:
                order.append(head)
    for _ in range(4):
        for node in (*reversed(order), *order):
            low = max((ranks[other] + 1 for other in before[node]), default=None)
            high = min((ranks[other] - 1 for other in after[node]), default=None)
            if high is not None and (low is None or len(after[node]) > len(before[node])):
                ranks[node] = high
            elif low is not None and (high is None or len(before[node]) > len(after[node])):
                ranks[node] = low
    first = min(ranks, default=0)
    return [rank - first for rank in ranks]


def _ordered(ranks: Sequence[int], before: list[list[int]], after: list[list[int]]) -> list[list[int]]:
    """Each layer's nodes in the order with the fewest crossings that the sweeps came by."""
    rows: list[list[int]] = [[] for _ in range(1 + max(ranks))]
    seen: set[int] = set()
    for root in sorted(range(len(ranks)), key=lambda node: (ranks[node], node)):
        stack = [root]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                rows[ranks[node]].append(node)
                stack += reversed(after[node])
    best, fewest = [list(row) for row in rows], _crossings(rows, after)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        places = {node: float(place) for row in rows for place, node in enumerate(row)}
        for row in rows if down else reversed(rows):
            beside = before if down else after
            wanted = {
                node: sum(places[other] for other in beside[node]) / len(beside[node]) if beside[node] else places[node]
                for node in row
            }
            row.sort(key=lambda node: (wanted[node], places[node]))
            places.update((node, float(place)) for place, node in enumerate(row))
        crossings = _crossings(rows, after)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _crossings(rows: Sequence[Sequence[int]], after: list[list[int]]) -> int:
    total = 0
    for row, below in pairwise(rows):
        place = {node: number for number, node in enumerate(below)}
        seen: list[int] = []
        for node in row:
            heads = sorted(place[head] for head in after[node])
            total += sum(len(seen) - bisect_left(seen, head + 1) for head in heads)
            for head in heads:
                insort(seen, head)
    return total


def _straightened(
    rows: Sequence[Sequence[int]], before: list[list[int]], after: list[list[int]], real: int
) -> list[float]:
    """Places across: each as near the mean of its neighbours as the order and the least distances allow."""
    across = [0.0] * len(before)
    offsets: list[list[float]] = []
    for row in rows:
        reach = 0.0
        offsets.append([])
        for place, node in enumerate(row):
            if place:
                reach += ROOM if node < real and row[place - 1] < real else (ROOM + PASSING) / 2
                if node >= real and row[place - 1] >= real:
                    reach += PASSING - (ROOM + PASSING) / 2
            offsets[-1].append(reach)
            across[node] = reach
    for turn in range(STRAIGHTENINGS):
        down = turn % 2 == 0
        both = turn >= STRAIGHTENINGS - 4
        numbers = range(len(rows)) if down else range(len(rows) - 1, -1, -1)
        for number in numbers:
            row = rows[number]
            wanted: list[float] = []
            weights: list[float] = []
            for node in row:
                beside = before[node] + after[node] if both else (before[node] if down else after[node])
                beside = beside or before[node] or after[node]
                wanted.append(sum(across[other] for other in beside) / len(beside) if beside else across[node])
                # Passing edges pull harder: they should be straight.
                weights.append(float(max(1, len(beside)) * (1 if node < real else 4)))
            for node, place in zip(row, _spaced(wanted, weights, offsets[number]), strict=True):
                across[node] = place
    return across


def _spaced(wanted: Sequence[float], weights: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """The places nearest to those wanted (weighted least squares) that keep the order and the distances of `offsets`.

    Pool adjacent violators, after the offsets are taken off: what remains must not decrease.
    """
    blocks: list[tuple[float, float, int]] = []  # mean, weight, members
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        block = (want - offset, weight, 1)
        while blocks and blocks[-1][0] > block[0]:
            mean, held, members = blocks.pop()
            total = held + block[1]
            block = ((mean * held + block[0] * block[1]) / total, total, members + block[2])
        blocks.append(block)
    flat = [mean for mean, _, members in blocks for _ in range(members)]
    return [value + offset for value, offset in zip(flat, offsets, strict=True)]
