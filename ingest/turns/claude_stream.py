"""The stream of `claude -p --output-format stream-json --verbose`.

https://docs.claude.com/en/docs/claude-code/sdk/sdk-headless: system/init, then assistant and user rows as they happen, and a
result. The prompt itself is not in the stream, turns have no ids, and assistant rows no times. Rows with
`parent_tool_use_id` are a sub-agent's: its session is `SESSION/TASK`, where system/task_started tells the task of a call;
older versions do not tell it, then the call's id stands for the task.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ingest.content import content, short
from ingest.interface import Head, Parser
from ingest.turns.claude_rows import (
    INTERRUPTED,
    ClaudeState,
    Row,
    assistant,
    begin_turn,
    describe,
    end_turn,
    returned,
    session_of,
    state_mode,
    tool_results,
    usage_of,
)
from ingest.turns.lines import LineParser, Out, details, parts_text, share, unknown
from ingest.values import (
    Object,
    as_list,
    as_object,
    identifier,
    iso_time,
    items,
    obj,
    objects,
    raw,
    string,
    strings,
)
from provenance.records import (
    ApprovalDecided,
    ContextCompacted,
    EnvironmentStated,
    MessageSaid,
    ModelResponded,
    SessionDescribed,
    SessionEnded,
)

QUIET = frozenset(
    [
        "stream_event",
        "keep_alive",
        "rate_limit_event",
        "tool_progress",
        "auth_status",
        "tool_use_summary",
        "control_request",
        "control_cancel_request",
        "prompt_suggestion",
    ]
)
QUIET_SYSTEM = frozenset(
    [
        "task_progress",
        "task_updated",
        "task_notification",
        "status",
        "hook_started",
        "hook_progress",
        "hook_response",
        "api_retry",
        "files_persisted",
        "local_command_output",
        "post_turn_summary",
        "session_state_changed",
        "elicitation_complete",
        "thinking_tokens",
    ]
)
STATUS = {"success": "completed", "error_max_turns": "failed", "error_during_execution": "failed"}


class StreamState(ClaudeState):
    session: str = ""
    tasks: dict[str, str] = msgspec.field(default_factory=dict[str, str])  # tool call id: task id
    refused: set[str] = msgspec.field(default_factory=set[str])  # calls whose refusal was given with their result
    turns: int = 0


class StreamParser(LineParser[StreamState]):
    """Reads one stream."""

    def __init__(self, head: Head) -> None:
        super().__init__(head, StreamState())
        self.fallback = head.name.removesuffix(".jsonl") or "unnamed"

    def take(self, line: int, row: Object, out: Out) -> None:
        self.state.session = main = string(row, "session_id") or self.state.session or self.fallback
        parent = identifier(row, "parent_tool_use_id")
        session = f"{main}/{self._task(parent)}" if parent is not None else main
        place = Row(session, line, iso_time(row.get("timestamp")))
        kind = string(row, "type")
        if parent is not None and kind in ("assistant", "user"):
            described = SessionDescribed(
                session=session, line=line, time=place.time, agent="claude-code", parent_session=main
            )
            describe(self.state, place, described, out)
        if kind == "assistant":
            self._assistant(place, row, out)
        elif kind == "user":
            self._user(place, row, parent is not None, out)
        elif kind == "system":
            self._system(place, row, out)
        elif kind == "result":
            self._result(place, row, out)
        elif kind == "control_response":
            self._control(place, row, out)
        elif kind not in QUIET:
            out.append(unknown(line, kind or "without type"))

    def _task(self, call: str) -> str:
        return self.state.tasks.get(call, call)

    def _assistant(self, place: Row, row: Object, out: Out) -> None:
        error = string(row, "error")
        response = string(obj(row, "message"), "id") or f"line-{place.line}"
        before = len(out)
        assistant(self.state, place, response, row, out, error)
        for index, record in enumerate(out[before:], before):
            # While a response is being streamed its output count is that of the first token.
            if isinstance(record, ModelResponded) and record.stop_reason is None and record.usage:
                usage = {name: count for name, count in record.usage.items() if name != "output"}
                out[index] = msgspec.structs.replace(record, usage=usage)
        session_of(self.state, place.session).ending = None  # a stream says the turn's end itself

    def _user(self, place: Row, row: Object, child: bool, out: Out) -> None:
        parts = obj(row, "message").get("content")
        results = tool_results(parts)
        for block in results:
            result = obj(row, "tool_use_result") if len(results) == 1 else {}
            self._returned(place, block, result, out)
        rest = (
            parts
            if isinstance(parts, str)
            else [p for p in as_list(parts) if as_object(p).get("type") != "tool_result"]
        )
        text = parts_text(rest)
        if not text:
            return
        origin = "parent_agent" if child else "human"
        if row.get("isSynthetic") is True or row.get("isMeta") is True or results or text.startswith(INTERRUPTED):
            origin = "harness"
        out.append(
            MessageSaid(
                **place.at,
                turn=session_of(self.state, place.session).turn,
                message=string(row, "uuid"),
                origin=origin,
                content=content(text),
            )
        )
        if text.startswith(INTERRUPTED):
            end_turn(self.state, place, "interrupted", out, short(text))

    def _returned(self, place: Row, block: Object, result: Object, out: Out) -> None:
        call = identifier(block, "tool_use_id")
        agent = identifier(result, "agentId", "agent_id")
        if call is not None and agent is None:
            agent = self.state.tasks.get(call)
        if agent is None and call is not None and f"{self.state.session}/{call}" in self.state.sessions:
            agent = call
        before = len(out)
        returned(self.state, place, block, result, out, None, f"{self.state.session}/{agent}" if agent else None)
        if call is not None and any(isinstance(record, ApprovalDecided) for record in out[before:]):
            self.state.refused.add(call)

    def _system(self, place: Row, row: Object, out: Out) -> None:
        subtype = string(row, "subtype")
        if subtype == "init":
            self._init(place, row, out)
        elif subtype == "task_started":
            call, task = identifier(row, "tool_use_id"), identifier(row, "task_id")
            if (
                call is not None
                and task is not None
                and string(row, "task_type") in (None, "local_agent", "remote_agent")
            ):
                self.state.tasks[call] = task
        elif subtype == "compact_boundary":
            turn = session_of(self.state, place.session).turn
            out.append(ContextCompacted(**place.at, turn=turn))
        elif subtype == "api_error":
            reason = string(obj(row, "error"), "message") or string(row, "error") or "API error"
            out.append(ModelResponded(**place.at, error=short(reason)))
        elif subtype not in QUIET_SYSTEM:
            out.append(unknown(place.line, f"system/{subtype}"))

    def _init(self, place: Row, row: Object, out: Out) -> None:
        described = SessionDescribed(
            **place.at,
            agent="claude-code",
            agent_version=string(row, "claude_code_version"),
            model=string(row, "model"),
            cwd=string(row, "cwd"),
            entrypoint="print",
            tools=strings(row, "tools"),
        )
        describe(self.state, place, described, out)
        begin_turn(self.state, place, None, out)
        state_mode(self.state, place, string(row, "permissionMode"), out)
        if self.state.turns == 0:
            told = {
                key: row[key]
                for key in ("mcp_servers", "output_style", "agents", "skills", "plugins", "apiKeySource")
                if key in row
            }
            out.append(EnvironmentStated(**place.at, details=details(told)))
        self.state.turns += 1

    def _result(self, place: Row, row: Object, out: Out) -> None:
        subtype = string(row, "subtype") or "unknown"
        failed = row.get("is_error") is True
        status = "failed" if failed else STATUS.get(subtype, "failed")
        reason = string(row, "stop_reason") if status == "completed" else None
        if status != "completed":
            errors = [text for text in items(row, "errors") if isinstance(text, str)]
            reason = short(f"{subtype}: {errors[0]}") if errors else subtype
        said = raw(row, "result")
        for denial in objects(row, "permission_denials"):
            self._denied(place, denial, out)
        end_turn(self.state, place, status, out, reason, content(said) if said else None)
        cost = row.get("total_cost_usd")
        out.append(
            SessionEnded(
                **place.at,
                status=status,
                reason=reason,
                final_message=content(said) if said else None,
                usage=usage_of(row),
                cost_usd=float(cost)
                if isinstance(cost, int | float) and not isinstance(cost, bool) and abs(cost) < 1e12
                else None,
            )
        )

    def _denied(self, place: Row, denial: Object, out: Out) -> None:
        call = identifier(denial, "tool_use_id")
        if call is not None and call not in self.state.refused:
            self.state.refused.add(call)
            name = string(denial, "tool_name")
            out.append(
                ApprovalDecided(
                    **place.at,
                    call=call,
                    decision="refused",
                    by="policy",
                    reason=name,
                )
            )

    def _control(self, place: Row, row: Object, out: Out) -> None:
        """The answer to a permission prompt, where the host asked over the stream."""
        answer = obj(obj(row, "response"), "response")
        behaviour = string(answer, "behavior")
        if behaviour in ("allow", "deny"):
            out.append(
                ApprovalDecided(
                    **place.at,
                    call=identifier(answer, "toolUseID", "tool_use_id"),
                    decision="approved" if behaviour == "allow" else "refused",
                    reason=short(string(answer, "message") or "") or None,
                )
            )


def belongs(row: Object) -> float:
    """How much a row looks like one of the stream."""
    if "session_id" not in row or "sessionId" in row:
        return 0.0
    kind = string(row, "type")
    if kind in ("assistant", "user"):
        return 1.0 if "parent_tool_use_id" in row else 0.8
    if kind in ("system", "result"):
        return 1.0 if "subtype" in row else 0.5
    return 0.9 if kind in QUIET else 0.0


@dataclass(frozen=True, slots=True)
class ClaudeStream:
    """The format, as the registry lists it."""

    name: str = "claude-stream"
    family: str = "turns"
    description: str = "Claude Code headless stream (claude -p --output-format stream-json)"

    def score(self, head: Head) -> float:
        return share(head, belongs, (b'"parent_tool_use_id":', b'"subtype":"init"'))

    def parser(self, head: Head) -> Parser:
        return StreamParser(head)


FORMAT = ClaudeStream()
