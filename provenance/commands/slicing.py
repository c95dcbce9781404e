"""`capsule why` and `capsule impact`: where something came from, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenance.commands.output import Settings, answer_json, clean, console, note, opened, say
from provenance.errors import UsageError

if TYPE_CHECKING:
    from provenance.comparison import InputDifference
    from provenance.schema import Flow
    from provenance.slices import Slice
    from provenance.store import Store

Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="What is asked about: HOST:PORT, a path or the end of one (PATH@2 for a version), a tool call, an id.",
    ),
]
Flows = Annotated[
    str,
    typer.Option(
        "--flow",
        metavar="FLOWS",
        help="What to follow, with commas between: content (bytes), argument (command lines), metadata (stat, names "
        "looked for), decision (the model's context).",
    ),
]
Bound = Annotated[int, typer.Option("--bound", min=1, help="Stop after so many nodes, and say so.")]
Depth = Annotated[
    int | None, typer.Option("--depth", min=0, help="Go no further than so many edges.", show_default="no limit")
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON: target, flows, origins, nodes, edges, gaps.")]


def why(
    context: typer.Context,
    target: Target,
    flow: Flows = "content",
    bound: Bound = 10_000,
    depth: Depth = None,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Compare the call with the last run of the same command that passed."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell what something came from: what was sent to an address, a file's content, a tool call, a failed check.

    Follows content unless told otherwise, and never through an agent's memory: what a model passed on is asked for with
    --flow content,decision, and is bounded by bytes. A failed command is compared with its last run that passed.

    \b
    Examples:
      capsule why 127.0.0.1:18090
      capsule why upload.txt --flow content,decision
      capsule why src/app.py@2
      capsule why call_3
    """
    from provenance import comparison, slices
    from provenance.resolve import resolve

    settings: Settings = context.obj
    flows = flows_of(flow)
    with opened(settings) as store:
        resolved = resolve(store, target)
        difference = None
        call = resolved.ids[0] if len(resolved.ids) == 1 and resolved.ids[0].startswith("toolcall:") else None
        if compare and call is None:
            raise UsageError("--compare wants a tool call: `capsule query troubled-calls` lists those that failed")
        if call and (compare or comparison.failed(store, call)):
            difference = comparison.input_difference(store, call)
        found = _slice(store, slices.why, starts_of(store, resolved.ids), flows, bound, depth)
        _answer(store, target, resolved.ids, found, difference, as_json)


def impact(
    context: typer.Context,
    target: Target,
    flow: Flows = "content",
    bound: Bound = 10_000,
    depth: Depth = None,
    as_json: AsJson = False,
) -> None:
    """Tell what came of something: which files, transfers and outputs hold, or may hold, content of it.

    \b
    Examples:
      capsule impact .env
      capsule impact README.md --flow content,decision
    """
    from provenance import slices
    from provenance.resolve import resolve

    settings: Settings = context.obj
    flows = flows_of(flow)
    with opened(settings) as store:
        resolved = resolve(store, target, forward=True)
        found = _slice(store, slices.impact, resolved.ids, flows, bound, depth)
        _answer(store, target, resolved.ids, found, None, as_json)


def flows_of(text: str) -> tuple[Flow, ...]:
    """`content,decision` as flows."""
    from provenance.schema import Flow

    known = [flow.value for flow in Flow if flow is not Flow.NONE]
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise UsageError(f"there is no flow {', '.join(unknown) or text!r}; there are {', '.join(known)}")
    return tuple(dict.fromkeys(Flow(name) for name in names))


def starts_of(store: Store, ids: list[str]) -> list[str]:
    """For a tool call also the processes that ran for it: what went into the call went into them.

    Not the state between a fork and the start of a program: it is a copy of its parent's memory, and did nothing.
    """
    calls = [node for node in ids if node.startswith("toolcall:")]
    rows = store.expand(calls, ("ATTRIBUTED_TO",), backward=False, fields=()) if calls else []
    states = sorted({row.tail for row in rows if row.tail.startswith("process:")})
    started = {row.head for row in store.expand(states, ("STARTED_BY",), fields=())} if states else set[str]()
    return [*ids, *(state for state in states if state not in started)]


def _slice(store: Store, walk: Any, starts: list[str], flows: tuple[Flow, ...], bound: int, depth: int | None) -> Slice:
    screen = console(error=True)
    if not screen.is_terminal:
        return walk(store, starts, flows, bound=bound, depth=depth)
    with screen.status("following") as status:

        def progress(reached: int) -> None:
            status.update(f"following: {reached:,} nodes")

        return walk(store, starts, flows, bound=bound, depth=depth, progress=progress)


def _answer(
    store: Store, target: str, ids: list[str], found: Slice, difference: InputDifference | None, as_json: bool
) -> None:
    from provenance.commands.explaining import Explanation, compared, comparison_json

    explanation = Explanation(store, target, ids, found)
    if as_json:
        answer = explanation.as_json()
        if difference is not None:
            answer["comparison"] = comparison_json(difference)
        answer_json(answer)
        return
    if difference is not None:
        say(*(clean(line) for line in compared(explanation, difference)), "")
    say(*(clean(line) for line in explanation.sentences()))
    if (tree := explanation.tree()) is not None:
        say("", tree)
    unknown = explanation.unknown()
    say("", "Not known:" if unknown else "Nothing is known to be missing on these paths.")
    say(*(f"  {clean(line)}" for line in unknown))
    if found.cut_off:
        note("the answer is cut off: --bound and --depth raise the limits")
