"""What somebody would try who may only ask: each attempt through `capsule cypher` against both real engines.

Every attempt is made plainly and in every disguise. After each, nothing of a file that only the machine's user may read was
shown, no file was written, nobody connected to a listening port, and the store holds what it held.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import ladybug
import neo4j
import pytest
from typer.testing import CliRunner

from provenance import cli
from provenance.store import open_store
from tests import handmade
from tests.store.graphs import content
from tests.stores import Location, Locations

CANARY = "canary-5e8c1d"

READ_A_FILE = [
    "LOAD FROM '{secret}' (header=false) RETURN *",
    "LOAD WITH HEADERS (a STRING) FROM '{secret}' RETURN a",
    "LOAD CSV FROM 'file://{secret}' AS row RETURN row",
    "LOAD CSV WITH HEADERS FROM 'file:///../../../../../..{secret}' AS row RETURN row",
    "COPY Session FROM '{secret}'",
    "ATTACH '{secret}' AS other (dbtype sqlite)",
    "IMPORT DATABASE '{secret}'",
    "CALL apoc.load.csv('{secret}') YIELD list RETURN list",
    "CALL file_info('{secret}') RETURN *",
    "UNWIND ['{secret}'] AS f LOAD FROM f RETURN *",
]
WRITE_A_FILE = [
    "COPY (MATCH (n:Session) RETURN n.id) TO '{out}'",
    "COPY (MATCH (n:Session) RETURN n.id) TO '{out}' (header=true)",
    "EXPORT DATABASE '{out}'",
    "EXPORT DATABASE '{out}' (format='csv')",
    "CALL apoc.export.csv.all('{out}', {{}})",
    "ATTACH '{out}' AS other (dbtype lbug)",
    "CREATE GRAPH other",
]
REACH_THE_NETWORK = [
    "LOAD FROM 'http://127.0.0.1:{port}/a.csv' RETURN *",
    "LOAD CSV FROM 'http://127.0.0.1:{port}/a.csv' AS row RETURN row",
    "LOAD CSV FROM 'ftp://127.0.0.1:{port}/a.csv' AS row RETURN row",
    "INSTALL httpfs FROM 'http://127.0.0.1:{port}/'",
    "LOAD EXTENSION httpfs",
    "LOAD httpfs",
    "ATTACH 'http://127.0.0.1:{port}/' AS other (dbtype postgres)",
    "CALL apoc.load.json('http://127.0.0.1:{port}/') YIELD value RETURN value",
    "CALL genai.vector.encodeBatch(['x'], 'OpenAI', {{}}) YIELD index RETURN index",
    "RETURN genai.vector.encode('x', 'OpenAI', {{endpoint: 'http://127.0.0.1:{port}/'}})",
]
CHANGE_THE_GRAPH = [
    "CREATE (:Session {{id: 'session:new'}})",
    "MERGE (:Session {{id: 'session:new'}})",
    "MATCH (n:Session) SET n.name = 'changed'",
    "MATCH (n:Session) SET n += {{name: 'changed'}}",
    "MATCH (n:Artifact) REMOVE n.label",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n:Gap) DELETE n",
    "MATCH (n:Session) FOREACH (x IN [1] | SET n.name = 'changed')",
    "MATCH (n:Session) CALL (n) {{ SET n.name = 'changed' }} RETURN 1",
    "MATCH (n:Session) CALL {{ WITH n DELETE n }} IN TRANSACTIONS RETURN 1",
    "INSERT (:Session {{id: 'session:new'}})",
    "CALL apoc.cypher.doIt('MATCH (n) DETACH DELETE n', {{}}) YIELD value RETURN value",
    "CALL db.createLabel('New')",
    "RETURN nextval('x')",
]
CHANGE_THE_ENGINE = [
    "DROP TABLE Session",
    "DROP CONSTRAINT id_Session",
    "ALTER TABLE Session ADD x STRING",
    "CREATE NODE TABLE New (id STRING PRIMARY KEY)",
    "CREATE INDEX x FOR (n:Session) ON (n.name)",
    "CREATE MACRO f(x) AS x",
    "CREATE USER evil SET PASSWORD 'password'",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'password'",
    "CREATE DATABASE other",
    "STOP DATABASE neo4j",
    "USE system SHOW USERS",
    "SHOW TRANSACTIONS",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "CALL dbms.setConfigValue('x', 'y')",
    "CALL dbms.killQueries(['query-1'])",
    "CALL threads=1",
    "CALL checkpoint_threshold=1",
    "CHECKPOINT",
    "BEGIN TRANSACTION",
    "COMMIT",
    "PREPARE a AS RETURN 1",
    "PROFILE MATCH (n) RETURN n",
    "CYPHER runtime=slotted MATCH (n) DETACH DELETE n",
]
FAMILIES = {
    "read-a-file": READ_A_FILE,
    "write-a-file": WRITE_A_FILE,
    "reach-the-network": REACH_THE_NETWORK,
    "change-the-graph": CHANGE_THE_GRAPH,
    "change-the-engine": CHANGE_THE_ENGINE,
}


def disguises(text: str) -> Iterator[str]:
    """The attempt itself, and every way to hide it that we know."""
    first, _, rest = text.partition(" ")
    yield text
    yield text.lower() if "'" not in text else f"{first.lower()} {rest}"
    yield f"{first}/* a */ {rest}"
    yield f"{first}//\n{rest}"
    yield f"{first}\u00a0{rest}"
    yield f"{first}\u2003{rest}"
    yield f"\ufeff{text}"
    yield f"// harmless\r{text}"
    yield f"// harmless\u2028{text}"
    yield f"/* */{text}"
    yield f"/* /* */ {text} /* */"
    yield f"RETURN 1 AS a; {text}"
    yield f"RETURN 1 AS a;\n\n{text};"
    yield f"RETURN '\\'; ' AS a; {text}"
    yield f"RETURN '\\\\' AS a; {text} //'"
    yield f'RETURN "\'" AS a; {text} //"'
    yield f"RETURN '''' AS a; {text} //'"
    yield f"RETURN `a` AS `;`; {text} //`"
    yield f"RETURN '\\u0027 AS a; {text} //'"
    yield f"RETURN '/*' AS a; {text} //*/'"
    yield f"RETURN 1 AS a UNION {text}"
    yield f"RETURN 1 AS a UNION ALL {text}"
    yield f"MATCH (n:Session) WITH n {text}"
    yield f"MATCH (n:Session) RETURN n.id {text}"
    yield f"MATCH (n:Session) WHERE EXISTS {{ {text} }} RETURN n.id"
    yield f"CALL {{ {text} }} RETURN 1"
    yield f"EXPLAIN {text}"
    yield f"\\u{ord(text[0]):04x}{text[1:]}"
    yield f"\\U{ord(text[0]):08x}{text[1:]}"
    yield f"// \\u000a {text}"
    yield f"/* \\u002a\\u002f {text}"
    yield f"`{first}` {rest}"


@dataclass(frozen=True)
class Target:
    """A store of one engine, with what an attempt could reach."""

    location: Location
    secret: Path
    out: Path
    listener: socket.socket

    def connected(self) -> bool:
        self.listener.settimeout(0.001)
        with suppress(OSError):
            self.listener.accept()[0].close()
            return True
        return False

    def filled(self, text: str) -> str:
        port = self.listener.getsockname()[1]
        return text.format(secret=self.secret, out=self.out, port=port)


@pytest.fixture(scope="module", params=["embedded", "neo4j"])
def target(
    request: pytest.FixtureRequest, locations: Locations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("attempts")
    secret = folder / "secret.csv"
    secret.write_text(f"{CANARY},1\n{CANARY},2\n")
    lease = locations.servers().lease() if request.param == "neo4j" else None
    location = lease.location if lease else folder / "store"
    with open_store(location, write=True) as store:
        store.apply(handmade.changes(), {"weaver": b"x"})
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Target(location, secret, folder / "out", listener)
    if lease:
        locations.servers().release(lease)


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_read_written_reached_or_changed(target: Target, family: str) -> None:
    capsule = CliRunner(env={"CAPSULE_STORE": str(target.location), "NO_COLOR": "1", "TERM": "dumb"})
    with open_store(target.location) as store:
        before = content(store)
    tried = 0
    for attempt in FAMILIES[family]:
        for text in disguises(target.filled(attempt)):
            answer = capsule.invoke(cli.app, ["cypher", "--timeout", "5", text])
            tried += 1
            assert answer.exit_code in (2, 6), f"{text!r} ended with {answer.exit_code}: {answer.output}"
            assert CANARY not in answer.output, text
            assert not target.out.exists(), text
            assert not target.connected(), text
    assert tried >= 80
    with open_store(target.location) as store:
        assert content(store) == before
        assert store.state("weaver") == b"x"


# That it is the guard that holds them off: what the engines do by themselves with a database that is open for reading only.


def test_the_embedded_engine_reads_and_writes_files_in_a_database_open_for_reading(tmp_path: Path) -> None:
    ladybug.Database(str(tmp_path / "graph")).close()
    (tmp_path / "secret.csv").write_text(f"{CANARY},1\n")
    database = ladybug.Database(str(tmp_path / "graph"), read_only=True)
    connection = ladybug.Connection(database)
    found = connection.execute(f"LOAD FROM '{tmp_path}/secret.csv' (header=false) RETURN *")
    assert isinstance(found, ladybug.QueryResult)
    assert CANARY in str(found.get_next())
    connection.execute(f"COPY (RETURN 1) TO '{tmp_path}/out.csv'")
    assert (tmp_path / "out.csv").exists()
    connection.close()
    database.close()


def test_neo4j_reaches_the_network_in_a_transaction_that_only_reads(neo4j_location: str) -> None:
    user, password = neo4j_location.partition("//")[2].partition("@")[0].split(":")
    server = f"bolt://{neo4j_location.rpartition('@')[2]}"
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        neo4j.GraphDatabase.driver(server, auth=(user, password)) as driver,
        driver.session(default_access_mode=neo4j.READ_ACCESS) as session,
    ):
        listener.settimeout(20)
        reached = threading.Event()

        def serve() -> None:
            client, _ = listener.accept()
            client.recv(1_000)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\na,b\n")
            client.close()
            reached.set()

        threading.Thread(target=serve, daemon=True).start()
        port = listener.getsockname()[1]
        rows = session.run("LOAD CSV FROM $url AS row RETURN row", url=f"http://127.0.0.1:{port}/").values()
        assert rows == [[["a", "b"]]]
        assert reached.wait(5)


# Limits


ENDLESS = "MATCH (a:Artifact), (b:Artifact), (c:Artifact), (d:Artifact), (e:Artifact), (f:Artifact), (g:Artifact), (h:Artifact), (i:Artifact), (j:Artifact) WHERE a.id < b.id AND b.path > j.path AND c.id + d.id + e.id + f.id + g.id = h.id + i.id RETURN count(*)"


def test_a_query_without_end_is_stopped(target: Target) -> None:
    capsule = CliRunner(env={"CAPSULE_STORE": str(target.location), "NO_COLOR": "1", "TERM": "dumb"})
    answer = capsule.invoke(cli.app, ["cypher", "--timeout", "1", ENDLESS])
    assert answer.exit_code == 3
    assert "took longer than 1 s and was stopped" in answer.output
    assert capsule.invoke(cli.app, ["cypher", "MATCH (s:Session) RETURN s.id"]).exit_code == 0


def test_rows_beyond_the_limit_are_said_to_be_there(target: Target) -> None:
    capsule = CliRunner(env={"CAPSULE_STORE": str(target.location), "NO_COLOR": "1", "TERM": "dumb"})
    answer = capsule.invoke(cli.app, ["cypher", "-n", "2", "UNWIND range(1, 1000000) AS x RETURN x"])
    assert answer.exit_code == 0
    assert "there are more than the 2 rows shown" in answer.output
