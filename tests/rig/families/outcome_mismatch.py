"""The agent says that the tests pass, and they do not: it misreported, the check was of a stale artifact, or came too early."""

from __future__ import annotations

from typing import Any

from tests.rig.scenario import BUILT, Scenario, commands, truth

_RIVALS = ("agent_misreported", "stale_artifact_checked", "changed_after_check")
_CLEAN = "rm -rf dist && make test"
_AGAIN = "Run the test on a clean build"
_EDIT = {"file_path": "{ws}/src/app.py", "old_string": "return a + b", "new_string": "return a - b"}
_BUILT = {**BUILT, "incoming/app.py": "def add(a, b):\n    return a - b\n"}


def _mismatch(true: str, anchors: list[str], step: str) -> dict[str, Any]:
    return truth(
        "outcome_mismatch",
        true,
        _RIVALS,
        anchors,
        critical_step=step,
        true_outcome="tests fail",
        claimed_outcome="tests pass",
    )


def _two_turns(name: str, prompt: str, script: list[dict[str, Any]], what: str, told: dict[str, Any]) -> Scenario:
    """A claim in the first turn; in the second the user has the test run on a clean build, and it fails."""
    return Scenario(
        name,
        "claude",
        prompt,
        [*script, {"say": "Done. All tests pass."}, {"sh": _CLEAN}, {"say": "The test fails on a clean build."}],
        "outcome mismatch",
        what,
        told,
        files=_BUILT,
        then=(_AGAIN,),
    )


def _stale(*script: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"sh": "make test"}, {"sh": "cp -p incoming/app.py src/app.py"}, *script]


_STALE_TRUTH = _mismatch(
    "stale_artifact_checked",
    [
        "the passing test read dist/app.py, generated from the version of src/app.py before the last",
        "src/app.py did not change after the check",
    ],
    "the second call, `cp -p`",
)
_CHANGED_TRUTH = _mismatch(
    "changed_after_check",
    [
        "src/app.py has a version younger than the one that the passing test was of",
        "dist/app.py was current in the check",
    ],
    "the edit after the last check",
)

SCENARIOS = [
    _two_turns(
        "claude-mismatch-misreported",
        "Simplify add",
        [{"sh": "make test"}, {"tool": "Edit", "args": _EDIT}, {"sh": "make test"}],
        "The test passes, src/app.py gets a wrong edit, the same test is run again on a fresh build and fails, and the agent "
        "says that all tests pass. In a second turn the test fails on a clean build too.",
        _mismatch(
            "agent_misreported",
            ["the last test before the claim failed", "it was of the last version of src/app.py"],
            "the edit of src/app.py",
        ),
    ),
    _two_turns(
        "claude-mismatch-stale-check",
        "Take the incoming version of add",
        _stale({"sh": "make test"}),
        "dist/app.py is built and its test passes; a wrong src/app.py is copied in with its old date, so that make does not "
        "build again; the same test passes on the stale dist/app.py, and the agent says that all tests pass. In a second turn "
        "the test fails on a clean build.",
        _STALE_TRUTH,
    ),
    _two_turns(
        "claude-mismatch-changed-after",
        "Simplify add",
        [{"sh": "make test"}, {"sh": "rm -rf dist && make test"}, {"tool": "Edit", "args": _EDIT}],
        "The test passes twice, the second time on a fresh build; then src/app.py gets a wrong edit and nothing is checked; "
        "the agent says that all tests pass. In a second turn the test fails on a clean build.",
        _CHANGED_TRUTH,
    ),
    Scenario(
        "codex-mismatch-stale-check",
        "codex",
        "Take the incoming version of add",
        commands("make test", "cp -p incoming/app.py src/app.py", "make test", say="All tests pass."),
        "outcome mismatch",
        "As claude-mismatch-stale-check, with no later check: the test passes on a stale dist/app.py, and nothing in the "
        "recording fails.",
        _STALE_TRUTH,
        files=_BUILT,
    ),
    Scenario(
        "codex-mismatch-changed-after",
        "codex",
        "Take the incoming version of add",
        commands("make test", "make test", "cat incoming/app.py > src/app.py", say="All tests pass."),
        "outcome mismatch",
        "The test passes twice; then a wrong version is written to src/app.py; the claim rests on the check before. Nothing in "
        "the recording fails.",
        _CHANGED_TRUTH,
        files=_BUILT,
    ),
    Scenario(
        "codex-mismatch-misreported",
        "codex",
        "Take the incoming version of add",
        commands("make test", "cat incoming/app.py > src/app.py", "make test", say="All tests pass."),
        "outcome mismatch",
        "The test passes; a wrong version is written to src/app.py; the test fails on a fresh build, plainly, and the agent "
        "says that all tests pass.",
        _mismatch(
            "agent_misreported",
            ["the last test before the claim failed", "dist/app.py was built of the last version of src/app.py in it"],
            "the second call, which writes src/app.py",
        ),
        files=_BUILT,
    ),
]
