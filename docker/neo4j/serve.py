"""A Neo4j server in the foreground, without containers: `python3 run.py neo4j`. Control-C stops it cleanly.

Listens on this machine only. The user is `neo4j`; the password is that in NEO4J_PASSWORD, else one that was generated on
the first start and is kept in the data folder's file `password`. Exit status: 0 when stopped, 2 for a wrong call, 3 where
the server cannot be started, 4 where it ended by itself.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import secrets
import signal
import socket
import sys
from pathlib import Path
from types import FrameType

import launch

HOST = "127.0.0.1"
SHORTEST_PASSWORD = 8  # Neo4j's own rule
NOT_STARTED, ENDED = 3, 4


class Stopped(BaseException):
    """The user or the system asked for the end."""


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py neo4j", description="Start a Neo4j server on this machine.")
    parser.add_argument("--port", type=int, default=7687, help="of Bolt (%(default)s); 0 is any free one")
    parser.add_argument(
        "--data", type=Path, default=launch.BUILD / "data", help="folder that keeps the data (%(default)s)"
    )
    parser.add_argument("--heap", default="512m", help="Java's memory (%(default)s)")
    parser.add_argument("--page-cache", default="128m", help="memory for the graph's pages (%(default)s)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="KEY=VALUE",
        help="any further Neo4j setting; repeatable",
    )
    return parser.parse_args(words)


def setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals) or "\n" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return name.strip(), value.strip()


def lock(data: Path) -> int:
    """A descriptor that holds the data folder, for this process and those it starts. Raises LaunchError."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = os.open(data / "in-use", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise launch.LaunchError(f"The data folder {data} cannot be written: {error.strerror}.") from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise launch.LaunchError(
            f"The data folder {data} is in use by another server: stop that, or give --data."
        ) from None
    return held


def password(data: Path) -> tuple[str, bool]:
    """The password, and whether the user gave it. Raises LaunchError."""
    given = os.environ.get("NEO4J_PASSWORD")
    if given is not None:
        if len(given) < SHORTEST_PASSWORD or not given.isprintable():
            raise launch.LaunchError(f"NEO4J_PASSWORD needs {SHORTEST_PASSWORD} printable characters or more.")
        return given, True
    kept = data / "password"
    if not kept.exists():
        with os.fdopen(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(18) + "\n")
    return kept.read_text().strip(), False


def check_port(port: int) -> None:
    """Raises LaunchError where another program listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no such port"
            raise launch.LaunchError(f"Port {port} cannot be used ({reason}): give another with --port.") from None


def serve(asked: argparse.Namespace) -> int:
    data: Path = asked.data.expanduser().resolve()
    held = lock(data)
    secret, given = password(data)
    check_port(asked.port)
    settings = {
        "server.bolt.listen_address": f"{HOST}:{asked.port}",
        "server.memory.pagecache.size": asked.page_cache,
    } | dict(asked.set)
    print("Starting Neo4j (the first time, Maven fetches about 120 MB) ...", file=sys.stderr, flush=True)
    (data / "logs").mkdir(exist_ok=True)
    servers = launch.Servers(data / "logs" / "java.log", heap=asked.heap, held=[held])
    try:
        port = servers.open(data, secret, settings)
        scheme = "neo4j" if settings.get("server.bolt.tls_level", "DISABLED") == "DISABLED" else "neo4j+s"
        user = "neo4j" if given else f"neo4j:{secret}"
        print(f"Neo4j listens on {HOST}:{port}; its data is in {data}. Control-C stops it.", file=sys.stderr)
        if given:
            print("With the same NEO4J_PASSWORD in the environment:", file=sys.stderr)
        print(f"capsule --store {scheme}://{user}@{HOST}:{port} status", flush=True)
        servers.process.wait()
        print(f"Neo4j ended by itself: see {servers.log}", file=sys.stderr)
        return ENDED
    except Stopped:
        print("Stopping ...", file=sys.stderr, flush=True)
        return 0
    finally:
        servers.stop()


def stop(signal_number: int, frame: FrameType | None) -> None:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)  # the stop takes a few seconds and is not to be broken off
    raise Stopped


def main(words: list[str]) -> int:
    asked = arguments(words)
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, stop)
    try:
        return serve(asked)
    except launch.LaunchError as error:
        print(error, file=sys.stderr)
        return NOT_STARTED
    except Stopped:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
