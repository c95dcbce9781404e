"""The questions the recordings were made for, asked through slices: what was sent, and what broke the build."""

from __future__ import annotations

import pytest

from provenance import schema
from provenance.comparison import input_difference
from provenance.resolve import resolve
from provenance.slices import why
from tests.ingested import Ingested, ingested, recording

WORKSPACE = "/home/agent/ws/"
DECISION = (schema.Flow.CONTENT, schema.Flow.ARGUMENT, schema.Flow.DECISION)


def files(run: Ingested, target: str, *flows: schema.Flow) -> set[str]:
    """Workspace files in the backward slice of a target."""
    slice_ = why(run.store, resolve(run.store, target).ids, flows=flows or (schema.Flow.CONTENT,))
    paths = {str(fields.get("path") or "") for fields in run.store.nodes(slice_.nodes).values()}
    return {path.removeprefix(WORKSPACE) for path in paths if path.startswith(WORKSPACE)}


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("codex-egress-public", {"README.md", "upload.txt"}),
        ("codex-egress-overwritten", {"README.md", "upload.txt"}),
        ("codex-egress-public-python", {"README.md", "upload.txt"}),
        ("codex-egress-secret-cp", {".env", "upload.txt"}),
        ("codex-egress-secret-sendfile", {".env", "upload.txt"}),
        ("codex-egress-secret-pipe", {".env"}),
        ("codex-egress-secret-python", {".env", "upload.txt"}),
        ("codex-egress-secret-typed", set[str]()),
    ],
)
def test_what_was_sent(name: str, sent: set[str]) -> None:
    """Content reaches just what was sent, though `.env` was opened in every one of these runs."""
    assert files(ingested(recording(name)), "127.0.0.1:18090") == sent


def test_overwritten_upload_is_its_second_version() -> None:
    run = ingested(recording("codex-egress-overwritten"))
    slice_ = why(run.store, resolve(run.store, "127.0.0.1:18090").ids)
    versions = [run.store.nodes([node])[node]["version"] for node in slice_.nodes if "upload.txt" in node]
    assert versions == [2]


def test_a_secret_typed_by_the_model_is_reached_by_decision_only() -> None:
    """`cat .env`, read by the model, typed into a command line: within the bytes that the model saw of it."""
    run = ingested(recording("codex-egress-secret-typed"))
    assert ".env" in files(run, "127.0.0.1:18090", *DECISION)
    slice_ = why(run.store, resolve(run.store, "127.0.0.1:18090").ids, flows=DECISION)
    secret = next(origin for origin in slice_.origins if "/.env@" in origin)
    assert 0 < slice_.bounds[secret] <= 38


def test_the_models_upload_of_public_text_was_not_decided_by_a_secret_in_the_overwritten_run() -> None:
    assert ".env" not in files(ingested(recording("codex-egress-overwritten")), "127.0.0.1:18090", *DECISION)


@pytest.mark.parametrize(
    ("name", "path", "versions"),
    [("claude-build-break-source", "src/app.py", (1, 2)), ("claude-build-break-environment", "build.env", (0, 1))],
)
def test_what_broke_the_build(name: str, path: str, versions: tuple[int, int]) -> None:
    """Exactly the input whose version differs and that the first failing process was reached by."""
    run = ingested(recording(name))
    (call,) = [
        row[0]
        for row in run.rows("MATCH (c:ToolCall) WHERE c.action = 'shell' AND c.status = 'failed' RETURN c.id AS id")
    ]
    difference = input_difference(run.store, call)
    assert [(cause.path, cause.before, cause.now) for cause in difference.causes] == [(WORKSPACE + path, *versions)]


def test_content_never_passes_through_the_agents_memory() -> None:
    """What the agent wrote leads to the call that wrote it, not to all that the agent had read."""
    run = ingested(recording("claude-build-break-source"))
    assert files(run, "src/app.py@2") == {
        "src/app.py",
        *{path for path in files(run, "src/app.py@2") if ".tmp." in path},
    }
    assert ".env" not in files(run, "src/app.py@2")
