"""Which step explains a failed turn, and what makes a check stale."""

from __future__ import annotations

from dataclasses import dataclass, field

from provenance.records import ToolCalled
from provenance.weave import checks, claims
from provenance.weave.calls import answers_of, last_answer, request_of, status_of
from provenance.weave.oracles import Verdict
from provenance.weave.shell import unwrapped
from provenance.weave.strands import Call, Turn

_EDITS = frozenset(("edit", "write"))


@dataclass(slots=True)
class Checked:
    """A verdict about a call."""

    subject: str
    verdict: Verdict
    node: str
    call: Call


@dataclass(slots=True)
class Findings:
    turn: Turn
    calls: list[Call]
    checked: list[Checked] = field(default_factory=list[Checked])
    final: dict[str, Checked] = field(default_factory=dict[str, Checked])
    claimed: dict[str, tuple[claims.Claim, str]] = field(default_factory=dict[str, tuple[claims.Claim, str]])
    mismatch: list[Checked] = field(default_factory=list[Checked])
    status: str = "unknown"


def failing_step(found: Findings) -> str | None:
    for item in found.mismatch:
        edits = [
            call
            for call in found.calls
            if call.ordinal < item.call.ordinal
            and _action(call) in _EDITS
            and status_of(call) in ("refused", "failed")
            and not _repaired(call, [c for c in found.calls if c.ordinal < item.call.ordinal])
        ]
        if edits:
            return edits[-1].node
    for subject in checks.KINDS:
        item = found.final.get(subject)
        if item is not None and item.verdict.verdict == "fail":
            return item.call.node
    if found.status in ("completed", "unknown"):
        return None
    if found.status in ("killed", "interrupted"):
        return next((call.node for call in found.calls if last_answer(call) is None), None)
    failed = (call for call in found.calls if status_of(call) in ("failed", "refused", "timed_out"))
    return next((call.node for call in failed if not _repaired(call, found.calls)), None)


def _action(call: Call) -> str | None:
    request = request_of(call)
    return request.action if request is not None else None


def changes_inputs(call: Call) -> bool:
    """Whether the call changed something that a test or build may read."""
    if status_of(call) not in ("completed", "failed"):
        return False
    changed = [path for answer in answers_of(call) for path, _ in answer.changes]
    request = request_of(call)
    if request is not None and request.action in _EDITS and status_of(call) == "completed":
        changed += request.paths or ("",)
    if any(not checks.is_document(path) for path in changed):
        return True
    return request is not None and request.command is not None and checks.changes_sources(unwrapped(request.command))


def _same_aim(first: ToolCalled, second: ToolCalled) -> bool:
    if first.command is not None or second.command is not None:
        return first.command == second.command and first.cwd == second.cwd
    return bool(set(first.paths) & set(second.paths)) and {first.action, second.action} <= _EDITS | {first.action}


def _repaired(call: Call, calls: list[Call]) -> bool:
    """Whether a later call with the same aim succeeded."""
    request = request_of(call)
    if request is None:
        return False
    return any(
        later.ordinal > call.ordinal
        and status_of(later) == "completed"
        and (other := request_of(later)) is not None
        and _same_aim(request, other)
        for later in calls
    )
