"""What Claude Code's transcript and its stream have in common: API messages with content blocks, and tool results.

Message and block shapes: https://docs.claude.com/en/api/messages; the stream:
https://docs.claude.com/en/docs/claude-code/sdk/sdk-headless.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ingest.content import content, mend, redacted
from ingest.turns.lines import At, LineState, Out, parts_text
from ingest.turns.results import background_task, claude_answer
from ingest.turns.tools import action_of, named_paths
from ingest.values import (
    Object,
    as_list,
    as_object,
    canonical,
    identifier,
    integer,
    items,
    milliseconds,
    obj,
    objects,
    raw,
    string,
)
from provenance.identity import key_of
from provenance.records import (
    ApprovalDecided,
    Content,
    ContextCompacted,
    MessageSaid,
    ModelResponded,
    PlanDeclared,
    PolicyStated,
    SessionDescribed,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)

INTERRUPTED = "[Request interrupted by user"
USAGE = {
    "input_tokens": "input",
    "cache_read_input_tokens": "cached_input",
    "cache_creation_input_tokens": "cache_creation_input",
    "output_tokens": "output",
}


class Ending(msgspec.Struct):
    """The last row of a response that ended its turn: the turn's end unless more of that response follows."""

    line: int
    time: int | None
    response: str | None
    reason: str | None
    message: Content | None


class Session(msgspec.Struct):
    """What is known of one session at this place of the source."""

    facts: tuple[str | None, ...] = ()  # as last described
    model: str | None = None
    parent: str | None = None
    turn: str | None = None
    open: bool = False  # a turn has begun and not ended
    ending: Ending | None = None
    mode: str | None = None  # permission mode
    compaction: tuple[int, int | None] | None = None  # a boundary whose summary has not come yet


class ClaudeState(LineState):
    sessions: dict[str, Session] = msgspec.field(default_factory=dict[str, Session])
    called: set[str] = msgspec.field(default_factory=set[str])  # ids of tool calls given
    prompts: dict[str, str] = msgspec.field(default_factory=dict[str, str])  # delegating call: key of its prompt
    returned: set[str] = msgspec.field(default_factory=set[str])  # ids of tool results given


class Row(msgspec.Struct):
    """Where a row belongs."""

    session: str
    line: int
    time: int | None
    cwd: str | None = None

    @property
    def at(self) -> At:
        return {"session": self.session, "line": self.line, "time": self.time}


def usage_of(message: Object) -> dict[str, int] | None:
    """Token counts under the names of `ModelResponded`, None where there are none."""
    usage = obj(message, "usage")
    counts = {name: value for key, name in USAGE.items() if (value := integer(usage, key)) is not None}
    return counts or None


def session_of(state: ClaudeState, session: str) -> Session:
    return state.sessions.setdefault(session, Session())


def describe(state: ClaudeState, row: Row, facts: SessionDescribed, out: Out) -> None:
    """Give the session's facts where they are new or have changed; what is not said any more stays."""
    known = session_of(state, row.session)
    old = known.facts or (None,) * 7
    said = (
        facts.agent_version,
        facts.model,
        facts.cwd,
        facts.parent_session,
        facts.git_branch,
        facts.entrypoint,
        canonical(facts.tools) if facts.tools else None,
    )
    merged = tuple(new if new is not None else before for new, before in zip(said, old, strict=True))
    if merged == old and known.facts:
        return
    known.facts = merged
    known.model = merged[1]
    out.append(facts)


def state_mode(state: ClaudeState, row: Row, mode: str | None, out: Out, details: str | None = None) -> None:
    """The permission mode, where it changes."""
    known = session_of(state, row.session)
    if mode is None or mode == known.mode:
        return
    known.mode = mode
    out.append(PolicyStated(**row.at, turn=known.turn, permission_mode=mode, details=details))


def begin_turn(state: ClaudeState, row: Row, turn: str | None, out: Out) -> None:
    known = session_of(state, row.session)
    known.turn, known.open, known.ending = turn, True, None
    out.append(TurnStarted(**row.at, turn=turn))


def end_turn(
    state: ClaudeState, row: Row, status: str, out: Out, reason: str | None = None, final: Content | None = None
) -> None:
    """The turn's end, if one is open; an ending held back gives its words and its place."""
    known = session_of(state, row.session)
    ending, known.ending = known.ending, None
    if not known.open:
        return
    known.open = False
    line, time, message = row.line, row.time, final
    if ending is not None:
        message = final or ending.message
        if status == "completed":
            line, time = ending.line, ending.time if ending.time is not None else row.time
            reason = reason or ending.reason
    out.append(
        TurnEnded(
            session=row.session,
            line=line,
            time=time,
            turn=known.turn,
            status=status,
            reason=reason,
            final_message=message,
        )
    )


def settle(state: ClaudeState, session: str, out: Out, response: str | None = None) -> None:
    """Give an ending that was held back, unless the response that it belongs to goes on."""
    known = state.sessions.get(session)
    if known is None:
        return
    ending = known.ending
    if ending is not None and (response is None or ending.response != response):
        end_turn(state, Row(session, ending.line, ending.time), "completed", out)


def settle_compaction(state: ClaudeState, session: str, out: Out) -> None:
    """Give a compaction whose summary never came."""
    known = state.sessions.get(session)
    if known is not None and known.compaction is not None:
        line, time = known.compaction
        known.compaction = None
        out.append(ContextCompacted(session=session, line=line, time=time, turn=known.turn))


