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

from ingest.content import redacted, short
from ingest.interface import Head, Parser
from ingest.turns import codex_calls as calls
from ingest.turns import codex_context as context
from ingest.turns import codex_conversation as conversation
from ingest.turns import codex_rows as rows
from ingest.turns.codex_conversation import COMPLETED, EVENT, ITEM, Place, RolloutState
from ingest.turns.codex_rows import Account
from ingest.turns.lines import LineParser, Out, parts_text, share, unknown
from ingest.turns.results import Answer
from ingest.values import Object, canonical, identifier, iso_time, obj, raw, string
from provenance.records import (
    SessionDescribed,
    Skipped,
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
            conversation.environment(
                self.state, place, {"full": payload.get("full"), "state": payload.get("state")}, out
            )
        elif kind == "compacted":
            conversation.compacted(self.state, place, raw(payload, "message"), ITEM, out)
        elif kind == "token_usage_record":
            conversation.usage_record(self.state, place, payload, out)
        elif kind in QUIET_ROWS or string(row, "record_type") == "state":
            return
        else:
            self._bare(place, kind, row, out)

    def close(self, out: Out) -> None:
        if self.state.replay is not None:
            self._end_replay(out)
        for call, account in list(self.state.accounts.items()):
            place = Place(self.state.session or self.fallback, account.line, account.time, self.state.turn)
            calls.returned(self.state, place, call, Answer(None), None, out)

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
            conversation.environment(self.state, place, {"git": git}, out)

    def _describe(self, place: Place, meta: Object, out: Out) -> None:
        state = self.state
        git, source = obj(meta, "git"), meta.get("source")
        record = SessionDescribed(
            **place.at,
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

    def _turn_context(self, place: Place, payload: Object, out: Out) -> None:
        state = self.state
        turn = string(payload, "turn_id")
        if turn is not None:
            state.turn_ids = True
            conversation.begin(self.state, place, turn, out)
        state.cwd = string(payload, "cwd") or state.cwd
        model = string(payload, "model")
        if model is not None and model != state.model:
            state.model = model
            self._describe(place, payload, out)
        conversation.policy(self.state, place, context.policy_of(payload), out)

    # ---------------------------------------------------------------------------------------------------------------
    # Content that is said more than once

    # ---------------------------------------------------------------------------------------------------------------
    # Model responses

    # ---------------------------------------------------------------------------------------------------------------
    # Rows

    def _item(self, place: Place, payload: Object, out: Out) -> None:
        kind = string(payload, "type")
        if kind == "message" or (kind is None and string(payload, "role") is not None):
            role = string(payload, "role") or "user"
            text = parts_text(payload.get("content"))
            if role == "assistant":
                conversation.say(self.state, place, role, "agent", text, ITEM, payload, out)
            else:
                origin = context.origin_of(role, text, payload)
                conversation.say(
                    self.state, place, "user" if role == "user" else "system", origin, text, ITEM, payload, out
                )
        elif kind == "reasoning":
            conversation.reasoned(
                self.state, place, parts_text(payload.get("summary")) or parts_text(payload.get("content")), ITEM, out
            )
        elif kind == "agent_message":
            origin = "parent_agent" if self.state.delegated else "agent"
            conversation.say(self.state, place, "user", origin, parts_text(payload.get("content")), ITEM, payload, out)
        elif kind in ("function_call", "custom_tool_call", "tool_call"):
            given = payload.get("input") if kind == "custom_tool_call" else payload.get("arguments")
            calls.called(
                self.state, place, payload, rows.request_of(rows.item_name(payload), given, self.state.cwd), out
            )
        elif kind in ("local_shell_call", "web_search_call", "image_generation_call", "tool_search_call"):
            given = payload.get("action") if payload.get("action") is not None else payload.get("arguments")
            call = calls.called(
                self.state, place, payload, rows.request_of(kind.removesuffix("_call"), given, self.state.cwd), out
            )
            calls.self_answered(self.state, place, kind, call, payload, out)
        elif kind in (
            "function_call_output",
            "custom_tool_call_output",
            "tool_search_output",
            "tool_result",
            "local_shell_call_output",
        ):
            calls.output(self.state, place, payload, out)
        elif kind in ("compaction", "compaction_summary", "context_compaction"):
            conversation.compacted(self.state, place, None, EVENT, out)
        elif kind not in QUIET_ROWS:
            out.append(unknown(place.line, f"response_item/{kind}"))

    def _event(self, place: Place, payload: Object, out: Out) -> None:
        kind = string(payload, "type")
        if kind == "token_count":
            conversation.token_count(self.state, place, payload, out)
        elif kind == "user_message":
            text = raw(payload, "message") or ""
            conversation.say(
                self.state, place, "user", context.origin_of("user", text, payload), text, EVENT, payload, out
            )
        elif kind == "agent_message":
            conversation.say(
                self.state, place, "assistant", "agent", raw(payload, "message") or "", EVENT, payload, out
            )
        elif kind in ("agent_reasoning", "agent_reasoning_raw_content"):
            conversation.reasoned(self.state, place, raw(payload, "text") or "", EVENT, out)
        elif kind in ("task_started", "turn_started"):
            self.state.turn_ids = self.state.turn_ids or string(payload, "turn_id") is not None
            conversation.begin(self.state, place, string(payload, "turn_id"), out)
        elif kind in ("task_complete", "turn_complete"):
            error = string(obj(payload, "error"), "message") or string(payload, "error")
            conversation.end(
                self.state, place, "failed" if error else "completed", payload, out, short(error) if error else None
            )
        elif kind == "turn.completed":
            conversation.end(self.state, place, "completed", payload, out)
        elif kind == "turn_aborted":
            conversation.end(self.state, place, "interrupted", payload, out, string(payload, "reason"))
        elif kind == "thread_settings_applied":
            conversation.policy(self.state, place, context.policy_of(obj(payload, "thread_settings")), out)
        elif kind == "context_compacted":
            conversation.compacted(self.state, place, None, EVENT, out)
        elif kind == "error":
            conversation.failed(self.state, place, string(payload, "message") or "error", out)
        elif kind == "guardian_assessment":
            calls.assessed(self.state, place, payload, out)
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
            calls.executed(
                self.state, place, call, rows.execution(place.line, place.time, payload), "exec_command", payload, out
            )
        elif kind == "patch_apply_end":
            calls.executed(
                self.state, place, call, rows.patch(place.line, place.time, payload), "apply_patch", payload, out
            )
        elif kind == "mcp_tool_call_end":
            calls.executed(
                self.state,
                place,
                call,
                rows.mcp(place.line, place.time, payload),
                context.mcp_name(payload),
                payload,
                out,
            )
        elif kind == "web_search_end":
            calls.executed(self.state, place, call, Account(place.line, place.time), "web_search", payload, out)
        elif kind == "collab_agent_spawn_end":
            account = Account(place.line, place.time, child=string(payload, "new_thread_id"))
            calls.executed(self.state, place, call, account, "spawn_agent", payload, out)
        elif kind == "dynamic_tool_call_request":
            request = rows.request_of(string(payload, "tool") or "dynamic", payload.get("arguments"), self.state.cwd)
            calls.called(self.state, place, {"call_id": call}, request, out)
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
            conversation.say(
                self.state, place, "user", context.origin_of("user", text, item), text, COMPLETED, item, out
            )
        elif kind == "AgentMessage":
            conversation.say(
                self.state, place, "assistant", "agent", parts_text(item.get("content")), COMPLETED, item, out
            )
        elif kind == "Reasoning":
            conversation.reasoned(self.state, place, parts_text(item.get("summary_text")), COMPLETED, out)
        elif kind == "Plan":
            text = raw(item, "text") or ""
            steps = tuple(redacted(line.strip()) for line in text.split("\n") if line.strip())[:100]
            calls.plan(self.state, place, call, (text, steps), None, out)
        elif kind == "CommandExecution":
            account = rows.execution(place.line, place.time, item, completed, started)
            calls.executed(self.state, place, call, account, "exec_command", item, out)
        elif kind == "FileChange":
            calls.executed(self.state, place, call, rows.patch(place.line, place.time, item), "apply_patch", item, out)
        elif kind == "McpToolCall":
            calls.executed(
                self.state, place, call, rows.mcp(place.line, place.time, item), context.mcp_name(item), item, out
            )
        elif kind == "WebSearch":
            calls.executed(self.state, place, call, Account(place.line, place.time), "web_search", item, out)
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
            calls.output(self.state, place, row, out)
        elif kind == "error":
            conversation.failed(self.state, place, string(row, "text", "message") or "error", out)
        elif kind is None and string(row, "role") is not None:
            self.state.model = string(row, "model") or self.state.model
            self._item(place, row if "content" in row else {**row, "content": row.get("message")}, out)
        else:
            out.append(unknown(place.line, kind or "without type"))

    def _note(self, place: Place, text: str, payload: Object, out: Out) -> None:
        conversation.say(self.state, place, "system", "harness", text, EVENT, payload, out)

    # ---------------------------------------------------------------------------------------------------------------
    # Calls and answers


ROWS = frozenset(
    {"response_item", "event_msg", "turn_context", "session_meta", "world_state", "compacted", "token_usage_record"}
)
BARE = frozenset(
    {"function_call", "function_call_output", "function_result", "tool_call", "tool_result", "reasoning", "error"}
)


def belongs(row: Object) -> float:
    """How much a row looks like one of a rollout."""
    kind = string(row, "type")
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
