"""Reading untrusted JSON: typed access that answers None where the shape is not as expected, and exact times.

Strings come back storable (lone surrogates replaced); `raw` keeps them as they are, for digests.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, cast

from ingest.content import mend

Object = dict[str, Any]
INT64 = 1 << 63
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,18}))?\s?(Z|z|[+-]\d\d:?\d\d)?\Z", re.ASCII
)


def as_object(value: object) -> Object:
    """The value if it is a JSON object, else an empty one."""
    return cast(Object, value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def obj(value: Object, key: str) -> Object:
    return as_object(value.get(key))


def items(value: Object, key: str) -> list[Any]:
    return as_list(value.get(key))


def objects(value: Object, key: str) -> list[Object]:
    """The objects in an array; other members are left out."""
    return [cast(Object, item) for item in items(value, key) if isinstance(item, dict)]


def raw(value: Object, key: str) -> str | None:
    """A string exactly as the source has it."""
    found = value.get(key)
    return found if isinstance(found, str) else None


def string(value: Object, *keys: str) -> str | None:
    """The first of the keys that holds a non-empty string, made storable."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return mend(found)
    return None


def identifier(value: Object, *keys: str) -> str | None:
    """An id: a non-empty string, or a whole number as text."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return mend(found)
        if isinstance(found, int) and not isinstance(found, bool) and abs(found) < INT64:
            return str(found)
    return None


def integer(value: Object, *keys: str) -> int | None:
    """A whole number of 64 bits at most."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, int) and not isinstance(found, bool) and abs(found) < INT64:
            return found
    return None


def strings(value: Object, key: str) -> tuple[str, ...]:
    """The strings of an array, made storable."""
    return tuple(mend(item) for item in items(value, key) if isinstance(item, str))


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces: the same value always gives the same text."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except RecursionError:
        return '"[nested too deeply]"'


def loads(text: str) -> object | None:
    """The value of a JSON text, or None where it is none."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def iso_time(text: object) -> int | None:
    """Nanoseconds since the epoch of an ISO 8601 time, exactly; None without an offset or where it is no time."""
    if not isinstance(text, str):
        return None
    match = _ISO.match(text)
    if match is None or match[8] is None:
        return None
    try:
        day = datetime(
            int(match[1]), int(match[2]), int(match[3]), int(match[4]), int(match[5]), int(match[6]), tzinfo=UTC
        )
    except ValueError:
        return None
    passed = day - EPOCH
    seconds = passed.days * 86_400 + passed.seconds
    zone = match[8]
    if zone not in "Zz":
        offset = int(zone[1:3]) * 3_600 + int(zone[-2:]) * 60
        seconds -= offset if zone[0] == "+" else -offset
    nanoseconds = seconds * 1_000_000_000 + int((match[7] or "0").ljust(9, "0")[:9])
    return nanoseconds if abs(nanoseconds) < INT64 else None


def milliseconds(value: Object, *keys: str) -> int | None:
    """A whole number of milliseconds, as nanoseconds."""
    found = integer(value, *keys)
    return found * 1_000_000 if found is not None and abs(found) < INT64 // 1_000_000 else None


def decimal_seconds(text: str) -> int | None:
    """Nanoseconds of a decimal number of seconds such as `0.6171`, exactly."""
    whole, _, part = text.partition(".")
    if (
        not whole.isascii()
        or not whole.isdigit()
        or len(whole) > 9
        or (part and not (part.isascii() and part.isdigit()))
    ):
        return None
    return int(whole) * 1_000_000_000 + int(part.ljust(9, "0")[:9] or "0")
