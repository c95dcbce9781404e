"""Tools by name: what kind of action a call is, which files it names, which command it runs.

Names: Codex CLI (https://github.com/openai/codex, codex-rs/core/src/tools) and Claude Code
(https://docs.claude.com/en/docs/claude-code/settings#tools-available-to-claude).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ingest.values import Object, objects, string

ACTIONS: dict[str, str] = {
    # Codex
    "exec_command": "shell",
    "shell": "shell",
    "shell_command": "shell",
    "local_shell": "shell",
    "local_shell_call": "shell",
    "container.exec": "shell",
    "command_execution": "shell",
    "run_shell_command": "shell",
    "write_stdin": "shell_input",
    "apply_patch": "edit",
    "file_change": "edit",
    "view_image": "read",
    "read_file": "read",
    "list_dir": "search",
    "grep_files": "search",
    "update_plan": "plan",
    "spawn_agent": "delegate",
    "web_search": "web",
    "web_search_call": "web",
    "list_mcp_resources": "mcp",
    "list_mcp_resource_templates": "mcp",
    "read_mcp_resource": "mcp",
    # Claude Code
    "Bash": "shell",
    "bash": "shell",
    "PowerShell": "shell",
    "BashOutput": "shell_input",
    "KillShell": "shell_input",
    "KillBash": "shell_input",
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "write",
    "Grep": "search",
    "Glob": "search",
    "LS": "search",
    "Task": "delegate",
    "Agent": "delegate",
    "TodoWrite": "plan",
    "ExitPlanMode": "plan",
    "exit_plan_mode": "plan",
    "TaskCreate": "plan",
    "WebFetch": "web",
    "WebSearch": "web",
    "ListMcpResourcesTool": "mcp",
    "ReadMcpResourceTool": "mcp",
}

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
_PATCH_FILE = re.compile(
    r"^\*\*\* (?:Add|Update|Delete) File: (.+?)[ \t\r]*$|^\*\*\* Move to: (.+?)[ \t\r]*$", re.MULTILINE
)
PATCH_MARK = "*** Begin Patch"


def action_of(name: str) -> str:
    """One of the actions that `ToolCalled` knows."""
    if name.startswith("mcp__"):
        return "mcp"
    return ACTIONS.get(name, "other")


def patch_paths(text: str) -> tuple[str, ...]:
    """Files that an apply_patch text names, in order, each once; a move names both ends.

    Grammar: https://github.com/openai/codex/blob/main/codex-rs/apply-patch/apply_patch_tool_instructions.md
    """
    return unique(match[1] or match[2] for match in _PATCH_FILE.finditer(text))


def unique(paths: Iterable[str]) -> tuple[str, ...]:
    """The texts in order, each once, empty ones left out."""
    return tuple(dict.fromkeys(path for path in paths if path))


def named_paths(arguments: Object) -> tuple[str, ...]:
    """Files that a call's arguments name in the fields that the known tools use."""
    found = [string(arguments, "file_path"), string(arguments, "notebook_path"), string(arguments, "path")]
    found += [string(edit, "file_path") for edit in objects(arguments, "edits")]
    return unique([path for path in found if path])


def split_command(text: str) -> tuple[str, ...]:
    """A command line as the vector that a POSIX shell would make of it, without expansion; () where a quote stays open.

    `shlex.split` keeps the backslash of `\\$` and `` \\` `` inside double quotes, which Codex writes and a shell removes.
    """
    words: list[str] = []
    word: list[str] | None = None
    position, end = 0, len(text)
    while position < end:
        char = text[position]
        position += 1
        if char in " \t\n":
            if word is not None:
                words.append("".join(word))
                word = None
            continue
        if word is None:
            word = []
        if char == "'":
            close = text.find("'", position)
            if close < 0:
                return ()
            word.append(text[position:close])
            position = close + 1
        elif char == '"':
            position = _double_quoted(text, position, word)
            if position < 0:
                return ()
        elif char == "\\":
            if position >= end:
                return ()
            if text[position] != "\n":
                word.append(text[position])
            position += 1
        else:
            word.append(char)
    if word is not None:
        words.append("".join(word))
    return tuple(words)


def _double_quoted(text: str, position: int, word: list[str]) -> int:
    """Read up to the closing double quote; the place after it, or -1."""
    end = len(text)
    while position < end:
        char = text[position]
        if char == '"':
            return position + 1
        if char == "\\" and position + 1 < end and text[position + 1] in '$`"\\\n':
            if text[position + 1] != "\n":
                word.append(text[position + 1])
            position += 2
            continue
        word.append(char)
        position += 1
    return -1


def typed_command(argv: Sequence[str]) -> str | None:
    """What the model typed where the vector is a shell with one script (`bash -lc SCRIPT`), else None."""
    if len(argv) >= 3 and argv[0].rpartition("/")[2] in SHELLS and argv[1] in ("-c", "-lc", "-ic", "-lic"):
        return argv[2] if len(argv) == 3 else None
    if len(argv) == 4 and argv[0].rpartition("/")[2] in SHELLS and argv[1:3] == ("-l", "-c"):
        return argv[3]
    return None
