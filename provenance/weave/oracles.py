"""Verdicts of checks, and who gave them.

Two judges for a check: its exit status, where the status that was reported is the check's own, else what its runner
printed. A runner's words decide only where the status is hidden (`pytest | tail -3`, `make; ls`, `|| true`). A check
that could not run at all (no such module, no such command) judged nothing: verdict `unknown`.

The output is a preview: the whole text up to 2,000 characters, else its first and last 1,000.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from provenance.weave.checks import Check
from provenance.weave.shell import Command, commands

VERSION = "oracles/1"
"""Of the rules below; on every Oracle node."""

NAMES = {
    "agent": "agent's own words",
    "exit_status": "exit status",
    "test_runner": "test runner's summary",
    "build_tool": "build tool's messages",
    "git": "git",
    "host": "agent's host",
    "kernel": "kernel",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said: the verdict, whose it is, the words or status it rests on."""

    verdict: str  # a verdict of schema.Outcome
    oracle: str  # a type of schema.Oracle
    statement: str
    confidence: float = 1.0  # below 1 where a rule had to conclude it
    rule: str = "exit status"
    digest: str | None = None  # of the final state: a commit


def _all(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.MULTILINE)


_CANNOT_RUN = _all(
    r"^\S*python[\d.]*(?:\.exe)?: No module named \S+",
    r"^\S*python[\d.]*: can't open file .*",
    r"^(?:\S+: )?(?:line \d+: )?\S+: (?:command )?not found$",
    r"^(?:\S+: )?command not found: \S+",
    r"^(?:\S+: )?(?:line \d+: )?(?:cd: )?\S+: No such file or directory$",
    r"is not recognized as an internal or external command",
    r"[Mm]issing script:? .*",
    r"error Command \"[^\"]+\" not found\.?",
    r"\*\*\* No rule to make target .*",
    r"\*\*\* No targets specified and no makefile found\.  Stop\.",
    r"Error: no test specified",
    r"^(?:error: )?could not find `Cargo\.toml` .*",
    r"^go: (?:cannot find main module|go\.mod file not found).*",
    r"^(?:E|error): Failed to spawn: .*",
)
_NOTHING_RUN = _all(
    r"\bno tests ran\b.*",
    r"^Ran 0 tests\b.*",
    r"^NO TESTS RAN$",
    r"No tests? (?:files )?found.*",
    r"\b0 tests? collected\b|collected 0 items$",
)

