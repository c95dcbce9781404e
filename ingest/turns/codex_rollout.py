"""Codex rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, from the headerless files of 2025 to version 0.171.

https://github.com/openai/codex, codex-rs/rollout and codex-rs/protocol/src/protocol.rs (RolloutLine). A line is
`{timestamp, type, payload}`; the first is `session_meta`.

The same content comes up to three times: as `response_item` (what the model saw), as `event_msg`, and as `item_completed`
inside an event. It is given once, by whichever comes first; of the others only what they alone have is used. Model
responses have no ids before version 0.160: their id here is `line-N` of their first item. A fork begins with its parent's
history; that is not the child's doing and is left out, with one `Skipped` that says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ingest.content import content, redacted, short
from ingest.interface import Head, Parser
from ingest.turns import codex_context as context
from ingest.turns import codex_rows as rows
from ingest.turns.codex_rows import Account, Call, Request
from ingest.turns.lines import LineParser, LineState, Out, details, parts_text, share, unknown
from ingest.turns.results import Answer
from ingest.values import Object, canonical, identifier, integer, iso_time, obj, raw, string
from provenance.identity import key_of
from provenance.records import (
    ApprovalDecided,
    ContextCompacted,
    EnvironmentStated,
    MessageSaid,
    ModelResponded,
    PlanDeclared,
    PolicyStated,
    SessionDescribed,
    Skipped,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)

QUIET_EVENTS = frozenset(
    [
        "codex/event/raw_item",
        "account/rateLimits/updated",
        "image_generation_end",
        "image_generation_begin",
        "thread_goal_updated",
        "thread_name_updated",
        "collab_agent_interaction_end",
        "collab_waiting_end",
        "collab_close_end",
        "collab_agent_spawn_begin",
        "collab_resume_end",
        "sub_agent_activity",
        "view_image_tool_call",
        "dynamic_tool_call_response",
        "web_search_begin",
        "exec_command_begin",
        "patch_apply_begin",
        "mcp_tool_call_begin",
        "session_configured",
        "turn_diff",
        "item_started",
        "background_event",
        "agent_reasoning_section_break",
        "shutdown_complete",
        "thread_memory_mode_updated",
    ]
)
SAID_EVENTS = frozenset(
    ["entered_review_mode", "exited_review_mode", "thread_rolled_back", "undo_completed", "warning", "stream_error"]
)
QUIET_ROWS = frozenset({"inter_agent_communication_metadata", "state", "ghost_snapshot"})
ITEM, EVENT, COMPLETED = 0, 1, 2  # where content was said
ECHOES = 512


class RolloutState(LineState):
    session: str | None = None
    parent: str | None = None
    delegated: bool = False  # a sub-agent's session: its user is another agent
    born: int | None = None  # milliseconds since the epoch when the session was made
    described: tuple[str | None, ...] = ()
    model: str | None = None
    cwd: str | None = None
    replay: tuple[int, int] | None = None  # lines of the parent's history, first and last, while it lasts
    turn: str | None = None
    open: bool = False
    turn_ids: bool = False
    policy: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    response: str | None = None  # the model response that items belong to
    last: str | None = None  # the one before
    measured: bool = False  # the last response's usage is known
    totals: str | None = None
    usage_records: bool = False
    echoes: dict[str, list[int]] = msgspec.field(default_factory=dict[str, list[int]])
    calls: dict[str, Call] = msgspec.field(default_factory=dict[str, Call])
    accounts: dict[str, Account] = msgspec.field(default_factory=dict[str, Account])
    nameless: list[tuple[str, str]] = msgspec.field(
        default_factory=list[tuple[str, str]]
    )  # (tool, our id) of calls without an id, oldest first


class Place(msgspec.Struct):
    """What all records of a row share."""

    session: str
    line: int
    time: int | None
    turn: str | None


class RolloutParser(LineParser[RolloutState]):
    """Reads one rollout."""

    def __init__(self, head: Head) -> None:
        super().__init__(head, RolloutState())
        self.fallback = context.session_from_name(head.name)

    def take(self, line: int, row: Object, out: Out) -> None:
        kind, payload = string(row, "type"), obj(row, "payload")
        time = iso_time(row.get("timestamp"))
        if time is None:
            time = iso_time(row.get("created_at"))
        if kind == "session_meta" or (kind is None and context.is_headerless_meta(row)):
            self._meta(line, time, payload or row, out)
            return
        if self.state.replay is not None:
            if not context.begins_own(payload, self.state.born):
                self.state.replay = (self.state.replay[0], line)
                return
            self._end_replay(out)
        turn = string(payload, "turn_id") or string(
            obj(payload, "internal_chat_message_metadata_passthrough"), "turn_id"
        )
        place = Place(self.state.session or self.fallback, line, time, turn or self.state.turn)
        if kind == "response_item":
            self._item(place, payload, out)
        elif kind == "event_msg":
            self._event(place, payload, out)
        elif kind == "turn_context":
            self._turn_context(place, payload, out)
        elif kind == "world_state":
            self._environment(place, {"full": payload.get("full"), "state": payload.get("state")}, out)
        elif kind == "compacted":
            self._compacted(place, raw(payload, "message"), ITEM, out)
        elif kind == "token_usage_record":
            self._usage_record(place, payload, out)
        elif kind in QUIET_ROWS or string(row, "record_type") == "state":
            return
        else:
            self._bare(place, kind, row, out)

    def close(self, out: Out) -> None:
        if self.state.replay is not None:
            self._end_replay(out)
        for call, account in list(self.state.accounts.items()):
            place = Place(self.state.session or self.fallback, account.line, account.time, self.state.turn)
            self._returned(place, call, Answer(""), None, out)

    # ---------------------------------------------------------------------------------------------------------------
    # The session and its history

    def _meta(self, line: int, time: int | None, meta: Object, out: Out) -> None:
        state = self.state
        session = string(meta, "id", "session_id") or self.fallback
        if state.session is not None and session != state.session:
            if state.replay is not None or state.parent is not None:
                state.replay = (state.replay[0] if state.replay else line, line)
                return
            self.state = state = RolloutState(quiet=state.quiet)
        first = state.session is None
        state.session = session
        parent = context.parent_of(meta)
        state.parent = parent or state.parent
        state.delegated = state.delegated or isinstance(meta.get("source"), dict)
        state.cwd = string(meta, "cwd") or state.cwd
        if first:
            state.born = context.born(session, meta, time)
            if string(meta, "forked_from_id") is not None:
                state.replay = (line + 1, line)
        place = Place(session, line, time, None)
        self._describe(place, meta, out)
        git = obj(meta, "git")
        if string(git, "repository_url", "repo") is not None:
            self._environment(place, {"git": git}, out)

    def _describe(self, place: Place, meta: Object, out: Out) -> None:
        state = self.state
        git, source = obj(meta, "git"), meta.get("source")
        record = SessionDescribed(
            session=place.session,
            line=place.line,
            time=place.time,
            agent="codex",
            agent_version=string(meta, "cli_version"),
            model=string(meta, "model") or state.model,
            model_provider=string(meta, "model_provider", "model_provider_id"),
            cwd=state.cwd,
            parent_session=state.parent,
            git_commit=string(git, "commit_hash", "commit"),
            git_branch=string(git, "branch"),
            entrypoint=source if isinstance(source, str) else string(meta, "originator"),
        )
        said = (
            record.agent_version,
            record.model,
            record.cwd,
            record.parent_session,
            record.git_commit,
            record.git_branch,
        )
        old = state.described or (None,) * len(said)
        merged = tuple(new if new is not None else before for new, before in zip(said, old, strict=True))
        if merged != old or not state.described:
            state.described = merged
            out.append(record)

    def _end_replay(self, out: Out) -> None:
        replay, self.state.replay = self.state.replay, None
        if replay is not None and replay[1] >= replay[0]:
            whose = self.state.parent or "another session"
            out.append(Skipped(replay[0], "replayed history", f"lines {replay[0]} to {replay[1]} repeat {whose}"[:200]))

    # ---------------------------------------------------------------------------------------------------------------
    # Turns, policy, environment

    def _begin(self, place: Place, turn: str | None, out: Out) -> None:
        state = self.state
        if state.open and state.turn == turn:
            return
        state.turn, state.open = turn, True
        self._close_response()
        out.append(TurnStarted(session=place.session, line=place.line, time=place.time, turn=turn))

    def _end(self, place: Place, status: str, payload: Object, out: Out, reason: str | None = None) -> None:
        self._close_response()
        self.state.open = False
        said = raw(payload, "last_agent_message")
        out.append(
            TurnEnded(
                session=place.session,
                line=place.line,
                time=place.time,
                turn=place.turn,
                status=status,
                reason=reason,
                final_message=content(said) if said else None,
                usage=rows.usage_counts(obj(payload, "usage")),
            )
        )

    def _turn_context(self, place: Place, payload: Object, out: Out) -> None:
        state = self.state
        turn = string(payload, "turn_id")
        if turn is not None:
            state.turn_ids = True
            self._begin(place, turn, out)
        state.cwd = string(payload, "cwd") or state.cwd
        model = string(payload, "model")
        if model is not None and model != state.model:
            state.model = model
            self._describe(place, payload, out)
        self._policy(place, context.policy_of(payload), out)

    def _policy(self, place: Place, said: dict[str, str], out: Out) -> None:
        merged = self.state.policy | said
        if not said or merged == self.state.policy:
            return
        self.state.policy = merged
        roots = merged.get("roots")
        out.append(
            PolicyStated(
                session=place.session,
                line=place.line,
                time=place.time,
                turn=place.turn,
                approval=merged.get("approval"),
                sandbox=merged.get("sandbox"),
                permission_mode=merged.get("profile"),
                network=merged.get("network"),
                writable_roots=tuple(roots.split("\n")) if roots else (),
                details=merged.get("details"),
            )
        )

    def _environment(self, place: Place, told: Object, out: Out) -> None:
        out.append(EnvironmentStated(session=place.session, line=place.line, time=place.time, details=details(told)))

    def _compacted(self, place: Place, summary: str | None, channel: int, out: Out) -> None:
        self._close_response()
        if self._echo("compaction", channel):
            out.append(
                ContextCompacted(
                    session=place.session,
                    line=place.line,
                    time=place.time,
                    turn=place.turn,
                    summary=content(summary) if summary else None,
                )
            )

    # ---------------------------------------------------------------------------------------------------------------
    # Content that is said more than once

    def _echo(self, key: str, channel: int) -> bool:
        """Whether content said on this channel is new: no other channel has said it as often."""
        echoes = self.state.echoes
        counts = echoes.pop(key, [0, 0, 0])
        counts[channel] += 1
        echoes[key] = counts
        while len(echoes) > ECHOES:
            del echoes[next(iter(echoes))]
        return all(counts[channel] > count for other, count in enumerate(counts) if other != channel)

    def _say(self, place: Place, role: str, origin: str, text: str, channel: int, payload: Object, out: Out) -> None:
        spoken = origin == "agent" and role == "assistant"
        new = bool(text) and self._echo(f"{role}:{key_of(text.strip())}", channel)
        response = self._respond(place, out) if spoken and (new or not text) else None
        if not new:
            return
        if origin == "human":
            if not self.state.turn_ids:
                self._begin(place, f"line-{place.line}", out)
                place.turn = self.state.turn
            if self.state.delegated:
                origin = "parent_agent"
        if role != "assistant":
            self._close_response()
        out.append(
            MessageSaid(
                session=place.session,
                line=place.line,
                time=place.time,
                turn=place.turn,
                message=string(payload, "id"),
                role=role,
                origin=origin,
                content=content(text),
                final=string(payload, "phase") == "final_answer",
                response=response,
            )
        )
        if origin == "harness" and text.startswith("<environment_context>"):
            self._environment(place, context.environment_of(text), out)

    def _reasoned(self, place: Place, text: str, channel: int, out: Out) -> None:
        if not text:
            if channel == ITEM:
                self._respond(place, out)
        elif self._echo(f"reasoning:{key_of(text.strip())}", channel):
            if self.state.response is None:
                self._respond(place, out, text)
            else:
                self._responded(place, self.state.response, out, reasoning=text)

    # ---------------------------------------------------------------------------------------------------------------
    # Model responses

    def _respond(self, place: Place, out: Out, reasoning: str | None = None) -> str:
        """The open response; a new one begins where none is."""
        state = self.state
        if state.response is None:
            state.response = f"line-{place.line}"
            state.measured = False
            self._responded(place, state.response, out, reasoning=reasoning)
        return state.response

    def _responded(
        self,
        place: Place,
        response: str | None,
        out: Out,
        usage: dict[str, int] | None = None,
        reasoning: str | None = None,
    ) -> None:
        out.append(
            ModelResponded(
                session=place.session,
                line=place.line,
                time=place.time,
                turn=place.turn,
                response=response,
                model=self.state.model,
                usage=usage,
                reasoning=content(reasoning) if reasoning else None,
            )
        )

    def _close_response(self) -> None:
        if self.state.response is not None:
            self.state.last, self.state.response = self.state.response, None

    def _measure(self, place: Place, usage: dict[str, int] | None, out: Out) -> None:
        """Usage of the response that just ended; of one seen only by its usage where the last has its own already."""
        state = self.state
        response = state.response or (state.last if not state.measured else None) or f"line-{place.line}"
        state.last, state.response, state.measured = response, None, True
        self._responded(place, response, out, usage)

    def _usage_record(self, place: Place, payload: Object, out: Out) -> None:
        thread = string(payload, "thread_id")
        if thread is not None and thread != place.session:
            return
        self.state.usage_records = True
        self._measure(place, rows.usage_counts(obj(payload, "usage")), out)

    def _token_count(self, place: Place, payload: Object, out: Out) -> None:
        info = obj(payload, "info")
        usage = rows.usage_counts(obj(info, "last_token_usage"))
        if usage is None and integer(info, "prompt", "completion") is not None:
            usage = {"input": integer(info, "prompt") or 0, "output": integer(info, "completion") or 0}
        totals = canonical(info.get("total_token_usage") or info)
        if usage is None or totals == self.state.totals or self.state.usage_records:
            return
        self.state.totals = totals
        self._measure(place, usage, out)

    # ---------------------------------------------------------------------------------------------------------------
    # Rows

    def _item(self, place: Place, payload: Object, out: Out) -> None:
        kind = string(payload, "type")
        if kind == "message" or (kind is None and string(payload, "role") is not None):
            role = string(payload, "role") or "user"
            text = parts_text(payload.get("content"))
            if role == "assistant":
                self._say(place, role, "agent", text, ITEM, payload, out)
            else:
                origin = context.origin_of(role, text, payload)
                self._say(place, "user" if role == "user" else "system", origin, text, ITEM, payload, out)
        elif kind == "reasoning":
            self._reasoned(place, parts_text(payload.get("summary")) or parts_text(payload.get("content")), ITEM, out)
        elif kind == "agent_message":
            origin = "parent_agent" if self.state.delegated else "agent"
            self._say(place, "user", origin, parts_text(payload.get("content")), ITEM, payload, out)
        elif kind in ("function_call", "custom_tool_call", "tool_call"):
            given = payload.get("input") if kind == "custom_tool_call" else payload.get("arguments")
            self._call(place, payload, rows.request_of(rows.item_name(payload), given, self.state.cwd), out)
        elif kind in ("local_shell_call", "web_search_call", "image_generation_call", "tool_search_call"):
            given = payload.get("action") if payload.get("action") is not None else payload.get("arguments")
            self._call(place, payload, rows.request_of(kind.removesuffix("_call"), given, self.state.cwd), out)
        elif kind in (
            "function_call_output",
            "custom_tool_call_output",
            "tool_search_output",
            "tool_result",
            "local_shell_call_output",
        ):
            self._output(place, payload, out)
        elif kind in ("compaction", "compaction_summary", "context_compaction"):
            self._compacted(place, None, EVENT, out)
        elif kind not in QUIET_ROWS:
            out.append(unknown(place.line, f"response_item/{kind}"))

    def _event(self, place: Place, payload: Object, out: Out) -> None:
        kind = string(payload, "type")
        if kind == "token_count":
            self._token_count(place, payload, out)
        elif kind == "user_message":
            text = raw(payload, "message") or ""
            self._say(place, "user", context.origin_of("user", text, payload), text, EVENT, payload, out)
        elif kind == "agent_message":
            self._say(place, "assistant", "agent", raw(payload, "message") or "", EVENT, payload, out)
        elif kind in ("agent_reasoning", "agent_reasoning_raw_content"):
            self._reasoned(place, raw(payload, "text") or "", EVENT, out)
        elif kind in ("task_started", "turn_started"):
            self.state.turn_ids = self.state.turn_ids or string(payload, "turn_id") is not None
            self._begin(place, string(payload, "turn_id"), out)
        elif kind in ("task_complete", "turn_complete"):
            error = string(obj(payload, "error"), "message") or string(payload, "error")
            self._end(place, "failed" if error else "completed", payload, out, short(error) if error else None)
        elif kind == "turn.completed":
            self._end(place, "completed", payload, out)
        elif kind == "turn_aborted":
            self._end(place, "interrupted", payload, out, string(payload, "reason"))
        elif kind == "thread_settings_applied":
            self._policy(place, context.policy_of(obj(payload, "thread_settings")), out)
        elif kind == "context_compacted":
            self._compacted(place, None, EVENT, out)
        elif kind == "error":
            self._failed(place, string(payload, "message") or "error", out)
        elif kind == "guardian_assessment":
            self._assessed(place, payload, out)
        elif kind in SAID_EVENTS:
            self._note(place, canonical(payload), payload, out)
        elif kind == "item_completed":
            self._completed(place, payload, out)
        elif not self._host(place, kind, payload, out) and kind not in QUIET_EVENTS:
            out.append(unknown(place.line, f"event_msg/{kind}"))

    def _host(self, place: Place, kind: str | None, payload: Object, out: Out) -> bool:
        """Events in which the host tells of executions; False where the event is none of them."""
        call = identifier(payload, "call_id", "callId")
        if kind == "exec_command_end":
            self._account(place, call, rows.execution(place.line, place.time, payload), "exec_command", payload, out)
        elif kind == "patch_apply_end":
            self._account(place, call, rows.patch(place.line, place.time, payload), "apply_patch", payload, out)
        elif kind == "mcp_tool_call_end":
            self._account(
                place, call, rows.mcp(place.line, place.time, payload), context.mcp_name(payload), payload, out
            )
        elif kind == "web_search_end":
            self._account(place, call, Account(place.line, place.time), "web_search", payload, out)
        elif kind == "collab_agent_spawn_end":
            account = Account(place.line, place.time, child=string(payload, "new_thread_id"))
            self._account(place, call, account, "spawn_agent", payload, out)
        elif kind == "dynamic_tool_call_request":
            request = rows.request_of(string(payload, "tool") or "dynamic", payload.get("arguments"), self.state.cwd)
            self._call(place, {"call_id": call}, request, out)
        else:
            return False
        return True

    def _completed(self, place: Place, payload: Object, out: Out) -> None:
        """item_completed: the paginated history's one record of an item."""
        item = obj(payload, "item")
        kind, call = string(item, "type"), identifier(item, "id")
        started, completed = rows.item_times(payload)
        if kind == "UserMessage":
            text = parts_text(item.get("content"))
            self._say(place, "user", context.origin_of("user", text, item), text, COMPLETED, item, out)
        elif kind == "AgentMessage":
            self._say(place, "assistant", "agent", parts_text(item.get("content")), COMPLETED, item, out)
        elif kind == "Reasoning":
            self._reasoned(place, parts_text(item.get("summary_text")), COMPLETED, out)
        elif kind == "Plan":
            text = raw(item, "text") or ""
            steps = tuple(redacted(line.strip()) for line in text.split("\n") if line.strip())[:100]
            self._plan(place, call, (text, steps), None, out)
        elif kind == "CommandExecution":
            account = rows.execution(place.line, place.time, item, completed, started)
            self._account(place, call, account, "exec_command", item, out)
        elif kind == "FileChange":
            self._account(place, call, rows.patch(place.line, place.time, item), "apply_patch", item, out)
        elif kind == "McpToolCall":
            self._account(place, call, rows.mcp(place.line, place.time, item), context.mcp_name(item), item, out)
        elif kind == "WebSearch":
            self._account(place, call, Account(place.line, place.time), "web_search", item, out)
        elif kind not in (
            "Extension",
            "ContextCompaction",
            "HookPrompt",
            "ImageGeneration",
            "ImageView",
            "SubAgentActivity",
        ):
            out.append(unknown(place.line, f"item_completed/{kind}"))

    def _bare(self, place: Place, kind: str | None, row: Object, out: Out) -> None:
        """Rows without an envelope: the oldest rollouts, and items written by other programs."""
        if kind in (
            "function_call",
            "custom_tool_call",
            "tool_call",
            "local_shell_call",
            "function_call_output",
            "reasoning",
            "message",
        ):
            self._item(place, row, out)
        elif kind in ("function_result", "tool_result"):
            self._output(place, row, out)
        elif kind == "error":
            self._failed(place, string(row, "text", "message") or "error", out)
        elif kind is None and string(row, "role") is not None:
            self.state.model = string(row, "model") or self.state.model
            self._item(place, row if "content" in row else {**row, "content": row.get("message")}, out)
        else:
            out.append(unknown(place.line, kind or "without type"))

    def _failed(self, place: Place, error: str, out: Out) -> None:
        out.append(
            ModelResponded(
                session=place.session,
                line=place.line,
                time=place.time,
                turn=place.turn,
                model=self.state.model,
                error=short(error),
            )
        )

    def _note(self, place: Place, text: str, payload: Object, out: Out) -> None:
        self._say(place, "system", "harness", text, EVENT, payload, out)

    def _assessed(self, place: Place, payload: Object, out: Out) -> None:
        decision = {"approved": "approved", "denied": "refused", "timed_out": "refused", "aborted": "refused"}
        status = decision.get(string(payload, "status") or "")
        if status is not None:
            call = identifier(payload, "target_item_id", "id")
            reason = string(payload, "rationale", "risk_level")
            self._decided(place, call, status, "agent", short(reason) if reason else None, out)

    def _decided(self, place: Place, call: str | None, decision: str, by: str, reason: str | None, out: Out) -> None:
        out.append(
            ApprovalDecided(
                session=place.session,
                line=place.line,
                time=place.time,
                turn=place.turn,
                call=call,
                decision=decision,
                by=by,
                reason=reason,
            )
        )

    # ---------------------------------------------------------------------------------------------------------------
    # Calls and answers

    def _call(self, place: Place, payload: Object, request: Request, out: Out, response: bool = True) -> str | None:
        """Give a call once; its id."""
        state = self.state
        call = identifier(payload, "call_id", "callId") or identifier(payload, "id")
        positional = call is None
        if call is None:
            call = f"line-{place.line}"
            state.nameless.append((request.name, call))
        if call in state.calls:
            return call
        state.calls[call] = Call(request.name, request.action)
        belongs_to = self._respond(place, out) if response else None
        out.append(
            ToolCalled(
                session=place.session,
                line=place.line,
                time=place.time,
                turn=place.turn,
                call=call,
                response=belongs_to,
                name=request.name,
                action=request.action,
                command=request.command,
                argv=request.argv,
                paths=request.paths,
                cwd=request.cwd,
                arguments=content(request.arguments),
                continues=request.continues,
                positional=positional,
            )
        )
        if request.plan is not None:
            self._plan(place, call, request.plan, belongs_to, out)
        return call

    def _plan(
        self, place: Place, call: str | None, plan: tuple[str, tuple[str, ...]], response: str | None, out: Out
    ) -> None:
        out.append(
            PlanDeclared(
                session=place.session,
                line=place.line,
                time=place.time,
                turn=place.turn,
                call=call,
                response=response,
                content=content(plan[0]),
                steps=plan[1],
            )
        )

    def _output(self, place: Place, payload: Object, out: Out) -> None:
        self._close_response()
        call = identifier(payload, "call_id", "callId")
        positional = call is None
        if call is None:
            name = rows.item_name(payload)
            call = next((ours for tool, ours in self.state.nameless if tool == name), None)
            self.state.nameless = [pair for pair in self.state.nameless if pair[1] != call]
        known = self.state.calls.get(call) if call is not None else None
        if known is not None and known.answered is not None and known.answered != "running":
            return
        answer, child = rows.answer_of(payload, known)
        self._returned(place, call, answer, child, out, positional)

    def _account(self, place: Place, call: str | None, account: Account, name: str, payload: Object, out: Out) -> None:
        """What the host tells of an execution: kept for the call's answer; given where there is or was none."""
        known = self.state.calls.get(call) if call is not None else None
        if call is None or known is None:
            arguments = context.host_arguments(payload)
            request = rows.request_of(name, arguments, self.state.cwd)
            if account.changes:
                request.paths = tuple(path for path, _ in account.changes)
            call = self._call(place, {"call_id": call}, request, out, response=False)
        elif known.answered is None:
            self.state.accounts[call] = account
            return
        elif known.answered != "running" and not (account.child and not known.known_child):
            return
        if call is not None:
            self.state.accounts[call] = account
            self._returned(place, call, Answer(""), None, out)

    def _returned(
        self, place: Place, call: str | None, answer: Answer, child: str | None, out: Out, positional: bool = False
    ) -> None:
        account = self.state.accounts.pop(call, None) if call is not None else None
        if account is None:
            account = Account(place.line, place.time)
        status = account.status if account.status is not None and answer.status == "completed" else answer.status
        child = child or account.child
        known = self.state.calls.get(call) if call is not None else None
        if known is not None:
            known.answered = status
            known.known_child = known.known_child or child is not None
        output = account.output
        if output is None and answer.body:
            output = content(answer.body)
        out.append(
            ToolReturned(
                session=place.session,
                line=place.line,
                time=place.time,
                turn=place.turn,
                call=call,
                status=status,
                exit_code=answer.exit_code if answer.exit_code is not None else account.exit_code,
                output=output,
                error=answer.error or account.error,
                duration=account.duration if account.duration is not None else answer.duration,
                started=account.started,
                changes=account.changes,
                child_session=child,
                running=answer.running,
                positional=positional,
            )
        )
        if answer.refused_by is not None:
            self._decided(place, call, "refused", answer.refused_by, answer.error, out)


