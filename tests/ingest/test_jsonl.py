"""Lines of JSON from damaged files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest.jsonl import read_lines
from provenance.records import Skipped


def reasons(data: bytes) -> list[tuple[int, str]]:
    return [(line, value.reason) for line, value in read_lines(data, 1) if isinstance(value, Skipped)]


def values(data: bytes) -> list[object]:
    return [value for _, value in read_lines(data, 1) if not isinstance(value, Skipped)]


def test_whole_lines_with_bom_crlf_and_blank_lines() -> None:
    data = b'\xef\xbb\xbf{"a": 1}\r\n\r\n   \n{"b": 2}\n'
    assert list(read_lines(data, 7)) == [(7, {"a": 1}), (10, {"b": 2})]


def test_line_separator_inside_a_string_is_no_line_end() -> None:
    assert values('{"a": "x\u2028y\u0085z"}\n'.encode()) == [{"a": "x\u2028y\u0085z"}]


def test_cut_last_line_is_torn() -> None:
    assert reasons(b'{"a": 1}\n{"b": "tex') == [(2, "torn line")]
    assert reasons(b'{"a": 1}\n{"b": "tex\n{"c": 1}\n') == [(2, "torn line")]


def test_last_line_without_newline_is_read() -> None:
    assert values(b'{"a": 1}') == [{"a": 1}]


def test_two_whole_records_on_one_line_are_both_read() -> None:
    data = b'{"a": 1}{"b": {"c": 2}}\n'
    assert values(data) == [{"a": 1}, {"b": {"c": 2}}]
    assert reasons(data) == [(1, "spliced line")]


def test_record_that_begins_inside_a_torn_one_is_read_and_the_place_named() -> None:
    data = b'{"a": {"text": "half of it{"b": 2}\n'
    assert values(data) == [{"b": 2}]
    skipped = [value for _, value in read_lines(data, 1) if isinstance(value, Skipped)]
    assert skipped[0].detail.startswith("column 1: ")


def test_object_inside_a_torn_record_is_not_a_record() -> None:
    assert values(b'{"type": "outer", "payload": {"type": "function_call", "name": "x"}\n') == []
    assert values(b'{"list": [{"a": 1}, {"b": 2}\n') == []


def test_nul_bytes_are_named_and_the_text_behind_them_read() -> None:
    data = b'\x00\x00\x00{"a": 1}\n{"b": \x00\x00 2}\n'
    assert values(data) == [{"a": 1}]
    assert (1, "nul bytes") in reasons(data)
    assert (2, "nul bytes") in reasons(data)


def test_invalid_utf8_is_read_with_replacement_and_reported() -> None:
    data = b'{"a": "caf\xe9"}\n'
    assert values(data) == [{"a": "caf\ufffd"}]
    assert reasons(data) == [(1, "invalid utf-8")]


def test_lone_surrogate_survives_as_it_is() -> None:
    assert values(b'{"a": "\\ud800"}\n') == [{"a": "\ud800"}]


def test_numbers_that_the_fast_decoder_refuses() -> None:
    assert values(b'{"a": 1e999}\n') == [{"a": float("inf")}]
    assert reasons(b'{"a": ' + b"9" * 5000 + b"}\n") == [(1, "invalid json")]


def test_values_that_are_no_objects_and_comments() -> None:
    assert reasons(b'1\n"x"\nnull\n[1]\n# note\n// note\n') == [
        (1, "not an object"),
        (2, "not an object"),
        (3, "not an object"),
        (4, "not an object"),
        (5, "comment"),
        (6, "comment"),
    ]


def test_deep_nesting_is_skipped() -> None:
    assert reasons(b"[" * 100_000 + b"\n") == [(1, "invalid json")]


def test_huge_line() -> None:
    text = "x" * 5_000_000
    assert values(f'{{"a": "{text}"}}\n'.encode()) == [{"a": text}]


@given(
    st.lists(
        st.sampled_from([b"{", b"}", b'"', b":", b",", b"a", b"\\", b"\x00", b"\xff", b"\n", b"[", b'{"a":1}', b" "])
    )
)
def test_every_line_with_text_is_accounted_for(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    expected = {number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()}
    assert {line for line, _ in read_lines(data, 1)} == expected


@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    for line, value in read_lines(data, 1):
        assert line >= 1
        if isinstance(value, Skipped):
            assert len(value.detail) <= 200