_FAIL: dict[str, re.Pattern[str]] = {
    "test": _all(
        r"^FAILED \((?:failures|errors|unexpected successes).*\)",  # unittest
        r"\b[1-9]\d* failed\b[^\n]*",  # pytest, jest, vitest, nextest, deno
        r"^=+ .*\b[1-9]\d* errors?\b.* in [\d.]+s.*=+$|^[1-9]\d* errors? in [\d.]+s",
        r"\bInterrupted: [1-9]\d* errors? during collection",
        r"^(?:FAILED|ERROR) \S+(?:::\S+|\.py\b).*",
        r"test result: FAILED\.[^\n]*",  # cargo
        r"^error: test failed.*",
        r"^\s*--- FAIL: .*|^FAIL(?:\t.*|$)",  # go
        r"^\s*FAIL {1,2}\S+.*",  # jest, vitest
        r"^\s*[1-9]\d* failing\b",  # mocha
        r"\b\d+% tests passed, [1-9]\d* tests? failed out of \d+",  # ctest
        r"Tests run: \d+, (?:Failures: [1-9]\d*|Failures: \d+, Errors: [1-9]\d*)[^\n]*",  # maven
        r"\bBUILD FAILURE\b|\bBUILD FAILED\b[^\n]*",  # maven, gradle
        r"\b\d+ (?:examples|runs|tests|scenarios)?,? ?(?:\d+ assertions, )?[1-9]\d* (?:failures|errors)\b",  # rspec, minitest
        r"\b\d+ examples?, [1-9]\d* failures?[^\n]*",
        r"\b\d+ tests?, (?:\d+ assertions?, )?[1-9]\d* failures?[^\n]*",
        r"^(?:FAILURES!|ERRORS!)$",  # phpunit
        r"^Failed! .*",  # dotnet
        r"^not ok \d+.*|^#? ?[ℹ#] fail [1-9]\d*",  # TAP, node
        r"^Result: FAIL$",  # prove
        r"evaluation failed :\(|^\S+: FAIL (?:code|✖).*|^\s*\S+: commands failed",  # tox
        r"with [1-9]\d* failures?\b[^\n]*",  # swift
        r"make(?:\[\d+\])?: \*\*\* .*",
        r"npm (?:ERR!|error) Test failed.*|ELIFECYCLE[^\n]*",
        r"^Segmentation fault.*|\(core dumped\)",
    ),
    "build": _all(
        r"make(?:\[\d+\])?: \*\*\* .*",
        r"^ninja: build stopped.*",
        r"\b(?:fatal )?error: [^\n]*",  # gcc, clang, rustc, swiftc
        r"^error(?:\[E\d+\])?: .*",
        r"error: could not compile[^\n]*",
        r"\berror TS\d+: [^\n]*",
        r"\bundefined reference to\b[^\n]*|collect2: error[^\n]*",
        r"\bBUILD FAILURE\b|\bBUILD FAILED\b[^\n]*",
        r"^\w*(?:SyntaxError|IndentationError|TabError): .*",
        r"^CMake Error.*",
        r"^\S+\.go:\d+:\d+: .*",
        r"Failed to compile[^\n]*|compiled with [1-9]\d* errors?|^ERROR in .*|Build failed[^\n]*|Compilation failed[^\n]*",
        r"npm (?:ERR!|error) [^\n]*|ELIFECYCLE[^\n]*",
        r"^Build FAILED\.?$|^ERROR: failed to (?:build|solve).*",
    ),
    "lint": _all(
        r"^Found [1-9]\d* errors?.*",
        r"✖ [1-9]\d* problems?[^\n]*",
        r"^\S+:\d+:\d+: [A-Z]{1,3}\d+ .*",
        r"\b[1-9]\d* files? would be reformatted",
        r"^\[warn\] Code style issues.*",
        r"\b[1-9]\d* offenses? detected",
        r"^error: could not compile.*|^(?:error|warning)(?:\[\S+\])?: .*",
        r"^\S+\.\w+:\d+:\d+: (?:error|warning|note): .*",
        r"make(?:\[\d+\])?: \*\*\* .*",
        r"npm (?:ERR!|error) [^\n]*|ELIFECYCLE[^\n]*",
    ),
    "type_check": _all(
        r"^Found [1-9]\d* errors? in .*",
        r"^[1-9]\d* errors?, .*",
        r"\berror TS\d+: [^\n]*",
        r"^\S+:\d+(?::\d+)?: error: .*|^\s*\S+:\d+:\d+ - error.*",
        r"^error(?:\[E\d+\])?: .*",
        r"make(?:\[\d+\])?: \*\*\* .*",
        r"npm (?:ERR!|error) [^\n]*|ELIFECYCLE[^\n]*",
    ),
}  # fmt: skip

_PASS: dict[str, re.Pattern[str]] = {
    "test": _all(
        r"^OK(?: \(.*\))?$",  # unittest, phpunit
        r"\b[1-9]\d* passed\b[^\n]*",
        r"test result: ok\.[^\n]*",
        r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))|^PASS$",
        r"^\s*[1-9]\d* passing\b",
        r"\b100% tests passed\b[^\n]*",
        r"Tests run: [1-9]\d*, Failures: 0, Errors: 0[^\n]*",
        r"\bBUILD SUCCESS(?:FUL)?\b[^\n]*",
        r"\b[1-9]\d* (?:examples?|tests?|runs|scenarios?), (?:\d+ assertions?, )?0 failures\b[^\n]*",
        r"^Passed! .*",
        r"^Result: PASS$|^#? ?[ℹ#] fail 0$",
        r"congratulations :\)",
        r"Executed [1-9]\d* tests?, with 0 failures[^\n]*",
    ),
    "build": _all(
        r"\bBUILD SUCCESS(?:FUL)?\b[^\n]*",
        r"^\s*Finished (?:`?\w+`? )?(?:profile|dev|release|test|debug)?.*",
        r"^\[100%\] .*|Built target \S+",
        r"[Cc]ompiled successfully[^\n]*|Build succeeded[^\n]*|✓ built in[^\n]*|Successfully built[^\n]*",
        r"make(?:\[\d+\])?: (?:Nothing to be done for|'.*' is up to date).*",
        r"^ninja: no work to do\.",
    ),
    "lint": _all(r"^All checks passed!", r"\bno (?:issues|offenses|problems) (?:found|detected)\b", r"would be left unchanged|already formatted|All matched files use Prettier"),
    "type_check": _all(r"^Success: no issues found.*", r"^0 errors\b.*"),
}  # fmt: skip

