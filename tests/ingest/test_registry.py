"""Which format a source is in."""

from __future__ import annotations

import json

import pytest

from ingest.interface import Head
from ingest.registry import detect, formats, named
from provenance.errors import SourceError

FIRST_LINES = {
    "codex-rollout": {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "x"}},
    "codex-exec": {"type": "thread.started", "thread_id": "x"},
    "claude-transcript": {
        "type": "user",
        "sessionId": "x",
        "uuid": "u",
        "parentUuid": None,
        "message": {"content": "hi"},
    },
    "claude-stream": {"type": "system", "subtype": "init", "session_id": "x"},
}


@pytest.mark.parametrize("name", FIRST_LINES)
def test_by_content_not_by_name(name: str) -> None:
    line = json.dumps(FIRST_LINES[name]).encode()
    for misleading in ("rollout-2026.jsonl", "stream.jsonl", "-", "notes.txt"):
        assert detect(Head(misleading, line + b"\n")).name == name
        assert detect(Head(misleading, b"not json\n" + line + b"\n" + line[:30])).name == name


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (b'{"timestamp":"x","type":"session_meta","payload":{"base_instructions":"', "codex-rollout"),
        (b'{"parentUuid":null,"isSidechain":false,"message":{"content":"', "claude-transcript"),
    ],
)
def test_first_line_longer_than_the_head(start: bytes, name: str) -> None:
    assert detect(Head("x", start + b"a" * 65_000)).name == name


def test_transcript_quoted_inside_an_answer_does_not_count() -> None:
    quoted = json.dumps(FIRST_LINES["claude-transcript"])
    row = {"timestamp": "x", "type": "response_item", "payload": {"type": "function_call_output", "output": quoted}}
    assert detect(Head("x", json.dumps(row).encode() + b"\n")).name == "codex-rollout"


def test_nothing_known() -> None:
    with pytest.raises(SourceError, match=r"notes\.txt is in no known format\. Expected one of: .*Codex.*Claude"):
        detect(Head("notes.txt", b"hello\n{}\n"))
    with pytest.raises(SourceError, match="empty"):
        detect(Head("nothing", b" \n"))


def test_by_name() -> None:
    assert [named(known.name) for known in formats()] == list(formats())
    with pytest.raises(SourceError, match="codex-rollout"):
        named("word")
