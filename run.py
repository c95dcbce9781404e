#!/usr/bin/env python3
"""Sets this checkout up and runs a job in it: `python3 run.py demo`, `python3 run.py test [PYTEST ARGUMENTS]`.

Needs Python 3.11 or newer and nothing beside it. The first run makes `.venv` next to this file and installs the project
into it; later runs reuse it as long as `pyproject.toml` and the folder's place are the same. Works from any current folder.
Exit status: the job's own; 2 for a wrong call; 3 where the set-up fails.
"""

import fcntl
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - checked before anything below needs it; this file parses from 3.6 on
    sys.stderr.write(
        "run.py needs Python 3.11 or newer; this is {}.{} ({}).\n"
        "Start it with a newer one, for example: python3.12 run.py demo\n".format(*sys.version_info[:2], sys.executable)
    )
    sys.exit(3)

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "set-up-by-run.py"
SETUP_FAILED = 3
NO_VENV = """\
This Python ({python}) cannot make virtual environments: its ensurepip module is missing.
On Debian and Ubuntu, install the package python3-venv (apt-get install python3-venv), then run this again.
"""
DEMO_RECORDING = ROOT / "tests" / "data" / "recordings" / "codex-egress-public"
DEMO_STORE = ROOT / "build" / "demo-store"
DEMO_ENDPOINT = "127.0.0.1:18090"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def environment() -> dict[str, str]:
    """The caller's, without what would lead pip or Python away from `.venv`."""
    led_away = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "__PYVENV_LAUNCHER__")
    return {name: value for name, value in os.environ.items() if name not in led_away} | {"PYTHONNOUSERSITE": "1"}


def run(*command: object) -> int:
    return subprocess.run([str(word) for word in command], cwd=ROOT, env=environment(), check=False).returncode


def set_up(extra: str) -> None:
    """Makes `.venv` hold the project with its extra, `test` or `dev` (which has `test` in it)."""
    place = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)  # two runs at once: the second waits, then finds the work done
        _set_up(extra)
    finally:
        os.close(place)


def _set_up(extra: str) -> None:
    content = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    stamp = STAMP.read_text().splitlines() if STAMP.exists() and PYTHON.exists() else []
    at_home = stamp[:1] == [str(ROOT)]
    if at_home and stamp[1] == content and stamp[2] in (extra, "dev"):
        return
    if at_home and stamp[2] == "dev":
        extra = "dev"
    moved = bool(stamp) and not at_home
    if moved or not _usable():
        _make_environment()
    say(f"Installing evidence-capsule and what it needs into {VENV} (the first time takes a minute or two) ...")
    STAMP.unlink(missing_ok=True)
    if run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", f".[{extra}]"):
        say("The installation failed: see pip's message above. It needs a connection to a package index.")
        sys.exit(SETUP_FAILED)
    STAMP.write_text("\n".join((str(ROOT), content, extra)) + "\n")


def _usable() -> bool:
    """Whether `.venv` has a Python that is new enough and a pip that starts."""
    if not PYTHON.exists():
        return False
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11) or sys.prefix == sys.base_prefix)"
    return subprocess.run([PYTHON, "-c", probe], env=environment(), capture_output=True, check=False).returncode == 0


def _make_environment() -> None:
    if importlib.util.find_spec("ensurepip") is None:
        sys.stderr.write(NO_VENV.format(python=sys.executable))
        sys.exit(SETUP_FAILED)
    say(f"Making {VENV} with Python {sys.version.split()[0]} ...")
    if run(sys.executable, "-m", "venv", "--clear", VENV):
        say("The virtual environment could not be made: see the message above.")
        sys.exit(SETUP_FAILED)


# ----------------------------------------------------------------------------------------------------------------------
# Jobs


def demo(arguments: list[str]) -> int:
    """Takes in one real recording of an agent and asks what an upload was made of."""
    del arguments
    shutil.rmtree(DEMO_STORE, ignore_errors=True)
    DEMO_STORE.parent.mkdir(exist_ok=True)
    say(f"Taking in a real run of an agent, what it said and what the machine saw: {DEMO_RECORDING.relative_to(ROOT)}")
    capsule = (VENV / "bin" / "capsule", "--store", DEMO_STORE)
    status = run(*capsule, "ingest", DEMO_RECORDING)
    if status:
        return status
    print(f"\nThe agent posted something to {DEMO_ENDPOINT}. What was it made of?\n", flush=True)
    status = run(*capsule, "why", DEMO_ENDPOINT)
    prefix = shlex.join([os.path.relpath(capsule[0]), "--store", os.path.relpath(DEMO_STORE)])
    print("\nNext:")
    for question in ("sessions", "impact README.md", "query audit/destinations"):
        print(f"  {prefix} {question}")
    return status


def test(arguments: list[str]) -> int:
    return run(PYTHON, "-m", "pytest", *arguments)


def neo4j(arguments: list[str]) -> int:
    """Becomes the server, so that signals reach it and paths are the caller's."""
    os.execv(sys.executable, [sys.executable, str(ROOT / "docker" / "neo4j" / "serve.py"), *arguments])


def lint(arguments: list[str]) -> int:
    return run(PYTHON, "-m", "ruff", "check", *arguments) or run(PYTHON, "-m", "ruff", "format", "--check", *arguments)


def types(arguments: list[str]) -> int:
    return run(PYTHON, "-m", "pyright", *arguments)


def docs(arguments: list[str]) -> int:
    return run(PYTHON, "-m", "pytest", "-q", "tests/test_docs.py", *arguments)


def check(arguments: list[str]) -> int:
    return lint([]) or types([]) or test(arguments)


JOBS = {
    "demo": (demo, "test", "take in a bundled recording and ask it a question"),
    "test": (test, "test", "run the tests; further words go to pytest"),
    "neo4j": (neo4j, None, "start a Neo4j server on this machine; needs a JDK and Maven, nothing of the set-up"),
    "lint": (lint, "dev", "ruff: rules and format"),
    "types": (types, "dev", "pyright"),
    "docs": (docs, "test", "check that the documentation fits the program"),
    "check": (check, "dev", "lint, types and all tests"),
}


def main(words: list[str]) -> int:
    if not words or words[0] not in JOBS:
        asked_for_help = bool(words) and words[0] in ("-h", "--help", "help")
        lines = ["usage: python3 run.py JOB [ARGUMENTS]", ""]
        lines += [f"  {name:6} {about}" for name, (_, _, about) in JOBS.items()]
        print("\n".join(lines), file=sys.stdout if asked_for_help else sys.stderr)
        return 0 if asked_for_help else 2
    job, extra, _ = JOBS[words[0]]
    if extra is not None:
        set_up(extra)
    return job(words[1:])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