_CANNOT_HINTS = ("no module", "can't open", "not found", "no such file", "not recognized", "issing script", "no rule", "no targets",
                 "no test specified", "not find", "go.mod", "failed to spawn", "cannot find")  # fmt: skip
_FAIL_HINTS = ("fail", "error", "not ok", "***", "fault", "core dumped", "elifecycle", "examples", "undefined", "stopped", "code style",
               "problem", "would be", "offense", ".go:", ": ")  # fmt: skip
_PASS_HINTS = ("ok", "pass", "succe", "finished", "built", "100%", "congrat", "fail", "no work", "up to date", "nothing to", "0 errors",
               "no issues", "no offenses", "no problems", "unchanged", "already formatted", "prettier")  # fmt: skip


def _hinted(text: str, hints: tuple[str, ...]) -> str:
    """The lines that may match: looking for words first is far cheaper than searching all of them for patterns."""
    lowered = text.lower()
    if not any(hint in lowered for hint in hints):
        return ""
    return "\n".join(line for line in text.split("\n") if any(hint in line.lower() for hint in hints))


_JUDGE = {"test": "test_runner", "build": "build_tool", "lint": "build_tool", "type_check": "build_tool"}
_TELLS_FAILURE = frozenset(("make", "gmake"))
"""Tools that always end with a message of their own on standard error when they fail: its absence tells."""


def judge(check: Check, status: int | None, output: str) -> Verdict:
    """The verdict of one check of a call, from the call's exit status (None: not told) and what it printed."""
    command = check.command
    own = status
    if command.printed is not None:
        found = list(re.finditer(command.printed, output))
        own = int(found[-1].group(1)) if found else None
    if not command.seen:
        own = None
    if own == 0 and command.zero:
        return Verdict("pass", "exit_status", "exit status 0")
    cannot = _CANNOT_RUN.search(_hinted(output, _CANNOT_HINTS))
    if own is not None and own != 0 and command.nonzero:
        if own in (126, 127) or (
            cannot and not _FAIL[check.kind].search(_hinted(_without(output, cannot), _FAIL_HINTS))
        ):
            return Verdict(
                "unknown",
                "exit_status",
                cannot.group().strip() if cannot else f"exit status {own}: not run",
                rule="could not run",
            )
        if own == 5 and check.tool in ("pytest", "py.test"):
            return Verdict("unknown", "exit_status", "exit status 5: no tests ran", rule="could not run")
        if own in (130, 137, 143) or own < 0:
            return Verdict("interrupted" if own in (130, -2) else "killed", "exit_status", f"exit status {own}")
        return Verdict("fail", "exit_status", f"exit status {own}")
    return _by_output(check, own, output, cannot)


def _without(output: str, match: re.Match[str]) -> str:
    return output.replace(match.group(), "", 1)


