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
    """Id of the call that explains why the turn failed; None where it did not."""
    for item in found.mismatch:
        before = [call for call in found.calls if call.ordinal < item.call.ordinal]
        repaired = _successes(before)
        for call in reversed(before):
            if _action(call) in _EDITS and status_of(call) in ("refused", "failed") and not _repaired(call, repaired):
                return call.node
    for subject in checks.KINDS:
        item = found.final.get(subject)
        if item is not None and item.verdict.verdict == "fail":
            return item.call.node
    if found.status in ("completed", "unknown"):
        return None
    if found.status in ("killed", "interrupted"):
        return next((call.node for call in found.calls if last_answer(call) is None), None)
    repaired = _successes(found.calls)
    failed = (call for call in found.calls if status_of(call) in ("failed", "refused", "timed_out"))
    return next((call.node for call in failed if not _repaired(call, repaired)), None)


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


_Aim = tuple[str, str, str | None]


def _aims(request: ToolCalled) -> list[_Aim]:
    """What a call is about: the same command in the same place, or the same files edited."""
    if request.command is not None:
        return [("command", request.command, request.cwd)]
    action = "edit" if request.action in _EDITS else request.action
    return [(action, path, None) for path in request.paths]


def _successes(calls: list[Call]) -> dict[_Aim, int]:
    """The last call that succeeded, by what it was about."""
    last: dict[_Aim, int] = {}
    for call in calls:
        request = request_of(call)
        if request is not None and status_of(call) == "completed":
            last.update(dict.fromkeys(_aims(request), call.ordinal))
    return last


def _repaired(call: Call, successes: dict[_Aim, int]) -> bool:
    """Whether a later call about the same succeeded."""
    request = request_of(call)
    return request is not None and any(successes.get(aim, 0) > call.ordinal for aim in _aims(request))
