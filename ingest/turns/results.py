"""What a tool's answer says about itself, where its host wrote it: exit codes, refusals, running commands.

Only the answer's beginning is looked at, up to the mark behind which the program's own output stands: a program may
print anything, also another agent's transcript.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingest.content import short
from ingest.values import as_object, decimal_seconds, identifier, integer, loads, obj, string


@dataclass(slots=True)
class Answer:
    """A tool's answer taken apart. `body` is the program's output without what the host put before it."""

    body: str | None  # None: no answer reached the model, only the host tells of it
    status: str = "completed"
    exit_code: int | None = None
    duration: int | None = None
    running: str | None = None
    error: str | None = None
    refused_by: str | None = None  # human or policy, where the answer is a refusal


_EXITED = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\S{1,64})$", re.MULTILINE)
_WALL = re.compile(r"^Wall time: (\d{1,9}(?:\.\d{1,12})?) seconds?$", re.MULTILINE)
_HEADER = re.compile(
    r"(?:(?:Chunk ID|Wall time|Original token count|Exit code|Total output lines): [^\n]*\n|Process (?:exited|running) with [^\n]*\n)+"
    r"(?:Output:\n?)?"
)
_TIMED_OUT = re.compile(r"(?:command|exec) timed out|Command timed out after|timeout: ", re.IGNORECASE)
_UNSUPPORTED = re.compile(r"unsupported (?:custom )?(?:tool )?call\b", re.IGNORECASE)
_REJECTED = re.compile(
    r"rejected by user|user rejected|denied by user|patch rejected by user|exec command rejected by user", re.IGNORECASE
)
_FORBIDDEN = re.compile(
    r"approval (?:policy|required)|rejected by (?:policy|reviewer|guardian)|not permitted|is not allowed|rejected: ",
    re.IGNORECASE,
)
_TOOL_ERROR = re.compile(
    r"(?:exec_command failed|apply_patch verification failed|failed to parse (?:function|exec)|execution error|tool call error"
    r"|write_stdin failed|err: |error: |Unknown process id)",
    re.IGNORECASE,
)


def codex_answer(text: str, success: bool | None = None) -> Answer:
    """Codex: the header of unified exec, the JSON of `shell`, or a refusal as plain text.

    https://github.com/openai/codex/blob/main/codex-rs/core/src/tools/context.rs
    """
    header = _HEADER.match(text)
    if header:
        return _headed(text, header)
    if text.startswith("{"):
        answer = _with_metadata(text)
        if answer is not None:
            return answer
    answer = Answer(text)
    start = text[:500].lstrip()
    if _UNSUPPORTED.match(start):
        answer.status, answer.error = "refused", short(start)
    elif start.startswith("aborted"):
        answer.status, answer.error = "interrupted", short(start)
    elif _TIMED_OUT.match(start):
        answer.status, answer.error = "timed_out", short(start)
    elif _REJECTED.match(start) or (_TOOL_ERROR.match(start) and _REJECTED.search(start)):
        answer.status, answer.error, answer.refused_by = "refused", short(start), "human"
    elif _FORBIDDEN.match(start) or (_TOOL_ERROR.match(start) and _FORBIDDEN.search(start)):
        answer.status, answer.error, answer.refused_by = "refused", short(start), "policy"
    elif success is False or (success is None and _TOOL_ERROR.match(start)):
        answer.status, answer.error = "failed", short(start)
    return answer


def _headed(text: str, header: re.Match[str]) -> Answer:
    facts = header[0]
    answer = Answer(text[header.end() :])
    exited, running, wall = _EXITED.search(facts), _RUNNING.search(facts), _WALL.search(facts)
    answer.exit_code = int(exited[1]) if exited else None
    answer.duration = decimal_seconds(wall[1]) if wall else None
    if running:
        answer.status, answer.running = "running", running[1]
    return answer


def _with_metadata(text: str) -> Answer | None:
    """`{"output": ..., "metadata": {"exit_code": 0, "duration_seconds": 0.1}}`, the answer of `shell` up to 2025."""
    value = as_object(loads(text))
    metadata = obj(value, "metadata")
    output = value.get("output")
    if not metadata or not isinstance(output, str):
        return None
    answer = Answer(output, exit_code=integer(metadata, "exit_code"))
    seconds = metadata.get("duration_seconds")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 1e9:
        answer.duration = decimal_seconds(f"{seconds:.9f}")
    if _TIMED_OUT.match(output[:200]):
        answer.status, answer.error = "timed_out", short(output)
    return answer


def spawned_agent(text: str) -> str | None:
    """The thread id in the answer of `spawn_agent`."""
    value = as_object(loads(text)) if text.startswith("{") else {}
    return string(value, "agent_id", "thread_id", "new_thread_id")


_CLAUDE_EXIT = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})(?:\n|$)")
_CLAUDE_USER = (
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "User rejected",
    "The user rejected",
)
_CLAUDE_POLICY = re.compile(
    r"Claude requested permissions to |Permission to use |Permission for this |.{0,200}has been denied|.{0,80}hook (?:error|blocked)"
    r"|PreToolUse:|Blocked by ",
)
_CLAUDE_ORDER = re.compile(
    r"(?:File has not been read yet|File has been modified since|InputValidationError|No such tool|Error: No such tool)"
)


def claude_answer(text: str, failed: bool, denial: str | None = None) -> Answer:
    """Claude Code: `is_error` is its own mark; the text tells whether the tool failed or was not let run."""
    answer = Answer(text)
    start = text[:600].strip()
    if start.startswith("[Request interrupted by user"):
        answer.status, answer.error = "interrupted", short(start)
        return answer
    if denial is not None:
        answer.status, answer.error = "refused", short(start) or denial
        answer.refused_by = "human" if denial.startswith("user") else "policy"
        return answer
    if not failed:
        return answer
    answer.status, answer.error = "failed", short(start)
    inner = start.removeprefix("<tool_use_error>").removeprefix("Error: ").lstrip()
    exit_code = _CLAUDE_EXIT.match(start)
    if exit_code:
        answer.exit_code = int(exit_code[1])
    elif inner.startswith(_CLAUDE_USER):
        answer.status, answer.refused_by = "refused", "human"
    elif _CLAUDE_POLICY.match(inner):
        answer.status, answer.refused_by = "refused", "policy"
    elif start.startswith("<tool_use_error>"):
        answer.error = short(inner.replace("</tool_use_error>", ""))
        if _CLAUDE_ORDER.match(inner):
            answer.status = "refused"
    elif _TIMED_OUT.match(inner):
        answer.status = "timed_out"
    return answer


def background_task(result: dict[str, object]) -> str | None:
    """The id under which a command that was put into the background goes on."""
    return identifier(result, "backgroundTaskId", "shellId", "bash_id")
