"""The real agent programs, run now against a scripted model, traced, ingested and asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from provenance.resolve import resolve
from provenance.slices import why
from tests.ingested import Ingested, ingested

ROOT = Path(__file__).resolve().parent.parent
WORKSPACE = "/home/agent/ws/"

pytestmark = pytest.mark.agents


@pytest.fixture(scope="module")
def agents() -> Path:
    """The folder that npm installed the agents into; skipped, visibly, where there is none or strace is missing."""
    prefix = os.environ.get("CAPSULE_AGENTS")
    if not prefix or not (Path(prefix) / "node_modules" / ".bin" / "codex").exists():
        pytest.skip("no agent programs: CAPSULE_AGENTS names no npm prefix that has them")
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    if (
        shutil.which("unshare") is None
        or subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"]).returncode
    ):
        pytest.skip("no namespaces may be made here")
    return Path(prefix)


def recorded(scenario: str, agents: Path, out: Path) -> Ingested:
    command = [sys.executable, "-m", "tests.rig.record", scenario, str(out), "--agents", str(agents)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return ingested(out / scenario)


def test_codex_run_now(agents: Path, tmp_path: Path) -> None:
    run = recorded("codex-egress-secret-cp", agents, tmp_path)
    slice_ = why(run.store, resolve(run.store, "127.0.0.1:18090").ids)
    paths = {str(fields.get("path") or "") for fields in run.store.nodes(slice_.nodes).values()}
    assert {path.removeprefix(WORKSPACE) for path in paths if path.startswith(WORKSPACE)} == {".env", "upload.txt"}
    assert run.value("MATCH (c:ToolCall) RETURN count(*) AS n") == run.truth["counts"]["tool_calls"]
    assert run.summary.unmatched == 0


def test_claude_run_now(agents: Path, tmp_path: Path) -> None:
    run = recorded("claude-build-break-environment", agents, tmp_path)
    assert run.value("MATCH (c:ToolCall) RETURN count(*) AS n") == run.truth["counts"]["tool_calls"]
    assert run.summary.unmatched == 0
    failed = run.rows("MATCH (c:ToolCall) WHERE c.action = 'shell' AND c.status = 'failed' RETURN c.id AS id")
    assert len(failed) == 1
