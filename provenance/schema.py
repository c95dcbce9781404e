"""The graph schema: the only declaration of node and edge kinds.

Engine DDL, write statements, validation, slices by flow, the explorer's legend, the capsule's JSON Schema and
`docs/schema.md` all derive from the tables below. Vocabulary: W3C PROV-O where it has a term, OpenTelemetry GenAI and
forensics terms elsewhere. Edges point from an effect to what it depended on, so a backward slice follows edges forward.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

VERSION = 2
"""Of the declaration below. A store records it; raise it with every change of a kind or field, and add a migration."""


class Type(StrEnum):
    """Field types, each with one column type per engine."""

    STRING = "string"
    INTEGER = "integer"  # signed 64 bits
    FLOAT = "float"
    BOOLEAN = "boolean"
    STRINGS = "strings"  # a list of strings, in order


class Sensitivity(StrEnum):
    """What a field can give away; retention prices it."""

    NONE = "none"  # counts, times, ids made by us
    METADATA = "metadata"  # names, paths, hosts, models
    CONTENT = "content"  # previews and command lines: redacted, and still content


class Flow(StrEnum):
    """What an edge carries from what it points to. `why` follows CONTENT unless told otherwise."""

    CONTENT = "content"  # bytes went there
    ARGUMENT = "argument"  # argv and environment across an exec
    METADATA = "metadata"  # a stat, a name that was looked for
    DECISION = "decision"  # what a model saw, planned, was allowed or was told
    NONE = "none"  # bookkeeping; never followed


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type
    meaning: str
    sensitivity: Sensitivity = Sensitivity.NONE
    values: tuple[str, ...] = ()  # the permitted values, where they are few


@dataclass(frozen=True)
class NodeKind:
    name: str
    meaning: str
    fields: tuple[Field, ...]
    prov: str  # PROV-O class
    colour: str
    shape: str
    level: int = 1  # 0 ledger, 1 anchor, 2 raw reference, 3 capsule

    @cached_property
    def by_name(self) -> dict[str, Field]:
        return {field.name: field for field in (*NODE_FIELDS, *self.fields)}


@dataclass(frozen=True)
class EdgeKind:
    name: str
    meaning: str
    endpoints: tuple[tuple[str, str], ...]  # permitted (from, to) node kinds
    flow: Flow
    prov: str  # PROV-O property
    colour: str
    fields: tuple[Field, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, Field]:
        return {field.name: field for field in (*EDGE_FIELDS, *self.fields)}


def _text(
    name: str, meaning: str, sensitivity: Sensitivity = Sensitivity.METADATA, values: tuple[str, ...] = ()
) -> Field:
    return Field(name, Type.STRING, meaning, sensitivity, values)


def _number(name: str, meaning: str) -> Field:
    return Field(name, Type.INTEGER, meaning)


def _flag(name: str, meaning: str) -> Field:
    return Field(name, Type.BOOLEAN, meaning)


def _list(name: str, meaning: str, sensitivity: Sensitivity = Sensitivity.METADATA) -> Field:
    return Field(name, Type.STRINGS, meaning, sensitivity)


BASES = ("observed", "reported", "inferred")
STATUSES = ("completed", "failed", "timed_out", "killed", "interrupted", "refused", "running", "unknown")
RETENTION = ("present", "summarised", "redacted", "expired", "overwritten")

NODE_FIELDS: tuple[Field, ...] = (
    _text("id", "stable, readable identity: kind, host or session, place", Sensitivity.METADATA),
    _text("name", "short label for people", Sensitivity.METADATA),
    _number("level", "0 ledger, 1 anchor, 2 raw reference, 3 capsule"),
    _text("retention", "whether the content behind the node is still there", Sensitivity.NONE, RETENTION),
    _number("available_until", "wall-clock ns until which the content is kept; null: no end set"),
    _text(
        "source",
        "RawRef of the record that introduced the node: source key and line; unset where any trace may introduce it (Endpoint, Environment)",
        Sensitivity.NONE,
    ),
)
"""Fields of every node."""

EDGE_FIELDS: tuple[Field, ...] = (
    _text(
        "basis",
        "observed (kernel or tool saw it), reported (agent or host said it), inferred (a rule concluded it)",
        Sensitivity.NONE,
        BASES,
    ),
    Field("confidence", Type.FLOAT, "0 to 1; 1 for what was observed"),
    _text("rule", "the call or the rule that gave the edge", Sensitivity.NONE),
    _text("source", "RawRef of the first record behind the edge", Sensitivity.NONE),
    _number("first", "time of the first event, ns in the tail's clock"),
    _number("last", "time of the last event, ns"),
    _number("count", "events folded into the edge"),
    _number("bytes", "bytes that moved, where the source tells; null: unknown"),
)
"""Fields of every edge."""

_TIMES = (
    _number("start", "begin, ns in the node's clock"),
    _number("end", "end, ns; null: not seen"),
    _text(
        "clock", "what start and end mean", Sensitivity.NONE, ("wall", "time_of_day", "relative", "monotonic", "order")
    ),
)
_STATUS = _text("status", "how it ended, from its real end", Sensitivity.NONE, STATUSES)
_CONTENT = (
    _text("digest", "SHA-256 of the content; null: not all bytes were seen (see `digest_reason`)", Sensitivity.NONE),
    _text("digest_reason", "why there is no digest", Sensitivity.NONE),
    _number("size", "bytes of the content; null: unknown"),
    _text("preview", "redacted beginning (and end) of the content", Sensitivity.CONTENT),
    _number("redactions", "secrets taken out of the preview"),
)
_USAGE = (
    _number("input_tokens", "tokens read, cached ones included"),
    _number("cached_input_tokens", "of these, read from cache"),
    _number("output_tokens", "tokens written, reasoning included"),
    _number("reasoning_output_tokens", "of these, reasoning"),
)

NODES: tuple[NodeKind, ...] = (
    NodeKind(
        "Principal",
        "A human, agent or service that can act or grant.",
        (_text("type", "what kind of principal", values=("human", "agent", "service")),),
        "prov:Agent",
        "#6b4fbb",
        "pentagon",
    ),
    NodeKind(
        "Session",
        "An agent's thread of work under one identity; sub-agents have their own.",
        (
            _text("agent", "agent program, e.g. codex, claude-code"),
            _text("agent_version", "its version"),
            _text("model", "model first used"),
            _text("model_provider", "who serves the model"),
            _text("cwd", "workspace folder"),
            _text("entrypoint", "how it was started"),
            _text("git_commit", "commit checked out at the start"),
            _text("git_branch", "branch at the start"),
            _STATUS,
            *_TIMES,
            *_USAGE,
            Field("cost_usd", Type.FLOAT, "cost as the host reported it"),
            _text("failing_step", "id of the step that failed, where one did"),
            _text("runtime", "process key of the agent's own process, where it was traced"),
        ),
        "prov:Activity",
        "#1f4e79",
        "round-rectangle",
        0,
    ),
    NodeKind(
        "Turn",
        "One request and all that was done for it.",
        (
            _number("ordinal", "position in the session, from 1"),
            _STATUS,
            _text("reason", "why it ended so"),
            *_TIMES,
            *_USAGE,
            _text("failing_step", "id of the step that failed, where one did"),
        ),
        "prov:Activity",
        "#2e75b6",
        "round-rectangle",
        0,
    ),
    NodeKind(
        "ModelCall",
        "One model response.",
        (
            _number("ordinal", "position in the session, from 1"),
            _text("model", "model that answered"),
            _text("response", "the provider's response id"),
            _STATUS,
            _text("reason", "stop reason or error"),
            *_TIMES,
            *_USAGE,
            _text("reasoning", "redacted preview of the reasoning summary", Sensitivity.CONTENT),
        ),
        "prov:Activity",
        "#5b9bd5",
        "ellipse",
        0,
    ),
    NodeKind(
        "ToolCall",
        "One tool call that the model asked for.",
        (
            _number("ordinal", "position in the session, from 1"),
            _text("tool", "name of the tool"),
            _text(
                "action",
                "what it does",
                values=(
                    "shell",
                    "shell_input",
                    "read",
                    "edit",
                    "write",
                    "search",
                    "delegate",
                    "plan",
                    "mcp",
                    "web",
                    "other",
                ),
            ),
            _text("call", "the agent's own call id"),
            _text("command", "redacted command line", Sensitivity.CONTENT),
            _text("command_digest", "SHA-256 of the command line as typed", Sensitivity.NONE),
            _text("cwd", "where it ran"),
            _list("paths", "files that the call names"),
            _text("arguments", "redacted arguments", Sensitivity.CONTENT),
            _text("arguments_digest", "SHA-256 of the arguments", Sensitivity.NONE),
            _number("arguments_size", "bytes"),
            _STATUS,
            _number("exit_code", "exit status as reported"),
            _text("error", "why it failed or was refused"),
            _text("check", "recognised kind of check", Sensitivity.NONE, ("test", "build", "lint", "type_check")),
            _number(
                "attempt",
                "1 for the first time these arguments were used in the session, 2 for the first repetition ...",
            ),
            *_TIMES,
        ),
        "prov:Activity",
        "#2f9e8f",
        "round-rectangle",
        0,
    ),
    NodeKind(
        "Process",
        "One state of a process: the image it ran and what it had taken in so far.",
        (
            _text("host", "machine"),
            _text("trace", "key of the source that saw it", Sensitivity.NONE),
            _number("pid", "process id (thread group) in that source"),
            _text("process", "key shared by all states of the process", Sensitivity.METADATA),
            _text("parent", "key of the process that created it"),
            _text("image", "id of the state in which its program began"),
            _number("state", "position among the states of the process, from 0"),
            _text("began", "what began this state", Sensitivity.NONE, ("seen", "fork", "exec", "input")),
            _text("executable", "program file"),
            _text("command", "redacted command line, shell-quoted", Sensitivity.CONTENT),
            _list("argv", "redacted argument vector", Sensitivity.CONTENT),
            _flag("argv_truncated", "the source cut an argument"),
            _text("cwd", "working directory when it began"),
            _text("environment", "digest of the environment variables; null: not captured", Sensitivity.NONE),
            _number("exit_code", "exit status, on the image's first state"),
            _text("signal", "signal that ended it"),
            _text(
                "signal_origin",
                "where that signal came from: a process that the source saw, one that it did not see, the kernel, the process itself",
                Sensitivity.NONE,
                ("traced", "outside", "kernel", "itself"),
            ),
            _text("shortage", "last call that failed for lack of space, memory, files or processes, and its error"),
            _text("role", "part it plays", Sensitivity.NONE, ("agent_runtime", "agent_helper", "tool")),
            *_TIMES,
        ),
        "prov:Activity",
        "#c55a11",
        "rectangle",
        0,
    ),
    NodeKind(
        "Artifact",
        "One version of something with content: file, pipe, message, tool output, set of toolchain files.",
        (
            _text("uri", "identity across versions, e.g. file:///home/a/ws/app.py"),
            _text("host", "machine"),
            _text("path", "absolute path, for files"),
            _text("trace", "key of the source that versions it", Sensitivity.NONE),
            _number(
                "version",
                "write generation in that source, from 1; 0: what was there before it (nothing, where class is absent)",
            ),
            _text(
                "class",
                "what it is",
                Sensitivity.NONE,
                (
                    "file",
                    "directory",
                    "symlink",
                    "absent",
                    "pipe",
                    "socket",
                    "memory",
                    "terminal",
                    "toolchain",
                    "message",
                    "tool_output",
                    "git_tree",
                    "package",
                    "manifest",
                ),
            ),
            _text(
                "label",
                "strongest classification; null: none",
                Sensitivity.METADATA,
                ("secret", "protected", "agent_state", "toolchain", "temporary", "public"),
            ),
            _text("label_rule", "classifier rule and version that gave the label", Sensitivity.NONE),
            Field("label_confidence", Type.FLOAT, "0 to 1"),
            *_CONTENT,
            _text("role", "of a message: who spoke"),
            _list("members", "of a set: its files, sorted"),
            _number("deleted", "time the name went away, ns"),
            *_TIMES,
        ),
        "prov:Entity",
        "#548235",
        "ellipse",
    ),
    NodeKind(
        "Flow",
        "One transfer over one connection in one direction.",
        (
            _text("direction", "out (sent) or in (received)", Sensitivity.NONE, ("out", "in")),
            _number("bytes", "payload bytes"),
            _text("protocol", "tcp, udp, unix"),
            _text("local", "own address"),
            _text("remote", "peer address"),
            _text(
                "outcome",
                "how the connection went",
                Sensitivity.NONE,
                ("connected", "pending", "refused", "failed", "accepted", "unknown"),
            ),
            _text("host", "machine"),
            _text("trace", "key of the source that saw it", Sensitivity.NONE),
            _number("version", "position among the transfers of this connection and direction, from 1"),
            _text(
                "method", "HTTP request method, where it was sent in the clear (http.request.method)", Sensitivity.NONE
            ),
            _text("digest", "SHA-256 of the payload; null: not all bytes were seen", Sensitivity.NONE),
            *_TIMES,
        ),
        "prov:Entity",
        "#bf9000",
        "diamond",
    ),
    NodeKind(
        "Endpoint",
        "One network destination.",
        (
            _text("protocol", "tcp, udp, unix"),
            _text("host", "address or name"),
            _number("port", "port; null for unix sockets"),
            _text("address", "host:port, or the socket's path"),
            _text("scope", "where it is", Sensitivity.NONE, ("loopback", "private", "public", "local")),
            _text("role", "known part it plays", Sensitivity.NONE, ("model_endpoint",)),
        ),
        "prov:Agent",
        "#7f6000",
        "hexagon",
    ),
    NodeKind(
        "Plan",
        "What the agent declared it would do next.",
        (
            *_CONTENT,
            _list("steps", "redacted declared steps", Sensitivity.CONTENT),
            *_TIMES,
        ),
        "prov:Plan",
        "#8064a2",
        "tag",
    ),
    NodeKind(
        "Authority",
        "Whose permission covers an act: principal, approval, permissions, sandbox.",
        (
            _text("approval", "approval setting"),
            _text("permission_mode", "permission mode"),
            _text("sandbox", "sandbox setting"),
            _text("decision", "for one call: what was decided", values=("approved", "refused")),
            _text("reason", "why"),
            *_TIMES,
        ),
        "prov:Agent",
        "#b22222",
        "octagon",
    ),
    NodeKind(
        "Policy",
        "One version of a policy in force: approval, sandbox, permission, retention, trigger.",
        (
            _text("type", "what it governs"),
            _text("digest", "SHA-256 of its canonical form; the version", Sensitivity.NONE),
            _text("details", "its settings as canonical JSON"),
            *_TIMES,
        ),
        "prov:Plan",
        "#a61c3c",
        "octagon",
    ),
    NodeKind(
        "Environment",
        "Where work ran: repository, versions, variables.",
        (
            _text(
                "type", "session (what the host described) or variables (of a process)", values=("session", "variables")
            ),
            _text("digest", "SHA-256 of its canonical form", Sensitivity.NONE),
            _text("details", "redacted, as canonical JSON", Sensitivity.CONTENT),
            _list("variables", "NAME=value, sensitive values as digests", Sensitivity.CONTENT),
        ),
        "prov:Entity",
        "#4f6228",
        "barrel",
    ),
    NodeKind(
        "Sandbox",
        "A boundary that the host says was set.",
        (
            _text("mode", "as the host names it"),
            _text("network", "network access"),
            _list("writable_roots", "where it may write"),
        ),
        "prov:Entity",
        "#7b241c",
        "barrel",
    ),
    NodeKind(
        "Checkpoint",
        "Saved state to which work can return: a commit, a snapshot, a compaction.",
        (
            _text("type", "commit, snapshot, compaction"),
            *_CONTENT,
            *_TIMES,
        ),
        "prov:Entity",
        "#31859b",
        "barrel",
    ),
    NodeKind(
        "Oracle",
        "Who or what judged.",
        (
            _text(
                "type",
                "what kind of judge",
                values=("agent", "exit_status", "test_runner", "build_tool", "git", "host", "kernel"),
            ),
            _text("version", "rule version", Sensitivity.NONE),
        ),
        "prov:Agent",
        "#984807",
        "triangle",
    ),
    NodeKind(
        "Outcome",
        "A verdict: claimed by the agent, or checked by something else.",
        (
            _text("type", "claimed or checked", Sensitivity.NONE, ("claimed", "checked")),
            _text(
                "subject",
                "what was judged",
                Sensitivity.NONE,
                ("run", "test", "build", "lint", "type_check", "commit", "command"),
            ),
            _text(
                "verdict",
                "what the judge said",
                Sensitivity.NONE,
                ("pass", "fail", "refused", "killed", "interrupted", "changed", "unchanged", "unknown"),
            ),
            _text("statement", "the words or the status it rests on", Sensitivity.CONTENT),
            _text("digest", "digest of the final state, where known", Sensitivity.NONE),
            *_TIMES,
        ),
        "prov:Entity",
        "#e46c0a",
        "star",
    ),
    NodeKind(
        "Source",
        "One source of evidence.",
        (
            _text("uri", "where it was read"),
            _text("format", "ingestor that read it", Sensitivity.NONE),
            _text("digest", "SHA-256 of the bytes read so far", Sensitivity.NONE),
            _number("size", "bytes read so far (decompressed)"),
            _number("lines", "lines read"),
            _number("records", "records they gave"),
            _number("skipped", "lines that could not be read"),
            _text("session", "session it speaks of"),
            _text("host", "machine"),
            _flag("complete", "read to its end"),
            *_TIMES,
        ),
        "prov:Entity",
        "#7f7f7f",
        "rectangle",
        2,
    ),
    NodeKind(
        "Coverage",
        "What a source could see: call classes, process tree, from when to when.",
        (
            _list("calls", "call classes that the source showed"),
            _list("roots", "process keys at the top of what was seen"),
            _number("processes", "processes seen"),
            _flag("attached_late", "the source began inside a running process"),
            _number("lost", "events the source says it lost, or lines not understood"),
            _flag("environment", "environment variables captured"),
            _flag("complete", "nothing is known to be missing inside it"),
            *_TIMES,
        ),
        "prov:Entity",
        "#a6a6a6",
        "rectangle",
    ),
    NodeKind(
        "Trigger",
        "A rule that fired.",
        (
            _text("family", "trigger family", Sensitivity.NONE),
            _text("policy", "policy version", Sensitivity.NONE),
            Field("threshold", Type.FLOAT, "threshold in force"),
            Field("score", Type.FLOAT, "score reached"),
            _text("blind_spot", "what it cannot see", Sensitivity.NONE),
            *_TIMES,
        ),
        "prov:Activity",
        "#ff0000",
        "vee",
    ),
    NodeKind(
        "Selection",
        "Why evidence was kept: policy, probability, degradation mode.",
        (
            _text("policy", "policy version", Sensitivity.NONE),
            Field("probability", Type.FLOAT, "inclusion probability"),
            _text("mode", "degradation mode", Sensitivity.NONE),
            *_TIMES,
        ),
        "prov:Activity",
        "#d99694",
        "vee",
    ),
    NodeKind(
        "Capsule",
        "An incident frozen for an investigator.",
        (
            _text("digest", "SHA-256 of its canonical form", Sensitivity.NONE),
            _text("question", "what it is about"),
            _text("verdict", "what could be decided"),
            *_TIMES,
        ),
        "prov:Bundle",
        "#00b0f0",
        "concave-hexagon",
        3,
    ),
    NodeKind(
        "Explanation",
        "One rival explanation of an incident.",
        (
            _text("family", "incident question", Sensitivity.NONE),
            _text("verdict", "supported, refuted, undecided", Sensitivity.NONE),
        ),
        "prov:Entity",
        "#92cddc",
        "tag",
    ),
    NodeKind(
        "Gap",
        "Something that is missing: about what, why, since when, by which policy.",
        (
            _text(
                "reason",
                "why it is missing",
                Sensitivity.NONE,
                (
                    "never_captured",
                    "overwritten",
                    "redacted",
                    "expired",
                    "summarised",
                    "parse_failed",
                    "attached_late",
                    "dangling_parent",
                    "late_edge",
                    "through_agent_memory",
                    "unattributed",
                    "ambiguous",
                    "cut_off",
                    "order_unknown",
                ),
            ),
            _text("about", "what it is about, in words"),
            _number("count", "how many times"),
            _text("detail", "place and particulars"),
            _text("policy", "policy that caused it; null: none", Sensitivity.NONE),
            *_TIMES,
        ),
        "prov:Entity",
        "#000000",
        "round-tag",
    ),
    NodeKind(
        "Access",
        "Somebody read restricted evidence.",
        (
            _text("who", "principal"),
            _text("why", "stated reason"),
            _text("what", "what was read"),
            *_TIMES,
        ),
        "prov:Activity",
        "#ffc000",
        "tag",
    ),
)

_WORK = ("Session", "Turn", "ModelCall", "ToolCall")

EDGES: tuple[EdgeKind, ...] = (
    EdgeKind(
        "USED",
        "The process or call took in this version's content.",
        (("Process", "Artifact"), ("Process", "Flow"), ("ToolCall", "Artifact")),
        Flow.CONTENT,
        "prov:used",
        "#548235",
    ),
    EdgeKind(
        "GENERATED_BY",
        "This version's content came out of that state or step.",
        (
            ("Artifact", "Process"),
            ("Flow", "Process"),
            ("Artifact", "ToolCall"),
            ("Artifact", "ModelCall"),
            ("Checkpoint", "Process"),
            ("Checkpoint", "ToolCall"),
        ),
        Flow.CONTENT,
        "prov:wasGeneratedBy",
        "#c55a11",
    ),
    EdgeKind(
        "CONTINUES",
        "A process state to the one before it.",
        (("Process", "Process"),),
        Flow.CONTENT,
        "prov:wasInformedBy",
        "#f4b183",
    ),
    EdgeKind(
        "FORKED_FROM",
        "The process began as a copy of its parent's memory.",
        (("Process", "Process"),),
        Flow.CONTENT,
        "prov:wasStartedBy",
        "#f4b183",
    ),
    EdgeKind(
        "STARTED_BY",
        "The program was started with arguments and environment from this state.",
        (("Process", "Process"),),
        Flow.ARGUMENT,
        "prov:wasStartedBy",
        "#a65628",
    ),
    EdgeKind(
        "RENAMED_FROM",
        "The content came here by a rename or a link.",
        (("Artifact", "Artifact"),),
        Flow.CONTENT,
        "prov:wasDerivedFrom",
        "#70ad47",
    ),
    EdgeKind(
        "REVISION_OF",
        "The version before; its content is kept only where `keeps` is true.",
        (("Artifact", "Artifact"),),
        Flow.CONTENT,
        "prov:wasRevisionOf",
        "#a9d18e",
        (_flag("keeps", "older content may still be inside (append, partial write); false after truncation"),),
    ),
    EdgeKind(
        "DERIVED_FROM",
        "Content known to come from there: in-kernel copy, tool output, reported derivation.",
        (("Artifact", "Artifact"), ("Flow", "Artifact"), ("Artifact", "Flow")),
        Flow.CONTENT,
        "prov:wasDerivedFrom",
        "#00b050",
    ),
    EdgeKind(
        "RECEIVED_FROM",
        "Bytes received: from that endpoint, or from the traced peer's own transfer.",
        (("Flow", "Endpoint"), ("Flow", "Flow")),
        Flow.CONTENT,
        "prov:wasDerivedFrom",
        "#bf9000",
    ),
    EdgeKind("SENT_TO", "Where the bytes went.", (("Flow", "Endpoint"),), Flow.NONE, "prov:wasAttributedTo", "#ffd966"),
    EdgeKind(
        "CONSULTED",
        "Metadata was asked for, or the name was looked for.",
        (("Process", "Artifact"),),
        Flow.METADATA,
        "prov:used",
        "#bfbfbf",
    ),
    EdgeKind(
        "NAMED_BY",
        "The state that gave the version its name or took it away: rename, link, unlink.",
        (("Artifact", "Process"),),
        Flow.METADATA,
        "prov:wasAssociatedWith",
        "#bfbfbf",
    ),
    EdgeKind(
        "FORMED_BY",
        "The call, plan or message was formed by that model response or plan.",
        (("ToolCall", "ModelCall"), ("Plan", "ModelCall"), ("ToolCall", "Plan"), ("Artifact", "ModelCall")),
        Flow.DECISION,
        "prov:wasGeneratedBy",
        "#8064a2",
    ),
    EdgeKind(
        "FOLLOWS",
        "The model's context continued from that response.",
        (("ModelCall", "ModelCall"), ("Turn", "Turn")),
        Flow.DECISION,
        "prov:wasInformedBy",
        "#b1a0c7",
    ),
    EdgeKind(
        "INFORMED_BY",
        "This came into the model's context; `bytes` bounds what it could pass on.",
        (("ModelCall", "Artifact"), ("Session", "Artifact"), ("Turn", "Artifact")),
        Flow.DECISION,
        "prov:used",
        "#604a7b",
    ),
    EdgeKind(
        "AUTHORISED_BY",
        "Under this authority.",
        (("ToolCall", "Authority"), ("Turn", "Authority"), ("Session", "Authority")),
        Flow.DECISION,
        "prov:wasAssociatedWith",
        "#b22222",
    ),
    EdgeKind(
        "GOVERNED_BY",
        "Under this policy version.",
        (("Turn", "Policy"), ("ToolCall", "Policy"), ("Session", "Policy"), ("Authority", "Policy")),
        Flow.DECISION,
        "prov:hadPlan",
        "#a61c3c",
    ),
    EdgeKind(
        "DELEGATED_BY",
        "The sub-agent's work was delegated by that call.",
        (("Session", "ToolCall"), ("Session", "Session")),
        Flow.DECISION,
        "prov:actedOnBehalfOf",
        "#6b4fbb",
    ),
    EdgeKind(
        "GRANTED_BY",
        "Who gave the authority.",
        (("Authority", "Principal"),),
        Flow.NONE,
        "prov:wasAttributedTo",
        "#b22222",
    ),
    EdgeKind(
        "PART_OF",
        "Belongs to the larger work unit.",
        (
            ("Turn", "Session"),
            ("ModelCall", "Turn"),
            ("ToolCall", "Turn"),
            ("Session", "Session"),
            ("Plan", "Turn"),
            ("Artifact", "Turn"),
            ("Artifact", "Session"),
            ("Checkpoint", "Session"),
            ("ModelCall", "Session"),
            ("ToolCall", "Session"),
        ),
        Flow.NONE,
        "dcterms:isPartOf",
        "#d9d9d9",
    ),
    EdgeKind(
        "ATTRIBUTED_TO",
        "Whose doing it was: the tool call, else the session.",
        (
            ("Process", "ToolCall"),
            ("Process", "Session"),
            ("Artifact", "ToolCall"),
            ("Artifact", "Session"),
            ("Flow", "ToolCall"),
            ("Flow", "Session"),
            ("Session", "Principal"),
        ),
        Flow.NONE,
        "prov:wasAttributedTo",
        "#2f9e8f",
    ),
    EdgeKind(
        "OUTCOME_OF",
        "The verdict is about this.",
        (("Outcome", "Turn"), ("Outcome", "Session"), ("Outcome", "ToolCall")),
        Flow.NONE,
        "prov:wasInfluencedBy",
        "#e46c0a",
    ),
    EdgeKind("JUDGED_BY", "Who judged.", (("Outcome", "Oracle"),), Flow.NONE, "prov:wasAttributedTo", "#984807"),
    EdgeKind(
        "BASED_ON",
        "What the verdict rests on.",
        (("Outcome", "ToolCall"), ("Outcome", "Artifact"), ("Outcome", "Process"), ("Outcome", "Turn")),
        Flow.NONE,
        "prov:wasDerivedFrom",
        "#fac090",
    ),
    EdgeKind(
        "CONTRADICTS",
        "A checked verdict against a claimed one.",
        (("Outcome", "Outcome"),),
        Flow.NONE,
        "prov:wasInfluencedBy",
        "#ff0000",
    ),
    EdgeKind(
        "RAN_IN",
        "Environment or boundary it ran in.",
        (("Session", "Environment"), ("Session", "Sandbox"), ("Turn", "Sandbox"), ("Process", "Environment")),
        Flow.NONE,
        "prov:used",
        "#4f6228",
    ),
    EdgeKind(
        "SIGNALLED_BY",
        "Which process sent the signal that ended it.",
        (("Process", "Process"),),
        Flow.NONE,
        "prov:wasEndedBy",
        "#ff0000",
    ),
    EdgeKind(
        "CHILD_OF",
        "A dependency that came too late to be inserted without a cycle.",
        (
            ("Process", "Process"),
            ("Artifact", "Process"),
            ("Process", "Artifact"),
            ("Artifact", "Artifact"),
            ("ModelCall", "ModelCall"),
        ),
        Flow.NONE,
        "prov:wasInfluencedBy",
        "#7f7f7f",
    ),
    EdgeKind(
        "RECORDED_IN",
        "Which source tells of it.",
        (("Session", "Source"), ("Coverage", "Source")),
        Flow.NONE,
        "prov:wasDerivedFrom",
        "#7f7f7f",
    ),
    EdgeKind(
        "COVERED_BY",
        "Whose effects this source could see.",
        (("Session", "Coverage"),),
        Flow.NONE,
        "prov:wasInfluencedBy",
        "#a6a6a6",
    ),
    EdgeKind(
        "ABOUT",
        "What the gap, trigger or access is about.",
        tuple(
            (kind, target)
            for kind in ("Gap", "Access")
            for target in (
                "Session",
                "Turn",
                "ModelCall",
                "ToolCall",
                "Process",
                "Artifact",
                "Flow",
                "Source",
                "Coverage",
                "Capsule",
            )
        ),
        Flow.NONE,
        "prov:wasInfluencedBy",
        "#000000",
    ),
    EdgeKind(
        "FIRED_ON",
        "What made the trigger fire.",
        (
            ("Trigger", "Session"),
            ("Trigger", "Turn"),
            ("Trigger", "ToolCall"),
            ("Trigger", "Process"),
            ("Trigger", "Flow"),
            ("Trigger", "Outcome"),
        ),
        Flow.NONE,
        "prov:wasInfluencedBy",
        "#ff0000",
    ),
    EdgeKind(
        "SELECTED_BY",
        "Why it was kept.",
        (("Capsule", "Selection"), ("Selection", "Trigger"), ("Selection", "Policy")),
        Flow.NONE,
        "prov:wasInfluencedBy",
        "#d99694",
    ),
    EdgeKind(
        "CONTAINS",
        "What the capsule holds.",
        tuple(
            ("Capsule", kind)
            for kind in (
                "Session",
                "Turn",
                "ModelCall",
                "ToolCall",
                "Process",
                "Artifact",
                "Flow",
                "Outcome",
                "Gap",
                "Trigger",
            )
        ),
        Flow.NONE,
        "prov:hadMember",
        "#00b0f0",
    ),
    EdgeKind(
        "CONSIDERS", "Explanations weighed.", (("Capsule", "Explanation"),), Flow.NONE, "prov:hadMember", "#92cddc"
    ),
)

NODE_KINDS: dict[str, NodeKind] = {kind.name: kind for kind in NODES}
EDGE_KINDS: dict[str, EdgeKind] = {kind.name: kind for kind in EDGES}
KIND_OF_PREFIX: dict[str, str] = {kind.name.lower(): kind.name for kind in NODES}


def kind_of(identity: str) -> str:
    """The node kind that an id carries. Raises KeyError for an id that is not ours."""
    return KIND_OF_PREFIX[identity.partition(":")[0]]


def edges_of_flow(*flows: Flow) -> tuple[EdgeKind, ...]:
    """The edge kinds that carry one of the flows, in declaration order."""
    return tuple(kind for kind in EDGES if kind.flow in flows)


def node_columns(kind: NodeKind) -> tuple[Field, ...]:
    """All fields of a node kind, the common ones first."""
    return (*NODE_FIELDS, *kind.fields)


def edge_columns(kind: EdgeKind) -> tuple[Field, ...]:
    """All fields of an edge kind, the common ones first."""
    return (*EDGE_FIELDS, *kind.fields)


def relation_tables() -> Iterator[tuple[EdgeKind, str, str]]:
    """Every permitted (edge kind, from, to)."""
    for kind in EDGES:
        for tail, head in kind.endpoints:
            yield kind, tail, head
