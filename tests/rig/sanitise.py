"""Takes out of a fresh recording what belongs to the recording machine or to an agent's vendor.

Three things happen, and only these: paths are replaced by the ones the recordings show, data buffers are cut (to 256
characters for workspace files, pipes and the upload sink, to 32 elsewhere; nothing else of a line changes, so counts and
return values stay what they were), and vendors' instruction texts become `[N characters of vendor instructions omitted]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

Replacements = Sequence[tuple[str, str]]
_WITH_DATA = re.compile(r"(?:read|write|pread64|pwrite64|readv|writev|preadv2?|pwritev2?|recv\w*|send\w*)")
_CALL = re.compile(r"^\d+ +[\d.]+ (\w+)\((.*)$", re.DOTALL)
_RESUMED = re.compile(r"^(\d+) +[\d.]+ <\.\.\. (\w+) resumed>")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?', re.DOTALL)
_CHARACTER = re.compile(r"\\[0-7]{1,3}|\\x[0-9a-f]{2}|\\.|[^\\]", re.DOTALL)
_KEPT = re.compile(r"^\d+<(?:/home/agent/ws/(?!\.git/)|/tmp/claude-|pipe:|TCP:\[[^\]]*:1809[01]\b)")
LONG, SHORT = 256, 32


def _cut(text: str, limit: int) -> str:
    def shorten(match: re.Match[str]) -> str:
        if len(match[1]) <= limit:
            return match[0]
        characters = _CHARACTER.findall(match[1])
        if len(characters) <= limit:
            return match[0]
        return '"' + "".join(characters[:limit]) + '"...'

    return _STRING.sub(shorten, text)


def clean_trace(text: str, replacements: Replacements) -> str:
    """The trace with the same lines, calls and results, shorter data and no path of the recording machine."""
    for old, new in replacements:
        text = text.replace(old, new)
    pending: dict[tuple[str, str], int] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if call := _CALL.match(line):
            if not _WITH_DATA.fullmatch(call[1]):
                continue
            limit = LONG if _KEPT.match(call[2]) else SHORT
            if "<unfinished ...>" in line:
                pending[line.split(" ", 1)[0], call[1]] = limit
        elif (resumed := _RESUMED.match(line)) and _WITH_DATA.fullmatch(resumed[2]):
            limit = pending.pop((resumed[1], resumed[2]), SHORT)
        else:
            continue
        lines[number] = _cut(line, limit)
    return "\n".join(lines)


def _omitted(text: str) -> str:
    return f"[{len(text)} characters of vendor instructions omitted]"


def _clean_rollout(record: dict[str, Any]) -> None:
    payload = record.get("payload", {})
    if instructions := payload.get("base_instructions"):
        instructions["text"] = _omitted(instructions["text"])
    kinds = payload.get("internal_chat_message_metadata_passthrough", {}).get("content_item_kinds", [])
    if payload.get("type") == "message" and (payload["role"] == "developer" or (kinds and "user.text" not in kinds)):
        for part in payload["content"]:
            part["text"] = _omitted(part["text"])
    skills = payload.get("state", {}).get("host_skills")
    if isinstance(skills, dict) and len(skills.get("body", "")) > 200:
        skills["body"] = f"{skills['body'][:200]}[{len(skills['body']) - 200} characters omitted]"


def _clean_transcript(record: dict[str, Any]) -> None:
    attachment = record.get("attachment")
    if isinstance(attachment, dict) and str(attachment.get("type", "")).endswith("listing_delta"):
        record["attachment"] = {"type": attachment["type"], "omitted": len(json.dumps(attachment))}
    elif isinstance(attachment, dict) and attachment.get("type") == "skill_listing":
        record["attachment"] = {"type": "skill_listing", "omitted": len(json.dumps(attachment))}


def clean_records(text: str, replacements: Replacements) -> str:
    """A JSON-lines file of an agent without its vendor's instructions; a cut last line stays as it is."""
    for old, new in replacements:
        text = text.replace(old, new)
    lines = text.split("\n")
    for number, line in enumerate(lines):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        before = json.dumps(record)
        _clean_rollout(record)
        _clean_transcript(record)
        if json.dumps(record) != before:
            lines[number] = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return "\n".join(lines)
