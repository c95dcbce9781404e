"""The stream of `codex exec --json`.

https://github.com/openai/codex, codex-rs/exec/src/exec_events.rs (ThreadEvent). No times, no turn ids; item ids are positions
that begin again with each thread, so calls are marked `positional`: a rollout of the same thread is matched by content.
A command that ends with another exit status than 0 is a completed call with that `exit_code`, as in the rollout.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ingest.content import content, mend, redact_argv, redacted, short
from ingest.interface import Head, Parser
from ingest.turns import codex_rows as rows
from ingest.turns.lines import LineParser, LineState, Out, share, unknown
from ingest.turns.tools import action_of, split_command, typed_command
from ingest.values import Object, as_object, canonical, identifier, integer, loads, obj, objects, raw, string, strings
from provenance.records import (
    Content,
    MessageSaid,
    ModelResponded,
    PlanDeclared,
    SessionDescribed,
    SessionEnded,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)

STATUS = {"declined": "refused", "failed": "failed"}
CALLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"})


class ExecState(LineState):
    session: str | None = None
    called: set[str] = msgspec.field(default_factory=set[str])
    returned: set[str] = msgspec.field(default_factory=set[str])
    plans: dict[str, str] = msgspec.field(default_factory=dict[str, str])  # item id: the plan as last declared
    final: Content | None = None  # the last message of the open turn


class Call(msgspec.Struct):
    """A call item's request."""

    name: str
    arguments: str
    command: str | None = None
    argv: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class ExecParser(LineParser[ExecState]):
    """Reads one stream; several threads may follow one another in it."""

    def __init__(self, head: Head) -> None:
        super().__init__(head, ExecState())
        self.fallback = head.name.removesuffix(".jsonl") or "unnamed"

    @property
    def session(self) -> str:
        return self.state.session or self.fallback

    def take(self, line: int, row: Object, out: Out) -> None:
        kind = string(row, "type")
        if kind == "thread.started":
            self.state = ExecState(quiet=self.state.quiet, session=string(row, "thread_id"))
            out.append(SessionDescribed(session=self.session, line=line, agent="codex", entrypoint="exec"))
        elif kind == "turn.started":
            self.state.final = None
            out.append(TurnStarted(session=self.session, line=line))
        elif kind == "turn.completed":
            self._end(line, "completed", None, rows.usage_counts(obj(row, "usage")), out)
        elif kind == "turn.failed":
            reason = string(obj(row, "error"), "message") or "turn failed"
            self._end(line, "failed", short(_inner_message(reason)), None, out)
        elif kind == "error":
            error = _inner_message(string(row, "message") or "error")
            out.append(ModelResponded(session=self.session, line=line, error=short(error)))
        elif kind in ("item.started", "item.updated", "item.completed"):
            self._item(line, kind, obj(row, "item"), out)
        else:
            out.append(unknown(line, kind or "without type"))

    def _end(self, line: int, status: str, reason: str | None, usage: dict[str, int] | None, out: Out) -> None:
        final = self.state.final
        out.append(
            TurnEnded(session=self.session, line=line, status=status, reason=reason, final_message=final, usage=usage)
        )
        out.append(
            SessionEnded(
                session=self.session, line=line, status=status, reason=reason, final_message=final, usage=usage
            )
        )

    def _item(self, line: int, event: str, item: Object, out: Out) -> None:
        kind = string(item, "type", "item_type")
        if kind in CALLS:
            self._called(line, kind, item, out)
            if event == "item.completed":
                self._returned(line, kind, item, out)
        elif kind in ("agent_message", "assistant_message"):
            if event == "item.completed" and (text := raw(item, "text")):
                self.state.final = content(text)
                self._say(line, item, "assistant", "agent", self.state.final, out)
        elif kind == "reasoning":
            if event == "item.completed" and (text := raw(item, "text")):
                out.append(ModelResponded(session=self.session, line=line, reasoning=content(text)))
        elif kind == "todo_list":
            self._plan(line, item, out)
        elif kind == "error":
            self._say(line, item, "system", "harness", content(raw(item, "message") or "error"), out)
        else:
            out.append(unknown(line, f"{event}/{kind}"))

    def _say(self, line: int, item: Object, role: str, origin: str, said: Content, out: Out) -> None:
        out.append(
            MessageSaid(
                session=self.session, line=line, message=identifier(item, "id"), role=role, origin=origin, content=said
            )
        )

    def _plan(self, line: int, item: Object, out: Out) -> None:
        entries = objects(item, "items")
        text = canonical(entries)
        key = identifier(item, "id") or ""
        if self.state.plans.get(key) == mend(text):
            return
        self.state.plans[key] = mend(text)
        steps = tuple(redacted(step) for entry in entries if (step := string(entry, "text")))
        out.append(PlanDeclared(session=self.session, line=line, content=content(text), steps=steps))

    def _called(self, line: int, kind: str, item: Object, out: Out) -> None:
        call = identifier(item, "id")
        if call is not None:
            if call in self.state.called:
                return
            self.state.called.add(call)
        request = _request(kind, item)
        out.append(
            ToolCalled(
                session=self.session,
                line=line,
                call=call,
                name=request.name,
                action="delegate" if request.name == "spawn_agent" else action_of(request.name),
                command=request.command,
                argv=request.argv,
                paths=request.paths,
                arguments=content(request.arguments),
                positional=True,
            )
        )

    def _returned(self, line: int, kind: str, item: Object, out: Out) -> None:
        call = identifier(item, "id")
        if call is not None:
            if call in self.state.returned:
                return
            self.state.returned.add(call)
        exit_code = integer(item, "exit_code")
        status = STATUS.get(string(item, "status") or "", "completed")
        if status == "failed" and exit_code is not None:
            status = "completed"
        output = raw(item, "aggregated_output")
        error = string(obj(item, "error"), "message") or string(item, "error")
        told = content(output) if output is not None else None
        if kind == "mcp_tool_call":
            account = rows.mcp(line, None, item)
            told = account.output
            error = error or account.error
        receivers = [identifier(item, "receiver_thread_id"), *strings(item, "receiver_thread_ids")]
        out.append(
            ToolReturned(
                session=self.session,
                line=line,
                call=call,
                status=status,
                exit_code=exit_code,
                output=told,
                error=short(error) if error else None,
                changes=rows.file_changes(item) if kind == "file_change" else (),
                child_session=next((thread for thread in receivers if thread), None)
                if item.get("tool") == "spawn_agent"
                else None,
                positional=True,
            )
        )


