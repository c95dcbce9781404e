"""A failed check against its last pass: the recorded build breaks, and what cannot be told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from provenance import comparison
from provenance.changes import Changes
from provenance.errors import UsageError
from provenance.store import Store, open_store
from tests import handmade as g
from tests.ingested import ingested, recording
from tests.stores import NewLocation


@pytest.mark.parametrize(
    ("name", "path", "versions", "program"),
    [
        ("claude-build-break-source", "src/app.py", (1, 2), "py_compile"),
        ("claude-build-break-environment", "build.env", (0, 1), "/bin/sh"),
    ],
)
def test_the_recorded_build_breaks(name: str, path: str, versions: tuple[int, int], program: str) -> None:
    run = ingested(recording(name))
    calls = [
        str(row[0])
        for row in run.rows("MATCH (c:ToolCall) WHERE c.command = 'make build' RETURN c.id ORDER BY c.start")
    ]
    assert [comparison.failed(run.store, call) for call in calls] == [False, True]
    found = comparison.input_difference(run.store, calls[1])
    assert (found.answer, found.baseline) == ("found", calls[0])
    assert [cause.path.removeprefix("/home/agent/ws/") for cause in found.causes] == [path]
    (cause,) = found.causes
    assert (cause.before, cause.now) == versions
    assert cause.path_ids[0].startswith("process:")
    assert cause.path_ids[-1] == cause.now_id
    assert found.process_command is not None
    assert program in found.process_command


def test_without_an_earlier_pass_nothing_is_told() -> None:
    run = ingested(recording("codex-outcome-mismatch"))
    (call,) = [str(row[0]) for row in run.rows("MATCH (c:ToolCall) WHERE c.command CONTAINS 'unittest' RETURN c.id")]
    assert comparison.failed(run.store, call), "it ended with 0, and its check says that it failed"
    found = comparison.input_difference(run.store, call)
    assert (found.answer, found.baseline, found.causes) == ("no_baseline", None, [])


def check(
    changes: Changes, name: str, exit_code: int, versions: dict[str, int], *, metadata: tuple[str, ...] = ()
) -> None:
    """A call of one check whose one process read these versions, and asked about others."""
    call, process = g.call(name), f"process:h/{name}@1/0"
    changes.put(
        call, command="make", command_digest="d", cwd=g.WS, status="failed" if exit_code else "completed",
        exit_code=exit_code, start=int(name[1:]), end=int(name[1:]) + 1,
    )  # fmt: skip
    changes.put(
        process, process=f"h/{name}@1", image=process, began="exec", executable="/bin/make", command="make", state=0,
        exit_code=exit_code, end=int(name[1:]) + 1,
    )  # fmt: skip
    changes.link("ATTRIBUTED_TO", process, call)
    for path, version in versions.items():
        changes.put(g.file(path, version), path=f"{g.WS}/{path}", version=version, **{"class": "file"})
        changes.link("CONSULTED" if path in metadata else "USED", process, g.file(path, version))


@pytest.fixture
def empty(new_module_location: NewLocation) -> Iterator[Store]:
    with open_store(new_module_location(), write=True) as opened:
        yield opened


def compared(
    store: Store, *checks: tuple[str, int, dict[str, int]], metadata: tuple[str, ...] = ()
) -> comparison.InputDifference:
    changes = Changes()
    for name, exit_code, versions in checks:
        check(changes, name, exit_code, versions, metadata=metadata)
    store.apply(changes)
    return comparison.input_difference(store, g.call(checks[-1][0]))


def test_the_last_pass_is_the_baseline(empty: Store) -> None:
    found = compared(empty, ("c1", 0, {"a.c": 1}), ("c3", 0, {"a.c": 2}), ("c5", 1, {"a.c": 2}), ("c7", 1, {"a.c": 3}))
    assert found.baseline == g.call("c3")
    assert [(cause.before, cause.now) for cause in found.causes] == [(2, 3)]


def test_no_difference_is_flaky_or_not_observed(empty: Store) -> None:
    found = compared(empty, ("c1", 0, {"a.c": 1}), ("c3", 2, {"a.c": 1}))
    assert (found.answer, found.causes, found.same) == ("no_difference", [], 1)
    assert "flaky" in found.notes[0]


def test_inputs_of_several_classes_cannot_be_told_apart(empty: Store) -> None:
    found = compared(empty, ("c1", 0, {"a.c": 1, "build.env": 1}), ("c3", 2, {"a.c": 2, "build.env": 2}))
    assert found.answer == "several_classes"
    assert {comparison.class_of(cause) for cause in found.causes} == {"source", "environment"}


def test_what_was_only_asked_about_did_not_reach_the_failure(empty: Store) -> None:
    found = compared(empty, ("c1", 0, {"a.c": 1, "a.o": 1}), ("c3", 2, {"a.c": 2, "a.o": 2}), metadata=("a.o",))
    assert [cause.path for cause in found.causes] == [f"{g.WS}/a.c"]
    assert [other.path for other in found.others] == [f"{g.WS}/a.o"]


@pytest.mark.parametrize("call", ["toolcall:none", "session:s1", g.call("c2")])
def test_only_commands_can_be_compared(empty: Store, call: str) -> None:
    empty.apply(g.changes())
    with pytest.raises(UsageError):
        comparison.input_difference(empty, call)
