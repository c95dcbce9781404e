"""Every way in which a Neo4j server cannot be reached or does not let us in, and the words for it; TLS and routing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trustme
from neo4j import exceptions

from provenance.errors import StoreError
from provenance.store import address, open_store
from provenance.store.neo4j import connecting, failures
from tests.neo4j_servers import Lease, Pool, Server, require

HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture(scope="module")
def lease(locations: object) -> Iterator[Lease]:
    pool: Pool = locations.servers()  # type: ignore[attr-defined]
    lease = pool.lease()
    open_store(lease.location, write=True).close()
    yield lease
    pool.release(lease)


@contextmanager
def answering(words: bytes | None) -> Iterator[int]:
    """A port where something listens that is no Neo4j: it says these words, or keeps silent."""
    listener = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                held.append(client)
                if words is not None:
                    client.recv(1_000)
                    client.sendall(words)
                    client.close()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    for end in (listener, *held):
        end.close()


def said(location: str) -> str:
    with pytest.raises(StoreError) as raised:
        open_store(location)
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith(("bolt", "neo4j", "/"))
    return message


# Nothing there, or something else


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_nobody_listens(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "no server listens there (connection refused)" in said(f"{scheme}://127.0.0.1:{port}")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_no_machine_of_that_name(scheme: str) -> None:
    assert "there is no machine of that name" in said(f"{scheme}://no.such.machine.invalid")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
@pytest.mark.parametrize("words", [HTTP, b"SSH-2.0-OpenSSH_9\r\n", b"\x00\x00\x00\x00", b""])
def test_something_that_does_not_speak_bolt(scheme: str, words: bytes) -> None:
    with answering(words) as port:
        assert "does not speak Bolt, or only under TLS (a scheme with +s): 7687 is" in said(
            f"{scheme}://127.0.0.1:{port}"
        )


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_something_that_keeps_silent(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "CONNECT", 0.5)
    with answering(None) as port:
        assert "does not answer (timed out)" in said(f"{scheme}://127.0.0.1:{port}")


# Not let in


def test_a_wrong_password(lease: Lease) -> None:
    message = said(f"bolt://neo4j:not-this-one@127.0.0.1:{lease.port}")
    assert "does not let in user 'neo4j' with a password: set NEO4J_USERNAME and NEO4J_PASSWORD" in message
    assert "not-this-one" not in message


def test_no_user(lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEO4J_USERNAME", "NEO4J_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    assert "does not let in no user name with no password" in said(f"bolt://127.0.0.1:{lease.port}")


def test_too_many_wrong_passwords(neo4j_servers: Pool) -> None:
    lease = neo4j_servers.lease()
    messages = [said(f"bolt://neo4j:wrong-{number}@127.0.0.1:{lease.port}") for number in range(6)]
    assert "refuses to listen for a while after too many wrong passwords" in messages[-1]
    # Not given back: it lets nobody in for a while.


def test_no_such_database(lease: Lease) -> None:
    assert "has no database 'elsewhere'" in said(f"{lease.location}/elsewhere")


def test_a_database_by_its_name(lease: Lease) -> None:
    with open_store(f"{lease.location}/neo4j") as store:
        assert store.counts() == {}


def test_a_database_that_was_stopped(lease: Lease) -> None:
    """Community cannot stop one; its system database is one that cannot hold a store."""
    assert "system" in said(f"{lease.location}/system")


# TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory, authority: trustme.CA) -> Iterator[Server]:
    """A server that speaks TLS only, with a certificate for `localhost`."""
    require()
    folder = tmp_path_factory.mktemp("tls")
    issued = authority.issue_cert("localhost")
    (folder / "private.key").write_bytes(issued.private_key_pem.bytes())
    (folder / "public.crt").write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
    tls = {
        "server.bolt.tls_level": "REQUIRED",
        "dbms.ssl.policy.bolt.enabled": "true",
        "dbms.ssl.policy.bolt.base_directory": str(folder),
        "server.bolt.advertised_address": "localhost",
    }
    with Server(folder, tls) as server:
        open_store(_at(server, "bolt+ssc", "localhost"), write=True).close()
        yield server


def _at(server: Server, scheme: str, host: str, more: str = "") -> str:
    return f"{scheme}://{server.lease.user}:{server.lease.password}@{host}:{server.lease.port}{more}"


def test_an_authority_from_a_file_is_trusted(secured: Server, authority: trustme.CA, tmp_path: Path) -> None:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    for scheme in ("bolt+s", "bolt"):
        with open_store(_at(secured, scheme, "localhost", f"?ca={tmp_path}/ca.pem")) as store:
            assert store.counts() == {}


def test_an_unknown_authority_is_not_trusted(secured: Server, tmp_path: Path) -> None:
    message = said(_at(secured, "bolt+s", "localhost"))
    assert "shows a certificate that cannot be trusted: name its authority's file with ?ca=FILE" in message
    assert "bolt+ssc://" in message
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")
    message = said(_at(secured, "bolt+s", "localhost", f"?ca={tmp_path}/other.pem"))
    assert "shows a certificate that cannot be trusted" in message


def test_a_certificate_for_another_name_is_not_trusted(secured: Server, authority: trustme.CA, tmp_path: Path) -> None:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    assert "cannot be trusted" in said(_at(secured, "bolt+s", "127.0.0.1", f"?ca={tmp_path}/ca.pem"))


def test_an_authority_file_that_cannot_be_read(secured: Server, tmp_path: Path) -> None:
    assert "none.pem" in said(_at(secured, "bolt+s", "localhost", f"?ca={tmp_path}/none.pem"))
    (tmp_path / "bad.pem").write_text("no certificate")
    assert "bad.pem" in said(_at(secured, "bolt+s", "localhost", f"?ca={tmp_path}/bad.pem"))


def test_plain_where_tls_is_asked_for_and_tls_where_plain_is(secured: Server, lease: Lease) -> None:
    assert "or only under TLS (a scheme with +s)" in said(_at(secured, "bolt", "localhost"))
    assert "try the scheme with or without +s" in said(
        f"bolt+ssc://{lease.user}:{lease.password}@127.0.0.1:{lease.port}"
    )


# Routing


def test_one_server_routes_to_itself(lease: Lease) -> None:
    with open_store(lease.location.replace("bolt://", "neo4j://")) as store:
        assert store.counts() == {}


def test_a_server_that_answers_but_gives_no_routing_table_is_said() -> None:
    """Behind a tunnel, a cluster's own addresses cannot be reached. One Community server cannot be brought to that."""
    lost = exceptions.ServiceUnavailable("Unable to retrieve routing information")
    message = str(failures.of_store(lost, address.parse("neo4j://h", {}, Path("/none"))))
    assert message.startswith("neo4j://h:7687 gives no routing table")
    assert "use bolt:// in place of neo4j://" in message


# Restarts


def test_a_writer_and_a_reader_go_on_when_the_server_was_killed_and_came_back(tmp_path: Path) -> None:
    from tests.store.test_neo4j import commit

    require()
    with (
        Server(tmp_path) as server,
        open_store(server.location, write=True) as store,
        open_store(server.location) as reader,
    ):
        for number in range(5):
            store.apply(commit(number), {"number": str(number).encode()})
        server.kill()
        back = threading.Thread(target=server.start)
        back.start()
        for number in range(5, 10):
            store.apply(commit(number), {"number": str(number).encode()})
        back.join()
        for seen in (store, reader):
            assert seen.state("number") == b"9"
            assert seen.counts() == {"Process": 10, "Artifact": 10, "USED": 10}
