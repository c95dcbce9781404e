"""Where the data lies that tests use and the project does not contain."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_folder() -> Path:
    """The folder with `recordings/` and `real/`: CAPSULE_SHARED, else `../shared` beside the repository."""
    return Path(os.environ.get("CAPSULE_SHARED") or ROOT.parent / "shared")


def shared(*parts: str) -> Path:
    """A path in it; the test is skipped, visibly, where it is absent."""
    path = shared_folder().joinpath(*parts)
    if not path.exists():
        pytest.skip(f"shared test data absent: {'/'.join(parts)} (set CAPSULE_SHARED)")
    return path


def shared_files(*patterns: str) -> list[Path]:
    """Files that match a pattern, relative to the shared folder; none where it is absent (for parametrising)."""
    folder = shared_folder()
    return sorted(path for pattern in patterns for path in folder.glob(pattern) if path.is_file())
