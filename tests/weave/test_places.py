"""What paths say."""

from __future__ import annotations

import pytest

from provenance.weave.places import place


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/w/.env", "secret"),
        ("/w/.env.production", "secret"),
        ("/w/.env.example", None),
        ("/home/a/.ssh/id_ed25519", "secret"),
        ("/home/a/.ssh/id_ed25519.pub", "protected"),
        ("/home/a/.aws/credentials", "secret"),
        ("/w/server.pem", "secret"),
        ("/etc/ssl/certs/site-ca.pem", "toolchain"),
        ("/etc/ssl/private/site.pem", "secret"),
        ("/usr/lib/python3.11/os.py", "toolchain"),
        ("/w/.venv/lib/python3.11/site-packages/x.py", "toolchain"),
        ("/w/src/app.py", None),
        ("/w/environment.py", None),
        ("/usr/src/app/main.c", None),
        ("/home/a/.codex/sessions/x.jsonl", "agent_state"),
        ("/tmp/claude-1a2b-cwd", "agent_state"),
        ("/tmp/cc1.s", "temporary"),
        ("/w/.git/hooks/pre-commit", "protected"),
        ("/etc/sudoers", "protected"),
        ("/proc/self/maps", "toolchain"),
    ],
)
def test_labels(path: str, label: str | None) -> None:
    assert place(path).label == label
