"""A TCP proxy in front of a server, which cuts connections: when told, or just before the answer to a commit."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""Bolt's COMMIT: a chunk of two bytes, a structure without fields and with the tag 0x12."""


class Proxy:
    """Listens on a port of its own as long as the `with` lasts."""

    def __init__(self, port: int) -> None:
        """In front of a port on loopback."""
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.lose_commit_answers = 0
        """So many of the answers to coming commits are lost, each with its connection."""
        self.cuts = 0
        """Connections cut so far."""
        self._mutex = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends every connection in the middle of whatever it carries."""
        with self._mutex:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            self._end(pair)

    def _end(self, pair: tuple[socket.socket, socket.socket]) -> None:
        self.cuts += 1
        for end in pair:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
            except OSError:
                return
            pair = (client, server)
            for end in pair:
                end.setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
                )  # else each answer waits 40 ms for the next one
            with self._mutex:
                self._pairs.append(pair)
            loses = threading.Event()
            threading.Thread(target=self._forward, args=(pair, loses), daemon=True).start()
            threading.Thread(target=self._answer, args=(pair, loses), daemon=True).start()

    def _forward(self, pair: tuple[socket.socket, socket.socket], loses: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := pair[0].recv(65_536):
                if data.endswith(COMMIT) and self.lose_commit_answers:
                    self.lose_commit_answers -= 1
                    loses.set()
                pair[1].sendall(data)
            pair[1].shutdown(socket.SHUT_WR)

    def _answer(self, pair: tuple[socket.socket, socket.socket], loses: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := pair[1].recv(65_536):
                if loses.is_set():
                    self._end(pair)
                    return
                pair[0].sendall(data)
            pair[0].shutdown(socket.SHUT_WR)

    def __enter__(self) -> Proxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self._listener.close()
        self.cut()
