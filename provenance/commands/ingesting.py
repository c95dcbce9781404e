"""`capsule ingest`: sources into the store."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenance.commands.output import Settings, answer_json, console, count_of, note, opened, say, short, table
from provenance.errors import SourceError

if TYPE_CHECKING:
    from ingest.sources import Unreadable
    from provenance.intake import Intake, Report, Summary

POLL = 1.0
"""Seconds between two looks at followed sources: small commits are dear."""


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATHS", help="Files and folders to read; - is standard input. Formats are recognised."),
    ],
    host: Annotated[
        str, typer.Option(help="Name of the machine that the traces come from; part of the ids of what they tell.")
    ] = "local",
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on as the sources grow, until interrupted (Ctrl-C).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Read sources of evidence into the store: session files, streams and traces, in any order.

    What was read before is not read again: a source that grew adds its new part. What cannot be read is counted and named.

    \b
    Examples:
      capsule ingest run.strace rollout.jsonl
      capsule ingest ~/.codex/sessions
      zstdcat run.strace.zst | capsule ingest -
    """
    from ingest.sources import Source, discover
    from provenance.intake import Intake

    settings: Settings = context.obj
    reports: list[Report] = []
    unreadable: list[Unreadable] = []
    with opened(settings, write=True) as store:
        intake = Intake(store, host=host)
        for found in discover(paths, stdin=sys.stdin.buffer if "-" in paths else None):
            if isinstance(found, Source):
                with _progress(found.name) as progress:
                    reports.append(intake.take(found, progress=progress))
            else:
                unreadable.append(found)
        with _progress("joining what was said to what was seen"):
            summary = intake.finish()
        if follow:
            _follow(intake, paths, reports)
    _answer(reports, unreadable, summary, as_json)
    named = [item for item in unreadable if item.named]
    if named:
        raise SourceError("; ".join(f"{item.uri}: {item.reason}" for item in named))
    if not reports:
        raise SourceError(f"nothing in {', '.join(paths)} is in a format that can be read")


@contextmanager
def _progress(what: str) -> Generator[Callable[[int], None]]:
    """A line on the terminal that says how far reading is; nothing where nobody looks."""
    screen = console(error=True)
    if not screen.is_terminal:
        yield lambda lines: None
        return
    with screen.status(short(what)) as status:
        yield lambda lines: status.update(f"{short(what)}: {lines:,} lines")


def _follow(intake: Intake, paths: list[str], reports: list[Report]) -> None:
    """Look again and again, and take what is new, until interrupted."""
    from ingest.sources import Source, discover

    note("following; Ctrl-C ends it")
    known: dict[str, tuple[int, int]] = {}
    with _interruption() as stop:
        while not stop.is_set():
            taken = False
            for found in discover([path for path in paths if path != "-"]):
                if not isinstance(found, Source) or not (stamp := _stamp(found.path)) or known.get(found.uri) == stamp:
                    continue
                known[found.uri] = stamp
                report = intake.take(found)
                if report.lines:
                    taken = True
                    reports.append(report)
                    note(f"{found.name}: {count_of(report.lines, 'line')}, {count_of(report.records, 'record')}")
            if taken:
                intake.finish()
            stop.wait(POLL)


@contextmanager
def _interruption() -> Generator[threading.Event]:
    """Ctrl-C as an event: what is being written is finished first."""
    stop = threading.Event()
    before = signal.signal(signal.SIGINT, lambda number, frame: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _stamp(path: Path | None) -> tuple[int, int] | None:
    if path is None:
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _answer(reports: list[Report], unreadable: list[Unreadable], summary: Summary, as_json: bool) -> None:
    if as_json:
        answer_json(
            {
                "sources": [asdict(report) for report in reports],
                "unreadable": [asdict(item) for item in unreadable],
                "summary": asdict(summary),
            }
        )
        return
    if reports:
        rows = [
            (Path(report.uri).name, report.format, f"{report.lines:,}", f"{report.records:,}", sum(report.skipped.values()),
             report.note or "; ".join(f"{reason} ({count})" for reason, count in report.skipped.items()))
            for report in reports
        ]  # fmt: skip
        say(table(("source", "format", "lines", "records", "skipped", "note"), rows))
    passed_over = [item for item in unreadable if not item.named]
    for item in passed_over:
        if item.reason.startswith("cannot be read"):
            note(f"{item.uri} {item.reason}")
    others = [item for item in passed_over if not item.reason.startswith("cannot be read")]
    if others:
        note(f"passed over {count_of(len(others), 'file')} in no known format, for example {others[0].uri}")
    calls = f"{count_of(summary.processes, 'process', 'processes')} of {count_of(summary.calls, 'tool call')}"
    lines = [f"{count_of(len(summary.sessions), 'session')} new or changed; attributed {calls}"]
    if summary.unmatched:
        lines.append(f"{count_of(summary.unmatched, 'call')} whose processes the trace does not show")
    if summary.ambiguous:
        lines.append(f"{count_of(summary.ambiguous, 'call')} that cannot be told apart")
    lines.append(f"{count_of(summary.gaps, 'gap')} in the store: `capsule gaps` lists what is missing and why")
    say("\n" + "\n".join(lines))
