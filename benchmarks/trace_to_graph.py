"""How fast and in how much memory and disk a trace becomes a graph: `python benchmarks/trace_to_graph.py TRACE [--lines N ...]`.

Without TRACE a real build is recorded first (needs strace, gcc, make). Each figure is taken in one run, on one thread; the
whole-process ones run in a process of their own so that memory is theirs alone. Prints a table of ratios.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def stages(path: Path) -> dict[str, float]:
    """Lines a second of parsing, and of parsing and weaving, in memory."""
    from ingest.reading import BLOCK_SIZE
    from ingest.sources import Source, discover
    from provenance.records import Skipped
    from provenance.weave.effects import EffectWeaver

    (source,) = [found for found in discover([str(path)]) if isinstance(found, Source)]
    parser: Any = source.format.parser(source.head)
    weaver = EffectWeaver(source.key, "local", parser.facts().clock)
    lines, parsing, weaving = 0, 0.0, 0.0
    for block in source.blocks():
        begin = time.perf_counter()
        records = parser.feed(block.data, block.first_line)
        middle = time.perf_counter()
        weaver.feed([record for record in records if type(record) is not Skipped])
        end = time.perf_counter()
        lines += block.lines
        parsing += middle - begin
        weaving += end - middle
    return {
        "lines": lines,
        "parse": lines / parsing,
        "parse+weave": lines / (parsing + weaving),
        "block_bytes": BLOCK_SIZE,
    }


def whole(path: Path) -> dict[str, float]:
    """Source to store in this process: lines a second, peak memory, bytes on disk a line."""
    from ingest.sources import Source, discover
    from provenance.intake import Intake
    from provenance.store import open_store

    with tempfile.TemporaryDirectory() as folder:
        begin, cpu = time.perf_counter(), time.process_time()
        with open_store(Path(folder) / "store", write=True) as store:
            intake = Intake(store)
            lines = sum(intake.take(found).lines for found in discover([str(path)]) if isinstance(found, Source))
            intake.finish()
            counts = store.counts()
        wall, used = time.perf_counter() - begin, time.process_time() - cpu
        disk = sum(file.stat().st_size for file in (Path(folder) / "store").rglob("*") if file.is_file())
    return {
        "lines": lines,
        "lines_per_second": lines / wall,
        "lines_per_cpu_second": lines / used,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "disk_bytes_per_line": disk / lines,
        "nodes_per_1000": sum(count for kind, count in counts.items() if not kind.isupper()) / lines * 1000,
        "edges_per_1000": sum(count for kind, count in counts.items() if kind.isupper()) / lines * 1000,
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("trace", nargs="?", type=Path)
    arguments.add_argument("--lines", type=int, nargs="*", default=[], help="also repeat the trace to so many lines")
    arguments.add_argument("--whole", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.whole:
        print(json.dumps(whole(given.whole)))
        return
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        trace = given.trace
        if trace is None:
            trace = Path(folder) / "build.strace"
            subprocess.run([sys.executable, here / "record_build.py", trace], check=True)
        print(json.dumps({"trace": trace.name, **stages(trace)}))
        sizes = [trace]
        for lines in given.lines:
            repeated = Path(folder) / f"repeated-{lines}.strace"
            subprocess.run([sys.executable, here / "repeat_trace.py", trace, repeated, str(lines)], check=True)
            sizes.append(repeated)
        for path in sizes:
            done = subprocess.run(
                [sys.executable, __file__, "--whole", path], check=True, capture_output=True, text=True
            )
            print(path.name, done.stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
