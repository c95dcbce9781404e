from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from provenance.errors import StoreError, StoreTooNew
from provenance.store.embedded.sidecar import Sidecar


@pytest.fixture
def sidecar(tmp_path: Path) -> Sidecar:
    return Sidecar(tmp_path / "sidecar.sqlite", create=True)


def test_accesses_are_kept_in_order(sidecar: Sidecar, tmp_path: Path) -> None:
    sidecar.log_access("ann", "artifact:h:/secret@1", "incident 7")
    Sidecar(tmp_path / "sidecar.sqlite").log_access("bob", "capsule:1")
    first, second = sidecar.accesses()
    assert first[1:] == ("ann", "artifact:h:/secret@1", "incident 7")
    assert second[1:] == ("bob", "capsule:1", None)
    assert first.at <= second.at


def test_queries_are_saved_replaced_and_forgotten(sidecar: Sidecar) -> None:
    sidecar.save_query("b", "RETURN 1")
    sidecar.save_query("a", "RETURN 2")
    sidecar.save_query("b", "RETURN 3")
    assert sidecar.saved_queries() == {"a": "RETURN 2", "b": "RETURN 3"}
    sidecar.forget_query("a")
    sidecar.forget_query("none")
    assert sidecar.saved_queries() == {"b": "RETURN 3"}


def test_state_belongs_to_the_number_it_was_written_under(sidecar: Sidecar) -> None:
    sidecar.put_state({"k": b"1", "other": b"o"}, 5)
    sidecar.put_state({"k": b"2"}, 6)
    assert [sidecar.state("k", number) for number in (4, 5, 6, 9)] == [None, b"1", b"2", b"2"]
    sidecar.put_state({"k": b"never current"}, 7)
    sidecar.put_state({"k": None}, 7)
    assert sidecar.states("", 6) == {"k": b"2", "other": b"o"}
    assert sidecar.states("", 7) == {"other": b"o"}


def test_only_two_versions_of_a_key_are_kept(sidecar: Sidecar, tmp_path: Path) -> None:
    for number in range(200):
        sidecar.put_state({"k": bytes(200_000)}, number)
    assert (tmp_path / "sidecar.sqlite").stat().st_size < 1_000_000


def test_a_newer_sidecar_is_refused(sidecar: Sidecar, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "sidecar.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreTooNew, match="99"):
        sidecar.accesses()
    with pytest.raises(StoreTooNew, match="99"):
        Sidecar(tmp_path / "sidecar.sqlite", create=True)


def test_a_broken_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "sidecar.sqlite"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match=r"sidecar\.sqlite"):
        Sidecar(path, create=True)
    with pytest.raises(StoreError, match=r"none\.sqlite"):
        Sidecar(tmp_path / "none.sqlite").saved_queries()
