"""What surrounds a Codex conversation: sessions and forks, policies, environment, and who speaks in a user's place."""

from __future__ import annotations

import re

from ingest.turns.lines import details
from ingest.values import Object, as_object, integer, iso_time, items, obj, raw, string, strings

HARNESS_PREFIXES = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
    "<permissions instructions>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<collaboration_mode>",
    "<apps_instructions>",
    "<model_switch>",
    "<personality_spec>",
    "<hook_prompt",
    "<codex_internal_context",
    "<goal_context>",
    "<recommended_plugins>",
    "<token_budget>",
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_TAG = re.compile(r"<(cwd|shell|approval_policy|sandbox_mode|network_access|current_date|timezone)>([^<]{0,500})</\1>")


def session_from_name(name: str) -> str:
    """The session id in a rollout's file name (`rollout-TIME-UUID.jsonl`), else the name itself."""
    stem = name.removesuffix(".jsonl")
    found = _UUID.findall(stem)
    return found[-1] if found else stem or "unnamed"


def is_headerless_meta(row: Object) -> bool:
    """The first line of rollouts up to September 2025: {id, timestamp, instructions, git}."""
    return "id" in row and "timestamp" in row and ("instructions" in row or "git" in row) and "role" not in row


def parent_of(meta: Object) -> str | None:
    """The session that this one was forked from or delegated by."""
    spawn = obj(obj(obj(meta, "source"), "subagent"), "thread_spawn")
    return string(meta, "forked_from_id", "parent_thread_id") or string(spawn, "parent_thread_id")


def uuid_milliseconds(text: str) -> int | None:
    """The time in a UUID of version 7 (RFC 9562): milliseconds since the epoch."""
    if _UUID.fullmatch(text) is None or text[14] != "7":
        return None
    return int(text[:8] + text[9:13], 16)


def born(session: str, meta: Object, time: int | None) -> int | None:
    """When a session was made, in milliseconds."""
    made = uuid_milliseconds(session)
    if made is None:
        stated = iso_time(meta.get("timestamp"))
        stated = stated if stated is not None else time
        made = stated // 1_000_000 if stated is not None else None
    return made


def begins_own(payload: Object, made: int | None) -> bool:
    """Whether a row inside a fork's beginning is the fork's own: it names a turn that began after the fork was made.

    The time is in the turn's id (UUID version 7), else in `started_at`. A row that names no turn decides nothing; the
    row's own time does not either, for Codex rewrites it when it copies the history.
    """
    if made is None:
        return False
    turn = string(payload, "turn_id") or string(obj(payload, "internal_chat_message_metadata_passthrough"), "turn_id")
    began = uuid_milliseconds(turn) if turn is not None else None
    if began is None and string(payload, "type") in ("task_started", "turn_started"):
        began = integer(payload, "started_at")
        if began is None:
            stated = iso_time(payload.get("started_at"))
            began = stated // 1_000_000 if stated is not None else None
        elif abs(began) < 100_000_000_000:  # seconds, rounded down
            began = began * 1_000 + 999
    return began is not None and began >= made


def policy_of(payload: Object) -> dict[str, str]:
    """Approval, sandbox and permission settings of a turn_context or of thread_settings, flat; only what is said."""
    sandbox = payload.get("sandbox_policy")
    policy = as_object(sandbox)
    profile = payload.get("permission_profile")
    given = {
        "approval": string(payload, "approval_policy"),
        "sandbox": sandbox if isinstance(sandbox, str) else string(policy, "type", "mode"),
        "profile": profile if isinstance(profile, str) else string(as_object(profile), "type"),
    }
    if "approval_policy" in payload and given["approval"] is None and payload["approval_policy"] is not None:
        given["approval"] = details(payload["approval_policy"])
    access = policy.get("network_access")
    if isinstance(access, bool):
        given["network"] = "enabled" if access else "restricted"
    else:
        given["network"] = string(policy, "network_access") or string(as_object(profile), "network")
    if "writable_roots" in policy:
        given["roots"] = "\n".join(strings(policy, "writable_roots"))
    said = {key: value for key, value in given.items() if value is not None}
    rest = {
        key: payload[key]
        for key in (
            "approvals_reviewer",
            "permission_profile",
            "active_permission_profile",
            "file_system_sandbox_policy",
        )
        if (payload.get(key) is not None and not isinstance(payload[key], str | bool))
        or (key == "approvals_reviewer" and key in payload)
    }
    if rest:
        said["details"] = details(rest)
    return said


def origin_of(role: str, text: str, payload: Object) -> str:
    """human or harness, for what stands in a user's or developer's place.

    Newer versions say what each part is (`content_item_kinds`); older ones are told by how the injected texts begin.
    """
    if role != "user":
        return "harness"
    kinds = items(obj(payload, "internal_chat_message_metadata_passthrough"), "content_item_kinds")
    told = [kind for kind in kinds if isinstance(kind, str) and kind != "unknown"]
    if told:
        return "human" if any(kind.startswith("user") for kind in told) else "harness"
    return "harness" if text.lstrip().startswith(HARNESS_PREFIXES) else "human"


def environment_of(text: str) -> Object:
    """The settings in an `<environment_context>` message."""
    return {match[1]: match[2].strip() for match in _TAG.finditer(text[:20_000])}


def mcp_name(payload: Object) -> str:
    """`mcp__SERVER__TOOL` of an MCP event or item."""
    invocation = obj(payload, "invocation") or payload
    return f"mcp__{string(invocation, 'server') or 'unknown'}__{string(invocation, 'tool') or 'unknown'}"


def host_arguments(payload: Object) -> Object:
    """The arguments of a call that is known by its execution alone."""
    invocation = obj(payload, "invocation")
    if invocation or "server" in payload:
        return obj(invocation or payload, "arguments")
    cwd = raw(payload, "cwd")
    chosen = {key: payload[key] for key in ("command", "query", "action", "prompt") if payload.get(key) is not None}
    if cwd is not None:
        chosen["cwd"] = cwd.removeprefix("file://")
    return chosen
