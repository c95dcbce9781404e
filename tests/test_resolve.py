"""Names that users give: each form, and what is said where nothing or too much fits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from provenance.errors import UsageError
from provenance.resolve import resolve
from provenance.store import Store, open_store
from tests import handmade as g
from tests.stores import NewLocation


@pytest.fixture(scope="module")
def store(new_module_location: NewLocation) -> Iterator[Store]:
    with open_store(new_module_location(), write=True) as opened:
        opened.apply(g.changes())
        yield opened


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        (g.FLOW, [g.FLOW]),
        (f"Flow: {g.FLOW}", [g.FLOW]),
        (f"flow: {g.FLOW.removeprefix('flow:')}", [g.FLOW]),
        ("10.0.0.9:80", [g.FLOW]),
        (f"{g.WS}/upload.txt", [g.file("upload.txt")]),
        ("upload.txt", [g.file("upload.txt")]),
        ("./upload.txt", [g.file("upload.txt")]),
        ("src/app.py", [g.file("src/app.py", 2)]),
        ("src/app.py@1", [g.file("src/app.py")]),
        (f"{g.WS}/run.log@2", [g.file("run.log", 2)]),
        ("Artifact: run.log", [g.file("run.log", 3)]),
        ("c1", [g.call("c1")]),
        ("s1/c1", [g.call("c1")]),
        ("ToolCall: c1", [g.call("c1")]),
        ("toolcall: s1/c1", [g.call("c1")]),
        ("s1", [g.SESSION]),
        ("Session: s1", [g.SESSION]),
        ("sub", ["session:s1/sub"]),
        (".env", [g.file(".env")]),
        ("  c1 ", [g.call("c1")]),
    ],
)
def test_names(store: Store, name: str, ids: list[str]) -> None:
    assert resolve(store, name).ids == ids


def test_forward_an_address_is_what_came_from_there(store: Store) -> None:
    assert resolve(store, "10.0.0.9:80", forward=True).ids == [g.REPLY]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("uplod.txt", "upload.txt"),
        ("src/ap.py", "src/app.py"),
        ("10.0.0.9:81", "10.0.0.9:80"),
        ("10.0.0.9", "10.0.0.9:80"),
        ("upload.txt@7", "known: 1"),
        ("app.py", "could be"),
        ("zzzzzz", "capsule sessions"),
        ("", "no target"),
        ("'; DROP", "nothing here"),
    ],
)
def test_what_is_said_where_a_name_does_not_fit(store: Store, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        resolve(store, name)


def test_an_address_where_nothing_was_sent(store: Store) -> None:
    with pytest.raises(UsageError, match="1 transfers were sent to it"):
        resolve(store, "10.0.0.1:443", forward=True)
