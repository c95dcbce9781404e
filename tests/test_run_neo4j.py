"""`run.py neo4j`, the server that users start, and the compose file, its twin in containers."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import neo4j
import pytest
import yaml
from neo4j.exceptions import AuthError

from tests.neo4j_servers import require
from tests.shared import ROOT

RUN = (sys.executable, ROOT / "run.py", "neo4j")


def environment(**changed: str | None) -> dict[str, str]:
    values = {**os.environ, "NEO4J_PASSWORD": None, **changed}
    return {name: value for name, value in values.items() if value is not None}


@contextmanager
def served(data: Path, *words: str, end: int = signal.SIGINT, password: str | None = None) -> Iterator[str]:
    """The store URI that it prints; on leaving, the signal must end it cleanly."""
    command = [*RUN, "--port", "0", "--data", data, "--page-cache", "16m", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(NEO4J_PASSWORD=password)
    ) as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            assert line.startswith("capsule --store "), server.communicate()
            yield line.split()[2]
            server.send_signal(end)
            assert server.wait(60) == 0
        finally:
            server.kill()


def signed_in(uri: str, password: str | None = None) -> neo4j.Driver:
    found = re.fullmatch(r"(\S+)://neo4j(?::(\S+))?@(\S+)", uri)
    assert found, uri
    return neo4j.GraphDatabase.driver(f"{found[1]}://{found[3]}", auth=("neo4j", password or found[2]))


def test_data_stays_and_the_password_follows_the_environment(tmp_path: Path) -> None:
    require()
    with served(tmp_path / "data") as uri, signed_in(uri) as driver:
        driver.execute_query("CREATE (:Test {name: 'kept'})")
        kept = tmp_path / "data" / "password"
        assert kept.read_text().strip() in uri
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
        again = subprocess.run([*RUN, "--port", "0", "--data", tmp_path / "data"], capture_output=True, text=True)
        assert again.returncode == 3
        assert "in use" in again.stderr
    with served(tmp_path / "data", end=signal.SIGTERM, password="of the user") as uri:
        assert "of the user" not in uri
        with signed_in(uri, "of the user") as driver:
            assert driver.execute_query("MATCH (n:Test) RETURN n.name AS name").records[0]["name"] == "kept"
        with pytest.raises(AuthError), signed_in(uri, kept.read_text().strip()) as driver:
            driver.verify_connectivity()


def test_a_killed_parent_leaves_no_server_and_no_damage(tmp_path: Path) -> None:
    require()
    command = [*RUN, "--port", "0", "--data", tmp_path / "data"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as server:
        assert server.stdout is not None
        uri = server.stdout.readline().split()[2]
        with signed_in(uri) as driver:
            driver.execute_query("CREATE (:Test)")
        server.kill()
    with (tmp_path / "data" / "in-use").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # free once Java has ended, too; else the test runs into its time limit
    with served(tmp_path / "data") as uri, signed_in(uri) as driver:
        assert driver.execute_query("MATCH (n:Test) RETURN count(n) AS n").records[0]["n"] == 1


@pytest.mark.parametrize("password", ["-begins-like-an-option", "@begins-like-a-file", '"quoted" \\ words'])
def test_any_password_can_be_the_first(tmp_path: Path, password: str) -> None:
    require()
    with served(tmp_path, password=password) as uri, signed_in(uri, password) as driver:
        driver.verify_connectivity()


def test_settings_reach_the_server(tmp_path: Path) -> None:
    require()
    with served(tmp_path, "--set", "db.transaction.timeout=77s") as uri, signed_in(uri) as driver:
        shown = driver.execute_query("SHOW SETTINGS 'db.transaction.timeout' YIELD value").records
        assert [row["value"] for row in shown] == ["1m17s"]


@pytest.mark.parametrize(
    ("words", "changed", "status", "said"),
    [
        (("--set", "nothing"), {}, 2, "KEY=VALUE"),
        (("--port", "70000"), {}, 3, "Port 70000"),
        ((), {"NEO4J_PASSWORD": "short"}, 3, "8 printable characters"),
        ((), {"JAVA_HOME": "/none"}, 3, "JAVA_HOME (/none)"),
        ((), {"JAVA_HOME": None, "PATH": "/none"}, 3, "JDK, 17 or newer"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, words: tuple[str, ...], changed: dict[str, str | None], status: int, said: str
) -> None:
    command = [*RUN, *(words or ("--port", "0")), "--data", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(**changed))
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*RUN, "--port", str(port), "--data", tmp_path]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert done.returncode == 3
    assert f"Port {port} cannot be used" in done.stderr


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'openjdk version \"11.0.2\" 2019' >&2", "is Java 11"),
        ("echo 'java version \"1.8.0_392\"' >&2", "is Java 8"),
        ("exit 1", "does not tell its version"),
    ],
)
def test_an_unfit_java_is_said(tmp_path: Path, script: str, said: str) -> None:
    program = tmp_path / "jdk" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    command = [*RUN, "--port", "0", "--data", tmp_path / "data"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(JAVA_HOME=str(tmp_path / "jdk")))
    assert done.returncode == 3
    assert said in done.stderr


# ----------------------------------------------------------------------------------------------------------------------
# The compose file


def composed() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())


def test_the_image_is_of_the_series_that_the_tests_run() -> None:
    pom = ElementTree.parse(ROOT / "docker" / "neo4j" / "pom.xml")
    tested = pom.findtext("{*}properties/{*}neo4j.version")
    image = re.fullmatch(r"neo4j:([\d.]+)-community", composed()["services"]["neo4j"]["image"])
    assert tested and image
    assert f"{tested}.".startswith(f"{image[1]}.")


def test_the_command_waits_for_a_healthy_server() -> None:
    services = composed()["services"]
    assert "cypher-shell" in services["neo4j"]["healthcheck"]["test"][1]
    assert services["capsule"]["depends_on"] == {"neo4j": {"condition": "service_healthy"}}
    assert (ROOT / "docker" / services["capsule"]["build"]["context"] / "docker" / "Dockerfile").is_file()


def test_the_server_is_reached_from_this_machine_only_and_keeps_its_data() -> None:
    made = composed()
    for service in made["services"].values():
        assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", []))
    volume, _, inside = made["services"]["neo4j"]["volumes"][0].partition(":")
    assert inside == "/data"
    assert volume in made["volumes"]


def test_no_password_is_written_down() -> None:
    settings = [value for service in composed()["services"].values() for value in service["environment"].items()]
    secret = [value for name, value in settings if re.search("AUTH|PASSWORD", name)]
    assert len(secret) == 2
    assert all(re.fullmatch(r"(neo4j/)?\$\{NEO4J_PASSWORD:\?[^}]+\}", value) for value in secret)


def test_docker_reads_the_compose_file() -> None:
    if (
        shutil.which("docker") is None
        or subprocess.run(["docker", "compose", "version"], capture_output=True).returncode
    ):
        pytest.skip("docker compose is not here")
    command = ["docker", "compose", "-f", ROOT / "docker" / "compose.yaml", "config", "--quiet"]
    without = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert "NEO4J_PASSWORD" in without.stderr
    assert subprocess.run(command, env=environment(NEO4J_PASSWORD="of the user")).returncode == 0