def _request(kind: str, item: Object) -> Call:
    if kind == "command_execution":
        line = string(item, "command") or ""
        argv = split_command(line)
        typed = typed_command(argv)
        return Call(kind, line, redacted(typed if typed is not None else line), redact_argv(argv)[0])
    if kind == "file_change":
        changes = rows.file_changes(item)
        return Call(kind, canonical(item.get("changes")), paths=tuple(path for path, _ in changes))
    if kind == "mcp_tool_call":
        name = f"mcp__{string(item, 'server') or 'unknown'}__{string(item, 'tool') or 'unknown'}"
        return Call(name, canonical(item.get("arguments")))
    if kind == "web_search":
        return Call(kind, canonical({key: item[key] for key in ("query", "action") if key in item}))
    arguments = {key: item[key] for key in ("prompt", "receiver_thread_ids") if key in item}
    return Call(string(item, "tool") or kind, canonical(arguments))


def _inner_message(text: str) -> str:
    """The message inside an API error, which comes as JSON text."""
    inner = as_object(loads(text)) if text.lstrip().startswith("{") else {}
    return string(obj(inner, "error"), "message") or text


EVENTS = frozenset(
    [
        "thread.started",
        "turn.started",
        "turn.completed",
        "turn.failed",
        "item.started",
        "item.updated",
        "item.completed",
    ]
)


def belongs(row: Object) -> float:
    """How much a row looks like one of the stream."""
    kind = string(row, "type")
    if kind in EVENTS and "payload" not in row and "timestamp" not in row:
        return 1.0
    return 0.8 if kind == "error" and set(row) == {"type", "message"} else 0.0


@dataclass(frozen=True, slots=True)
class CodexExec:
    """The format, as the registry lists it."""

    name: str = "codex-exec"
    family: str = "turns"
    description: str = "Codex headless stream (codex exec --json)"

    def score(self, head: Head) -> float:
        return share(head, belongs, (b'"type":"thread.started"', b'"type":"item.completed"'))

    def parser(self, head: Head) -> Parser:
        return ExecParser(head)


FORMAT = CodexExec()
