"""Codex tool calls and answers: the parts of a rollout's `response_item` rows that the dispatcher does not need to know.

Shapes: https://github.com/openai/codex, codex-rs/protocol/src/models.rs (ResponseItem) and protocol.rs (EventMsg).
"""

from __future__ import annotations

import posixpath
from typing import Any

import msgspec

from ingest.content import content, mend, redact_argv, redacted
from ingest.turns.lines import parts_text
from ingest.turns.results import Answer, codex_answer, spawned_agent
from ingest.turns.tools import PATCH_MARK, action_of, named_paths, patch_paths, typed_command
from ingest.values import (
    INT64,
    Object,
    as_object,
    canonical,
    identifier,
    integer,
    items,
    loads,
    milliseconds,
    obj,
    objects,
    raw,
    string,
)
from provenance.records import Content

USAGE = {
    "input_tokens": "input",
    "cached_input_tokens": "cached_input",
    "cache_write_input_tokens": "cache_creation_input",
    "output_tokens": "output",
    "reasoning_output_tokens": "reasoning_output",
    "total_tokens": "total",
}


class Call(msgspec.Struct):
    """A call that was made: what its answer has to be read with."""

    name: str
    action: str
    answered: str | None = None  # the status that was given
    known_child: bool = False


class Account(msgspec.Struct):
    """What the host told of an execution beside the model's own view of it, until the answer comes."""

    line: int
    time: int | None
    status: str | None = None
    exit_code: int | None = None
    started: int | None = None
    duration: int | None = None
    output: Content | None = None
    changes: tuple[tuple[str, str], ...] = ()
    child: str | None = None
    error: str | None = None


class Request(msgspec.Struct):
    """A call's request taken apart."""

    name: str
    action: str
    arguments: str
    command: str | None = None
    argv: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    cwd: str | None = None
    continues: str | None = None
    plan: tuple[str, tuple[str, ...]] | None = None


def usage_counts(usage: Object) -> dict[str, int] | None:
    """Token counts under the names of `ModelResponded`."""
    counts = {name: value for key, name in USAGE.items() if (value := integer(usage, key)) is not None}
    return counts or None


def request_of(name: str, given: object, cwd: str | None) -> Request:
    """A tool's name and its arguments (JSON text, free text or object) as a request. `cwd` is the turn's."""
    text = given if isinstance(given, str) else "" if given is None else canonical(given)
    arguments = (
        as_object(loads(text)) if isinstance(given, str) and given.lstrip().startswith("{") else as_object(given)
    )
    request = Request(name, action_of(name), text)
    if request.action == "shell":
        _shell(request, arguments, cwd)
    elif request.action == "shell_input":
        request.continues = identifier(arguments, "session_id", "process_id")
    elif request.action == "edit":
        patch = raw(arguments, "patch") or raw(arguments, "input") or text
        request.paths = tuple(mend(path) for path in patch_paths(patch)) or named_paths(arguments)
    elif request.action in ("read", "search"):
        request.paths = named_paths(arguments) or ((path,) if (path := string(arguments, "dir_path")) else ())
    elif name == "update_plan":
        steps = tuple(redacted(step) for entry in objects(arguments, "plan") if (step := string(entry, "step")))
        request.plan = (text, steps)
    return request


def _shell(request: Request, arguments: Object, cwd: str | None) -> None:
    given = arguments.get("command") if "command" in arguments else arguments.get("cmd")
    workdir = string(arguments, "workdir", "working_directory", "cwd")
    request.cwd = posixpath.normpath(posixpath.join(cwd, workdir)) if cwd and workdir else workdir or cwd
    if isinstance(given, str):
        request.command = redacted(given)
        script = given
    else:
        vector = [item for item in items(arguments, "command") if isinstance(item, str)]
        if not vector:
            return
        script = typed_command(vector) or " ".join(vector)
        request.command = redacted(script)
        request.argv = tuple(mend(word) for word in redact_argv(vector)[0])
        if vector[0] in ("apply_patch", "applypatch"):
            request.action = "edit"
    if PATCH_MARK in script and (request.action == "edit" or script.lstrip().startswith(("apply_patch", "applypatch"))):
        request.action = "edit"
        request.paths = tuple(mend(path) for path in patch_paths(script))


def item_name(payload: Object) -> str:
    """The tool that a call item names, with the MCP server or namespace in front."""
    name = string(payload, "name") or string(obj(payload, "function"), "name") or string(payload, "type") or "unknown"
    namespace = string(payload, "namespace")
    if namespace is not None and not name.startswith(namespace):
        return f"{namespace}{'' if namespace.endswith('__') else '__'}{name}"
    return name


