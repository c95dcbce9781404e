"""The effect side of the weaver: records of one trace in, graph changes out. Incremental and pure.

Rules that were tried on real recordings, each with its reason in `docs/decisions/`:
writes and forks count where they begin, reads and execs where they end; an O_RDONLY open counts as a use, since mmap,
copy_file_range and sendfile leave no read; toolchain reads fold into one set-artifact an image; a process that reads what
it alone wrote learns nothing new.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any

from provenance import identity
from provenance import records as r
from provenance.changes import Changes
from provenance.redaction import redact
from provenance.weave.network import Network
from provenance.weave.parts import Channel, File, Link, Process, Segment, State, Transfer, Version, restored, snapshot
from provenance.weave.tracegraph import TraceGraph, redacted

_WRITE, _CREATE, _TRUNCATE, _EXCLUSIVE = (
    int(r.Open.WRITE),
    int(r.Open.CREATE),
    int(r.Open.TRUNCATE),
    int(r.Open.EXCLUSIVE),
)
_NO_CONTENT = int(r.Open.PATH_ONLY | r.Open.DIRECTORY)
OWN_FILES = " of the agent's own files"
"""Ends what a gap is about where only the state of an agent is concerned: no content passes through its memory."""

_FILE = ("/", "?/")  # what names a file; "?/": relative to a folder that was not seen
_SENSITIVE_NAMES = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "SESSION")


class EffectWeaver:
    """Weaves one trace. `feed` records in the trace's order; `flush` gives the changes since the last flush."""

    def __init__(self, trace: str, host: str = "local", clock: r.Clock = r.Clock.WALL) -> None:
        self.graph = TraceGraph(trace, host, str(clock))
        self.network = Network(self.graph)
        self.tasks: dict[int, Process] = {}
        self.living: dict[str, int] = {}  # process key -> its tasks
        self.line = 0  # of the record at hand
        self.births: dict[int, int] = {}  # pid -> when its last process began: pids are used again
        self.roots: list[str] = []
        self.processes = 0
        self.attached_late = False
        self.first: int | None = None
        self.last: int | None = None
        self.pending: dict[int, tuple[Segment | Transfer | Link | None, str]] = {}  # task -> write it is inside of
        self.notes: dict[str, list[Any]] = {}  # gap reason|about -> [count, first line, detail]
        self._handlers: dict[type[r.Effect], Callable[[Any], None]] = {
            r.TaskCreated: self._task_created, r.ProgramExecuted: self._program_executed, r.TaskExited: self._task_exited,
            r.Opened: self._opened, r.Closed: self._closed, r.Read: self._read, r.Wrote: self._wrote,
            r.WriteEntered: self._write_entered, r.WriteLeft: self._write_left, r.Copied: self._copied, r.Mapped: self._mapped,
            r.Duplicated: self._duplicated, r.Piped: self._piped, r.SocketMade: self._socket_made, r.Connected: self._connected,
            r.Accepted: self._accepted, r.Bound: self._ignore, r.Consulted: self._consulted, r.Renamed: self._renamed,
            r.Linked: self._linked, r.Unlinked: self._unlinked, r.Truncated: self._truncated, r.DirectoryMade: self._directory_made,
            r.DirectoryChanged: self._directory_changed, r.DirectoryKnown: self._directory_known,
            r.AttributesChanged: self._attributes_changed, r.Signalled: self._signalled, r.Lost: self._lost,
            r.CallRefused: self._call_refused, r.AsyncIO: self._async_io, r.CloseOnExec: self._ignore,
        }  # fmt: skip

    # ------------------------------------------------------------------------------------------- in and out

    def feed(self, records: Sequence[r.Effect]) -> None:
        """Weave records; they come in the trace's order."""
        handlers, tasks = self._handlers, self.tasks
        graph = self.graph
        files, folded = graph.files, graph.folded
        for record in records:
            # The two hot paths: a known input read again, and a question about a name that teaches nothing new.
            if isinstance(record, r.Read):
                process = tasks.get(record.pid)
                resource = record.resource
                if process is not None and resource is not None:
                    entry = process.inputs.get(resource)
                    if entry is not None:
                        version = entry.version
                        if version is None and resource not in files:
                            continue
                        link, file = entry.link, entry.file
                        if link is not None and file is not None and file.current is version and file.group is None:
                            link.count += 1
                            link.last = record.time
                            link.bytes = (link.bytes or 0) + record.size
                            if not link.dirty:
                                link.dirty = True
                                graph.dirty.append(link)
                            continue
            elif isinstance(record, r.Consulted):
                path = record.path
                if record.pid in tasks:
                    file = files.get(path)
                    if file is None:
                        if path in folded:
                            continue
                    elif file.group is None and file.current is not None:
                        known = tasks[record.pid].names.get(path)
                        if known is not None and known.head == file.current.id and file.exists is record.found:
                            continue
            self.line = record.line
            handlers[type(record)](record)
        if records:
            first, last = records[0].time, records[-1].time
            self.first = first if self.first is None else min(self.first, first)
            self.last = last if self.last is None else max(self.last, last)

    def flush(self) -> Changes:
        return self.graph.flush()

    def finish(self) -> None:
        """The source is known to have ended: fold the toolchain sets of what still runs."""
        line, time = 0, self.last or 0
        for process in dict.fromkeys(self.tasks.values()):
            self.graph.fold_tools(process, line, time)

    def coverage(self) -> dict[str, Any]:
        """What a Coverage node says of the processes seen."""
        return {
            "roots": sorted(self.roots)[:100], "processes": self.processes, "attached_late": self.attached_late,
            "start": self.first, "end": self.last, "clock": self.graph.clock,
        }  # fmt: skip

    def save(self) -> bytes:
        """What `restore` needs to go on. Flush first: what is not handed out yet is not saved."""
        if self.graph.dirty or self.graph.changes:
            raise ValueError("changes must be flushed before the state is saved")
        graph, network = self.graph, self.network
        return snapshot([
            graph.files, graph.ordinals, graph.floor, graph.channels, graph.deleted, graph.symlinks, graph.tool_sets, network.connections, network.opening,
            network.endpoints, network.flows, self.tasks, self.living, self.births, self.roots, self.processes, self.attached_late, self.first,
            self.last, self.pending, self.notes,
        ])  # fmt: skip

    def restore(self, state: bytes) -> None:
        graph, network = self.graph, self.network
        (
            graph.files, graph.ordinals, graph.floor, graph.channels, graph.deleted, graph.symlinks, graph.tool_sets, network.connections, network.opening,
            network.endpoints, network.flows, self.tasks, self.living, self.births, self.roots, self.processes, self.attached_late, self.first,
            self.last, self.pending, self.notes,
        ) = restored(state)  # fmt: skip
        graph.restored()

    def note(self, reason: str, about: str, line: int, detail: str) -> None:
        """Something is missing; becomes a Gap of the source."""
        known = self.notes.setdefault(f"{reason}|{about}", [0, line, detail])
        known[0] += 1

    # ------------------------------------------------------------------------------------------- processes

    def _base(self, pid: int, line: int, time: int) -> tuple[str, str]:
        graph = self.graph
        if graph.clock == "wall" and time > self.births.get(pid, -1):
            self.births[pid] = time
            key = f"{graph.host}/{pid}@{time // 1_000_000_000}.{time % 1_000_000_000 // 1000:06d}"
        else:
            key = f"{graph.host}/{pid}@{graph.trace}.{line}"
        return key, f"process:{key}"

    def _begin(self, pid: int, began: str, parent: Process | None, line: int, time: int) -> Process:
        key, base = self._base(pid, line, time)
        state = State(f"{base}/0")
        process = Process(key, base, pid, state)
        self.processes += 1
        self.tasks[pid] = process
        self.living[key] = 1
        process.cwd = parent.cwd if parent else None
        process.label = parent.label if parent else process.label
        self.graph.put(
            state.id, name=process.label, process=key, parent=parent.key if parent else None, pid=pid, host=self.graph.host,
            trace=self.graph.trace, image=state.id, state=0, began=began, start=time, clock=self.graph.clock,
            source=self.graph.ref(line), level=0, retention="present", cwd=process.cwd,
        )  # fmt: skip
        return process

    def _process(self, record: r.Effect) -> Process:
        known = self.tasks.get(record.pid)
        if known is not None:
            return known
        process = self._begin(record.pid, "seen", None, record.line, record.time)
        self.roots.append(process.key)
        if type(record) is not r.ProgramExecuted and not (type(record) is r.Consulted and record.call == "execve"):
            if self.processes == 1:
                self.attached_late = True
            self.note(
                "attached_late",
                "process",
                record.line,
                f"pid {record.pid} was first seen running: what it did before is unknown",
            )
        return process

    def _task_created(self, record: r.TaskCreated) -> None:
        parent = self._process(record)
        known = self.tasks.get(record.child)
        if record.thread:
            if known is not parent:
                self.tasks[record.child] = parent
                self.living[parent.key] = self.living.get(parent.key, 0) + 1
            return
        if known is not None and self.living.get(known.key):
            self.living.pop(known.key, None)
        child = self._begin(record.child, "fork", parent, record.line, record.time)
        parent.state.sealed = True
        self.graph.link("FORKED_FROM", child.state.id, parent.state.id, "fork", record.line, record.time)
        if parent.fds is not None:
            child.fds = parent.fds if record.shares_files else dict(parent.fds)

    def _program_executed(self, record: r.ProgramExecuted) -> None:
        graph = self.graph
        first = record.pid not in self.tasks
        process = self._process(record)
        line, time = record.line, record.time
        graph.fold_tools(process, line, time)
        before = process.state
        before.sealed = True
        process.number += 1
        state = State(f"{process.base}/{process.number}")
        path = self._absolute(process, record.path, record.base) or record.path
        words = redacted(record.argv)
        command = shlex.join(words)
        environment = self._environment(record.env) if record.env is not None else None
        graph.put(
            state.id, name=path.rpartition("/")[2] or path, process=process.key, pid=process.pid, host=graph.host, trace=graph.trace,
            image=state.id, state=process.number, began="exec", executable=path, command=command[:8192], argv=words,
            argv_truncated=record.truncated or len(words) < len(record.argv), cwd=process.cwd, start=time, clock=graph.clock,
            source=graph.ref(line), level=0, retention="present", environment=environment,
        )  # fmt: skip
        size = sum(len(word.encode("utf-8", "surrogateescape")) for word in record.argv)
        graph.link("STARTED_BY", state.id, before.id, "execve", line, time, size)
        if environment is not None:
            graph.link("RAN_IN", state.id, f"environment:{environment[:16]}", "execve", line, time)
        if first and self.processes == 1:
            self.attached_late = False
        process.state = state
        process.image = state.id
        process.label = path.rpartition("/")[2] or path
        process.inputs = {}
        process.names = {}
        process.own = set()  # what the former program wrote is news to this one
        for task in [task for task, owner in self.tasks.items() if owner is process and task != record.pid]:
            del self.tasks[task]
        self.living[process.key] = 1
        self.tasks[record.pid] = process
        graph.use_file(process, path, "execve", 0, line, time)

    def _environment(self, env: tuple[str, ...]) -> str:
        """The digest of the variables; the node keeps names, and values where they are not sensitive."""
        digest = identity.digest("\0".join(sorted(env)))
        node = f"environment:{digest[:16]}"
        if node not in self.network.endpoints:  # remembered with the other shared nodes
            self.network.endpoints.add(node)
            kept: list[str] = []
            for variable in sorted(env):
                name, _, value = variable.partition("=")
                if any(word in name.upper() for word in _SENSITIVE_NAMES) or redact(variable)[1]:
                    kept.append(f"{name}=sha256:{identity.digest(value)[:16]}")
                else:
                    kept.append(variable[:1000].encode("utf-8", "replace").decode("utf-8"))
            self.graph.put(
                node, name=f"{len(env)} variables", type="variables", digest=digest, variables=kept,
                level=1, retention="present",
            )  # fmt: skip
        return digest

    def _task_exited(self, record: r.TaskExited) -> None:
        process = self.tasks.pop(record.pid, None)
        if process is None:
            return
        self.pending.pop(record.pid, None)
        left = self.living.get(process.key, 1) - 1
        self.living[process.key] = left
        leader = record.pid == process.pid
        if leader or left <= 0:
            self.graph.put(process.image, exit_code=record.status, signal=record.signal, end=record.time)
        if record.signal and process.signal and process.signal[0] == record.signal and process.signal[1] is not None:
            self._ended_by(process, record, process.signal[1])
            process.signal = None
        if left <= 0:
            self.living.pop(process.key, None)
            self.graph.fold_tools(process, record.line, record.time)
            self.network.forget(process)

    def _ended_by(self, process: Process, record: r.TaskExited, sender: int) -> None:
        known = self.tasks.get(sender)
        if known is process or sender == record.pid:
            origin = "itself"
        elif known is not None:
            origin = "traced"
            self.graph.link("SIGNALLED_BY", process.image, known.state.id, str(record.signal), record.line, record.time)
        else:
            origin = "kernel" if sender == 0 else "traced" if sender in self.births else "outside"
        self.graph.put(process.image, signal_origin=origin)

    def _signalled(self, record: r.Signalled) -> None:
        self._process(record).signal = (record.signal, record.sender)

    # ------------------------------------------------------------------------------------------- names

    def _absolute(self, process: Process, path: str, base: int) -> str | None:
        if path[:1] == "/":
            return path
        if base != r.AT_CWD:
            folder = (process.fds or {}).get(base)
        else:
            folder = process.cwd
        if folder is None or folder[:1] != "/":
            self.note(
                "never_captured", "relative path", self.line, f"{path}: the folder that it is relative to was not seen"
            )
            return None
        return identity.absolute(folder, path)

    def _named(self, process: Process, path: str, base: int, follow: bool = False) -> str:
        """The name under which the file is known. `follow`: a symbolic link at its end is followed, too."""
        named = self._absolute(process, path, base) or f"?/{path}"
        return self.graph.through_links(named, follow) if self.graph.symlinks else named

    def _resource(self, process: Process, fd: int, resource: str | None) -> str | None:
        if resource is not None:
            return resource
        return process.fds.get(fd) if process.fds is not None else None

    def _directory_known(self, record: r.DirectoryKnown) -> None:
        process = self._process(record)
        if process.cwd is None:
            self.graph.put(process.image, cwd=record.path)
        process.cwd = record.path

    def _directory_changed(self, record: r.DirectoryChanged) -> None:
        process = self._process(record)
        if record.path:
            process.cwd = self._absolute(process, record.path, record.base) or process.cwd
        else:
            process.cwd = self._resource(process, record.fd, None) or process.cwd

    # ------------------------------------------------------------------------------------------- descriptors

    def _describe(self, process: Process, fd: int, resource: str) -> None:
        if process.fds is None:
            process.fds = {}
        process.fds[fd] = resource

    def _closed(self, record: r.Closed) -> None:
        process = self._process(record)
        if process.fds is not None:
            process.fds.pop(record.fd, None)

    def _duplicated(self, record: r.Duplicated) -> None:
        process = self._process(record)
        known = process.fds.get(record.fd) if process.fds is not None else None
        if known is not None:
            self._describe(process, record.copy, known)
        elif process.fds is not None:
            process.fds.pop(record.copy, None)

    def _piped(self, record: r.Piped) -> None:
        process = self._process(record)
        if record.first is None or record.second is None:
            made = f"{self.graph.trace}.{record.line}"
            if record.duplex:
                self._describe(process, record.first_fd, f"unix:[{made}a>{made}b]")
                self._describe(process, record.second_fd, f"unix:[{made}b>{made}a]")
            else:
                self._describe(process, record.first_fd, f"pipe:[{made}]")
                self._describe(process, record.second_fd, f"pipe:[{made}]")

    def _socket_made(self, record: r.SocketMade) -> None:
        if record.resource is None:
            self._describe(self._process(record), record.fd, f"socket:[{self.graph.trace}.{record.line}]")

    # ------------------------------------------------------------------------------------------- files

    def _opened(self, record: r.Opened) -> None:
        process = self._process(record)
        path = record.path if record.resolved else self._named(process, record.path, record.base, True)
        if not record.resolved:
            self._describe(process, record.fd, path)
        flags, line, time = record.flags, record.line, record.time
        graph = self.graph
        if flags & _NO_CONTENT:
            graph.consult(process, path, "open", True, line, time)
            return
        if not flags & _WRITE:
            entry = process.inputs.get(path)
            if (
                entry is None
                or (entry.version is not None and (entry.file is None or entry.file.current is not entry.version))
                or path in graph.files
            ):
                graph.use_file(process, path, "open", 0, line, time)
            return
        file = graph.files.get(path)
        if path[:5] == "/dev/" and file is None and not path.startswith("/dev/shm/"):
            return
        if flags & _TRUNCATE:
            graph.replace_file(process, path, "open_truncate", line, time)
        elif flags & _EXCLUSIVE or (flags & _CREATE and file is not None and file.exists is False):
            graph.write_file(process, path, "create", 0, line, time, created=True, moves=False)
        else:
            graph.consult(process, path, "open_write", True, line, time, act=True)

    def _read(self, record: r.Read) -> None:
        process = self._process(record)
        resource = self._resource(process, record.fd, record.resource)
        if not resource:
            return
        line, time, size = record.line, record.time, record.size
        if resource.startswith(_FILE):
            self.graph.use_file(process, resource, "read", size, line, time)
        elif resource.startswith(("tcp:", "udp:")):
            self.network.receive(process, resource, None, size, line, time)
        elif resource.startswith("pipe:"):
            self.graph.read_pipe(process, resource, size, "read", line, time)
        elif resource.startswith("unix:["):
            own = resource[6:-1].partition(">")[0]
            self.graph.read_pipe(process, f"unix:[{own}]", size, "recv", line, time)
        elif resource.startswith("socket:["):
            self.note("never_captured", "socket peer", line, f"{resource}: whose bytes were read is unknown")

    def _wrote(self, record: r.Wrote) -> None:
        process = self._process(record)
        resource = self._resource(process, record.fd, record.resource)
        if resource:
            self._write(process, resource, record, record.size)

    def _write(
        self, process: Process, resource: str, record: r.Wrote | r.WriteEntered, size: int | None
    ) -> Segment | Transfer | Link | None:
        graph, line, time = self.graph, record.line, record.time
        if resource.startswith(_FILE):
            if resource[:5] == "/dev/" and not resource.startswith(("/dev/shm/", "/dev/pts/", "/dev/tty")):
                return None
            version = graph.write_file(process, resource, "write", size or 0, line, time)
            return version.by.get(process.state.id)
        if resource.startswith(("tcp:", "udp:")):
            return self.network.send(process, resource, record, size)
        if resource.startswith("pipe:"):
            return graph.put_in(process, graph.channel(resource), size, "write", line, time)
        if resource.startswith("unix:["):
            _, arrow, peer = resource[6:-1].partition(">")
            if arrow:
                return graph.put_in(process, graph.channel(f"unix:[{peer}]"), size, "send", line, time)
        self.note("never_captured", "socket peer", line, f"{resource}: whom the bytes reached is unknown")
        return None

    def _write_entered(self, record: r.WriteEntered) -> None:
        process = self._process(record)
        resource = self._resource(process, record.fd, record.resource)
        if resource:
            self.pending[record.pid] = (
                self._write(process, resource, record, None),
                resource,
            )

    def _write_left(self, record: r.WriteLeft) -> None:
        begun, resource = self.pending.pop(record.pid, (None, ""))
        if begun is None:
            return
        if isinstance(begun, Segment):
            begun.remaining = max(0, record.size - begun.consumed)
            channel = self.graph.channels.get(resource)
            if begun.link is not None:
                self.graph.touch(begun.link, record.time, record.size, 0)
            if not begun.remaining and channel is not None and begun in channel.segments:
                channel.segments.remove(begun)
        elif isinstance(begun, Transfer):
            self.network.add(begun, record.size, record.time)
            self._settle(resource, begun, record.size)
        elif record.size:
            self.graph.touch(begun, record.time, record.size, 0)

    def _settle(self, resource: str, transfer: Transfer, size: int) -> None:
        """The size of a send under way became known: the peer's queue may count on it."""
        channel: Channel | None = self.graph.channels.get(resource)
        for segment in channel.segments if channel is not None else ():
            if segment.version is transfer.version and segment.remaining is None:
                segment.remaining = max(0, size - segment.consumed)

    def _copied(self, record: r.Copied) -> None:
        process = self._process(record)
        source = self._resource(process, record.source_fd, record.source)
        target = self._resource(process, record.target_fd, record.target)
        line, time, size, graph = record.line, record.time, record.size, self.graph
        if not size and record.call != "ficlone":
            return
        origin: Version | None = None
        if source and source.startswith(_FILE):
            graph.use_file(process, source, record.call, size, line, time)
            file = graph.files.get(source)
            origin = file.current if file is not None else None
        elif source:
            self._read(r.Read(line, record.pid, time, record.source_fd, source, size))
        if not target:
            return
        made = self._write(process, target, r.Wrote(line, record.pid, time, record.target_fd, target, size), size)
        reached: Version | None = None
        if target.startswith(_FILE):
            file = graph.files.get(target)
            reached = file.current if file is not None else None
        elif isinstance(made, Transfer):
            reached = made.version
        if origin is None or reached is None or origin is reached or origin.id == reached.id:
            return
        known = reached.copies.get(origin.id)
        if known is not None:
            graph.touch(known, time, size)
        elif not reached.sealed:
            origin.sealed = True
            reached.copies[origin.id] = graph.link("DERIVED_FROM", reached.id, origin.id, record.call, line, time, size)

    def _mapped(self, record: r.Mapped) -> None:
        process = self._process(record)
        resource = self._resource(process, record.fd, record.resource)
        if not resource or not resource.startswith(_FILE):
            return
        if record.writes:
            if not self.graph.place(resource).toolchain:
                self.graph.write_file(process, resource, "mmap_shared", 0, record.line, record.time)
                own = self.graph.place(resource).label == "agent_state"
                self.note(
                    "never_captured",
                    f"memory-mapped write{OWN_FILES if own else ''}",
                    record.line,
                    f"{resource}: stores into a shared mapping leave no call",
                )
        else:
            self.graph.use_file(process, resource, "mmap", 0, record.line, record.time)

    def _consulted(self, record: r.Consulted) -> None:
        process = self._process(record)
        path = self._named(process, record.path, record.base)
        error = record.error
        rule = record.call if not error or error == "ENOENT" else f"{record.call} {error}"
        self.graph.consult(process, path, rule, record.found, record.line, record.time)

    def _renamed(self, record: r.Renamed) -> None:
        process = self._process(record)
        path, target = (
            self._named(process, record.path, record.base),
            self._named(process, record.target, record.target_base),
        )
        if path == target:
            return
        if record.exchange:
            aside = f"{path}.exchange-{record.line}"
            for old, new in ((path, aside), (target, path), (aside, target)):
                self.graph.rename(process, old, new, "rename_exchange", record.line, record.time)
            return
        self._moved(target, target + r.DELETED)
        self.graph.rename(process, path, target, "rename", record.line, record.time)
        self._moved(path, target)

    def _moved(self, old: str, new: str) -> None:
        """Open descriptors follow what they stand for, where the source does not say so itself."""
        for process in dict.fromkeys(self.tasks.values()):
            for fd, resource in (process.fds or {}).items():
                if process.fds is not None and (resource == old or resource.startswith(old + "/")):
                    process.fds[fd] = new + resource[len(old) :]
            if (
                process.cwd
                and (process.cwd == old or process.cwd.startswith(old + "/"))
                and not new.endswith(r.DELETED)
            ):
                process.cwd = new + process.cwd[len(old) :]

    def _linked(self, record: r.Linked) -> None:
        process = self._process(record)
        target = self._named(process, record.target, record.target_base)
        if record.symbolic:
            self.graph.symbolic_link(process, record.path, target, record.line, record.time)
        else:
            self.graph.hard_link(
                process, self._named(process, record.path, record.base), target, record.line, record.time
            )

    def _unlinked(self, record: r.Unlinked) -> None:
        process = self._process(record)
        if not record.directory:
            path = self._named(process, record.path, record.base)
            self._moved(path, path + r.DELETED)
            self.graph.unlink(process, path, record.line, record.time)

    def _truncated(self, record: r.Truncated) -> None:
        process = self._process(record)
        path = (
            self._named(process, record.path, record.base)
            if record.path
            else self._resource(process, record.fd, record.resource)
        )
        if not path or not path.startswith(_FILE):
            return
        if record.length == 0:
            self.graph.replace_file(process, path, "truncate", record.line, record.time)
        else:
            self.graph.write_file(process, path, "truncate", 0, record.line, record.time, moves=False)

    def _directory_made(self, record: r.DirectoryMade) -> None:
        process = self._process(record)
        path = self._named(process, record.path, record.base)
        if self.graph.place(path).toolchain:
            return
        file: File = self.graph.file(path)
        version = self.graph.new_version(file, record.line, record.time, root=False, klass="directory")
        process.state.sealed = True
        self.graph.link("NAMED_BY", version.id, process.state.id, "mkdir", record.line, record.time)

    def _attributes_changed(self, record: r.AttributesChanged) -> None:
        process = self._process(record)
        path = self._named(process, record.path, record.base)
        self.graph.consult(
            process, path, f"{record.call} {record.value}"[:60], True, record.line, record.time, act=True
        )

    def _call_refused(self, record: r.CallRefused) -> None:
        process = self._process(record)
        if record.error in r.SHORTAGES:
            self.graph.put(process.image, shortage=f"{record.call} {record.error}")
        path = self._absolute(process, record.target, r.AT_CWD) if record.target else None
        if path is not None:
            self.graph.consult(process, path, f"{record.call} {record.error}", True, record.line, record.time, act=True)

    # ------------------------------------------------------------------------------------------- network

    def _connected(self, record: r.Connected) -> None:
        process = self._process(record)
        if record.address.startswith("unix:"):
            path = record.address[5:]
            if path[:1] == "/":
                self.graph.consult(
                    process,
                    path,
                    f"connect {record.outcome}",
                    record.outcome in ("connected", "pending"),
                    record.line,
                    record.time,
                )
            return
        udp = (record.resource or "").startswith("udp")
        protocol = "udp" if udp else "tcp"
        if record.resource is None:
            self._describe(process, record.fd, f"{protocol}:?{record.line}>{record.address}")
        self.network.connected(process, protocol, record.address, record.outcome, record.line, record.time)

    def _accepted(self, record: r.Accepted) -> None:
        process = self._process(record)
        if record.resource is None and record.address:
            self._describe(process, record.fd, f"tcp:?{record.line}>{record.address}")

    # ------------------------------------------------------------------------------------------- what is missing

    def _lost(self, record: r.Lost) -> None:
        self.note(
            "never_captured",
            "lost events",
            record.line,
            f"{record.what}: {record.count if record.count is not None else 'unknown number'}",
        )

    def _async_io(self, record: r.AsyncIO) -> None:
        process = self._process(record)
        self.note(
            "never_captured",
            "io_uring",
            record.line,
            f"pid {process.pid} does I/O through io_uring, which this source cannot see",
        )

    def _ignore(self, record: r.Effect) -> None:
        self._process(record)
