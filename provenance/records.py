"""Records: the one vocabulary in which ingestors tell the weaver what they read.

Two families. *Turn records* are what an agent or its host said (Codex, Claude Code, OpenTelemetry ...); *effects* are
what the machine saw (strace, eBPF tools, auditd ...). A record is one typed fact with the line it was read from. Parsing
produces records and nothing else; the weaver consumes them and never sees a format.

Conventions
    time    integer nanoseconds in the source's clock (see `Clock`), or None where the source gives none
    line    1-based line (text) or record (binary) number in the source: with the source's key it is the `RawRef`
    pid     the kernel's task id as the source gave it; threads have their own and are merged by the weaver
    path    absolute where the source made that possible, else as given, to be resolved by the weaver
"""

from __future__ import annotations

from enum import IntFlag, StrEnum

import msgspec

# --------------------------------------------------------------------------------------------------------------------
# What was read, and what could not be


class Clock(StrEnum):
    """What a source's times mean. Only `WALL` times can be compared with those of another source."""

    WALL = "wall"  # nanoseconds since the Unix epoch
    TIME_OF_DAY = "time_of_day"  # nanoseconds since midnight, day unknown (strace -t, -tt)
    RELATIVE = "relative"  # nanoseconds since the source's first record (strace -r)
    MONOTONIC = "monotonic"  # nanoseconds since boot
    ORDER = "order"  # no clock: times are line numbers


class Skipped(msgspec.Struct, frozen=True, gc=False):
    """A line that is not a record, where it stands and why. Never dropped: counted, and kept as a Gap of the source."""

    line: int
    reason: str  # one of a small fixed vocabulary, e.g. "invalid json", "unknown record type", "torn line"
    detail: str = ""  # at most 200 characters, for a person


class Content(msgspec.Struct, frozen=True, gc=False):
    """Content by digest: what is kept of a text is its SHA-256, its size and a redacted preview.

    `digest` is None where not all bytes were seen (then `size` is the number that were, or None where unknown).
    """

    digest: str | None  # lower-case hex SHA-256 of the UTF-8 text
    size: int | None  # bytes
    preview: str  # redacted; the whole text up to 2,000 characters, else the first and the last 1,000 of it
    redactions: int = 0  # how many secrets the preview had


# --------------------------------------------------------------------------------------------------------------------
# Turn records. All carry the session they belong to; `turn` may be None where the source has no turn ids.


class TurnRecord(msgspec.Struct, frozen=True, tag=True, kw_only=True, gc=False):
    """Base of what an agent said. `source` is the Source key that the ingestor was given, `line` the place in it."""

    session: str  # the agent's own session or thread id
    line: int
    time: int | None = None  # wall-clock nanoseconds


class SessionDescribed(TurnRecord, frozen=True, kw_only=True, tag="session"):
    """Facts about a session; may come more than once (a resume, a stream beside a transcript). None = not said."""

    agent: str  # "codex", "claude-code"
    agent_version: str | None = None
    model: str | None = None
    model_provider: str | None = None
    cwd: str | None = None
    parent_session: str | None = None  # forked from, or the session that delegated to this one
    git_commit: str | None = None
    git_branch: str | None = None
    entrypoint: str | None = None  # "exec", "cli", "sdk-cli" ...
    tools: tuple[str, ...] = ()


class TurnStarted(TurnRecord, frozen=True, kw_only=True, tag="turn_started"):
    """The agent began to work on one request."""

    turn: str | None = None


class TurnEnded(TurnRecord, frozen=True, kw_only=True, tag="turn_ended"):
    """The turn's real end as its host recorded it. A turn without this record has no reported end."""

    turn: str | None = None
    status: str = "completed"  # completed, failed, interrupted, refused, timed_out
    reason: str | None = None
    final_message: Content | None = None
    usage: dict[str, int] | None = None