def output_text(payload: Object) -> tuple[str, bool | None]:
    """The text of an answer, and the host's mark of success where there is one."""
    given: Any = payload.get("output") if "output" in payload else payload.get("result")
    value = as_object(given)
    if value:
        success = value.get("success")
        body = value.get("content") if "content" in value else value.get("content_items")
        if "exitCode" in value or "stdout" in value:
            body = (raw(value, "stdout") or "") + (raw(value, "stderr") or "")
        elif body is None:
            body = [value] if "text" in value else canonical(value)
        return parts_text(body), success if isinstance(success, bool) else None
    if given is None:
        return "", None
    return (given if isinstance(given, str) else parts_text(given)), None


def answer_of(payload: Object, call: Call | None) -> tuple[Answer, str | None]:
    """An output item's answer, and the session that a delegation began."""
    text, success = output_text(payload)
    answer = codex_answer(text, success)
    structured = as_object(payload.get("result"))
    if answer.exit_code is None:
        answer.exit_code = integer(structured, "exitCode", "exit_code")
    child = spawned_agent(text) if call is not None and call.action == "delegate" else None
    return answer, child


def duration_of(value: Object) -> int | None:
    """Rust's Duration as JSON: {secs, nanos}."""
    duration = obj(value, "duration")
    seconds, nanos = integer(duration, "secs"), integer(duration, "nanos")
    if seconds is None or not 0 <= seconds < INT64 // 10**9 - 1:
        return None
    return seconds * 1_000_000_000 + (nanos if nanos is not None and 0 <= nanos < 10**9 else 0)


def file_changes(value: Object) -> tuple[tuple[str, str], ...]:
    """`changes` of patch events: {path: {type | kind: add|update|delete}} or {path: {"update": ...}}, or a list."""
    changes = obj(value, "changes")
    if changes:
        return tuple((mend(path), _change_kind(as_object(change))) for path, change in changes.items())
    return tuple(
        (path, _change_kind(change)) for change in objects(value, "changes") if (path := string(change, "path"))
    )


def _change_kind(change: Object) -> str:
    kind = string(change, "type", "kind") or string(obj(change, "kind"), "type")
    if kind is None:
        kind = next((name for name in ("add", "update", "delete") if name in change), "update")
    return kind


def execution(
    line: int, time: int | None, payload: Object, completed: int | None = None, started: int | None = None
) -> Account:
    """exec_command_end, or an item_completed CommandExecution."""
    account = Account(line, time)
    status = string(payload, "status")
    account.status = {"declined": "refused", "in_progress": "running"}.get(status or "")
    account.exit_code = integer(payload, "exit_code")
    account.duration = duration_of(payload)
    account.started = started
    output = raw(payload, "aggregated_output")
    if output is None and (raw(payload, "stdout") is not None or raw(payload, "stderr") is not None):
        output = (raw(payload, "stdout") or "") + (raw(payload, "stderr") or "")
    account.output = content(output) if output is not None else None
    if account.time is None:
        account.time = completed
    return account


def patch(line: int, time: int | None, payload: Object) -> Account:
    """patch_apply_end, or an item_completed FileChange."""
    account = Account(line, time, changes=file_changes(payload))
    status = string(payload, "status")
    if payload.get("success") is False or status == "failed":
        account.status = "failed"
        account.error = (string(payload, "stderr") or "").split("\n", 1)[0][:200] or None
    elif status == "declined":
        account.status = "refused"
    return account


def mcp(line: int, time: int | None, payload: Object) -> Account:
    """mcp_tool_call_end, or an item_completed McpToolCall."""
    account = Account(line, time, duration=duration_of(payload))
    result = obj(payload, "result")
    wrapped = result.get("Ok") if "Ok" in result else result.get("Err") if "Err" in result else result
    good = as_object(wrapped)
    text = parts_text(good.get("content")) if "content" in good else wrapped if isinstance(wrapped, str) else ""
    account.output = content(text) if text else None
    if "Err" in result or good.get("isError") is True or string(payload, "status") == "failed":
        account.status = "failed"
        account.error = redacted(text[:200]) or None
    return account


def item_times(payload: Object) -> tuple[int | None, int | None]:
    """When an item began and ended, as its host says."""
    return milliseconds(payload, "started_at_ms"), milliseconds(payload, "completed_at_ms")
