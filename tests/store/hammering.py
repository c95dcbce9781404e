"""Programs that the concurrency tests run in processes of their own: `python hammering.py write|read FOLDER SECONDS`.

The invariant: commit n adds BATCH processes and BATCH edges to one artifact, and sets the state to n.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from provenance.changes import Changes
from provenance.store import Store, open_store

BATCH = 20
HUB = "artifact:host:/hub@1.1"


def commit(number: int) -> Changes:
    changes = Changes()
    if number == 1:
        changes.put(HUB, path="/hub")
    for place in range(BATCH):
        process = f"process:host/{number}.{place}"
        changes.put(process, pid=number, command="x" * 200)
        changes.link("USED", process, HUB, count=number, rule="read")
    return changes


def write(folder: Path, seconds: float) -> None:
    """Commit as fast as it goes, saying after each that it is done. Padding makes the engine fold its log
    often, and some commits alone are too big for it."""
    end = time.monotonic() + seconds
    with open_store(folder, write=True) as store:
        number = int(store.state("number") or b"0")
        while time.monotonic() < end:
            number += 1
            changes = commit(number)
            if number % 3 == 0:
                for place in range(20_000 if number % 30 == 0 else 3_000):
                    changes.put(f"gap:pad/{number}.{place}", detail="y" * 800)
            store.apply(changes, {"number": str(number).encode(), "blob": bytes([number % 256]) * 200_000})
            print(number, flush=True)


def read(folder: Path, seconds: float, seed: int) -> None:
    """Open, query and close in a loop, some openings longer than others. Prints how many reads it made."""
    draw = random.Random(seed)
    end = time.monotonic() + seconds
    reads, last = 0, 0
    while time.monotonic() < end:
        with open_store(folder) as store:
            for _ in range(draw.choice((1, 3, 30))):
                last = check(store, last)
                state = store.states()
                assert state["blob"] == bytes([int(state["number"]) % 256]) * 200_000, state["number"]
                assert int(state["number"]) >= last, state["number"]
                reads += 1
    print(reads, last)


def check(store: Store, last: int) -> int:
    """Raise unless the store shows whole commits, and none fewer than before. Gives the last commit."""
    nodes = store.query("MATCH (p:Process) RETURN count(*)").rows[0][0]
    edges = store.query("MATCH (:Process)-[r:USED]->(:Artifact) RETURN count(r)").rows[0][0]
    assert isinstance(nodes, int)
    assert isinstance(edges, int)
    assert edges >= nodes, f"{nodes} nodes, then {edges} edges"
    assert edges % BATCH == 0, f"half a commit: {edges} edges"
    assert nodes % BATCH == 0, f"half a commit: {nodes} nodes"
    number = nodes // BATCH
    assert number >= last, f"commit {number} after {last}"
    if number:
        rows = store.query(
            "MATCH (p:Process)-[r:USED]->(a:Artifact {id: $hub}) RETURN max(p.pid) AS last, count(r) AS edges, "
            "count(DISTINCT p.pid) AS commits, sum(r.count - p.pid) AS difference",
            {"hub": HUB},
        ).dicts()[0]
        assert isinstance(rows["last"], int)
        assert rows["edges"] == rows["last"] * BATCH, rows
        assert (rows["commits"], rows["difference"]) == (rows["last"], 0), rows
        assert rows["last"] >= number, rows
        expanded = store.expand([f"process:host/{number}.3"], ["USED"])
        assert [edge.head for edge in expanded] == [HUB], expanded
        number = rows["last"]
    return number


if __name__ == "__main__":
    what, folder, seconds, *rest = sys.argv[1:]
    if what == "write":
        write(Path(folder), float(seconds))
    else:
        read(Path(folder), float(seconds), int(rest[0]))
