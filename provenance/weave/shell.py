"""Shell command lines, read as the shell reads them: which programs they run, and whose exit status is seen.

`commands(text)` flattens a command line into its simple commands. For each it says how the status that the tool reported
(that of the whole line) tells of this one command: in `make && ./prog` status 0 means that make passed, but another
status may be the program's; in `pytest | tail -3` the status is tail's. Only what is certain is claimed.

The reader never fails: unbalanced quotes run to the end of the text. Substitutions `$(...)` are kept as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from provenance.weave.tokens import REDIRECTIONS, Token, tokens

_OPENERS = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac"}
_FILLERS = frozenset(("then", "do", "else", "elif", "fi", "done", "esac", "time", "coproc"))
_TRIVIAL = frozenset(
    ("cd", "pushd", "popd", "export", "source", ".", "set", "unset", "mkdir", "echo", "printf", "true", ":", "umask",
     "ulimit", "sleep", "which", "touch", "pwd", "date", "conda", "nvm", "ls", "cat", "clear")
)  # fmt: skip
_FILTERS = frozenset(
    ("tail", "head", "tee", "cat", "sed", "awk", "sort", "uniq", "less", "more", "cut", "tr", "column", "nl", "fold")
)
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "ash"))
_STATUS_VARIABLE = re.compile(r"\$(?:\?|\{PIPESTATUS\[0\]\}|\{\?\}|PIPESTATUS)")


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command of a line, prefix assignments and redirections taken off."""

    words: tuple[str, ...]
    redirections: tuple[tuple[str, str], ...] = ()
    zero: bool = True
    """The status seen being 0 means that this command ended with 0."""
    nonzero: bool = True
    """The status seen not being 0 means that this command did not end with 0."""
    printed: str | None = None
    """Not None: the status seen is not the line's own but printed in the output; a pattern with one group."""
    seen: bool = True
    """Some status tells of this command (else it is hidden by `;`, a background job, a pipe ...)."""
    filters: tuple[str, ...] = ()
    """Programs that its output passes through."""
    merged: bool = False
    """Its error output goes the way of its output."""


@dataclass(slots=True)
class _Simple:
    words: list[Token] = field(default_factory=list[Token])
    redirections: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    command: tuple[str, ...] = ()
    """The words without prefix assignments; set when the part is read."""


@dataclass(slots=True)
class _Group:
    body: list[_Chain]
    plain: bool  # (...) or {...}; False: if, for, while, case


@dataclass(slots=True)
class _Pipeline:
    parts: list[_Simple | _Group] = field(default_factory=list["_Simple | _Group"])
    merged: list[bool] = field(default_factory=list[bool])  # `|&` after the part
    negated: bool = False


@dataclass(slots=True)
class _Chain:
    """Pipelines joined by && and ||; the list goes on after ; or & (background)."""

    pipelines: list[_Pipeline] = field(default_factory=list[_Pipeline])
    joints: list[str] = field(default_factory=list[str])  # before the second, third ... pipeline
    background: bool = False


