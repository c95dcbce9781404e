"""The command line's reference, `docs/cli.md`, written from the command line itself: `python -m provenance.cli_docs [FILE]`.

Everything comes from the commands' own declarations, as `--help` shows them, but without its frames and line breaks, so
that the text is the same in every terminal. A test holds the file to it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

HEAD = """\
# Command line

<!-- Written by `python -m provenance.cli_docs docs/cli.md`: change the program, not this file. -->
"""


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The command and all below it that are not hidden, each with the words that call it, in the order of `--help`."""
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from commands(below, (*path, name))


def program(name: str = "capsule") -> list[tuple[tuple[str, ...], Any]]:
    """Every command of the program, the program itself first."""
    import typer.main

    # By name: the composition root is loaded only when its text is asked for.
    app = import_module("provenance.cli").app
    return list(commands(typer.main.get_command(app), (name,)))


def text_of(help_text: str | None) -> str:
    """A docstring as Markdown: `\\b` and what follows `\\f` are marks for the terminal."""
    return inspect.cleandoc((help_text or "").partition("\f")[0]).replace("\b\n", "").strip()


def section(path: tuple[str, ...], command: Any) -> str:
    """One command: how it is called, what it does, its arguments and options."""
    shown = [
        parameter
        for parameter in command.params
        if not getattr(parameter, "hidden", False) and parameter.name not in ("install_completion", "show_completion")
    ]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    options = [parameter for parameter in shown if parameter.param_type_name == "option"]
    below = {name: found for name, found in getattr(command, "commands", {}).items() if not found.hidden}
    usage = [*path, "[OPTIONS]", *map(place_of, arguments), *(["COMMAND ..."] if below else [])]
    parts = [f"## `{' '.join(path)}`", f"```text\n{' '.join(usage)}\n```", text_of(command.help)]
    if arguments:
        parts.append("\n".join(f"- `{place_of(argument)}`: {meaning(argument)}" for argument in arguments))
    if options:
        parts.append("\n".join(f"- `{words_of(option)}`: {meaning(option)}" for option in options))
    if below:
        called = ((" ".join((*path, name)), text_of(found.help).partition("\n")[0]) for name, found in below.items())
        parts.append("\n".join(f"- `{words}`: {about}" for words, about in called))
    return "\n\n".join(part for part in parts if part)


def place_of(argument: Any) -> str:
    """`NAME`, `[NAME]` where it may be left out, `NAME...` where there may be several."""
    name = str(argument.metavar or argument.name).upper().strip("[].") + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def words_of(option: Any) -> str:
    """`-n, --limit VALUE`, `--json`, `--colour / --no-colour`."""
    words = ", ".join(sorted(option.opts, key=len))
    if not option.is_flag:
        return f"{words} {option.metavar or 'VALUE'}"
    return f"{words} / {', '.join(option.secondary_opts)}" if option.secondary_opts else words


def meaning(parameter: Any) -> str:
    """What it means, then where else it comes from and what it is when not given."""
    notes: list[str] = []
    if parameter.envvar:
        names = [parameter.envvar] if isinstance(parameter.envvar, str) else parameter.envvar
        notes.append("environment: " + ", ".join(f"`{name}`" for name in names))
    shown, value = getattr(parameter, "show_default", True), parameter.default
    if isinstance(shown, str):
        notes.append(f"default: {shown}")
    elif shown and isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        notes.append(f"default: {getattr(value, 'value', value)}")
    text = " ".join((parameter.help or "").split())
    return f"{text} ({'; '.join(notes)})".strip() if notes else text or "-"


def render() -> str:
    """The whole page."""
    return "\n".join((HEAD, "\n\n".join(section(path, command) for path, command in program()), ""))


def main(arguments: list[str]) -> int:
    if arguments:
        Path(arguments[0]).write_text(render())
    else:
        sys.stdout.write(render())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
