"""From what a user names to node ids: an id, an address, a path, the end of a call's or a session's id."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from provenance.changes import Value
from provenance.errors import UsageError
from provenance.schema import KIND_OF_PREFIX, NODE_KINDS
from provenance.store.interface import Store

_KINDED = re.compile(r"([A-Za-z]+):\s+(.+)", re.DOTALL)
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.%\w]+\]|[^\s/:\[\]]+):(\d{1,5})")
_VERSIONED = re.compile(r"(.+)@(\d+)", re.DOTALL)
_SHOWN = 8
"""Near matches that a message names."""

_SENT = "MATCH (f:Flow)-[:SENT_TO]->(e:Endpoint) WHERE e.address = $address RETURN f.id AS id ORDER BY id"
_RECEIVED = "MATCH (f:Flow)-[:RECEIVED_FROM]->(e:Endpoint) WHERE e.address = $address RETURN f.id AS id ORDER BY id"
_ENDPOINTS = "MATCH (e:Endpoint) RETURN DISTINCT e.address AS name ORDER BY name LIMIT 5000"
_PATHS = """
MATCH (a:Artifact) WHERE a.path = $path OR a.path ENDS WITH $suffix
RETURN a.id AS id, a.path AS path, a.host AS host, a.trace AS trace, a.version AS version, a.class AS kind
"""
_KNOWN_PATHS = """
MATCH (a:Artifact) WHERE a.class = 'file' AND a.path STARTS WITH $folder RETURN DISTINCT a.path AS name ORDER BY name LIMIT 5000
"""
_FOLDERS = "MATCH (s:Session) WHERE s.cwd IS NOT NULL RETURN DISTINCT s.cwd AS name ORDER BY name LIMIT 20"
_NAMED_LIKE = """
MATCH (a:Artifact) WHERE a.class = 'file' AND a.path CONTAINS $word RETURN DISTINCT a.path AS name ORDER BY name LIMIT 50
"""
_WORK = ("ToolCall", "Session", "Turn", "ModelCall", "Outcome")
_FILE_KINDS = ("file", "symlink", "directory", "manifest", "package", "git_tree")


class Resolved(NamedTuple):
    """What a name stands for, and how it was understood."""

    ids: list[str]
    reading: str
    """`id`, `address`, `path` or `work`"""


def resolve(store: Store, name: str, *, forward: bool = False) -> Resolved:
    """The nodes that a user's words name. At an address: what was sent there, with `forward` what came from there.

    Raises UsageError with near matches where nothing fits, or too much does.
    """
    name = name.strip()
    if not name:
        raise UsageError("no target was named: give an id, host:port, a path or the end of a call's id")
    kind, rest = _kinded(name)
    for candidate in _as_ids(kind, rest):
        if store.nodes([candidate]):
            return Resolved([candidate], "id")
    if kind in (None, "Endpoint", "Flow") and (found := _at_address(store, rest, forward)):
        return Resolved(found, "address")
    if kind in (None, "Artifact") and (found := _at_path(store, rest)):
        return Resolved(found, "path")
    for work in _WORK:
        if kind in (None, work) and (found := _work(store, work, rest)):
            return Resolved(found, "work")
    if kind and (found := _by_end(store, kind, rest)):
        return Resolved([_only(found, rest)], "id")
    raise UsageError(_unknown(store, name, rest))


def _kinded(name: str) -> tuple[str | None, str]:
    """`ToolCall: call_3` as its kind and the rest; any case."""
    found = _KINDED.fullmatch(name)
    kind = KIND_OF_PREFIX.get(found[1].lower()) if found else None
    return (kind, found[2].strip()) if found and kind else (None, name)


def _as_ids(kind: str | None, rest: str) -> Iterable[str]:
    prefix = rest.partition(":")[0]
    if prefix in KIND_OF_PREFIX and (kind is None or KIND_OF_PREFIX[prefix] == kind):
        yield rest
    if kind:
        yield f"{kind.lower()}:{rest}"


def _at_address(store: Store, name: str, forward: bool) -> list[str]:
    if not _ADDRESS.fullmatch(name):
        return []
    asked = {"address": name}
    sent, received = (_column(store, query, asked) for query in (_SENT, _RECEIVED))
    wanted, other = (received, sent) if forward else (sent, received)
    if not wanted and other:
        done, not_done = ("sent to", "received from") if forward else ("received from", "sent to")
        raise UsageError(f"nothing was {not_done} {name}; {len(other)} transfers were {done} it")
    return wanted


def _at_path(store: Store, name: str) -> list[str]:
    path, version = name, None
    rows = _versions(store, name)
    if not rows and (found := _VERSIONED.fullmatch(name)):
        path, version = found[1], int(found[2])
        rows = _versions(store, path)
        if rows and not any(row["version"] == version for row in rows):
            known = ", ".join(str(number) for number in sorted({row["version"] for row in rows if row["path"]}))
            raise UsageError(f"{path} has no version {version}; known: {known}")
        rows = [row for row in rows if row["version"] == version]
    if not rows:
        return []
    paths = sorted({row["path"] for row in rows})
    if len(paths) > 1 and path in paths:
        rows = [row for row in rows if row["path"] == path]
    elif len(paths) > 1:
        rows = _likeliest(rows, path)
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["version"], row["id"])):
        newest[(row["host"] or "", row["trace"] or "")] = row
    return sorted(row["id"] for row in newest.values())


def _versions(store: Store, path: str) -> list[dict[str, Any]]:
    suffix = path if path.startswith("/") else "/" + path.removeprefix("./")
    rows: list[dict[str, Any]] = store.query(_PATHS, {"path": path, "suffix": suffix}).dicts()
    if path.startswith("/"):
        rows = [row for row in rows if row["path"] == path] or rows
    there = [row for row in rows if row["kind"] != "absent"]
    return there or rows


def _likeliest(rows: list[dict[str, Any]], path: str) -> list[dict[str, Any]]:
    """Of several paths that end so the one that is a file, where there is just one."""
    files = [row for row in rows if row["kind"] in _FILE_KINDS]
    paths = sorted({row["path"] for row in files or rows})
    if len(paths) > 1:
        raise UsageError(f"{path} could be {_listed(paths)}: name one of them")
    return files or rows


def _work(store: Store, kind: str, name: str) -> list[str]:
    found = _by_end(store, kind, name)
    if not found and kind == "Session" and len(name) >= 4:
        text = "MATCH (n:Session) WHERE n.id STARTS WITH $start RETURN n.id AS id ORDER BY id LIMIT 50"
        found = _column(store, text, {"start": f"session:{name}"})
        roots = [one for one in found if all(not one.startswith(f"{other}/") for other in found)]
        found = roots if len(roots) == 1 else found
    return [_only(found, name)] if found else []


def _by_end(store: Store, kind: str, name: str) -> list[str]:
    assert kind in NODE_KINDS
    text = f"MATCH (n:`{kind}`) WHERE n.id ENDS WITH $one OR n.id ENDS WITH $two RETURN n.id AS id ORDER BY id LIMIT 50"
    return _column(store, text, {"one": f"/{name}", "two": f":{name}"})


def _only(found: list[str], name: str) -> str:
    if len(found) > 1:
        raise UsageError(f"{name} could be {_listed(found)}: name one of them")
    return found[0]


def _column(store: Store, text: str, parameters: Mapping[str, Value] | None = None) -> list[str]:
    return [str(row[0]) for row in store.query(text, dict(parameters or {})).rows]


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _unknown(store: Store, name: str, rest: str) -> str:
    near = near_matches(store, rest)
    hint = f"; did you mean {_listed(near)}?" if near else "; `capsule sessions` and `capsule query` show what is there"
    return f"nothing here is called {name!r}{hint}"


def near_matches(store: Store, name: str) -> list[str]:
    """Names in the store that look like this one, best first."""
    stem = name.rpartition("@")[0] if _VERSIONED.fullmatch(name) else name
    word = stem.rpartition("/")[2]
    names = _column(store, _ENDPOINTS)
    for folder in _column(store, _FOLDERS):
        names += _column(store, _KNOWN_PATHS, {"folder": f"{folder}/"})
    if len(word) > 2:
        names += _column(store, _NAMED_LIKE, {"word": word})
    names = list(dict.fromkeys(names))
    inside = [other for other in names if len(word) > 2 and word.lower() in other.lower()]
    ends = {other.rpartition("/")[2]: other for other in names}
    close = difflib.get_close_matches(stem, names, n=_SHOWN, cutoff=0.6)
    close += [ends[end] for end in difflib.get_close_matches(word, ends, n=_SHOWN, cutoff=0.6)]
    return list(dict.fromkeys([*inside, *close]))[:_SHOWN]
