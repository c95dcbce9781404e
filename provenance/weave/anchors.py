"""The anchors at decision boundaries: policies, authorities, environments, sandboxes, plans, checkpoints, principals.

Policies, environments, sandboxes and principals are named by their content, so two sessions under one policy stand on one
node. They carry no times and no source of their own: the edges do.
"""

from __future__ import annotations

import msgspec

from provenance.identity import digest, key_of, node_id
from provenance.records import ApprovalDecided, ContextCompacted, EnvironmentStated, PlanDeclared, PolicyStated
from provenance.weave.builder import Builder, content_fields, redacted, shortened
from provenance.weave.strands import Call, Entry, Turn

_ENCODER = msgspec.json.Encoder(order="deterministic")


def canonical(value: object) -> str:
    """JSON with sorted keys."""
    return _ENCODER.encode(value).decode()


class Standing:
    """The settings in force at one place of a session, and the nodes that stand for them."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.settings: dict[str, object] = {}
        self.authority: str | None = None
        self.policies: tuple[str, ...] = ()
        self.sandbox: str | None = None
        self.entry: Entry | None = None

    def state(self, record: PolicyStated, entry: Entry) -> None:
        """A policy record came: what it does not name stays in force."""
        said = {
            "approval": record.approval,
            "sandbox": record.sandbox,
            "permission_mode": record.permission_mode,
            "network": record.network,
            "writable_roots": list(record.writable_roots) or None,
            "details": record.details,
        }
        self.settings.update({name: value for name, value in said.items() if value is not None})
        self.entry = entry
        builder, settings = self.builder, self.settings
        boundary = {name: settings[name] for name in ("sandbox", "network", "writable_roots") if name in settings}
        forms = {
            "approval": {"approval": settings["approval"]} if "approval" in settings else None,
            "permission": {"permission_mode": settings["permission_mode"]} if "permission_mode" in settings else None,
            "sandbox": boundary or None,
            "settings": settings.get("details"),
        }
        self.policies = tuple(_policy(builder, kind, form) for kind, form in forms.items() if form is not None)
        if boundary:
            self.sandbox = _sandbox(builder, boundary, entry)
        core = {name: settings[name] for name in ("approval", "permission_mode", "sandbox") if name in settings}
        if core:
            self.authority = self._authority(core, entry)

    def _authority(self, core: dict[str, object], entry: Entry) -> str:
        builder = self.builder
        identity = builder.id("Authority", key_of(canonical(core)))
        fields = {name: str(value) for name, value in core.items()}
        builder.put(
            "Authority",
            identity,
            entry,
            name=shortened(", ".join(str(value) for value in core.values())),
            start=entry.record.time,
            clock="wall" if entry.record.time is not None else None,
            **fields,
        )
        for policy in self.policies:
            builder.link("GOVERNED_BY", identity, policy, entry, "policy in force")
        builder.link(
            "GRANTED_BY", identity, human(builder), entry, "settings are the user's", basis="inferred", confidence=0.8
        )
        return identity

    def govern(self, turn: Turn) -> None:
        """Tie a turn to what is in force."""
        if self.entry is None:
            return
        builder, entry = self.builder, self.entry
        for policy in self.policies:
            builder.link("GOVERNED_BY", turn.node, policy, entry, "policy in force")
            builder.link("GOVERNED_BY", builder.node, policy, entry, "policy in force")
        if self.authority is not None:
            builder.link("AUTHORISED_BY", turn.node, self.authority, entry, "settings in force")
            builder.link("AUTHORISED_BY", builder.node, self.authority, entry, "settings in force")
        if self.sandbox is not None:
            builder.link("RAN_IN", turn.node, self.sandbox, entry, "sandbox in force")
            builder.link("RAN_IN", builder.node, self.sandbox, entry, "sandbox in force")


def _policy(builder: Builder, kind: str, form: object) -> str:
    details = redacted(form if isinstance(form, str) else canonical(form))
    identity = node_id("Policy", kind, key_of(details))
    return builder.put(
        "Policy",
        identity,
        None,
        name=shortened(f"{kind}: {details}"),
        type=kind,
        digest=digest(details),
        details=details,
    )


def _sandbox(builder: Builder, boundary: dict[str, object], entry: Entry) -> str:
    identity = node_id("Sandbox", key_of(canonical(boundary)))
    roots = boundary.get("writable_roots")
    mode, network = boundary.get("sandbox"), boundary.get("network")
    return builder.put(
        "Sandbox",
        identity,
        None,
        name=str(mode or "sandbox"),
        mode=str(mode) if mode is not None else None,
        network=str(network) if network is not None else None,
        writable_roots=[str(root) for root in roots] if isinstance(roots, list) else None,  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    )


def human(builder: Builder) -> str:
    """The person who gave the session its settings and prompts."""
    return builder.put("Principal", node_id("Principal", "human", "user"), None, name="user", type="human")


def agent(builder: Builder, name: str) -> str:
    return builder.put("Principal", node_id("Principal", "agent", name), None, name=name, type="agent")


def service(builder: Builder, name: str) -> str:
    return builder.put("Principal", node_id("Principal", "service", name), None, name=name, type="service")


def environment(builder: Builder, record: EnvironmentStated, entry: Entry) -> None:
    """What the host described of the place the session works in."""
    details = redacted(record.details)
    identity = node_id("Environment", "session", key_of(details))
    builder.put(
        "Environment", identity, None, name="environment", type="session", digest=digest(details), details=details
    )
    builder.link("RAN_IN", builder.node, identity, entry, "environment described")


def decision(
    builder: Builder,
    call: Call,
    place: str,
    standing: Standing,
    entry: Entry,
    allowed: bool,
    by: str,
    reason: str | None,
) -> None:
    """Somebody allowed or refused one call. `by`: human, policy, agent."""
    identity = builder.id("Authority", "call", place)
    builder.put(
        "Authority",
        identity,
        entry,
        name="approved" if allowed else "refused",
        decision="approved" if allowed else "refused",
        reason=redacted(reason) if reason else None,
        start=entry.record.time,
        clock="wall" if entry.record.time is not None else None,
    )
    builder.link("AUTHORISED_BY", call.node, identity, entry, "approval" if allowed else "refusal")
    if by == "human":
        builder.link("GRANTED_BY", identity, human(builder), entry, "decided by the user")
    elif by == "agent":
        builder.link("GRANTED_BY", identity, agent(builder, "reviewer"), entry, "decided by an agent")
    else:
        builder.link("GRANTED_BY", identity, service(builder, "host"), entry, "decided by the host")
        for policy in standing.policies:
            builder.link("GOVERNED_BY", identity, policy, entry, "policy in force")


def decided(builder: Builder, call: Call, standing: Standing, record: ApprovalDecided, entry: Entry) -> None:
    """A recorded decision about a call."""
    nth = call.decisions.index(entry) + 1 if entry in call.decisions else 1
    place = call.place if nth == 1 else f"{call.place}/{nth}"
    decision(builder, call, place, standing, entry, record.decision == "approved", record.by, record.reason)


def plan(builder: Builder, number: int, record: PlanDeclared, entry: Entry, reply: str) -> None:
    """What the agent declared it would do."""
    identity = builder.id("Plan", number)
    builder.put(
        "Plan",
        identity,
        entry,
        name=shortened(record.steps[0] if record.steps else record.content.preview) or "plan",
        steps=[redacted(step) for step in record.steps],
        start=record.time,
        clock="wall" if record.time is not None else None,
        **content_fields(record.content),
    )
    builder.link("FORMED_BY", identity, reply, entry, "declared in the response")
    if entry.turn is not None:
        builder.link("PART_OF", identity, entry.turn.node, entry, "declared in the turn")


def compaction(builder: Builder, number: int, record: ContextCompacted, entry: Entry) -> str:
    """The context was summarised: a checkpoint, and a Gap for what only the summary tells of."""
    identity = builder.id("Checkpoint", "compaction", number)
    builder.put(
        "Checkpoint",
        identity,
        entry,
        name=f"compaction {number}",
        type="compaction",
        start=record.time,
        clock="wall" if record.time is not None else None,
        **(content_fields(record.summary) if record.summary is not None else {}),
    )
    builder.link("PART_OF", identity, builder.node, entry, "context compacted")
    builder.gap(
        "summarised",
        f"compaction/{number}",
        "earlier context known to the model only through a summary",
        builder.node,
        entry,
        None if record.summary is not None else "the summary was not recorded",
    )
    return identity