def _by_output(check: Check, status: int | None, output: str, cannot: re.Match[str] | None) -> Verdict:
    oracle = _JUDGE[check.kind]
    rest = _without(output, cannot) if cannot else output
    failed = _FAIL[check.kind].search(_hinted(rest, _FAIL_HINTS))
    if failed:
        return Verdict("fail", oracle, failed.group().strip(), 0.95, "runner's output")
    if cannot:
        return Verdict("unknown", oracle, cannot.group().strip(), 0.9, "could not run")
    nothing = _NOTHING_RUN.search(output) if check.kind == "test" else None
    if nothing:
        return Verdict("unknown", oracle, nothing.group().strip(), 0.9, "no tests ran")
    passed = _PASS[check.kind].search(_hinted(output, _PASS_HINTS))
    if passed:
        return Verdict("pass", oracle, passed.group().strip(), 0.95, "runner's output")
    command = check.command
    if (
        check.tool in _TELLS_FAILURE
        and output.strip()
        and command.merged
        and set(command.filters) <= {"tail", "tee", "cat"}
    ):
        return Verdict("pass", oracle, "no `make: ***` in its output", 0.8, "no failure message")
    if status is not None and status != 0 and not command.seen:
        return Verdict("unknown", oracle, f"exit status {status} of another command", 0.5, "status hidden")
    return Verdict("unknown", oracle, "status hidden, no summary in the output", 0.5, "status hidden")


# --------------------------------------------------------------------------------------------------------------------
# git

_COMMITTED = re.compile(r"^\[[^\]\n]+ ([0-9a-f]{7,40})\] .*", re.MULTILINE)
_NO_COMMIT = re.compile(
    r"^(?:nothing to commit.*|no changes added to commit.*|nothing added to commit.*)", re.MULTILINE
)
_HASH = re.compile(r"^([0-9a-f]{40})$", re.MULTILINE)
_PORCELAIN = re.compile(r"^(?:[ MADRCUT?!]{2}) \S.*$", re.MULTILINE)
_STAT = re.compile(r"^ ?\d+ files? changed.*$|^\s*\S.* \|\s+(?:\d+ [+-]+|Bin ).*$", re.MULTILINE)


def _git(command: Command) -> str | None:
    words = command.words
    if not words or words[0].rpartition("/")[2] != "git":
        return None
    place = 1
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in ("-C", "-c") else 1
    return words[place] if place < len(words) else None


def commit(text: str, status: int | None, output: str) -> Verdict | None:
    """What became of a `git commit` in the line; None where there is none."""
    if "commit" not in text or "git" not in text:
        return None
    found = next((command for command in commands(text) if _git(command) == "commit"), None)
    if found is None or "--dry-run" in found.words:
        return None
    nothing = _NO_COMMIT.search(output)
    made = _COMMITTED.search(output)
    if made:
        return Verdict("changed", "git", made.group().strip(), 1.0, "git's output", made.group(1))
    if nothing:
        return Verdict("unchanged", "git", nothing.group().strip(), 1.0, "git's output")
    if status is not None and found.seen and found.printed is None:
        if status == 0 and found.zero:
            hashes = _HASH.findall(output) if "rev-parse" in text else []
            return Verdict("changed", "git", "exit status 0", 1.0, "exit status", hashes[-1] if hashes else None)
        if status != 0 and found.nonzero:
            return Verdict("fail", "git", f"exit status {status}")
    return Verdict("unknown", "git", "status hidden, no message in the output", 0.5, "status hidden")


def work_tree(text: str, status: int | None, output: str) -> Verdict | None:
    """Whether files had changed, where the line asks git (`status --short`, `diff --stat`) and the answer is evident."""
    if "git" not in text:
        return None
    line = commands(text)
    asked = [command for command in line if _asks_state(command)]
    if not asked:
        return None
    kind = _git(asked[0])
    lines = (_PORCELAIN if kind == "status" else _STAT).findall(output)
    if lines:
        return Verdict("changed", "git", "\n".join(item.strip("\n") for item in lines[:10]), 0.95, "git's output")
    if status == 0 and len(line) == 1 and not output.strip():
        return Verdict("unchanged", "git", "no output", 0.95, "git's output")
    return None


def _asks_state(command: Command) -> bool:
    kind, words = _git(command), set(command.words)
    if kind == "status":
        return bool(words & {"--porcelain", "--short", "-s", "-sb"})
    return kind == "diff" and bool(words & {"--stat", "--shortstat"})
