"""Tool calls: their names, what is known of them at the end, and what is missing of them."""

from __future__ import annotations

from collections import Counter

from provenance import schema
from provenance.identity import digest
from provenance.records import ToolCalled, ToolReturned
from provenance.weave import anchors, checks
from provenance.weave.anchors import Standing
from provenance.weave.builder import Builder, fits, redacted, shortened
from provenance.weave.shell import unwrapped
from provenance.weave.strands import Call, Entry

_ACTIONS = frozenset(schema.NODE_KINDS["ToolCall"].by_name["action"].values)


def name_call(builder: Builder, call: Call, ordinal: int, taken: dict[str, int], entry: Entry) -> None:
    """Give a call its id: the agent's own where it has one, else its position; `~2` for the second of one id."""
    base = call.id if call.id else f"@{ordinal}"
    place = base
    while place in taken:
        taken[base] += 1
        place = f"{base}~{taken[base]}"
    taken[place] = 1
    call.ordinal, call.place = ordinal, place
    call.node = builder.put("ToolCall", builder.id("ToolCall", place), entry, ordinal=ordinal)


def request_of(call: Call) -> ToolCalled | None:
    """What the model asked for, where that was recorded."""
    record = call.called.record if call.called is not None else None
    return record if isinstance(record, ToolCalled) else None


def answers_of(call: Call) -> list[ToolReturned]:
    """What came back, in order."""
    return [entry.record for entry in call.results if isinstance(entry.record, ToolReturned)]


def last_answer(call: Call) -> Entry | None:
    """The answer that counts: the last one that is not a mere sign of life."""
    final = [
        entry for entry in call.results if isinstance(entry.record, ToolReturned) and entry.record.status != "running"
    ]
    return final[-1] if final else call.results[-1] if call.results else None


def exit_code(call: Call) -> int | None:
    """The command's exit status, as far as it was told."""
    return next((answer.exit_code for answer in reversed(answers_of(call)) if answer.exit_code is not None), None)


def status_of(call: Call) -> str:
    """How the call ended as its host told it; `unknown` where nothing came back."""
    entry = last_answer(call)
    if entry is None:
        return "unknown"
    assert isinstance(entry.record, ToolReturned)
    status = entry.record.status
    if status == "completed" and exit_code(call) not in (None, 0):
        return "failed"
    return status if status in schema.STATUSES else "unknown"


def output_of(call: Call) -> str:
    """What it printed, as far as the previews tell."""
    return "\n".join(answer.output.preview for answer in answers_of(call) if answer.output is not None)


def _join_continued(calls: list[Call]) -> None:
    """A command that goes on running is answered through later calls: their answers are its own, too."""
    running: dict[str, Call] = {}
    for call in calls:
        request = request_of(call)
        started = running.get(request.continues) if request is not None and request.continues is not None else None
        for entry in list(call.results):
            record = entry.record
            if not isinstance(record, ToolReturned):
                continue
            if record.running is not None and started is None:
                running[record.running] = call
            if started is not None and started is not call:
                started.results.append(entry)


def finish_calls(builder: Builder, calls: list[Call], standing: Standing) -> None:
    """Write what is known of every call now that all records were read."""
    calls = sorted((call for call in calls if call.node), key=lambda call: call.ordinal)
    _join_continued(calls)
    uses: Counter[tuple[str, str]] = Counter()
    for call in calls:
        _request(builder, call, uses)
        _answer(builder, call, standing)


def _request(builder: Builder, call: Call, uses: Counter[tuple[str, str]]) -> None:
    request = request_of(call)
    if request is None:
        entry = call.results[0] if call.results else call.decisions[0]
        builder.put("ToolCall", call.node, None, name=f"unknown call {call.place}", call=call.id)
        builder.gap("dangling_parent", f"call/{call.place}", "the call that this answers", call.node, entry)
        return
    arguments, command = request.arguments, request.command
    key = (request.name, arguments.digest or command or arguments.preview)
    uses[key] += 1
    shown = redacted(command) if command is not None else None
    label = shown if shown is not None else ", ".join(request.paths)
    builder.put(
        "ToolCall",
        call.node,
        None,
        name=shortened(f"{request.name}: {label}" if label else request.name),
        tool=request.name,
        action=request.action if request.action in _ACTIONS else "other",
        call=call.id,
        command=shown,
        command_digest=digest(command) if command is not None else None,
        cwd=request.cwd,
        paths=list(request.paths) or None,
        arguments=arguments.preview,
        arguments_digest=arguments.digest,
        arguments_size=arguments.size,
        attempt=uses[key],
        check=checks.kind_of(unwrapped(command)) if command is not None else None,
        start=request.time,
        clock="wall" if request.time is not None else None,
    )


def _answer(builder: Builder, call: Call, standing: Standing) -> None:
    entry = last_answer(call)
    status = status_of(call)
    builder.put("ToolCall", call.node, None, status=status, exit_code=exit_code(call))
    if entry is None:
        if call.called is not None:
            builder.gap("never_captured", f"answer/{call.place}", "the answer to the call", call.node, call.called)
        return
    record = entry.record
    assert isinstance(record, ToolReturned)
    time = fits(record.time)
    builder.put("ToolCall", call.node, None, error=redacted(record.error) if record.error else None)
    if status != "running":
        builder.put("ToolCall", call.node, None, end=time, clock="wall" if time is not None else None)
    if status == "refused" and not call.decisions:
        anchors.decision(builder, call, call.place, standing, entry, False, "policy", record.error)