def assistant(state: ClaudeState, row: Row, response: str, source: Object, out: Out, error: str | None = None) -> None:
    """One row of a model response. Several rows share `response`; each gives the usage as known by then."""
    message = obj(source, "message")
    known = session_of(state, row.session)
    settle(state, row.session, out, response)
    settle_compaction(state, row.session, out)
    blocks = message.get("content")
    if isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    blocks = [as_object(block) for block in as_list(blocks)]
    thoughts = [text for block in blocks if block.get("type") == "thinking" and (text := raw(block, "thinking"))]
    stop = string(message, "stop_reason")
    out.append(
        ModelResponded(
            **row.at,
            turn=known.turn,
            response=response,
            model=string(message, "model"),
            usage=usage_of(message),
            stop_reason=stop,
            reasoning=content("\n".join(thoughts)) if thoughts else None,
            error=error,
        )
    )
    final = stop in ("end_turn", "stop_sequence", "max_tokens", "refusal")
    said: Content | None = None
    for block in blocks:
        kind = block.get("type")
        if kind == "text" and (text := raw(block, "text")):
            said = content(text)
            out.append(
                MessageSaid(
                    **row.at,
                    turn=known.turn,
                    message=string(source, "uuid"),
                    role="assistant",
                    origin="harness" if error else "agent",
                    content=said,
                    final=final,
                    response=response,
                )
            )
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            called(state, row, response, block, out)
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            returned(state, row, block, {}, out)
    if final and known.open and not error:
        earlier = known.ending.message if known.ending is not None else None
        known.ending = Ending(row.line, row.time, response, stop, said or earlier)


def called(state: ClaudeState, row: Row, response: str | None, block: Object, out: Out) -> None:
    """A tool_use block: one `ToolCalled` an id, and the plan that it declares."""
    call = identifier(block, "id")
    if call is not None:
        if call in state.called:
            return
        state.called.add(call)
    name = string(block, "name") or "unknown"
    arguments = obj(block, "input")
    action = action_of(name)
    known = session_of(state, row.session)
    command = raw(arguments, "command") if action == "shell" else None
    continues = None
    if action == "shell_input" or name in ("TaskOutput", "TaskStop", "AgentOutputTool"):
        continues = identifier(arguments, "bash_id", "shell_id", "task_id", "agentId")
    out.append(
        ToolCalled(
            **row.at,
            turn=known.turn,
            call=call,
            response=response,
            name=name,
            action=action,
            command=redacted(command) if command is not None else None,
            paths=named_paths(arguments) if action in ("read", "write", "edit", "search") else (),
            cwd=row.cwd,
            arguments=content(canonical(block.get("input"))),
            continues=continues,
        )
    )
    prompt = raw(arguments, "prompt") if action == "delegate" else None
    if prompt is not None and call is not None:
        state.prompts[call] = key_of(prompt)
    steps = plan_steps(name, arguments)
    if steps is not None:
        out.append(
            PlanDeclared(
                **row.at,
                turn=known.turn,
                call=call,
                response=response,
                content=content(steps[0]),
                steps=tuple(redacted(step) for step in steps[1]),
            )
        )


def plan_steps(name: str, arguments: Object) -> tuple[str, list[str]] | None:
    """The text and the steps of a plan that a call declares; None where it declares none."""
    if name == "TodoWrite":
        todos = objects(arguments, "todos")
        return canonical(items(arguments, "todos")), [text for todo in todos if (text := string(todo, "content"))]
    if name in ("ExitPlanMode", "exit_plan_mode"):
        plan = raw(arguments, "plan")
        return (plan, [line.strip() for line in mend(plan).split("\n") if line.strip()][:100]) if plan else None
    if name == "TaskCreate":
        subject = string(arguments, "subject")
        return (canonical(arguments), [subject]) if subject else None
    return None


def call_id(block: Object) -> str | None:
    """The call that a tool_result block answers."""
    return identifier(block, "tool_use_id")


def returned(
    state: ClaudeState,
    row: Row,
    block: Object,
    result: Object,
    out: Out,
    denial: str | None = None,
    child: str | None = None,
) -> None:
    """A tool_result block, with the host's own account of it (`toolUseResult`) where the row has one."""
    call = call_id(block)
    if call is not None:
        if call in state.returned:
            return
        state.returned.add(call)
    known = session_of(state, row.session)
    text = parts_text(block.get("content"))
    answer = claude_answer(text, block.get("is_error") is True, denial)
    running = background_task(result)
    if running is None and result.get("isAsync") is True:
        running = identifier(result, "agentId")
    if answer.status == "completed":
        if result.get("interrupted") is True:
            answer.status = "interrupted"
        elif running is not None:
            answer.status = "running"
    out.append(
        ToolReturned(
            **row.at,
            turn=known.turn,
            call=call,
            status=answer.status,
            exit_code=answer.exit_code,
            output=content(text),
            error=answer.error,
            duration=milliseconds(result, "totalDurationMs", "durationMs"),
            changes=changes_of(result),
            child_session=child,
            running=running,
        )
    )
    if answer.refused_by is not None:
        out.append(
            ApprovalDecided(
                **row.at,
                turn=known.turn,
                call=call,
                decision="refused",
                by=answer.refused_by,
                reason=answer.error,
            )
        )


def changes_of(result: Object) -> tuple[tuple[str, str], ...]:
    """The file that the host says an Edit or a Write changed: only these results have a patch."""
    path = string(result, "filePath")
    if path is None or "structuredPatch" not in result:
        return ()
    return ((path, "add" if result.get("type") == "create" else "update"),)


def tool_results(parts: object) -> list[Object]:
    """The tool_result blocks of a user message."""
    found: list[Any] = as_list(parts)
    return [block for item in found if (block := as_object(item)).get("type") == "tool_result"]