class PolicyStated(TurnRecord, frozen=True, kw_only=True, tag="policy"):
    """The policy in force from here on: approval, sandbox and permission settings as the host recorded them."""

    turn: str | None = None
    approval: str | None = None  # e.g. "never", "on-request"
    sandbox: str | None = None  # e.g. "danger-full-access", "workspace-write"
    permission_mode: str | None = None  # e.g. "acceptEdits", "default", "bypassPermissions"
    network: str | None = None
    writable_roots: tuple[str, ...] = ()
    details: str | None = None  # canonical JSON of the remaining settings that the host gave


class EnvironmentStated(TurnRecord, frozen=True, kw_only=True, tag="environment"):
    """The environment the host described: shell, date, instructions files ... as canonical JSON."""

    details: str = "{}"


class MessageSaid(TurnRecord, frozen=True, kw_only=True, tag="message"):
    """A message in the conversation."""

    turn: str | None = None
    message: str | None = None  # the source's id
    role: str = "user"  # user, assistant, system
    origin: str = "human"  # human, agent, harness (injected by the host), parent_agent
    content: Content
    final: bool = False  # the turn's last word, as the host marked it
    response: str | None = None  # assistant: the model response it is part of


class ModelResponded(TurnRecord, frozen=True, kw_only=True, tag="model_response"):
    """One model response. Several rows of one response share `response`; the last row's usage wins."""

    turn: str | None = None
    response: str | None = None
    model: str | None = None
    usage: dict[str, int] | None = None  # tokens: input, cached_input, output, reasoning_output, total
    stop_reason: str | None = None
    reasoning: Content | None = None
    error: str | None = None


class PlanDeclared(TurnRecord, frozen=True, kw_only=True, tag="plan"):
    """What the agent declared it would do next (update_plan, TodoWrite, ExitPlanMode, a stated plan item)."""

    turn: str | None = None
    call: str | None = None
    response: str | None = None
    content: Content
    steps: tuple[str, ...] = ()  # redacted


class ToolCalled(TurnRecord, frozen=True, kw_only=True, tag="tool_call"):
    """The model asked for a tool. `call` is the source's id, or None (exec streams restart ids; they are positions)."""

    turn: str | None = None
    call: str | None = None
    response: str | None = None  # the model response that holds the request
    name: str
    action: str = "other"  # shell, shell_input, read, edit, write, search, delegate, plan, mcp, web, other
    command: str | None = None  # shell: the command line as the model typed it (redacted only in previews)
    argv: tuple[str, ...] = ()  # shell: the vector the host ran, where recorded
    paths: tuple[str, ...] = ()  # files the call names
    cwd: str | None = None
    arguments: Content
    continues: str | None = None  # shell_input: the id of the running command it continues
    positional: bool = False  # the id is a position in a stream: match by content with a richer source


class ToolReturned(TurnRecord, frozen=True, kw_only=True, tag="tool_result"):
    """What came back. `status` is the call's own, `exit_code` the command's where the source tells."""

    turn: str | None = None
    call: str | None = None
    status: str = "completed"  # completed, failed, refused, interrupted, timed_out, running
    exit_code: int | None = None
    output: Content | None = None
    error: str | None = None  # short reason, e.g. "unsupported custom tool call", "user rejected"
    duration: int | None = None  # nanoseconds
    started: int | None = None  # wall-clock ns of the execution's start, where the host gives it
    changes: tuple[tuple[str, str], ...] = ()  # (path, kind) that the host says it changed: add, update, delete
    child_session: str | None = None  # delegate: the sub-agent's id
    running: str | None = None  # shell: id under which the command goes on running
    positional: bool = False


class ApprovalDecided(TurnRecord, frozen=True, kw_only=True, tag="approval"):
    """Somebody with authority allowed or refused a call."""

    turn: str | None = None
    call: str | None = None
    decision: str = "approved"  # approved, refused
    by: str = "human"  # human, policy, agent
    reason: str | None = None