class _Reader:
    """Tokens to chains. Nesting deeper than `_DEPTH` is read as plain words."""

    _DEPTH = 20

    def __init__(self, given: list[Token]) -> None:
        self.tokens = given
        self.index = 0

    def chains(self, closer: str | None, depth: int = 0) -> list[_Chain]:
        chains: list[_Chain] = []
        chain, pipeline, simple = _Chain(), _Pipeline(), _Simple()

        def end_part(merged: bool = False) -> None:
            nonlocal simple
            if simple.words or simple.redirections:
                simple.command = _without_assignments(simple.words)
                pipeline.parts.append(simple)
                pipeline.merged.append(merged)
                simple = _Simple()
            elif pipeline.merged and merged:
                pipeline.merged[-1] = True

        def end_pipeline(joint: str | None = None) -> None:
            nonlocal pipeline
            end_part()
            if pipeline.parts:
                chain.pipelines.append(pipeline)
                if joint:
                    chain.joints.append(joint)
            pipeline = _Pipeline()

        def end_chain(background: bool = False) -> None:
            nonlocal chain
            end_pipeline()
            if chain.pipelines:
                del chain.joints[len(chain.pipelines) - 1 :]
                chain.background = background
                chains.append(chain)
            chain = _Chain()

        while self.index < len(self.tokens):
            token = self.tokens[self.index]
            self.index += 1
            if token.operator:
                text = token.text
                if text in REDIRECTIONS or text.isdigit():
                    self._redirection(text, simple)
                elif text in ("|", "|&"):
                    end_part(text == "|&")
                elif text in ("&&", "||"):
                    end_pipeline(text)
                elif text == "(" and depth < self._DEPTH:
                    body = self.chains(")", depth + 1)
                    end_part()
                    pipeline.parts.append(_Group(body, True))
                    pipeline.merged.append(False)
                elif text == ")":
                    end_chain()
                    if closer == ")":
                        return chains
                else:
                    end_chain(text == "&")
                continue
            if not simple.words and not token.quoted:
                word = token.text
                if word == closer:
                    end_chain()
                    return chains
                if word == "!":
                    pipeline.negated = True
                    continue
                if word == "{" or (word in _OPENERS and depth < self._DEPTH):
                    body = self.chains("}" if word == "{" else _OPENERS[word], depth + 1)
                    pipeline.parts.append(_Group(body, word == "{"))
                    pipeline.merged.append(False)
                    continue
                if word in _FILLERS:
                    continue
            simple.words.append(token)
        end_chain()
        return chains

    def _redirection(self, text: str, simple: _Simple) -> None:
        if text.isdigit():
            if self.index < len(self.tokens) and self.tokens[self.index].operator:
                operator = text + self.tokens[self.index].text
                self.index += 1
            else:
                return
        else:
            operator = text
        target = self.tokens[self.index] if self.index < len(self.tokens) else None
        if target is not None and (not target.operator or target.text.isdigit()):
            simple.redirections.append((operator, target.text))
            self.index += 1


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


def _without_assignments(words: list[Token]) -> tuple[str, ...]:
    start = 0
    while start < len(words) and _ASSIGNMENT.match(words[start].text):
        start += 1
    return tuple(word.text for word in words[start:])


def _program(part: _Simple | _Group) -> str:
    words = part.command if isinstance(part, _Simple) else ()
    return words[0].rpartition("/")[2] if words else ""


def _trivial(pipeline: _Pipeline) -> bool:
    return all(isinstance(part, _Simple) and _program(part) in _TRIVIAL | {""} for part in pipeline.parts)


def _always_fails(pipeline: _Pipeline) -> bool:
    """`exit 1`, `false`, `{ echo ...; exit 1; }`: what follows || without hiding the failure."""
    if len(pipeline.parts) != 1:
        return False
    part = pipeline.parts[0]
    if isinstance(part, _Group):
        return bool(part.body) and part.plain and _always_fails(part.body[-1].pipelines[-1])
    words = part.command
    return words[:1] == ("false",) or (words[:1] in (("exit",), ("return",)) and words[1:] not in ((), ("0",)))


def _status_report(chain: _Chain) -> tuple[str, str | None, bool] | None:
    """A chain that passes on or prints the status of the one before: (how, pattern, of the pipe's first part)."""
    if not chain.pipelines or len(chain.pipelines[0].parts) != 1:
        return None
    part = chain.pipelines[0].parts[0]
    words = part.command if isinstance(part, _Simple) else ()
    if len(words) < 2 or words[0] not in ("exit", "return", "echo", "printf"):
        return None
    text = " ".join(words[1:])
    found = _STATUS_VARIABLE.search(text)
    if not found:
        return None
    first = "PIPESTATUS" in found.group()
    if words[0] in ("exit", "return"):
        return "exit", None, first
    before = re.sub(r"^(?:-[neE]+\s+)+", "", text[: found.start()]).split("\n")[-1].split("\\n")[-1]
    return "printed", rf"{re.escape(before)}(\d{{1,3}})", first


def _uses(chains: list[_Chain], option: str) -> bool:
    for chain in chains:
        for pipeline in chain.pipelines:
            for part in pipeline.parts:
                if isinstance(part, _Simple) and (words := part.command)[:1] == ("set",):
                    if option == "pipefail" and "pipefail" in words:
                        return True
                    if option == "errexit" and any(re.fullmatch(r"-[a-z]*e[a-z]*", word) for word in words[1:]):
                        return True
    return False


@dataclass(frozen=True, slots=True)
class _Status:
    """What the status that was seen tells of one pipeline (see `Command`)."""

    zero: bool
    nonzero: bool
    seen: bool
    printed: str | None
    of_first: bool  # it is the status of the pipeline's first part, not of its last


