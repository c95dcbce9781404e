"""Both engines side by side: `python benchmarks/engines.py [edges] [--only ENGINE]` loads one graph into each and asks the catalogue.

The graph is that of the bundled recordings, copied with other ids until it has so many edges: as if many agents had worked
in equal workspaces. Endpoints, environments, principals, policies and oracles are shared by all copies, as in a real store.
Neo4j is started with 2 GB of heap and as much page cache (needs a JDK and Maven). About ten minutes for a million edges.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from docker.neo4j import launch
from ingest import sources
from provenance import schema
from provenance.changes import Changes
from provenance.intake import Intake
from provenance.store import Store, open_store
from queries import Query, catalogue

RECORDINGS = Path(__file__).parent.parent / "tests" / "data" / "recordings"
SHARED = {"endpoint", "environment", "principal", "policy", "oracle", "sandbox"}
COMMIT = 20_000
"""Elements in one commit."""

DRAWS = 20
"""Times that each query is asked, each time about something else."""


def recorded() -> Changes:
    """The graph of all bundled recordings."""
    with tempfile.TemporaryDirectory() as scratch, open_store(Path(scratch, "store"), write=True) as store:
        intake = Intake(store)
        for source in sources.discover([str(RECORDINGS)]):
            if isinstance(source, sources.Source):
                intake.take(source)
        intake.finish()
        identities = [
            str(row[0]) for kind in schema.NODE_KINDS for row in store.query(f"MATCH (n:{kind}) RETURN n.id").rows
        ]
        changes = Changes(nodes=dict(store.nodes(identities)))
        for edge in store.expand(identities, list(schema.EDGE_KINDS)):
            changes.edges[edge.kind, edge.tail, edge.head] = edge.fields
        return changes


def copies(graph: Changes, edges: int) -> Iterator[Changes]:
    """Commits, until there are so many edges."""
    made = 0
    number = 0
    while made < edges:
        names = {each: each if each.partition(":")[0] in SHARED else f"{each}~{number}" for each in graph.nodes}
        nodes = iter(graph.nodes.items())
        waiting = Changes()
        for identity, fields in nodes:
            waiting.nodes[names[identity]] = {**fields, "id": names[identity]}
            if len(waiting.nodes) >= COMMIT:
                yield waiting
                waiting = Changes()
        for (kind, tail, head), fields in graph.edges.items():
            waiting.edges[kind, names[tail], names[head]] = fields
            if len(waiting.nodes) + len(waiting.edges) >= COMMIT:
                yield waiting
                waiting = Changes()
        yield waiting
        made += len(graph.edges)
        number += 1


@contextmanager
def places(only: str | None) -> Iterator[dict[str, str]]:
    """Where each engine keeps its store."""
    with tempfile.TemporaryDirectory() as scratch:
        found: dict[str, str] = {}
        server = None
        if only != "neo4j":
            found["embedded"] = str(Path(scratch, "store"))
        if only != "embedded":
            server = launch.Servers(Path(scratch, "java.log"), heap="2g")
            password = secrets.token_hex(8)
            settings = {"server.bolt.listen_address": "127.0.0.1:0", "server.memory.pagecache.size": "2g"}
            port = server.open(Path(scratch, "neo4j"), password, settings)
            found["neo4j"] = f"bolt://neo4j:{password}@127.0.0.1:{port}"
        yield found
        if server:
            server.kill()


def load(store: Store, graph: Changes, edges: int) -> tuple[int, float]:
    """Elements written, and seconds."""
    elements, seconds = 0, 0.0
    for changes in copies(graph, edges):
        begin = time.perf_counter()
        store.apply(changes)
        seconds += time.perf_counter() - begin
        elements += len(changes.nodes) + len(changes.edges)
    return elements, seconds


def write_builds(place: str, numbers: list[int]) -> tuple[int, float]:
    """One writer's part of the traced builds of `store.py`: elements, and seconds in the store. For a process of its own."""
    from store import build

    elements, seconds = 0, 0.0
    with open_store(place, write=True) as opened:
        for number in numbers:
            changes = build(number)
            begin = time.perf_counter()
            opened.apply(changes)
            seconds += time.perf_counter() - begin
            elements += len(changes.nodes) + len(changes.edges)
    return elements, seconds


def writers(place: str, count: int, first: int) -> float:
    """Elements a second that so many writers bring into one server together, each measured as long as all write."""
    parts = [list(range(first + each, first + 12 * count, count)) for each in range(count)]
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        done = list(pool.map(write_builds, [place] * count, parts))
    return sum(elements / seconds for elements, seconds in done)


def values(query: Query, graph: Changes, draw: random.Random, copied: int) -> dict[str, str | int]:
    """What the query is asked about: one session, call, artifact or path of one copy."""
    given: dict[str, str | int] = {}
    for parameter in query.parameters:
        kind = {"session": "session", "call": "toolcall", "artifact": "artifact"}.get(parameter.name)
        if kind:
            one = draw.choice([each for each in graph.nodes if each.startswith(f"{kind}:")])
            given[parameter.name] = f"{one}~{draw.randrange(copied)}"
        elif parameter.name == "path" and parameter.default is None:
            paths = [str(fields["path"]) for fields in graph.nodes.values() if fields.get("path")]
            given["path"] = draw.choice(paths)
    return query.values(given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("edges", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--only", choices=("embedded", "neo4j"))
    parser.add_argument("--writers", action="store_true", help="only load Neo4j, with one writer and with two")
    arguments = parser.parse_args()
    graph = recorded()
    copied = -(-arguments.edges // len(graph.edges))
    print(f"{len(graph.nodes):,} nodes and {len(graph.edges):,} edges of recordings, {copied} times")
    with places(arguments.only) as found:
        if "neo4j" in found:
            open_store(found["neo4j"], write=True).close()
            writers(found["neo4j"], 1, 1_000)  # Java compiles what is used often
            for count in (1, 2):
                rate = writers(found["neo4j"], count, 2_000 * count)
                print(f"load neo4j, traced builds, {count} writer(s) {rate:>10,.0f} elements/s", flush=True)
            if arguments.writers:
                return
        opened = {engine: open_store(place, write=True) for engine, place in found.items()}
        for engine, store in opened.items():
            elements, seconds = load(store, graph, arguments.edges)
            print(f"load {engine:<10} {elements / seconds:>10,.0f} elements/s ({elements:,} elements)", flush=True)
            store.close()
        opened = {engine: open_store(place) for engine, place in found.items()}
        asked = {query.id: query for query in catalogue().values()}
        print(
            f"\n{'p95 in ms of a query of one session, call, file':<50}" + "".join(f"{engine:>12}" for engine in opened)
        )
        rounds: dict[str, list[float]] = {engine: [] for engine in opened}
        for query in asked.values():
            row = f"{query.id:<50}"
            for engine, store in opened.items():
                draw = random.Random(query.id)
                taken: list[float] = []
                for _ in range(DRAWS + 2):
                    given = values(query, graph, draw, copied)
                    begin = time.perf_counter()
                    store.query(query.text, given, limit=1_000, timeout=60)
                    taken.append((time.perf_counter() - begin) * 1_000)
                taken = taken[2:]  # the first are planned and read from disk
                rounds[engine] += taken
                row += f"{statistics.quantiles(taken, n=20)[-1]:>12,.1f}"
            print(row, flush=True)
        print(f"{'all':<50}" + "".join(f"{statistics.quantiles(taken, n=20)[-1]:>12,.1f}" for taken in rounds.values()))
        for store in opened.values():
            store.close()


if __name__ == "__main__":
    main()
