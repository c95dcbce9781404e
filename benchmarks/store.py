"""What the embedded store does on this machine: `python benchmarks/store.py [edges]` prints a few lines, in about a minute.

The graph is made of builds that know nothing of one another: a chain of processes, each reading files of earlier ones and
writing two, so that the slice of a build's last file reaches nearly all of the build.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from provenance.changes import Changes
from provenance.schema import Flow, edges_of_flow
from provenance.store import Store, open_store

PROCESSES = 4_000  # in one build
READS = 4  # by one process
BUILD = PROCESSES * (READS + 3)  # edges


def build(number: int) -> Changes:
    """One build of 12,000 nodes and about 28,000 edges."""
    draw = random.Random(number)
    changes = Changes()
    written: list[str] = []
    for place in range(PROCESSES):
        process = f"process:host/{number}-{place}@1796079097.{place:06d}/0"
        changes.put(process, name="cc", level=0, pid=place, executable="/usr/bin/cc", start=place, end=place + 1)
        if place:
            parent = f"process:host/{number}-{draw.randrange(place)}@1796079097."
            parent += f"{int(parent.rpartition('-')[2].partition('@')[0]):06d}/0"
            changes.link("FORKED_FROM", process, parent, **observed("fork", place))
        for read in set(draw.choices(written[-400:], k=READS)) if written else ():
            changes.link("USED", process, read, **observed("read", place), bytes=4096)
        for output in range(2):
            path = f"/home/a/build{number}/object{place}-{output}.o"
            artifact = f"artifact:host:{path}@9f3a12c0.1"
            changes.put(artifact, name=path, level=1, path=path, version=1, size=4096, **{"class": "file"})
            changes.link("GENERATED_BY", artifact, process, **observed("write", place), bytes=4096)
            written.append(artifact)
    return changes


def observed(call: str, at: int) -> dict[str, str | int | float]:
    return {
        "basis": "observed",
        "confidence": 1.0,
        "rule": call,
        "source": f"9f3a12c0:{at}",
        "first": at,
        "last": at,
        "count": 1,
    }


def slice_of(store: Store, start: str, kinds: list[str], fields: list[str] | None) -> tuple[int, int]:
    """Walk level by level; the number of nodes and of levels."""
    seen, frontier, levels = {start}, [start], 0
    while frontier:
        reached = {edge.head for edge in store.expand(frontier, kinds, fields=fields)}
        frontier = [identity for identity in reached if identity not in seen]
        seen.update(frontier)
        levels += 1
    return len(seen), levels


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("edges", type=int, nargs="?", default=1_000_000)
    builds = -(-parser.parse_args().edges // BUILD)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "store")
        edges, seconds = 0, 0.0
        with open_store(folder, write=True) as store:
            for number in range(builds):
                changes = build(number)
                edges += len(changes.edges)
                begin = time.perf_counter()
                store.apply(changes)
                seconds += time.perf_counter() - begin
            print(f"bulk load             {edges / seconds:>12,.0f} edges/s with their nodes, in {builds} commits")

            draw = random.Random(0)
            updates = Changes()
            for number in draw.sample(range(builds), min(builds, 5)):
                keys = sorted(build(number).edges)
                updates.edge_updates.update({key: {"last": 7, "count": 2} for key in draw.sample(keys, 2_000)})
            begin = time.perf_counter()
            store.apply(updates)
            rate = len(updates.edge_updates) / (time.perf_counter() - begin)
            print(f"edge updates          {rate:>12,.0f} a second, {len(updates.edge_updates):,} in one commit")

            live: list[float] = []
            for number in range(20):
                changes = Changes()
                process = f"process:live/{number}@1/0"
                changes.put(process, pid=number)
                for place in range(30):
                    artifact = f"artifact:live:/f{number}-{place}@1.1"
                    changes.put(artifact, path=f"/f{number}-{place}")
                    changes.link("USED", process, artifact, **observed("read", place))
                begin = time.perf_counter()
                store.apply(changes, {"weaver": bytes(200_000)})
                live.append(time.perf_counter() - begin)
            print(
                f"small commit          {statistics.median(live) * 1000:>12,.1f} ms: 31 nodes, 30 edges, 200 kB of state"
            )
        print(f"on disk               {size(folder) / edges:>12,.0f} bytes an edge, nodes included")

        begin = time.perf_counter()
        with open_store(folder) as store:
            print(f"open for reading      {(time.perf_counter() - begin) * 1000:>12,.0f} ms")
            start = f"artifact:host:/home/a/build{builds // 2}/object{PROCESSES - 1}-1.o@9f3a12c0.1"
            kinds = [kind.name for kind in edges_of_flow(Flow.CONTENT)]
            for name, fields in (
                ("all fields", None),
                ("basis, confidence", ["basis", "confidence"]),
                ("no fields", []),
            ):
                nodes = levels = 0
                taken: list[float] = []
                for _ in range(5):
                    begin = time.perf_counter()
                    nodes, levels = slice_of(store, start, kinds, fields)
                    taken.append(time.perf_counter() - begin)
                print(
                    f"slice                 {statistics.median(taken) * 1000:>12,.0f} ms, {name}: {nodes:,} nodes in {levels} levels "
                    f"of a store of {edges:,} edges"
                )


if __name__ == "__main__":
    main()
