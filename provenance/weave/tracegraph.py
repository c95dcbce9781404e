"""The growing graph of one trace: states, versions, channels and transfers, and the rules that keep it acyclic.

Causality-based versioning (PASS, Muniswamy-Reddy et al. 2006; CamFlow, Pasquier et al. 2017): a process gets a new state
only when something depends on the present one *and* the input is new; an artifact gets a new version when something
depends on the present one and it is written again. So an edge is only ever added to a tail that nothing depends on, and
no cycle can arise, whatever the clock says.
"""

from __future__ import annotations

from functools import lru_cache

from provenance import identity
from provenance.changes import Changes, Fields, Value
from provenance.records import DELETED
from provenance.redaction import redact
from provenance.weave.parts import Channel, Entry, File, Group, Link, Process, Segment, State, Version
from provenance.weave.places import Place, place

_PLACES_LIMIT = 200_000
_ORDINALS_LIMIT = 200_000
_SEGMENTS_LIMIT = 512
_CHANNELS_LIMIT = 8192
_DELETED_LIMIT = 4096


class TraceGraph:
    """Versions and states of one trace, and the changes not yet handed out."""

    def __init__(self, trace: str, host: str, clock: str) -> None:
        self.trace = trace
        self.host = host
        self.clock = clock
        self.changes = Changes()
        self.files: dict[str, File] = {}
        self.ordinals: dict[str, int] = {}  # path -> number of its last version
        self.floor = 0  # versions of forgotten paths end here
        self.channels: dict[str, Channel] = {}
        self.dirty: list[Link] = []
        self.tool_sets: dict[str, int] = {}  # id of a toolchain set -> images that use it
        self.deleted: dict[str, None] = {}  # names that are gone, oldest first: their content may still be open
        self.folders: set[str] = set()  # folders that hold a known name
        self.symlinks: dict[str, str] = {}  # symbolic links that the trace made -> what they lead to
        self.folded: set[str] = set()  # toolchain names met so far; emptied when it grows large
        self._places: dict[str, Place] = {}

    # ------------------------------------------------------------------------------------------- edges

    def ref(self, line: int) -> str:
        return identity.raw_ref(self.trace, line)

    def link(
        self,
        kind: str,
        tail: str,
        head: str,
        rule: str,
        line: int,
        time: int,
        size: int | None = None,
        keeps: bool | None = None,
    ) -> Link:
        """A new edge."""
        made = Link(kind, tail, head, rule, self.ref(line), time, size, keeps)
        self.dirty.append(made)
        return made

    def touch(self, link: Link, time: int, size: int, count: int = 1) -> None:
        """One more event on an edge."""
        link.count += count
        link.last = time
        link.bytes = (link.bytes or 0) + size
        if not link.dirty:
            link.dirty = True
            self.dirty.append(link)

    def flush(self) -> Changes:
        """Hand out what changed since the last time."""
        changes, self.changes = self.changes, Changes()
        for link in self.dirty:
            fields: Fields = {"last": link.last, "count": link.count, "bytes": link.bytes, "rule": link.rule}
            if link.stored:
                changes.edge_updates[(link.kind, link.tail, link.head)] = fields
            else:
                fields |= {
                    "basis": "observed",
                    "confidence": 1.0,
                    "source": link.source,
                    "first": link.first,
                }
                if link.keeps is not None:
                    fields["keeps"] = link.keeps
                changes.edges[(link.kind, link.tail, link.head)] = fields
                link.stored = True
            link.dirty = False
        self.dirty.clear()
        return changes

    def put(self, node: str, **fields: Value) -> None:
        self.changes.put(node, **fields)

    # ------------------------------------------------------------------------------------------- process states

    def input_state(self, process: Process, line: int, time: int) -> State:
        """The state that may take a new input: the present one, or a new one that continues it."""
        state = process.state
        if not state.sealed:
            return state
        process.number += 1
        fresh = State(f"{process.base}/{process.number}")
        self.put(
            fresh.id, name=process.label, process=process.key, pid=process.pid, host=self.host, trace=self.trace, image=process.image,
            state=process.number, began="input", start=time, clock=self.clock, source=self.ref(line), level=0,
        )  # fmt: skip
        self.link("CONTINUES", fresh.id, state.id, "causal_versioning", line, time)
        process.state = fresh
        return fresh

    # ------------------------------------------------------------------------------------------- files

    def place(self, path: str) -> Place:
        known = self._places.get(path)
        if known is None:
            if len(self._places) > _PLACES_LIMIT:
                self._places.clear()
            known = self._places[path] = place(path)
        return known

    def file(self, path: str) -> File:
        known = self.files.get(path)
        if known is None:
            known = self.files[path] = File(path, self.place(path).label in ("temporary", "agent_state"))
            self._remember_folders(path)
        return known

    def _remember_folders(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        while folder and folder not in self.folders:
            self.folders.add(folder)
            folder = folder.rpartition("/")[0]

    def restored(self) -> None:
        """Rebuild what follows from the files."""
        for path in self.files:
            self._remember_folders(path)

    def through_links(self, path: str, last: bool) -> str:
        """The name that a path leads to through symbolic links that the trace made; the `last` part only if asked for."""
        for _ in range(16):
            for link, target in self.symlinks.items():
                if path.startswith(link + "/"):
                    path = target + path[len(link) :]
                    break
                if last and path == link:
                    path = target
                    break
            else:
                return path
        return path

    def new_version(self, file: File, line: int, time: int, *, root: bool, klass: str = "file") -> Version:
        """The next version of a file becomes its current one."""
        path = file.path
        if root and path not in self.ordinals and not self.floor:
            number = 0  # what was there before the trace
        else:
            number = self.ordinals.get(path, self.floor) + 1
        self.ordinals[path] = number
        if len(self.ordinals) > _ORDINALS_LIMIT:
            self._forget_ordinals()
        where = self.place(path)
        version = Version(f"artifact:{self.host}:{path}@{self.trace}.{number}", root)
        self.put(
            version.id, name=path.rpartition("/")[2] or path, uri=f"file://{path}", host=self.host, path=path, trace=self.trace,
            version=number, label=where.label, label_rule=where.rule, label_confidence=where.confidence, start=time, clock=self.clock,
            source=self.ref(line), level=1, retention="present",
            digest_reason=None if klass == "absent" else "the trace shows calls, not the bytes", **{"class": klass},
        )  # fmt: skip
        file.current = version
        file.exists = klass != "absent"
        if file.group is not None and not root:
            file.group.latest = version
        return version

    def _forget_ordinals(self) -> None:
        gone = [path for path in self.ordinals if path not in self.files][: _ORDINALS_LIMIT // 2]
        for path in gone:
            self.floor = max(self.floor, self.ordinals.pop(path))

    def current(self, file: File, line: int, time: int) -> Version:
        """The version that a reader meets now: made where the file is new to the trace or a hard link moved on."""
        version = file.current
        group = file.group
        if group is not None and group.latest is not None and group.latest is not version:
            latest = group.latest
            fresh = self.new_version(file, line, time, root=False)
            fresh.inherits = True
            latest.sealed = True
            self.link("RENAMED_FROM", fresh.id, latest.id, "hard_link", line, time)
            group.latest = fresh
            return fresh
        if version is None:
            return self.new_version(file, line, time, root=True)
        return version

    def _met(self, file: File, found: bool, line: int, time: int) -> Version:
        """The version that a process meets. A name that came or went without a call of the trace gets a version from outside."""
        if file.current is not None and file.exists is not found and (found or not file.quiet):
            before = file.current
            fresh = self.new_version(file, line, time, root=True, klass="file" if found else "absent")
            if not found:
                before.sealed = True
            return fresh
        return self.current(file, line, time)

    def use_file(self, process: Process, path: str, rule: str, size: int, line: int, time: int) -> None:
        """The process took in the file's content."""
        file = self.files.get(path)
        if file is None:
            where = self.place(path)
            if where.toolchain:
                process.inputs[path] = Entry(None, None, None)
                if not where.kernel:
                    process.tools.add(path)
                return
            file = self.file(path)
        version = self._met(file, True, line, time)
        entry = process.inputs.get(path)
        if entry is not None and entry.version is version and entry.link is not None:
            self.touch(entry.link, time, size)
            return
        if version.by and not version.inherits and all(state in process.own for state in version.by):
            return  # its own output: nothing new
        state = self.input_state(process, line, time)
        version.sealed = True
        process.inputs[path] = Entry(self.link("USED", state.id, version.id, rule, line, time, size), file, version)

    def write_file(
        self,
        process: Process,
        path: str,
        rule: str,
        size: int,
        line: int,
        time: int,
        *,
        created: bool = False,
        moves: bool = True,
    ) -> Version:
        """The process put content into the file, keeping what else is in it. Not `moves`: it only made or cut it."""
        file = self.file(path)
        version = file.current
        if file.group is not None:
            version = self.current(file, line, time)
        state = process.state
        if version is None or not file.exists:
            before = None
            if version is None and not created:
                before = self.new_version(file, line, time, root=True)
            return self._generate(process, file, before, True, rule, size, line, time, moves)
        if version.sealed or version.root:
            return self._generate(process, file, version, True, rule, size, line, time, moves)
        if not moves:
            return version
        known = version.by.get(state.id)
        if known is not None:
            self.touch(known, time, size, 1 if size else 0)
        else:
            state.sealed = True
            process.own.add(state.id)
            version.by[state.id] = self.link("GENERATED_BY", version.id, state.id, rule, line, time, size)
        version.written += size
        return version

    def replace_file(self, process: Process, path: str, rule: str, line: int, time: int) -> Version:
        """The process emptied the file: older content is gone, and nothing of the process is in it yet."""
        file = self.file(path)
        version = file.current
        if (
            version is not None
            and not version.sealed
            and not version.written
            and not version.by
            and version.maker == process.state.id
        ):
            return version
        return self._generate(process, file, version if file.exists else None, False, rule, 0, line, time, False)

    def _generate(
        self,
        process: Process,
        file: File,
        before: Version | None,
        keeps: bool,
        rule: str,
        size: int,
        line: int,
        time: int,
        moves: bool,
    ) -> Version:
        version = self.new_version(file, line, time, root=False)
        if before is not None:
            before.sealed = True
            self.link("REVISION_OF", version.id, before.id, rule, line, time, None, keeps)
            version.inherits = keeps
        state = process.state
        state.sealed = True
        if not moves:
            version.maker = state.id
            self.link("NAMED_BY", version.id, state.id, rule, line, time)
            return version
        process.own.add(state.id)
        version.by[state.id] = self.link("GENERATED_BY", version.id, state.id, rule, line, time, size)
        version.written = size
        return version

    def consult(
        self, process: Process, path: str, rule: str, found: bool, line: int, time: int, *, act: bool = False
    ) -> None:
        """The process asked about the name. Metadata flow. An `act` (opened to write, mode changed, refused) names the edge."""
        file = self.files.get(path)
        if file is None:
            if self.place(path).toolchain:
                if len(self.folded) > _PLACES_LIMIT:
                    self.folded.clear()
                self.folded.add(path)
                return
            file = self.file(path)
            if not found:
                self.new_version(file, line, time, root=True, klass="absent")
        version = self._met(file, found, line, time)
        known = process.names.get(path)
        if known is not None and known.head == version.id:
            if act:
                known.rule = rule
                self.touch(known, time, 0)
            return
        if not act and version.by and all(state in process.own for state in version.by):
            return
        state = process.state if version.root and not version.by else self.input_state(process, line, time)
        version.sealed = True
        process.names[path] = self.link("CONSULTED", state.id, version.id, rule, line, time, 0)

    def rename(self, process: Process, path: str, target: str, rule: str, line: int, time: int) -> None:
        """A name moved: the target is a new version that has the source's content; what was there before is gone."""
        if path in self.folders:
            self._rename_folder(process, path, target, rule, line, time)
        if path in self.symlinks:
            self.symlinks[target] = self.symlinks.pop(path)
        source = self.file(path)
        content = self.current(source, line, time)
        self._name(process, content, target, rule, line, time)
        if rule.startswith("rename"):
            self._leave(process, source, content, rule, line, time, tombstone=not source.quiet)

    def _name(self, process: Process, content: Version, target: str, rule: str, line: int, time: int) -> Version:
        file = self.file(target)
        before = file.current if file.exists else None
        file.group = None
        fresh = self.new_version(file, line, time, root=False)
        fresh.inherits = True
        content.sealed = True
        self.link("RENAMED_FROM", fresh.id, content.id, rule, line, time)
        if before is not None and before is not content:
            before.sealed = True
            self.link("REVISION_OF", fresh.id, before.id, rule, line, time, None, False)
        self._named_by(process, fresh, rule, line, time)
        return fresh

    def _named_by(self, process: Process, version: Version, rule: str, line: int, time: int) -> None:
        process.state.sealed = True
        self.link("NAMED_BY", version.id, process.state.id, rule, line, time)

    def _rename_folder(self, process: Process, path: str, target: str, rule: str, line: int, time: int) -> None:
        """Names below a renamed folder move with it."""
        below = [name for name in self.files if name.startswith(path + "/")]
        for name in below:
            file = self.files[name]
            if file.exists and file.current is not None:
                self._name(process, file.current, target + name[len(path) :], f"{rule}_folder", line, time)
                self._leave(process, file, file.current, rule, line, time, tombstone=False)

    def hard_link(self, process: Process, path: str, target: str, line: int, time: int) -> None:
        source = self.file(path)
        content = self.current(source, line, time)
        fresh = self._name(process, content, target, "link", line, time)
        group = source.group
        if group is None:
            group = source.group = Group()
            group.names.append(path)
        group.names.append(target)
        self.file(target).group = group
        # Both names stand for one content: neither is newer than the other.
        source.current = source.current or content
        group.latest = None
        self.file(target).current = fresh

    def symbolic_link(self, process: Process, path: str, target: str, line: int, time: int) -> None:
        file = self.file(target)
        version = self.new_version(file, line, time, root=False, klass="symlink")
        self.put(version.id, preview=path)
        self._named_by(process, version, "symlink", line, time)
        folder = target.rpartition("/")[0]
        self.symlinks[target] = path if path[:1] == "/" else identity.absolute(folder, path)

    def unlink(self, process: Process, path: str, line: int, time: int) -> None:
        file = self.files.get(path)
        if file is None:
            if self.place(path).toolchain:
                return
            file = self.file(path)
        self.symlinks.pop(path, None)
        if file.exists is False:
            return
        content = self.current(file, line, time)
        self.put(content.id, deleted=time)
        self._leave(process, file, content, "unlink", line, time, tombstone=not file.quiet)

    def _leave(
        self, process: Process, file: File, content: Version, rule: str, line: int, time: int, *, tombstone: bool
    ) -> None:
        """The name is no more. Names of interest get a version that says so; others are forgotten."""
        if file.group is not None:
            file.group.names = [name for name in file.group.names if name != file.path]
            if len(file.group.names) == 1:
                other = self.files.get(file.group.names[0])
                if other is not None:
                    other.group = None
            file.group = None
        self._hold(file, content)
        if not tombstone:
            self.files.pop(file.path, None)
            return
        gone = self.new_version(file, line, time, root=False, klass="absent")
        content.sealed = True
        self.link("REVISION_OF", gone.id, content.id, rule, line, time, None, False)
        self._named_by(process, gone, rule, line, time)

    def _hold(self, file: File, content: Version) -> None:
        """The content is still there for who has it open: under the name that the kernel then shows."""
        held = self.files[file.path + DELETED] = File(file.path, True)
        held.current = content
        held.exists = True
        self.deleted[file.path + DELETED] = None
        while len(self.deleted) > _DELETED_LIMIT:
            self.files.pop(next(iter(self.deleted)), None)
            self.deleted.pop(next(iter(self.deleted)))

    # ------------------------------------------------------------------------------------------- pipes

    def channel(self, resource: str) -> Channel:
        known = self.channels.get(resource)
        if known is None:
            if len(self.channels) >= _CHANNELS_LIMIT:  # the oldest pipes are long closed
                for old in list(self.channels)[: _CHANNELS_LIMIT // 4]:
                    del self.channels[old]
            known = self.channels[resource] = Channel(resource)
        return known

    def put_in(self, process: Process, channel: Channel, size: int | None, rule: str, line: int, time: int) -> Segment:
        """Bytes went into a channel. Its node is made when somebody else reads them."""
        segments = channel.segments
        state = process.state
        if channel.readers != {process.image}:
            state.sealed = True
        process.own.add(state.id)
        last = segments[-1] if segments else None
        if (
            last is not None
            and last.by == state.id
            and last.version is None
            and last.remaining is not None
            and size is not None
        ):
            last.remaining += size
            last.written += size
            return last
        if len(segments) > _SEGMENTS_LIMIT:
            del segments[: _SEGMENTS_LIMIT // 2]  # nobody in the trace reads it
        fresh = Segment(process.image, state, size, rule, self.ref(line), time)
        segments.append(fresh)
        return fresh

    def take_from(self, channel: Channel, process: Process, size: int) -> list[Segment]:
        """The segments that a read of `size` bytes consumed, oldest first; the process's own ones left out."""
        channel.readers.add(process.image)
        taken: list[Segment] = []
        segments = channel.segments
        while size > 0 and segments:
            front = segments[0]
            if front.writer != process.image:
                taken.append(front)
            if front.remaining is None:
                front.consumed += size
                break
            used = min(size, front.remaining)
            front.remaining -= used
            size -= used
            if front.remaining <= 0:
                segments.pop(0)
        return taken

    def read_pipe(self, process: Process, resource: str, size: int, rule: str, line: int, time: int) -> None:
        """The process read from a pipe or local socket."""
        if size <= 0:
            return
        channel = self.channel(resource)
        alone = bool(channel.segments)
        taken = self.take_from(channel, process, size)
        if not taken:
            if not alone and channel.readers == {process.image}:
                self._read_external(process, channel, size, rule, line, time)
            return
        for segment in taken:
            if segment.version is None:
                channel.number += 1
                version = segment.version = Version(
                    f"artifact:{self.host}:{channel.resource}@{self.trace}.{channel.number}", False
                )
                self.put(
                    version.id, name=channel.resource, uri=channel.resource, host=self.host, trace=self.trace, version=channel.number,
                    start=segment.time, clock=self.clock, source=segment.source, level=0, retention="present",
                    digest_reason="the trace shows calls, not the bytes",
                    **{"class": "pipe" if channel.resource.startswith("pipe") else "socket"},
                )  # fmt: skip
                made = Link(
                    "GENERATED_BY",
                    version.id,
                    segment.by,
                    segment.rule,
                    segment.source,
                    segment.time,
                    segment.written,
                )
                self.dirty.append(made)
                segment.link = made
                segment.state.sealed = True
            version = segment.version
            key = f"{channel.resource}@{version.id}"
            entry = process.inputs.get(key)
            if entry is not None and entry.link is not None:
                self.touch(entry.link, time, size)
                continue
            state = self.input_state(process, line, time)
            version.sealed = True
            process.inputs[key] = Entry(self.link("USED", state.id, version.id, rule, line, time, size), None, version)

    def _read_external(self, process: Process, channel: Channel, size: int, rule: str, line: int, time: int) -> None:
        """Something outside the trace wrote it: one version for all of that."""
        if channel.external is None:
            channel.external = Version(f"artifact:{self.host}:{channel.resource}@{self.trace}.0", True)
            self.put(
                channel.external.id, name=channel.resource, uri=channel.resource, host=self.host, trace=self.trace, version=0,
                start=time, clock=self.clock, source=self.ref(line), level=0, retention="present",
                digest_reason="written outside the trace", **{"class": "pipe" if channel.resource.startswith("pipe") else "socket"},
            )  # fmt: skip
        entry = process.inputs.get(channel.resource)
        if entry is not None and entry.link is not None:
            self.touch(entry.link, time, size)
            return
        state = self.input_state(process, line, time)
        process.inputs[channel.resource] = Entry(
            self.link("USED", state.id, channel.external.id, rule, line, time, size), None, channel.external
        )

    # ------------------------------------------------------------------------------------------- toolchain

    def fold_tools(self, process: Process, line: int, time: int) -> None:
        """The toolchain files of an image become one artifact: the set."""
        if not process.tools:
            return
        members = sorted(process.tools)
        joined = "\n".join(members)
        digest = identity.digest(joined)
        node = f"artifact:{self.host}:toolchain/{digest[:16]}@{self.trace}"
        if node not in self.tool_sets:
            self.put(
                node, name=f"toolchain ({len(members)} files)", uri=f"toolchain:{digest[:16]}", host=self.host, trace=self.trace, version=1,
                digest=digest, size=len(members), label="toolchain", members=members, start=time, clock=self.clock, source=self.ref(line),
                level=1, retention="present", **{"class": "toolchain"},
            )  # fmt: skip
        self.tool_sets[node] = self.tool_sets.get(node, 0) + 1
        self.link("USED", process.image, node, "toolchain_fold", line, time)
        process.tools = set()


@lru_cache(maxsize=16_384)
def _clean(word: str) -> str:
    """An argument without secrets; programs are started with the same words again and again."""
    return redact(word)[0].encode("utf-8", "replace").decode("utf-8")


def redacted(words: tuple[str, ...], limit: int = 8192) -> list[str]:
    """An argument vector that may be kept: secrets out, long arguments cut with their size named."""
    kept: list[str] = []
    budget = limit
    for word in words:
        clean = _clean(word)
        if len(clean) > budget:
            clean = f"{clean[: max(budget, 0)]}... ({len(word)} characters)"
        kept.append(clean)
        budget -= len(clean)
        if budget <= 0:
            break
    return kept
