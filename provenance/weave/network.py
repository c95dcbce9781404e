"""Transfers over connections: who sent what where, and which traced peer it came from."""

from __future__ import annotations

import ipaddress

from provenance import records as r
from provenance.weave.parts import Connection, Entry, Link, Process, Transfer, Version
from provenance.weave.tracegraph import TraceGraph

_MODEL_HOSTS = ("api.openai.com", "api.anthropic.com", "chatgpt.com")


def split_address(address: str) -> tuple[str, int | None]:
    """Host and port of `HOST:PORT`; the whole and None for a unix socket."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and not address.startswith("unix:"):
        return host.strip("[]"), int(port)
    return address, None


def scope_of(host: str) -> str:
    """loopback, private, public or local."""
    try:
        known = ipaddress.ip_address(host)
    except ValueError:
        return "local" if host.startswith("unix:") else "public"
    if known.is_loopback:
        return "loopback"
    return "private" if known.is_private else "public"


class Network:
    """The connections of one trace."""

    def __init__(self, graph: TraceGraph) -> None:
        self.graph = graph
        self.connections: dict[str, Connection] = {}
        self.opening: dict[str, Transfer] = {}  # "process key|address" -> connect() not yet followed by a transfer
        self.endpoints: set[str] = set()
        self.flows = 0

    def endpoint(self, protocol: str, address: str) -> str:
        node = f"endpoint:{protocol}/{address}"
        if node not in self.endpoints:
            self.endpoints.add(node)
            host, port = split_address(address)
            # Other traces know it too: nothing is put that depends on which of them came first, and no role is taken away.
            role = {"role": "model_endpoint"} if host in _MODEL_HOSTS else {}
            self.graph.put(
                node, name=address, protocol=protocol, host=host, port=port, address=address, scope=scope_of(host),
                level=1, retention="present", **role,
            )  # fmt: skip
        return node

    def _flow(
        self, direction: str, protocol: str, local: str | None, remote: str, outcome: str | None, line: int, time: int
    ) -> Version:
        self.flows += 1
        graph = self.graph
        version = Version(f"flow:{graph.trace}/{remote}/{direction}/{self.flows}", False)
        graph.put(
            version.id, name=f"{direction} {remote}", direction=direction, bytes=0, protocol=protocol, local=local, remote=remote,
            outcome=outcome, host=graph.host, trace=graph.trace, version=self.flows, start=time, end=time, clock=graph.clock,
            source=graph.ref(line), level=0, retention="present",
        )  # fmt: skip
        return version

    def connected(self, process: Process, protocol: str, address: str, outcome: str, line: int, time: int) -> None:
        """connect(): a transfer of no bytes yet, so that a destination is known even where nothing was sent."""
        graph = self.graph
        key = f"{process.key}|{address}"
        version = self._flow("out", protocol, None, address, outcome, line, time)
        state = process.state
        state.sealed = True
        made = graph.link("GENERATED_BY", version.id, state.id, "connect", line, time, 0)
        target = graph.link("SENT_TO", version.id, self.endpoint(protocol, address), "connect", line, time, 0)
        self.opening[key] = Transfer(version, process.key, state.id, made, target)

    def send(
        self, process: Process, resource: str, record: r.Wrote | r.WriteEntered, size: int | None
    ) -> Transfer | None:
        """Bytes left over a connection. `size` None: the call has not returned yet."""
        line, time = record.line, record.time
        protocol, local, remote = self._parties(resource, record.address)
        if remote is None:
            return None
        graph = self.graph
        connection = self._connection(process, resource, remote)
        transfer = connection.outgoing
        state = process.state
        opened = self.opening.pop(f"{process.key}|{remote}", None)
        if opened is not None and transfer is None and opened.state == state.id and not opened.version.sealed:
            transfer = connection.outgoing = opened
            graph.put(opened.version.id, local=local, outcome="connected")
        elif transfer is None or transfer.version.sealed or transfer.state != state.id or connection.last != "out":
            version = self._flow("out", protocol, local, remote, None if protocol == "udp" else "connected", line, time)
            state.sealed = True
            made = graph.link("GENERATED_BY", version.id, state.id, "send", line, time, 0)
            target = graph.link("SENT_TO", version.id, self.endpoint(protocol, remote), "send", line, time, 0)
            transfer = connection.outgoing = Transfer(version, process.key, state.id, made, target)
        connection.last = "out"
        if record.method:
            graph.put(transfer.version.id, method=record.method)
        if size:
            self.add(transfer, size, time)
        if local is not None:
            channel = graph.channel(f"{protocol}:{local}>{remote}")
            segment = graph.put_in(process, channel, size, "send", line, time)
            segment.version = transfer.version
        return transfer

    def add(self, transfer: Transfer, size: int, time: int) -> None:
        transfer.bytes += size
        self.graph.put(transfer.version.id, bytes=transfer.bytes, end=time)
        self.graph.touch(transfer.link, time, size)
        if transfer.target is not None:
            self.graph.touch(transfer.target, time, size)

    def receive(self, process: Process, resource: str, address: str | None, size: int, line: int, time: int) -> None:
        """Bytes came in over a connection."""
        protocol, local, remote = self._parties(resource, address)
        if remote is None or size <= 0:
            return
        graph = self.graph
        connection = self._connection(process, resource, remote)
        origins: set[str] = set()
        traced = graph.channels.get(f"{protocol}:{remote}>{local}") if local else None
        if traced is not None:
            origins = {
                segment.version.id for segment in graph.take_from(traced, process, size) if segment.version is not None
            }
            for segment in traced.segments:
                if segment.version is not None and segment.version.id in origins:
                    segment.version.sealed = True
        transfer = connection.incoming
        fresh_origin = not origins <= connection.origins
        if transfer is None or connection.last != "in" or fresh_origin:
            version = self._flow("in", protocol, local, remote, None, line, time)
            source = self.endpoint(protocol, remote)
            made: Link | None = None
            for origin in sorted(origins) or [source]:
                made = graph.link("RECEIVED_FROM", version.id, origin, "recv", line, time, 0)
            assert made is not None
            connection.origins = origins
            self._seal(origins)
            transfer = connection.incoming = Transfer(version, process.key, "", made, None)
        connection.last = "in"
        transfer.bytes += size
        graph.put(transfer.version.id, bytes=transfer.bytes, end=time)
        graph.touch(transfer.link, time, size)
        key = f"flow@{transfer.version.id}"
        entry = process.inputs.get(key)
        if entry is not None and entry.link is not None:
            graph.touch(entry.link, time, size)
            return
        state = graph.input_state(process, line, time)
        transfer.version.sealed = True
        process.inputs[key] = Entry(
            graph.link("USED", state.id, transfer.version.id, "recv", line, time, size), None, transfer.version
        )

    def _seal(self, origins: set[str]) -> None:
        """What a traced peer received takes no further bytes: the next ones are a new transfer."""
        for connection in self.connections.values():
            outgoing = connection.outgoing
            if outgoing is not None and outgoing.version.id in origins:
                outgoing.version.sealed = True

    def _connection(self, process: Process, resource: str, remote: str) -> Connection:
        key = f"{process.key}|{resource}|{remote}"
        known = self.connections.get(key)
        if known is None:
            known = self.connections[key] = Connection()
        return known

    def forget(self, process: Process) -> None:
        """The process ended: its connections are final."""
        mine = process.key + "|"
        for key in [key for key in self.connections if key.startswith(mine)]:
            del self.connections[key]
        for key in [key for key in self.opening if key.startswith(mine)]:
            del self.opening[key]

    @staticmethod
    def _parties(resource: str, address: str | None) -> tuple[str, str | None, str | None]:
        protocol, _, ends = resource.partition(":")
        local, arrow, remote = ends.partition(">")
        if arrow:
            return protocol, (local if not local.startswith("?") else None), remote
        return protocol, (local if ":" in local else None), address
