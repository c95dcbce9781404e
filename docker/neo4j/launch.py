"""Gets the Neo4j server from Maven Central and runs it in a Java process. Standard library only.

The class path and the compiled `Server.java` are kept under `build/neo4j/`, by the digest of `pom.xml` and `Server.java`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import queue
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build" / "neo4j"
OLDEST_JAVA = 17
START_SECONDS = 180.0
DEBIAN = "On Debian and Ubuntu: apt-get install default-jdk-headless maven."
JAVA_OPTIONS = (
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
SETTINGS = {
    "server.bolt.enabled": "true",
    "server.http.enabled": "false",
    "server.https.enabled": "false",
    "server.default_listen_address": "127.0.0.1",
    "server.default_advertised_address": "127.0.0.1",
    "dbms.security.auth_enabled": "true",
    "dbms.usage_report.enabled": "false",  # tells nothing to the network
    "db.tx_log.preallocate": "false",  # else 256 MB for each database
    "db.tx_log.rotation.retention_policy": "100M size",
    "internal.server.bolt.thread_pool_shutdown_wait_time": "500ms",  # databases are closed by then; else 10 s a server
}
"""What every server has, unless told otherwise."""


class LaunchError(Exception):
    """The server cannot be started, in words for the user."""


class Unavailable(LaunchError):
    """Java, its compiler or Maven is not installed or too old, or Maven Central cannot be reached."""


def java_program(name: str) -> Path:
    """`java` or `javac`: of JAVA_HOME, else the one on the path. Raises Unavailable."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=str(Path(home, "bin"))) if home else shutil.which(name)
    if found is None:
        where = f"JAVA_HOME ({home})" if home else "the PATH"
        what = "Java" if name == "java" else "This Java is a runtime without compiler: javac"
        raise Unavailable(f"{what} is not in {where}. Neo4j needs a JDK, {OLDEST_JAVA} or newer. {DEBIAN}")
    return Path(found)


def java() -> Path:
    """The Java to run, new enough. Raises Unavailable."""
    program = java_program("java")
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is None:
        raise Unavailable(f"{program} does not tell its version: {said.strip() or 'it says nothing'}")
    if int(version[1]) < OLDEST_JAVA:
        raise Unavailable(f"{program} is Java {version[1]}; Neo4j needs {OLDEST_JAVA} or newer. {DEBIAN}")
    return program


def class_path() -> str:
    """Of the server, fetched and compiled where that was not done before. Raises LaunchError."""
    sources = [HERE / "pom.xml", HERE / "Server.java"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    folder = BUILD / f"server-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)  # two at once: the second waits, then finds the work done
        jars = _jars(folder)
        if not (folder / "Server.class").exists():
            _compile(folder, jars)
    finally:
        os.close(place)
    return f"{folder}{os.pathsep}{jars}"


def _jars(folder: Path) -> str:
    kept = folder / "class-path"
    if kept.exists() and all(Path(jar).exists() for jar in kept.read_text().split(os.pathsep)):
        return kept.read_text()
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable(f"Maven (mvn) is not on the PATH: it fetches Neo4j from Maven Central, once. {DEBIAN}")
    fetched = folder / "class-path.new"
    goal = ("dependency:build-classpath", f"-Dmdep.outputFile={fetched}", "-Dmdep.includeScope=runtime")
    command = (maven, "--quiet", "--batch-mode", "--no-transfer-progress", "--file", str(HERE / "pom.xml"), *goal)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode or not fetched.exists():
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[:6])
        raise Unavailable(f"Maven could not fetch Neo4j; it needs a connection to Maven Central. It says:\n{said}")
    fetched.rename(kept)
    return kept.read_text()


def _compile(folder: Path, jars: str) -> None:
    command = (java_program("javac"), "--release", str(OLDEST_JAVA), "-proc:none", "-cp", jars, "-d", folder)
    done = subprocess.run([*command, HERE / "Server.java"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LaunchError(f"Server.java did not compile:\n{done.stderr.strip()}")


class Servers:
    """One Java process with any number of Neo4j servers in it, each with a home folder of its own.

    The process ends with the one that started it, however that ends: it watches its input.
    """

    def __init__(self, log: Path, *, heap: str = "512m", options: Sequence[str] = (), held: Sequence[int] = ()) -> None:
        """Starts Java; what it prints beside answers goes to the log. Held descriptors stay open as long as it runs.

        Raises LaunchError.
        """
        self.log = log
        command = (java(), f"-Xmx{heap}", *JAVA_OPTIONS, *options, "-cp", class_path(), "Server")
        with log.open("ab") as printed:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=printed,
                text=True,
                encoding="utf-8",
                pass_fds=held,
                start_new_session=True,  # Control-C is for its parent, which then stops it
            )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(line.rstrip("\n"))
        self._answers.put(f"failed\tJava ended; see {self.log}")

    def open(self, home: Path, password: str, settings: Mapping[str, str]) -> int:
        """Starts a server on a new or a known home folder and gives its Bolt port. Raises LaunchError."""
        conf = home / "conf"
        conf.mkdir(parents=True, exist_ok=True)
        lines = [f"{name}={value}".replace("\\", "\\\\") for name, value in (SETTINGS | dict(settings)).items()]
        (conf / "neo4j.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return int(self._ask("open", str(home), password))

    def close(self, home: Path) -> None:
        """Stops a server cleanly. Raises LaunchError."""
        self._ask("close", str(home))

    def _ask(self, *words: str) -> str:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write("\t".join(words) + "\n")
            self.process.stdin.flush()
            answer = self._answers.get(timeout=START_SECONDS)
        except BrokenPipeError:
            answer = f"failed\tJava has ended; see {self.log}"
        except queue.Empty:
            answer = f"failed\tno answer in {START_SECONDS:.0f} seconds; see {self.log}"
        status, _, rest = answer.partition("\t")
        if status == "failed":
            raise LaunchError(rest)
        return rest

    def stop(self, seconds: float = 60.0) -> None:
        """Stops all servers cleanly and ends Java; kills it where that takes longer."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
            self.process.wait(seconds)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.kill()

    def kill(self) -> None:
        """Ends Java at once, as a crash would."""
        self.process.kill()
        self.process.wait()
