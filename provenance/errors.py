"""Errors a caller may meet. Each message says what happened and what to do next.

Bad *input* is not an exception: a line that cannot be read becomes `provenance.records.Skipped` and is counted.
Programming errors are not caught anywhere.
"""

from __future__ import annotations


class CapsuleError(Exception):
    """Base of every error that is the user's to mend. `exit_code` is what the command line returns for it."""

    exit_code = 1


class UsageError(CapsuleError):
    """The request itself is wrong: no such query, node, parameter or format."""

    exit_code = 2


class StoreError(CapsuleError):
    """The store cannot be opened, read or written."""

    exit_code = 3


class StoreLocked(StoreError):
    """Another process is the store's one writer."""


class StoreConflict(StoreError):
    """Another writer was faster: what this change was made from has changed. Reading again and making it anew helps."""


class StoreTooNew(StoreError):
    """The store was written by a newer schema version than this program knows."""


class SourceError(CapsuleError):
    """A source of evidence cannot be read at all (missing, unreadable, no known format)."""

    exit_code = 4


class InvalidChange(CapsuleError):
    """A graph change breaks the schema; the message names kind, field and value."""

    exit_code = 5


class QueryRefused(CapsuleError):
    """A Cypher text holds a clause that user queries may not use."""

    exit_code = 6