class ContextCompacted(TurnRecord, frozen=True, kw_only=True, tag="compaction"):
    """The context was summarised: what came before is known to the model only through `summary`."""

    turn: str | None = None
    summary: Content | None = None


class SessionEnded(TurnRecord, frozen=True, kw_only=True, tag="session_ended"):
    """The run's end as its host reported it, with its own claim of success."""

    status: str = "completed"
    reason: str | None = None
    final_message: Content | None = None
    usage: dict[str, int] | None = None
    cost_usd: float | None = None


AnyTurnRecord = (
    SessionDescribed
    | TurnStarted
    | TurnEnded
    | PolicyStated
    | EnvironmentStated
    | MessageSaid
    | ModelResponded
    | PlanDeclared
    | ToolCalled
    | ToolReturned
    | ApprovalDecided
    | ContextCompacted
    | SessionEnded
)


# --------------------------------------------------------------------------------------------------------------------
# Effects: what the machine saw. Positional, without defaults on the hot ones: millions are made.


class Open(IntFlag):
    """How a file was opened, independent of the platform's numbers."""

    READ = 1
    WRITE = 2
    CREATE = 4
    TRUNCATE = 8
    APPEND = 16
    EXCLUSIVE = 32
    PATH_ONLY = 64
    DIRECTORY = 128


DELETED = " (deleted)"
"""Follows the path of a resource whose name is gone while a descriptor still holds it."""
AT_CWD = -100  # `base` of a path that is relative to the working directory


class Effect(msgspec.Struct, gc=False):
    """Base of what the machine saw.

    `fd` and `resource` go together: `resource` names what the descriptor stands for where the source says so
    (`strace -y`): an absolute path, `pipe:[inode]`, `tcp:HOST:PORT>HOST:PORT` (local, remote), `udp:...`,
    `unix:[inode>peer]`, `socket:[inode]`, or `""` for what carries no content of interest (eventfd, epoll, /dev/null).
    None means that the weaver has to look the descriptor up. A relative `path` is relative to the descriptor `base`.
    """

    line: int
    pid: int
    time: int


class TaskCreated(Effect, gc=False):
    """fork, vfork, clone. A thread shares everything; a process may share the descriptor table (CLONE_FILES)."""

    child: int
    thread: bool
    shares_files: bool


class ProgramExecuted(Effect, gc=False):
    """A *successful* execve: the process begins a new image."""

    path: str
    argv: tuple[str, ...]
    env: tuple[str, ...] | None  # NAME=value as the source recorded it (redaction is the weaver's), None: not captured
    truncated: bool  # some argument was cut by the source
    base: int = AT_CWD
    former: int | None = None  # the thread that called execve where it was not the leader


class TaskExited(Effect, gc=False):
    """The task ended. Exactly one of `status` and `signal` is set where the source tells."""

    status: int | None
    signal: str | None


class Opened(Effect, gc=False):
    """A successful open. `flags` is a value of `Open`."""

    fd: int
    path: str
    flags: int
    base: int
    resolved: bool  # `path` is what the kernel resolved (links followed)


class Closed(Effect, gc=False):
    fd: int


class Read(Effect, gc=False):
    """Bytes came in through a descriptor (read, recv, readv, pread ...). `size` counts bytes; 0 is end of file."""

    fd: int
    resource: str | None
    size: int


class Wrote(Effect, gc=False):
    """Bytes went out through a descriptor (write, send, writev, pwrite ...)."""

    fd: int
    resource: str | None
    size: int
    address: str | None = None  # sendto/sendmsg: "HOST:PORT" given with the call
    method: str | None = None  # HTTP request method that the bytes begin with, where the source shows them


class WriteEntered(Effect, gc=False):
    """A write has begun and its size is not known yet; `WriteLeft` of the same pid tells it."""

    fd: int
    resource: str | None
    address: str | None = None
    method: str | None = None


