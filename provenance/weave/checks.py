"""Which commands of a line judge something: tests, builds, linters, type checkers, and git.

A check is a command whose program is a known judge *in a judging mode*: `make` is one, `make clean`, `make -n` and
`pip install pytest` are not. What a word says inside an argument (`echo make`, `grep pytest`, `cat Makefile`) never counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from provenance.weave.judges import KINDS, judged, may_judge
from provenance.weave.shell import Command, commands

__all__ = ["KINDS", "VERSION", "Check", "changes_sources", "checks", "is_document", "kind_of"]

VERSION = "checks/1"


@dataclass(frozen=True, slots=True)
class Check:
    """One judging command of a command line."""

    kind: str  # test, build, lint, type_check
    tool: str  # program that judges, e.g. "pytest", "make"
    command: Command


@lru_cache(maxsize=16384)
def checks(text: str) -> tuple[Check, ...]:
    """The checks of a command line, in order; of several with one kind and tool, all."""
    if not may_judge(text):
        return ()
    found: list[Check] = []
    for command in commands(text):
        verdict = judged(list(command.words))
        if verdict is not None:
            found.append(Check(*verdict, command))
    return tuple(found)


def kind_of(text: str) -> str | None:
    """The strongest kind of check in a command line."""
    kinds = {check.kind for check in checks(text)}
    return next((kind for kind in KINDS if kind in kinds), None)


_CHANGING_GIT = frozenset(
    (
        "apply",
        "am",
        "checkout",
        "switch",
        "restore",
        "revert",
        "reset",
        "stash",
        "merge",
        "rebase",
        "cherry-pick",
        "pull",
    )
)
_DOCUMENT = re.compile(
    r"\.(?:md|rst|txt|adoc|log|pid|out)$|(?:^|/)(?:LICENSE|CHANGELOG|README|NOTES|NEWS|AUTHORS)[^/]*$", re.I
)


def is_document(path: str) -> bool:
    """Whether a change of the file cannot matter to a test or build."""
    return bool(_DOCUMENT.search(path))


@lru_cache(maxsize=16384)
def changes_sources(text: str) -> bool:
    """Whether a command line evidently changes files that a check may read (`sed -i`, `git apply`, `> app.py` ...)."""
    if not re.search(r"sed|patch|git|>|tee|perl|ed\b", text):
        return False
    return any(_changes(command) for command in commands(text))


def _changes(command: Command) -> bool:
    words = command.words
    name = words[0].rpartition("/")[2] if words else ""
    if name in ("sed", "perl") and any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in words[1:]):
        return True
    if name == "patch" or (name == "git" and bool(_CHANGING_GIT & set(words[1:4]))):
        return True
    targets = [target for operator, target in command.redirections if operator.lstrip("012&") in (">", ">>", ">|")]
    if name == "tee":
        targets += [word for word in words[1:] if not word.startswith("-")]
    return any(
        re.search(r"\.\w+$", target) and not is_document(target) and not target.startswith(("/tmp/", "/dev/"))
        for target in targets
    )
