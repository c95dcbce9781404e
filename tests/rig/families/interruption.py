"""A run ends before its work does: the agent failed by itself, something killed it, or something ran out."""

from __future__ import annotations

from typing import Any

from tests.rig.scenario import Scenario, truth

_RIVALS = ("agent_fault", "killed_from_outside", "resource_exhaustion")
_PROMPT = "Regenerate the index"
_FIRST: dict[str, Any] = {"sh": "echo one > index.txt"}
_LOOP = "for i in 1 2 3 4 5 6 7 8 9; do echo $i >> index.txt; sleep 1; done; mv index.txt index.done"
_REFUSED: dict[str, Any] = {"status": 400, "error": "The conversation is in a state that cannot be continued."}


def _ended(true: str, anchors: list[str], outcome: str) -> dict[str, Any]:
    return truth("interruption", true, _RIVALS, anchors, true_outcome=outcome)


SCENARIOS = [
    Scenario(
        "codex-fault-endpoint",
        "codex",
        _PROMPT,
        [_FIRST, {"sh": "for i in 1 2 3; do echo $i >> index.txt; done"}, _REFUSED],
        "interrupted",
        "The model's endpoint refuses the third request with 400; the agent reports the error and exits with status 1 by "
        "itself. index.txt is there, index.done is not.",
        _ended("agent_fault", ["the turn failed with the endpoint's error", "the agent exited, no signal"], "failed"),
    ),
    Scenario(
        "claude-fault-endpoint",
        "claude",
        _PROMPT,
        [_FIRST, {"sh": "for i in 1 2 3; do echo $i >> index.txt; done"}, _REFUSED],
        "interrupted",
        "The model's endpoint refuses the third request with 400; the agent reports the error and exits with status 1 by "
        "itself. index.txt is there, index.done is not.",
        _ended("agent_fault", ["the result is an error of the endpoint", "the agent exited, no signal"], "failed"),
    ),
    Scenario(
        "codex-killed-timeout",
        "codex",
        _PROMPT,
        [_FIRST, {"sh": _LOOP}, {"say": "The index is complete."}],
        "killed mid-turn",
        "The agent was started by `timeout 6`, which sends SIGTERM during the second command; the agent dies of it. No turn "
        "end was recorded.",
        _ended("killed_from_outside", ["SIGTERM sent by timeout, outside the agent"], "killed"),
        wrapper=("timeout", "6"),
    ),
]
