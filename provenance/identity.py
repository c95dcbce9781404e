"""Identities: stable, readable, made from evidence alone.

An id never depends on which source was read first, and never changes when more becomes known. It carries the node kind
and, where it names something on a machine, the host: `process:laptop/4711@1796079097.863014/2`,
`artifact:laptop:/home/a/ws/app.py@9f3a12c0.2`, `toolcall:01a22ea7-.../call_3`.
"""

from __future__ import annotations

import hashlib

KEY_LENGTH = 8


def digest(data: bytes | str) -> str:
    """Lower-case hex SHA-256 of bytes, or of a text's UTF-8 (lone surrogates kept as they are)."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


def key_of(data: bytes | str) -> str:
    """Eight hex digits of a digest: enough to tell sources and texts of one store apart, short enough to read."""
    return digest(data)[:KEY_LENGTH]


def node_id(kind: str, *parts: str | int) -> str:
    """`kind:part/part/...`, the kind in lower case."""
    return f"{kind.lower()}:" + "/".join(str(part) for part in parts)


def kind_prefix(identity: str) -> str:
    """The lower-case kind that an id carries."""
    return identity.partition(":")[0]


def raw_ref(source_key: str, line: int) -> str:
    """The text form of a RawRef: which source, which line. Resolved by `capsule raw`."""
    return f"{source_key}:{line}"


def absolute(folder: str, path: str) -> str:
    """The absolute path of a path relative to a folder, without `.`, `..` and empty parts; links are not followed."""
    parts: list[str] = []
    for part in f"{folder}/{path}".split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/" + "/".join(parts)
