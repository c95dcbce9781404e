"""Content by digest: what a record keeps of a text that may be large and may hold secrets."""

from __future__ import annotations

import re

from provenance.identity import digest
from provenance.records import Content
from provenance.redaction import REDACTION_VERSION, find_secrets, redact, redact_argv, render

__all__ = ["REDACTION_VERSION", "content", "mend", "redact", "redact_argv", "redacted", "short"]

WHOLE = 2_000
"""Up to this many characters a preview is the whole text."""
EDGE = 1_000
"""Of a longer text the preview has this many characters from the beginning and from the end."""
_REACH = 8_192  # how far behind a preview's edge a secret that crosses it is looked for
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def mend(text: str) -> str:
    """The text with lone surrogates (JSON's `\\ud800`) replaced by U+FFFD, so that it can be stored as UTF-8."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def content(text: str) -> Content:
    """SHA-256 and size of the UTF-8 text (lone surrogates passed through), and a redacted preview that UTF-8 can hold."""
    data = text.encode("utf-8", "surrogatepass")
    length = len(text)
    if length <= WHOLE:
        preview, count = redact(text)
    else:
        head = text[: EDGE + _REACH]
        tail = text[max(EDGE, length - EDGE - _REACH) :]
        first, first_count = render(head, 0, EDGE, find_secrets(head))
        last, last_count = render(tail, len(tail) - EDGE, len(tail), find_secrets(tail))
        preview = f"{first}\n[... {length - 2 * EDGE} characters left out ...]\n{last}"
        count = first_count + last_count
    return Content(digest(data), len(data), mend(preview), count)


def redacted(text: str) -> str:
    """A command, step or reason without its secrets, storable as UTF-8."""
    return mend(redact(text)[0])


def short(text: str, limit: int = 200) -> str:
    """The first line of a text for a person: redacted, at most `limit` characters."""
    line = text.strip().split("\n", 1)[0]
    return mend(redact(line[: limit + _REACH])[0][:limit])