def _flatten(chains: list[_Chain], depth: int) -> Iterator[Command]:
    errexit, pipefail = _uses(chains, "errexit"), _uses(chains, "pipefail")
    for place, chain in enumerate(chains):
        last = place == len(chains) - 1
        report = None if last else _status_report(chains[place + 1])
        printed, whole, first = None, last, False
        if report is not None:
            how, printed, first = report
            whole = how == "printed" or place + 1 == len(chains) - 1
        elif errexit:
            whole = True
        for index, pipeline in enumerate(chain.pipelines):
            zero = nonzero = seen = whole and not chain.background and not pipeline.negated
            if errexit and not last and report is None:
                nonzero = False
            before, after = chain.joints[:index], chain.joints[index:]
            if before and (before[-1] == "||" or "||" in before):
                zero = nonzero = False
            if "&&" in before and not all(_trivial(earlier) for earlier in chain.pipelines[:index]):
                nonzero = False
            for offset, joint in enumerate(after):
                if joint == "&&":
                    nonzero = False
                elif not _always_fails(chain.pipelines[index + offset + 1]):
                    zero = False
                    if offset + 1 < len(after):
                        nonzero = False
            yield from _parts(pipeline, _Status(zero, nonzero, seen, printed, first), pipefail, depth)


def _parts(pipeline: _Pipeline, status: _Status, pipefail: bool, depth: int) -> Iterator[Command]:
    programs = [_program(part) for part in pipeline.parts]
    for place, part in enumerate(pipeline.parts):
        later = tuple(programs[place + 1 :])
        zero, nonzero, seen, printed = status.zero, status.nonzero, status.seen, status.printed
        if status.of_first:
            if place != 0:
                zero = nonzero = seen = False
        elif later and pipefail:
            nonzero = nonzero and all(program in _FILTERS for program in later)
        elif later:
            zero = nonzero = seen = False
            printed = None
        if isinstance(part, _Group):
            outer = Command((), (), zero, nonzero, printed, seen, later)
            for inner in _flatten(part.body, depth):
                yield _inside(inner, outer, part.plain)
            continue
        words = part.command
        merged = pipeline.merged[place] or any(
            operator.startswith("&>") or (operator == "2>&" and target == "1") for operator, target in part.redirections
        )
        command = Command(words, tuple(part.redirections), zero, nonzero, printed, seen, later, merged)
        script = _script(words) if depth < 5 else None
        if script is None:
            yield command
        else:
            for inner in _flatten(_Reader(tokens(script)).chains(None), depth + 1):
                yield _inside(inner, command, True)


def _inside(inner: Command, outer: Command, plain: bool) -> Command:
    """A command of a group, subshell or `bash -c`, as seen from outside."""
    filters, merged = inner.filters + outer.filters, inner.merged or outer.merged
    if inner.printed is not None:
        return replace(inner, filters=filters, merged=merged)
    return replace(
        inner,
        zero=inner.zero and outer.zero and plain,
        nonzero=inner.nonzero and outer.nonzero and plain,
        seen=inner.seen and outer.seen and plain,
        printed=outer.printed,
        filters=filters,
        merged=merged,
    )


def _script(words: tuple[str, ...]) -> str | None:
    """The text that `bash -lc TEXT` runs."""
    if len(words) < 3 or words[0].rpartition("/")[2] not in _SHELLS:
        return None
    for place, word in enumerate(words[1:-1], 1):
        if not word.startswith("-"):
            return None
        if re.fullmatch(r"-[a-z]*c", word):
            return words[place + 1]
    return None


@lru_cache(maxsize=16384)
def commands(text: str) -> tuple[Command, ...]:
    """The simple commands of a command line, in the order they are written."""
    return tuple(_flatten(_Reader(tokens(text)).chains(None), 0))


@lru_cache(maxsize=16384)
def unwrapped(text: str) -> str:
    """The command line that `/bin/bash -lc '...'` wraps; the text itself where nothing is wrapped."""
    for _ in range(3):
        head = text.lstrip().partition(" ")[0]
        if head.rpartition("/")[2] not in _SHELLS:
            break
        chains = _Reader(tokens(text)).chains(None)
        if len(chains) != 1 or len(chains[0].pipelines) != 1 or len(chains[0].pipelines[0].parts) != 1:
            break
        part = chains[0].pipelines[0].parts[0]
        script = _script(part.command) if isinstance(part, _Simple) and not part.redirections else None
        if script is None:
            break
        text = script
    return text.strip()
