"""The programs that judge, and in which mode: one rule a program, from its name and arguments to a kind of check.

`judged(words)` takes wrappers off first (`sudo`, `timeout 60`, `env A=b`, `npx`, `uv run`, `bundle exec`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

KINDS = ("test", "build", "type_check", "lint")
"""Strongest first: the one that names a call with several."""

_Rule = Callable[[str, list[str]], str | None]
"""Program name and arguments -> kind of check, or None."""

_SUBJECT_WORDS = (
    ("type_check", re.compile(r"(?:^|[-_:.])(?:type-?s?-?checks?|typing|types|tsc|mypy|pyright)(?:$|[-_:.])", re.I)),
    (
        "lint",
        re.compile(
            r"(?:^|[-_:.])(?:lint(?:er|ing|s)?|eslint|fmt-?check|format[-_:]check|check[-_:]format|stylelint|clippy)(?:$|[-_:.])",
            re.I,
        ),
    ),
    (
        "test",
        re.compile(
            r"(?:^|[-_:.])(?:tests?|unit|e2e|specs?|check|coverage|pytest|jest|vitest|integration)(?:$|[-_:.])", re.I
        ),
    ),
    ("build", re.compile(r"(?:^|[-_:.])(?:build|compile|dist|bundle|package|assemble)(?:$|[-_:.])", re.I)),
)


def _named(name: str) -> str | None:
    """What a target or script name says that it does."""
    if re.search(r"(?:^|[-_:])(?:watch|clean|install|fix|help|serve|dev|start|server)(?:$|[-_:])", name, re.I):
        return None
    return next((kind for kind, pattern in _SUBJECT_WORDS if pattern.search(name)), None)


def _plain(arguments: list[str]) -> list[str]:
    return [argument for argument in arguments if not argument.startswith("-")]


_NO_BUILD = re.compile(
    r"(?:dist|mr|very|mostly)?-?clean(?:all)?|help|un?install.*|install.*|run.*|start|stop|restart|serve|dev|up|down|deploy.*|"
    r"fmt|format|fix|.*config|logs?|shell|tag|push|pull|publish|release|list|print.*|version|watch|setup|init|bootstrap|"
    r"deps|dependencies|requirements|venv|env|migrate|seed|bench(?:mark)?s?|docs?-serve"
)


def _make(_: str, arguments: list[str]) -> str | None:
    if any(
        re.fullmatch(
            r"-[a-zA-Z]*[nqp][a-zA-Z]*|--(?:dry-run|just-print|recon|question|help|version|print-data-base)|-v", a
        )
        for a in arguments
    ):
        return None
    targets: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in ("-C", "-f", "-j", "-I", "-l", "-o", "-W", "--directory", "--file", "--makefile", "--jobs"):
            skip = argument != "-j" and argument != "-l"
        elif not argument.startswith("-") and "=" not in argument and not argument.isdigit():
            targets.append(argument)
    if not targets:
        return "build"
    for target in reversed(targets):
        if kind := _named(target):
            return kind
    return None if all(_NO_BUILD.fullmatch(target) for target in targets) else "build"


def _script(program: str, arguments: list[str]) -> str | None:
    """npm, yarn, pnpm, bun."""
    words = _plain(arguments)
    if not words:
        return None
    first = words[0]
    if first in ("test", "t", "tst"):
        return "test"
    if first in ("run", "run-script"):
        return _named(words[1]) if len(words) > 1 else None
    if first in ("exec", "dlx", "x"):
        return _of(words[1:]) if len(words) > 1 else None
    if first in (
        "install",
        "i",
        "ci",
        "add",
        "remove",
        "init",
        "publish",
        "pack",
        "audit",
        "why",
        "create",
        "start",
        "upgrade",
        "info",
        "view",
    ):
        return None
    return None if program == "npm" else _named(first) or _of(words)


def _subcommand(table: dict[str, str]) -> _Rule:
    def rule(_: str, arguments: list[str]) -> str | None:
        words = [word for word in _plain(arguments) if not word.startswith("+")]
        return table.get(words[0]) if words else None

    return rule


def _any_of(table: dict[str, str]) -> _Rule:
    """Maven, Gradle: the strongest of several goals."""

    def rule(_: str, arguments: list[str]) -> str | None:
        kinds = {kind for word in _plain(arguments) if (kind := table.get(word.rpartition(":")[2]))}
        return next((kind for kind in KINDS if kind in kinds), None)

    return rule


def _always(kind: str, *unless: str) -> _Rule:
    def rule(_: str, arguments: list[str]) -> str | None:
        return None if {"--version", "-V", "--help", "-h", "--init", *unless}.intersection(arguments) else kind

    return rule


def _compiler(_: str, arguments: list[str]) -> str | None:
    if not _plain(arguments) or set(arguments) & {
        "--version",
        "--help",
        "-dumpversion",
        "-dumpmachine",
        "-E",
        "-M",
        "-MM",
    }:
        return None
    return "build"


def _tsc(_: str, arguments: list[str]) -> str | None:
    if set(arguments) & {"--version", "-v", "--help", "--init", "--showConfig"}:
        return None
    return "type_check" if "--noEmit" in arguments else "build"


def _cmake(_: str, arguments: list[str]) -> str | None:
    if "--build" not in arguments:
        return None
    if "--target" in arguments[:-1]:
        return _make("make", [arguments[arguments.index("--target") + 1]])
    return "build"


def _cargo(_: str, arguments: list[str]) -> str | None:
    words = [word for word in _plain(arguments) if not word.startswith("+")]
    first = words[0] if words else ""
    if first == "nextest":
        return "test"
    if first == "fmt":
        return "lint" if "--check" in arguments else None
    return {
        "test": "test",
        "t": "test",
        "build": "build",
        "b": "build",
        "check": "type_check",
        "c": "type_check",
        "clippy": "lint",
    }.get(first)


def _python(_: str, arguments: list[str]) -> str | None:
    for place, argument in enumerate(arguments):
        if argument == "-m" and place + 1 < len(arguments):
            module, rest = arguments[place + 1], arguments[place + 2 :]
            if module == "coverage":
                return _of(rest[2:]) if rest[:2] == ["run", "-m"] else None
            return _of([_MODULES.get(module, module), *rest])
        if argument == "-c":
            return None
        if not argument.startswith("-"):
            name, rest = argument.rpartition("/")[2], arguments[place + 1 :]
            if name in ("manage.py", "setup.py"):
                return {"test": "test", "build": "build", "build_ext": "build"}.get(rest[0]) if rest else None
            if name in ("runtests.py", "run_tests.py", "runtest.py", "test.py"):
                return "test"
            return None
    return None


def _formatter(_: str, arguments: list[str]) -> str | None:
    return "lint" if set(arguments) & {"--check", "-c", "--check-only", "--list-different", "-l", "--diff"} else None


def _ruff(_: str, arguments: list[str]) -> str | None:
    words = _plain(arguments)
    if words[:1] == ["format"]:
        return "lint" if "--check" in arguments or "--diff" in arguments else None
    return None if words[:1] in (["clean"], ["rule"], ["config"], ["server"]) or "--version" in arguments else "lint"


def _node(_: str, arguments: list[str]) -> str | None:
    return "test" if "--test" in arguments else None


def _bundler(program: str, arguments: list[str]) -> str | None:
    return (
        None
        if set(_plain(arguments)) & {"serve", "dev", "watch"}
        else ("build" if "build" in arguments or program in ("webpack", "rollup", "esbuild", "parcel") else None)
    )


def _meson(_: str, arguments: list[str]) -> str | None:
    return {"test": "test", "compile": "build"}.get(arguments[0]) if arguments else None


_MODULES = {"compileall": "py_compile", "build": "pyproject-build"}
"""Modules run with `python -m` that are known as programs under another name."""


def _each(programs: str, rule: _Rule) -> dict[str, _Rule]:
    return dict.fromkeys(programs.split(), rule)


_JVM = {"test": "test", "verify": "test", "check": "test", "connectedCheck": "test", "lint": "lint"} | dict.fromkeys(
    ("package", "compile", "install", "test-compile", "build", "assemble", "compileJava", "assembly", "uberjar", "jar"),
    "build",
)
_BROWSER = {"test": "test", "run": "test", "start": "test", "build": "build", "lint": "lint", "check": "type_check"}
_TEST_BUILD = {"test": "test", "build": "build", "lint": "lint", "analyze": "lint", "compile": "build"}

_RULES: dict[str, _Rule] = {
    **_each("make gmake ninja just task mage rake", _make),
    **_each("npm yarn pnpm bun", _script),
    **_each(
        "pytest py.test unittest nose2 nosetests trial doctest stestr behave robot ctest gotestsum", _always("test")
    ),
    **_each("jest vitest mocha ava tap rspec phpunit pest bats prove busted cucumber minitest", _always("test")),
    **_each("tox nox", _always("test", "-l", "--list", "--listenvs")),
    **_each("playwright cypress karma deno ng", _subcommand(_BROWSER)),
    **_each("mvn mvnw gradle gradlew sbt mill lein ant", _any_of(_JVM)),
    **_each("gcc g++ cc c++ clang clang++ rustc javac kotlinc scalac ghc swiftc nvcc gfortran ld nasm csc", _compiler),
    **_each("py_compile pyproject-build xelatex pdflatex latexmk", _always("build")),
    **_each("vite next nuxt webpack rollup esbuild parcel astro", _bundler),
    **_each(
        "flake8 pylint eslint golangci-lint shellcheck stylelint rubocop clang-tidy hadolint yamllint", _always("lint")
    ),
    **_each(
        "staticcheck bandit codespell oxlint phpcs luacheck swiftlint ktlint pycodestyle pyflakes", _always("lint")
    ),
    **_each("markdownlint ansible-lint tflint standard xo", _always("lint")),
    **_each("mypy pyright basedpyright pytype pyre ty vue-tsc phpstan psalm", _always("type_check")),
    **_each("black isort prettier rustfmt clang-format yapf", _formatter),
    **_each("stack cabal bazel bazelisk buck zig xcodebuild nx turbo lerna flutter dart", _subcommand(_TEST_BUILD)),
    **_each("poetry hatch uv forge hardhat", _subcommand(_TEST_BUILD)),
    **_each("dotnet swift", _subcommand({"test": "test", "build": "build", "publish": "build"})),
    "ruff": _ruff,
    "biome": _subcommand({"check": "lint", "lint": "lint", "ci": "lint"}),
    "pre-commit": _subcommand({"run": "lint"}),
    "tsc": _tsc,
    "cmake": _cmake,
    "cargo": _cargo,
    "go": _subcommand({"test": "test", "build": "build", "install": "build", "vet": "lint"}),
    "mix": _subcommand({"test": "test", "compile": "build", "credo": "lint", "dialyzer": "type_check"}),
    "meson": _meson,
    "docker": _subcommand({"build": "build", "buildx": "build"}),
    "node": _node,
    "python": _python,
}

_WRAPPERS = dict.fromkeys(
    ("sudo", "env", "time", "nice", "nohup", "exec", "command", "stdbuf", "xvfb-run", "npx", "bunx", "uvx", "pnpx"), 0
) | {"ionice": 0, "setsid": 0, "unbuffer": 0, "chronic": 0, "timeout": 1}
"""Programs that run another one -> operands of their own before it."""
_RUNNERS: dict[str, str] = {
    "bundle": "exec",
    **dict.fromkeys(
        ("uv", "poetry", "pipenv", "hatch", "pdm", "rye", "pixi", "coverage", "conda", "turbo", "nx"), "run"
    ),
}
"""Programs with a sub-command that runs another one."""
_OPTION_VALUES = frozenset(
    ("-u", "-n", "-k", "-s", "-p", "-g", "--with", "--python", "--group", "--extra", "--project", "--directory", "--package",
     "--signal", "--kill-after")
)  # fmt: skip

_WORD = re.compile(r"[\s;|&()<>'\"`=/]+")
_PYTHON = re.compile(r"python[\d.]*|pypy3?")
_VERSIONED = re.compile(r"(g\+\+|gcc|clang|clang\+\+)-\d+")


def may_judge(text: str) -> bool:
    """A cheap test that every line with a check passes."""
    return (
        any(
            word in _RULES or _PYTHON.fullmatch(word) is not None or _VERSIONED.fullmatch(word) is not None
            for word in set(_WORD.split(text))
        )
        or ".cmd" in text
        or ".exe" in text
    )


def _of(words: list[str]) -> str | None:
    found = judged(words)
    return found[0] if found else None


def judged(words: list[str]) -> tuple[str, str] | None:
    """The kind of check of a program with its arguments, and the name of the judge; None where it judges nothing."""
    for _ in range(8):
        if not words:
            return None
        name = words[0].rpartition("/")[2]
        runner = _RUNNERS.get(name)
        if name == "command" and words[1:2] in (["-v"], ["-V"]):
            return None
        if name in _WRAPPERS:
            words = _operands(words[1:])[_WRAPPERS[name] :]
        elif runner is not None and runner in words[1:3]:
            words = _operands(words[words.index(runner) + 1 :])
            if name == "coverage" and words[:1] != []:
                words = ["python", *(["-m"] if "-m" not in words else []), *words]
        else:
            break
    if not words:
        return None
    name = re.sub(r"(?:\.exe|\.cmd|\.bat)$", "", words[0].rpartition("/")[2])
    if _PYTHON.fullmatch(name):
        name = "python"
    elif versioned := _VERSIONED.fullmatch(name):
        name = versioned.group(1)
    if words[0].startswith("-"):
        return None
    rule = _RULES.get(name)
    kind = rule(name, words[1:]) if rule else None
    if kind is None:
        return None
    return kind, words[words.index("-m") + 1] if name == "python" and "-m" in words[:-1] else name


def _operands(words: list[str]) -> list[str]:
    """Words after a wrapper's own options and assignments."""
    place = 0
    while place < len(words):
        word = words[place]
        if word == "-m":
            break
        if word in _OPTION_VALUES:
            place += 2
        elif word.startswith("-") or re.match(r"[A-Za-z_]\w*=", word):
            place += 1
        else:
            break
    return words[place:]
