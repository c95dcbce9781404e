"""The folder of an embedded store: which files there are, and what can be told from them before the engine opens any."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from provenance import schema
from provenance.errors import StoreError, StoreTooNew
from provenance.store.embedded.locks import Noted

FORMAT = 1
"""Which files there are and what the marker says."""


class Folder:
    """Paths and their state. The engine names the files beside the graph file itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.graph = path / "graph.lbug"
        self.log = path / "graph.lbug.wal"
        self.sidecar = path / "sidecar.sqlite"
        self.writer_lock = path / "writer.lock"
        self._marker = path / "store.json"

    def is_store(self) -> bool:
        return self._marker.exists()

    def check(self) -> None:
        """Raise unless this is a store that this program can open."""
        try:
            marker = json.loads(self._marker.read_bytes())
            version, written_by = int(marker["format"]), int(marker["schema"])
        except FileNotFoundError:
            what = "is not a store" if self.path.exists() else "does not exist"
            raise StoreError(f"{self.path} {what}: ingest something first, or give another path") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self._marker} cannot be read: {error}") from error
        if version > FORMAT:
            raise StoreTooNew(
                f"the store in {self.path} has format {version}, this program knows {FORMAT}: use a newer program"
            )
        self.refuse_newer(written_by)

    def refuse_newer(self, version: int) -> None:
        """Raise where the schema version is beyond this program's."""
        if version > schema.VERSION:
            raise StoreTooNew(
                f"the store in {self.path} has schema version {version}, this program knows {schema.VERSION}: "
                "use a newer program; nothing was changed"
            )

    def make(self) -> None:
        """Create the folder. Raises StoreError where there is one with other things in it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            others = sorted(entry.name for entry in self.path.iterdir() if entry.suffix != ".lock")
        except OSError as error:
            raise StoreError(f"cannot create a store in {self.path}: {error.strerror}") from error
        if others and not self.is_store():
            raise StoreError(f"{self.path} is not a store and not empty (it holds {others[0]}): give another path")

    def mark(self) -> None:
        """Write the marker: of a new store before anything else, of a migrated one when that is done."""
        marker = {"format": FORMAT, "engine": "ladybug", "schema": schema.VERSION}
        temporary = self._marker.with_suffix(".lock")
        try:
            temporary.write_text(json.dumps(marker) + "\n")
            temporary.replace(self._marker)
        except OSError as error:
            raise StoreError(f"cannot write {self._marker}: {error.strerror}") from error

    def graph_stamp(self) -> tuple[int, ...]:
        """Changes whenever pages of the graph file do."""
        return _stamp(self.graph)

    def log_stamp(self) -> tuple[int, ...]:
        """Changes with every commit that leaves the graph file alone."""
        return _stamp(self.log)

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def log_is_whole(self, noted: Noted) -> bool:
        """False where the log holds part of a commit that never ended: the engine may crash on it."""
        return noted.log is None or self.log_size() <= noted.log

    def folding(self) -> bool:
        """Whether the engine was moving its log into the graph file. It finishes that itself, given all its files."""
        return any(path not in (self.graph, self.log) for path in self.path.glob(f"{self.graph.name}*"))

    def mend_log(self, noted: Noted) -> None:
        """Cut off what a commit that never ended left. Only while nobody reads or writes."""
        if noted.log is not None and not self.log_is_whole(noted) and not self.folding():
            os.truncate(self.log, noted.log)

    def check_room(self, wanted: int) -> None:
        """Raise where the disk has less room than so many bytes."""
        free = shutil.disk_usage(self.path).free
        if free < wanted:
            raise StoreError(
                f"the disk of {self.path} is nearly full: {free >> 20} MB free, {wanted >> 20} MB wanted for this commit"
            )


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size