ROWS = frozenset(
    {"response_item", "event_msg", "turn_context", "session_meta", "world_state", "compacted", "token_usage_record"}
)
BARE = frozenset(
    {"function_call", "function_call_output", "function_result", "tool_call", "tool_result", "reasoning", "error"}
)


def belongs(row: Object) -> float:
    """How much a row looks like one of a rollout."""
    kind = row.get("type")
    if kind in ROWS and isinstance(row.get("payload"), dict):
        return 1.0
    if "sessionId" in row or "session_id" in row or "uuid" in row:
        return 0.0
    if row.get("record_type") == "state" or context.is_headerless_meta(row):
        return 0.7
    if kind in BARE or (kind == "message" and "content" in row):
        return 0.6
    timed = "timestamp" in row or "created_at" in row
    return 0.5 if timed and kind is None and row.get("role") in ("user", "assistant") else 0.0


@dataclass(frozen=True, slots=True)
class CodexRollout:
    """The format, as the registry lists it."""

    name: str = "codex-rollout"
    family: str = "turns"
    description: str = "Codex CLI session rollout (~/.codex/sessions/**/rollout-*.jsonl)"

    def score(self, head: Head) -> float:
        return share(head, belongs, (b'"type":"session_meta"', b'"type": "session_meta"', b'"type":"response_item"'))

    def parser(self, head: Head) -> Parser:
        return RolloutParser(head)


FORMAT = CodexRollout()