class WriteLeft(Effect, gc=False):
    size: int  # 0 where it failed


class Copied(Effect, gc=False):
    """Bytes moved inside the kernel (copy_file_range, sendfile, splice, tee): no buffer of the process held them."""

    source_fd: int
    source: str | None
    target_fd: int
    target: str | None
    size: int
    call: str


class Mapped(Effect, gc=False):
    """A file came into memory. `writes`: the mapping is shared and writable, so stores reach the file unseen."""

    fd: int
    resource: str | None
    writes: bool


class Duplicated(Effect, gc=False):
    fd: int
    copy: int


class Piped(Effect, gc=False):
    """pipe() or socketpair(): two descriptors joined. A pipe has one resource; a socket pair has two."""

    first_fd: int
    first: str | None
    second_fd: int
    second: str | None
    duplex: bool


class SocketMade(Effect, gc=False):
    fd: int
    resource: str | None
    family: str  # inet, inet6, unix, netlink, other
    kind: str  # stream, dgram, other


class Connected(Effect, gc=False):
    """connect(): to whom, and whether it was let through. `pending`: a non-blocking connect whose end is not seen."""

    fd: int
    resource: str | None
    address: str  # "HOST:PORT" or "unix:PATH"
    outcome: str  # connected, pending, refused, failed


class Accepted(Effect, gc=False):
    fd: int
    resource: str | None
    address: str | None  # the peer


class Bound(Effect, gc=False):
    fd: int
    resource: str | None
    address: str


class Consulted(Effect, gc=False):
    """Metadata was asked for, or a name was looked for: stat, access, readlink, or an open that failed."""

    path: str
    base: int
    found: bool
    call: str
    error: str | None = None  # ENOENT, EACCES ...


class Renamed(Effect, gc=False):
    path: str
    base: int
    target: str
    target_base: int
    exchange: bool


class Linked(Effect, gc=False):
    path: str
    base: int
    target: str
    target_base: int
    symbolic: bool


class Unlinked(Effect, gc=False):
    path: str
    base: int
    directory: bool


class Truncated(Effect, gc=False):
    """truncate by path, or ftruncate by descriptor (`path` is "")."""

    path: str
    base: int
    fd: int
    resource: str | None
    length: int


class DirectoryMade(Effect, gc=False):
    path: str
    base: int


class DirectoryChanged(Effect, gc=False):
    """chdir (path) or fchdir (`path` is "" unless the source names it)."""

    path: str
    base: int
    fd: int


class DirectoryKnown(Effect, gc=False):
    """The source showed the working directory in passing (`AT_FDCWD</dir>`); sent when it differs from the last one."""

    path: str


class AttributesChanged(Effect, gc=False):
    """chmod, chown: who may do what with a file from here on."""

    path: str
    base: int
    call: str
    value: str


class Signalled(Effect, gc=False):
    """A signal reached the task. `sender` is the pid that sent it; 0 is the kernel, None: the source does not say."""

    signal: str
    sender: int | None


class Lost(Effect, gc=False):
    """The source itself says that events are missing here."""

    what: str
    count: int | None


class CallRefused(Effect, gc=False):
    """A call that would have had an effect failed: not allowed (EACCES, EPERM, EROFS), or for lack of something (`SHORTAGES`).

    `target` is a path, or "" where the call has none.
    """

    call: str
    target: str
    error: str


SHORTAGES = frozenset(("ENOSPC", "EDQUOT", "EFBIG", "ENOMEM", "EMFILE", "ENFILE", "EAGAIN"))
"""Errors of calls that fail because something has run out; EAGAIN only of a fork."""


class AsyncIO(Effect, gc=False):
    """The process set up a way to move bytes that leaves no further calls (io_uring, shared memory, process_vm_readv)."""

    call: str


class CloseOnExec(Effect, gc=False):
    """The descriptor will (not) survive the next exec."""

    fd: int
    closes: bool
