"""What the effect weaver holds in memory: live processes, current versions, channels, open edges.

Only what can still change is held; what is final is in the graph. Everything here can be saved and restored as plain
data (`snapshot`, `restored`): a closed set of classes, no code.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec


class Link:
    """An edge whose counters may still grow. `stored`: the graph has it; `dirty`: it differs from what the graph has."""

    __slots__ = (
        "bytes",
        "count",
        "dirty",
        "first",
        "head",
        "keeps",
        "kind",
        "last",
        "rule",
        "source",
        "stored",
        "tail",
    )

    def __init__(
        self,
        kind: str,
        tail: str,
        head: str,
        rule: str,
        source: str,
        time: int,
        size: int | None,
        keeps: bool | None = None,
    ) -> None:
        self.kind = kind
        self.tail = tail
        self.head = head
        self.rule = rule
        self.source = source
        self.first = time
        self.last = time
        self.count = 1
        self.bytes = size
        self.keeps = keeps
        self.stored = False
        self.dirty = True


class Version:
    """A version of an artifact or a flow. `sealed`: something depends on it, so it takes no further causes."""

    __slots__ = ("by", "copies", "id", "inherits", "maker", "root", "sealed", "written")

    def __init__(self, identity: str, root: bool) -> None:
        self.id = identity
        self.root = root  # existed before the trace: has no causes in it
        self.sealed = False
        self.inherits = False  # keeps older content, or came by rename: more in it than its writers gave
        self.by: dict[str, Link] = {}  # state id -> GENERATED_BY
        self.copies: dict[str, Link] = {}  # origin id -> DERIVED_FROM
        self.written = 0
        self.maker: str | None = None  # state that made it empty: named it, and gave it no content


class File:
    """A name in the file system and its current version."""

    __slots__ = ("current", "exists", "group", "path", "quiet")

    def __init__(self, path: str, quiet: bool) -> None:
        self.path = path
        self.quiet = quiet  # temporary or agent state: no tombstones
        self.current: Version | None = None
        self.exists: bool | None = None
        self.group: Group | None = None


class Group:
    """Hard links: several names of one content."""

    __slots__ = ("latest", "names")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.latest: Version | None = None


class State:
    """A state of a process. `sealed`: something depends on it, so a new input begins the next state."""

    __slots__ = ("id", "sealed")

    def __init__(self, identity: str) -> None:
        self.id = identity
        self.sealed = False


class Entry:
    """What a process took from a file: the edge, and the version it leads to."""

    __slots__ = ("file", "link", "version")

    def __init__(self, link: Link | None, file: File | None, version: Version | None) -> None:
        self.link = link
        self.file = file
        self.version = version


class Process:
    """A process with its current state; threads are merged into it."""

    __slots__ = (
        "base", "cwd", "fds", "image", "inputs", "key", "label", "names", "number", "own", "pid", "signal", "state", "tools",
    )  # fmt: skip

    def __init__(self, key: str, base: str, pid: int, state: State) -> None:
        self.key = key
        self.base = base  # prefix of its states' ids
        self.pid = pid
        self.label = str(pid)  # what people call it: its program's name
        self.state = state
        self.number = 0  # of the state
        self.image = state.id
        self.cwd: str | None = None
        self.inputs: dict[str, Entry] = {}  # resource -> what it took
        self.names: dict[str, Link] = {}  # path -> CONSULTED edge to the version last asked about
        self.own: set[str] = {state.id}  # ids of the states of this process that wrote something still current
        self.tools: set[str] = set()  # toolchain files of this image
        self.fds: dict[int, str] | None = None  # descriptor table, where the source does not annotate
        self.signal: tuple[str, int | None] | None = None


class Segment:
    """Bytes written into a pipe or connection and not yet read. `remaining` None: the write has not returned yet."""

    __slots__ = (
        "by",
        "consumed",
        "link",
        "remaining",
        "rule",
        "source",
        "state",
        "time",
        "version",
        "writer",
        "written",
    )

    def __init__(self, writer: str, state: State, remaining: int | None, rule: str, source: str, time: int) -> None:
        self.writer = writer  # id of the writing program's first state
        self.state = state
        self.by = state.id
        self.remaining = remaining
        self.written = remaining or 0
        self.consumed = 0
        self.version: Version | None = None
        self.link: Link | None = None
        self.rule = rule
        self.source = source
        self.time = time


class Channel:
    """A pipe, or one direction of a connection between traced processes: first in, first out."""

    __slots__ = ("external", "number", "readers", "resource", "segments")

    def __init__(self, resource: str) -> None:
        self.resource = resource
        self.segments: list[Segment] = []
        self.readers: set[str] = set()
        self.number = 0
        self.external: Version | None = None


class Transfer:
    """A flow node that may still grow."""

    __slots__ = ("bytes", "link", "process", "state", "target", "version")

    def __init__(self, version: Version, process: str, state: str, link: Link, target: Link | None) -> None:
        self.version = version
        self.process = process
        self.state = state
        self.link = link  # GENERATED_BY, or RECEIVED_FROM
        self.target = target  # SENT_TO
        self.bytes = 0


class Connection:
    """One connection as one process sees it."""

    __slots__ = ("incoming", "last", "origins", "outgoing")

    def __init__(self) -> None:
        self.outgoing: Transfer | None = None
        self.incoming: Transfer | None = None
        self.last = ""
        self.origins: set[str] = set()


_CLASSES: tuple[type, ...] = (Link, Version, File, Group, State, Entry, Process, Segment, Channel, Transfer, Connection)
_NUMBER = {cls: number for number, cls in enumerate(_CLASSES)}
_SLOTS: dict[type, tuple[str, ...]] = {cls: tuple(sorted(cls.__slots__)) for cls in _CLASSES}  # type: ignore[attr-defined]


def snapshot(root: Any) -> bytes:
    """Plain data for `restored`: nested dicts, lists, sets and the classes above, references kept."""
    objects: list[list[Any]] = []
    places: dict[int, int] = {}

    def encode(value: Any) -> Any:
        kind = cast("type[Any]", value.__class__)
        if value is None or kind is str or kind is int or kind is bool or kind is float:
            return value
        if kind is dict:
            return ["d", *(encode(part) for pair in value.items() for part in pair)]
        if kind is list or kind is tuple or kind is set:
            items: list[Any] = sorted(value) if kind is set else list(value)
            return [kind.__name__[0], *(encode(item) for item in items)]
        place = places.get(id(value))
        if place is None:
            place = places[id(value)] = len(objects)
            row: list[Any] = [_NUMBER[kind]]
            objects.append(row)
            row.extend(encode(getattr(value, slot)) for slot in _SLOTS[kind])
        return ["o", place]

    top = encode(root)
    return msgspec.msgpack.encode([top, objects])


def restored(data: bytes) -> Any:
    """What `snapshot` was given."""
    top, rows = msgspec.msgpack.decode(data, type=tuple[Any, list[Any]])
    made: list[type[Any]] = [_CLASSES[row[0]] for row in rows]
    objects: list[Any] = [object.__new__(kind) for kind in made]

    def decode(value: Any) -> Any:
        if type(value) is not list:
            return value
        listed = cast("list[Any]", value)
        mark: str = listed[0]
        if mark == "o":
            return objects[listed[1]]
        if mark == "d":
            parts = [decode(part) for part in listed[1:]]
            return dict(zip(parts[::2], parts[1::2], strict=True))
        items = [decode(item) for item in listed[1:]]
        return items if mark == "l" else tuple(items) if mark == "t" else set(items)

    for instance, row in zip(objects, rows, strict=True):
        for slot, value in zip(_SLOTS[type(instance)], row[1:], strict=True):
            setattr(instance, slot, decode(value))
    return decode(top)
