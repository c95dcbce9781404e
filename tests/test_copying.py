"""Stores copied between engines: equal in the end, continued where cut off, refused where something else is there."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from provenance import copying
from provenance.changes import Changes
from provenance.errors import StoreError, UsageError
from provenance.store import Store, open_store
from tests import handmade
from tests.stores import Location, NewLocation


def filled(location: Location) -> Store:
    store = open_store(location, write=True)
    store.apply(handmade.changes(), {"weaver": b"\x00\xff", "other": b""})
    odd = Changes()
    odd.put("gap:odd", detail='"\\\u2028\U0001f600 é e\u0301', count=-(2**63))
    for number in range(30):
        odd.put(f"process:many/{number}", pid=number, argv=["", "a b"])
        odd.link("USED", f"process:many/{number}", handmade.file("notes.txt"), bytes=number, confidence=math.inf)
    store.apply(odd)
    return store


@pytest.mark.parametrize("there_and_back", [True, False], ids=["back", "forth"])
def test_a_copy_is_equal(
    new_location: NewLocation,
    neo4j_location: Location,
    tmp_path: Path,
    there_and_back: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(copying, "PAGE", 7)
    monkeypatch.setattr(copying, "ELEMENTS", 11)
    places = (new_location(), neo4j_location, tmp_path / "back")
    with filled(places[0]) as first, open_store(places[1], write=True) as second:
        copied = copying.copy(first, second)
        assert (copied.nodes, copied.states) == (sum(_nodes(first).values()), 2)
        assert first.counts() == second.counts()
        if there_and_back:
            with open_store(places[2], write=True) as third:
                assert copying.copy(second, third) == copied == copying.compare(third, first)


def _nodes(store: Store) -> dict[str, int]:
    return {kind: count for kind, count in store.counts().items() if kind[1].islower()}


def test_a_copy_that_was_cut_off_goes_on(new_location: NewLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "ELEMENTS", 11)
    with filled(new_location()) as first, open_store(new_location(), write=True) as second:
        with pytest.raises(KeyboardInterrupt):
            copying.copy(first, second, _interrupt)
        assert 0 < sum(second.counts().values()) < sum(first.counts().values())
        with filled(new_location()) as other, pytest.raises(UsageError, match="part of a copy of"):
            copying.copy(other, second)
        with open_store(new_location(), write=True) as third, pytest.raises(UsageError, match="cut off"):
            copying.copy(second, third)
        copying.copy(first, second)
        assert second.states() == first.states()


def _interrupt(what: str, count: int) -> None:
    del what
    if count > 20:
        raise KeyboardInterrupt


def test_a_target_that_holds_something_is_refused(new_location: NewLocation) -> None:
    with filled(new_location()) as first, open_store(new_location(), write=True) as second:
        second.apply(Changes(nodes={"gap:1": {}}))
        with pytest.raises(UsageError, match="holds something already"):
            copying.copy(first, second)
        with pytest.raises(UsageError, match="into itself"):
            copying.copy(first, first)
        assert second.counts() == {"Gap": 1}


@pytest.mark.parametrize(
    ("changes", "state", "words"),
    [
        (Changes(nodes={"gap:odd": {"count": 1}}), {}, "differ at gap:odd"),
        (Changes(edge_updates={("USED", "process:many/3", handmade.file("notes.txt")): {"bytes": None}}), {}, "process:many/3"),
        (Changes(removed_nodes={"process:many/3"}), {}, "Process 37 and 36, USED 40 and 39; was one of them written to"),
        (Changes(), {"weaver": b"x"}, "differ at weaver"),
    ],
)  # fmt: skip
def test_every_difference_is_found(
    new_location: NewLocation, changes: Changes, state: dict[str, bytes | None], words: str
) -> None:
    with filled(new_location()) as first, open_store(new_location(), write=True) as second:
        copying.copy(first, second)
        second.apply(changes, state)
        with pytest.raises(StoreError, match=words):
            copying.compare(first, second)
