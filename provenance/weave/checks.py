"""Which commands of a line judge something: tests, builds, linters, type checkers, and git.

A check is a command whose program is a known judge *in a judging mode*: `make` is one, `make clean`, `make -n` and
`pip install pytest` are not. What a word says inside an argument (`echo make`, `grep pytest`, `cat Makefile`) never counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from provenance.weave.shell import Command, commands

VERSION = "checks/1"

KINDS = ("test", "build", "type_check", "lint")
"""Strongest first: the one that names a call with several."""


@dataclass(frozen=True, slots=True)
class Check:
    """One judging command of a command line."""

    kind: str  # test, build, lint, type_check
    tool: str  # program that judges, e.g. "pytest", "make"
    command: Command


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


def _script(_: str, arguments: list[str]) -> str | None:
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
    return None if _ == "npm" else _named(first) or _of(words)


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


def _always(kind: str) -> _Rule:
    def rule(_: str, arguments: list[str]) -> str | None:
        return None if set(arguments) & {"--version", "-V", "--help", "-h", "--init"} else kind

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


def _bundler(_: str, arguments: list[str]) -> str | None:
    return (
        None
        if set(_plain(arguments)) & {"serve", "dev", "watch"}
        else ("build" if "build" in arguments or _ in ("webpack", "rollup", "esbuild", "parcel") else None)
    )


def _meson(_: str, arguments: list[str]) -> str | None:
    return {"test": "test", "compile": "build"}.get(arguments[0]) if arguments else None


_MODULES = {"unittest": "unittest", "compileall": "py_compile", "build": "pyproject-build"}

_RULES: dict[str, _Rule] = {
    **dict.fromkeys(("make", "gmake", "ninja", "just", "task", "mage", "rake"), _make),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun"), _script),
    **dict.fromkeys(
        (
            "pytest",
            "py.test",
            "unittest",
            "nose2",
            "nosetests",
            "trial",
            "doctest",
            "stestr",
            "behave",
            "robot",
            "ctest",
        ),
        _always("test"),
    ),
    **dict.fromkeys(
        (
            "jest",
            "vitest",
            "mocha",
            "ava",
            "tap",
            "rspec",
            "phpunit",
            "pest",
            "bats",
            "prove",
            "busted",
            "cucumber",
            "minitest",
            "gotestsum",
        ),
        _always("test"),
    ),
    **dict.fromkeys(
        ("tox", "nox"), lambda _, a: None if set(a) & {"-l", "--list", "--listenvs", "--version", "-h"} else "test"
    ),
    **dict.fromkeys(
        ("playwright", "cypress", "karma", "deno", "ng"),
        _subcommand(
            {"test": "test", "run": "test", "start": "test", "build": "build", "lint": "lint", "check": "type_check"}
        ),
    ),
    **dict.fromkeys(
        ("mvn", "mvnw"),
        _any_of(
            {
                "test": "test",
                "verify": "test",
                "package": "build",
                "compile": "build",
                "install": "build",
                "test-compile": "build",
            }
        ),
    ),
    **dict.fromkeys(
        ("gradle", "gradlew"),
        _any_of(
            {
                "test": "test",
                "check": "test",
                "build": "build",
                "assemble": "build",
                "compileJava": "build",
                "connectedCheck": "test",
                "lint": "lint",
            }
        ),
    ),
    **dict.fromkeys(
        ("sbt", "mill", "lein", "ant"),
        _any_of(
            {
                "test": "test",
                "compile": "build",
                "package": "build",
                "assembly": "build",
                "uberjar": "build",
                "jar": "build",
                "build": "build",
            }
        ),
    ),
    **dict.fromkeys(
        (
            "gcc",
            "g++",
            "cc",
            "c++",
            "clang",
            "clang++",
            "rustc",
            "javac",
            "kotlinc",
            "scalac",
            "ghc",
            "swiftc",
            "nvcc",
            "gfortran",
            "ld",
            "nasm",
            "dmcs",
            "csc",
        ),
        _compiler,
    ),
    **dict.fromkeys(("py_compile", "pyproject-build", "xelatex", "pdflatex", "latexmk"), _always("build")),
    **dict.fromkeys(("vite", "next", "nuxt", "webpack", "rollup", "esbuild", "parcel", "astro"), _bundler),
    **dict.fromkeys(
        (
            "flake8",
            "pylint",
            "eslint",
            "golangci-lint",
            "shellcheck",
            "stylelint",
            "rubocop",
            "clang-tidy",
            "hadolint",
            "yamllint",
            "staticcheck",
            "bandit",
            "codespell",
            "oxlint",
            "phpcs",
            "luacheck",
            "swiftlint",
            "ktlint",
            "pycodestyle",
            "pyflakes",
            "markdownlint",
            "ansible-lint",
            "tflint",
            "standard",
            "xo",
        ),
        _always("lint"),
    ),
    **dict.fromkeys(
        ("mypy", "pyright", "basedpyright", "pytype", "pyre", "ty", "vue-tsc", "phpstan", "psalm"),
        _always("type_check"),
    ),
    **dict.fromkeys(("black", "isort", "prettier", "rustfmt", "clang-format", "yapf"), _formatter),
    "ruff": _ruff,
    "biome": _subcommand({"check": "lint", "lint": "lint", "ci": "lint"}),
    "pre-commit": _subcommand({"run": "lint"}),
    "tsc": _tsc,
    "cmake": _cmake,
    "cargo": _cargo,
    "go": _subcommand({"test": "test", "build": "build", "install": "build", "vet": "lint"}),
    "dotnet": _subcommand({"test": "test", "build": "build", "publish": "build"}),
    "swift": _subcommand({"test": "test", "build": "build"}),
    "mix": _subcommand({"test": "test", "compile": "build", "credo": "lint", "dialyzer": "type_check"}),
    **dict.fromkeys(
        (
            "stack",
            "cabal",
            "bazel",
            "bazelisk",
            "buck",
            "zig",
            "xcodebuild",
            "nx",
            "turbo",
            "lerna",
            "flutter",
            "dart",
            "poetry",
            "hatch",
            "uv",
            "forge",
            "hardhat",
        ),
        _subcommand({"test": "test", "build": "build", "lint": "lint", "analyze": "lint", "compile": "build"}),
    ),
    "meson": _meson,
    "docker": _subcommand({"build": "build", "buildx": "build"}),
    "node": _node,
    **dict.fromkeys(("python", "python2", "python3"), _python),
}

_WRAPPERS: dict[str, int] = {
    "sudo": 0, "env": 0, "time": 0, "nice": 0, "nohup": 0, "exec": 0, "command": 0, "stdbuf": 0, "xvfb-run": 0,
    "timeout": 1, "npx": 0, "bunx": 0, "uvx": 0, "pnpx": 0, "ionice": 0, "setsid": 0, "unbuffer": 0, "caffeinate": 0, "chronic": 0,
}  # fmt: skip
_RUNNERS = {
    "uv": "run",
    "poetry": "run",
    "pipenv": "run",
    "hatch": "run",
    "pdm": "run",
    "rye": "run",
    "pixi": "run",
    "bundle": "exec",
    "coverage": "run",
    "conda": "run",
    "turbo": "run",
    "nx": "run",
}
_OPTION_VALUES = frozenset(
    (
        "-u",
        "-n",
        "-k",
        "-s",
        "-p",
        "--with",
        "--python",
        "--group",
        "--extra",
        "--project",
        "--directory",
        "--package",
        "-g",
        "--signal",
        "--kill-after",
    )
)


def _of(words: list[str]) -> str | None:
    """The kind of check of a program with arguments, wrappers (`timeout 60`, `env A=b`, `uv run`) taken off."""
    found = _judge(list(words))
    return found[0] if found else None


def _judge(words: list[str]) -> tuple[str, str] | None:
    for _ in range(8):
        if not words:
            return None
        name = words[0].rpartition("/")[2]
        runner = _RUNNERS.get(name)
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
    if re.fullmatch(r"python[\d.]*|pypy3?", name):
        name = "python"
    elif re.fullmatch(r"(?:g\+\+|gcc|clang|clang\+\+)-\d+", name):
        name = name.rpartition("-")[0]
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


_CANDIDATE = re.compile(
    r"test|check|lint|build|make|compile|tox|nox|jest|mocha|spec|ninja|mypy|pyright|ruff|flake8|black|isort|prettier|tsc|cargo|"
    r"gcc|g\+\+|\bcc\b|c\+\+|clang|rustc|javac|kotlinc|scalac|ghc|swift|nvcc|gfortran|\bld\b|nasm|csc|mvn|gradle|sbt|mill|lein|ant|"
    r"rake|just|task|mage|npm|yarn|pnpm|bun|trial|behave|robot|\bava\b|\btap\b|pest|bats|prove|busted|cucumber|playwright|cypress|"
    r"karma|deno|vite|next|nuxt|webpack|rollup|parcel|astro|latex|rubocop|tidy|codespell|bandit|phpcs|phpstan|psalm|pycodestyle|"
    r"pyflakes|standard|\bxo\b|pytype|pyre|\bty\b|rustfmt|clang-format|yapf|biome|pre-commit|vet|dotnet|mix|stack|cabal|bazel|zig|"
    r"xcodebuild|\bnx\b|turbo|lerna|flutter|dart|meson|docker|node|credo|forge|hardhat|nose"
)
"""Cheap: no line without one of these words holds a check."""


@lru_cache(maxsize=4096)
def checks(text: str) -> tuple[Check, ...]:
    """The checks of a command line, in order; of several with one kind and tool, all."""
    if not _CANDIDATE.search(text):
        return ()
    found: list[Check] = []
    for command in commands(text):
        judged = _judge(list(command.words))
        if judged:
            found.append(Check(judged[0], judged[1], command))
    return tuple(found)


def kind_of(text: str) -> str | None:
    """The strongest kind of check in a command line."""
    kinds = {check.kind for check in checks(text)}
    return next((kind for kind in KINDS if kind in kinds), None)


_CHANGING_GIT = frozenset(
    (
        "apply",
        "checkout",
        "restore",
        "revert",
        "reset",
        "stash",
        "merge",
        "rebase",
        "cherry-pick",
        "pull",
        "switch",
        "am",
    )
)
_DOCUMENT = re.compile(
    r"\.(?:md|rst|txt|adoc|log|pid|out)$|(?:^|/)(?:LICENSE|CHANGELOG|README|NOTES|NEWS|AUTHORS)[^/]*$", re.I
)


def is_document(path: str) -> bool:
    """Whether a change of the file cannot matter to a test or build."""
    return bool(_DOCUMENT.search(path))


@lru_cache(maxsize=4096)
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
