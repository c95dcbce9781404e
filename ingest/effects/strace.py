"""strace output: `strace -f [-ttt|-tt|-t|-r] [-y|-yy] [-s N] [-v]`, from a file, from stderr, or merged from `-ff`.

Format: strace(1). A line is a call, the first half of a call (`<unfinished ...>`), its second half (`resumed`), a
signal (`---`), an end (`+++`), or something that strace did not write (a traced program's own output). Writes and clones
take effect where they begin, everything else where it returns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ingest.effects import strace_calls as calls
from ingest.effects import strace_text as text
from ingest.interface import EffectFacts, Head
from provenance import records as r
from provenance.records import Clock, Skipped

_UNFINISHED = "<unfinished ...>"
_EXITED = re.compile(r"\+\+\+ exited with (-?\d+) \+\+\+")
_KILLED = re.compile(r"\+\+\+ killed by (SIG\w+|\d+)(?: \(core dumped\))? \+\+\+")
_SUPERSEDED = re.compile(r"\+\+\+ superseded by execve in pid (\d+) \+\+\+")
_SIGNAL = re.compile(r"--- (SIG\w+)(?: \{(.*)\})? ---|--- stopped by (SIG\w+) ---")
_SENDER = re.compile(r"si_pid=(\d+)")
_ATTACHED = re.compile(r"(?:strace: )?Process (\d+) (?:attached|detached)|\[ ?Process PID=\d+ runs in .* mode\. \]")
_NAMELESS = ("???(", "<... ??? resumed>")  # a task that died before strace could name its call
_QUIET_SIGNALS = frozenset(("SIGCHLD", "SIGPWR", "SIGURG", "SIGPROF", "SIGALRM", "SIGVTALRM", "SIGWINCH", "SIGCONT"))
_LATEST = 2**62  # ns: the year 2116; later times are damage
_REFUSALS = frozenset(("EACCES", "EPERM", "EROFS"))
_HELD_LIMIT = 20_000
_CACHE_LIMIT = 100_000

_Line = tuple[str, str, str, str, str, str, str, str]


class _Saved(msgspec.Struct):
    """What a parser carries from block to block."""

    pending: dict[int, tuple[str, str, int, int, bool]]
    forks: dict[int, tuple[int, bool, bool]]
    announced: dict[int, int]
    known: set[int]
    held: dict[int, list[tuple[int, _Line]]]
    directories: dict[int, str]
    superseded: dict[int, int]
    seen_calls: set[str]
    environment: bool
    elapsed: int
    root_alias: int | None
    live: set[int]


class Trace:
    """The parser of one trace; decoders write to `out`."""

    def __init__(self, clock: Clock, annotated: bool) -> None:
        self.clock = clock
        self.annotated = annotated
        self.environment = False
        self.out: list[r.Effect | Skipped] = []
        self.directories: dict[int, str] = {}  # pid -> working directory last shown
        self.superseded: dict[int, int] = {}  # leader -> the thread that called execve
        self._pattern = text.line_pattern(clock)
        self._decoders: dict[str, calls.Decoder | None] = {}
        self._resources: dict[str, str] = {}
        self._pending: dict[int, tuple[str, str, int, int, bool]] = {}  # pid -> call, arguments, line, time, entered
        self._forks: dict[int, tuple[int, bool, bool]] = {}  # pid -> time, thread, shares files: forks under way
        self._announced: dict[int, int] = {}  # child -> parent, told before the fork returned
        self._known: set[int] = set()
        self._held: dict[int, list[tuple[int, _Line]]] = {}  # pid of unknown parent -> its lines
        self._elapsed = 0  # of a relative clock
        self._root_alias: int | None = None  # the pid that turned out to be that of the lines without one
        self._live: set[int] = set()

    # ------------------------------------------------------------------------------------------- Parser

    def feed(self, block: bytes, first_line: int) -> Sequence[r.Effect | Skipped]:
        body = block.decode("utf-8", "surrogateescape")
        if "\r" in body:
            body = body.replace("\r\n", "\n").replace("\r", "\ufffd")
        if body.endswith("\n"):
            body = body[:-1]
        self.out = []
        self._run(self._pattern.findall(body), first_line)
        return self.out

    def finish(self) -> Sequence[r.Effect | Skipped]:
        self.out = []
        for pid in list(self._held):
            self._release(pid)
        return self.out

    def facts(self) -> EffectFacts:
        return EffectFacts(self.clock, tuple(sorted(self._decoders)), self.environment, self.annotated)

    def save(self) -> bytes:
        return msgspec.msgpack.encode(
            _Saved(
                self._pending, self._forks, self._announced, self._known, self._held, self.directories, self.superseded,
                set(self._decoders), self.environment, self._elapsed, self._root_alias, self._live,
            )
        )  # fmt: skip

    def restore(self, state: bytes) -> None:
        saved = msgspec.msgpack.decode(state, type=_Saved)
        self._pending, self._forks, self._announced = saved.pending, saved.forks, saved.announced
        self._known, self._held, self.directories = saved.known, saved.held, saved.directories
        self.superseded, self.environment, self._elapsed = saved.superseded, saved.environment, saved.elapsed
        self._root_alias, self._live = saved.root_alias, saved.live
        self._decoders = {name: self._decoder(name) for name in saved.seen_calls}

    # ------------------------------------------------------------------------------------------- lines

    def _run(self, lines: Sequence[_Line], line: int) -> None:
        pids: dict[str, int] = {}
        decoders, known, pending = self._decoders, self._known, self._pending
        wall, timed = self.clock is Clock.WALL, self.clock is not Clock.ORDER
        line -= 1
        for match in lines:
            line += 1
            in_brackets, bare, stamp, name, rest, resumed, resumed_rest, other = match
            if bare:
                try:
                    pid = pids[bare]
                except KeyError:
                    pid = pids[bare] = int(bare)
            elif in_brackets or not known or self._root_alias is not None or len(self._live) == 1:
                pid = self._pid(in_brackets)
            else:
                pid = 0
            try:
                if wall and len(stamp) == 17:
                    time = int(stamp[:10] + stamp[11:]) * 1000
                elif not stamp and timed:
                    if (name or resumed or other).strip() and not _ATTACHED.match(other):
                        self.out.append(
                            Skipped(
                                line, "not a strace line", f"{name or resumed}{rest or resumed_rest or other}"[:200]
                            )
                        )
                    continue
                else:
                    time = self._time(stamp, line)
                if time > _LATEST:
                    self.out.append(Skipped(line, "time out of range", stamp))
                    continue
                if pid not in known and not self._met(pid, line, time, match):
                    continue
                if name:
                    try:
                        decode = decoders[name]
                    except KeyError:
                        decode = decoders[name] = self._decoder(name)
                    if decode is None:
                        continue
                    if rest[-1:] == ">" and rest.endswith(_UNFINISHED):
                        self._begin(name, rest[:-17], line, pid, time)
                        continue
                    words, equals, result = rest.rpartition(" = ")
                    if not equals:
                        self.out.append(Skipped(line, "torn line", rest[:200]))
                    elif result[:1] != "?":
                        if result[:1] == "-":
                            self._short(line, pid, time, name, words, result)
                        decode(self, line, pid, time, words, result)
                elif resumed:
                    begun = pending.pop(pid, None)
                    self._resume(resumed, resumed_rest, begun, line, pid, time)
                else:
                    self._other(other, line, pid, time)
            except (ValueError, IndexError):
                self.out.append(Skipped(line, "unreadable call", f"{name or resumed}({(rest or resumed_rest)[:160]}"))

    def _pid(self, in_brackets: str) -> int:
        """The pid of a line in strace's stderr style, where the first process has none until there is a second."""
        if not in_brackets:
            if len(self._live) == 1:
                return next(iter(self._live))
            return 0
        pid = int(in_brackets)
        if (
            self._root_alias is None
            and 0 in self._known
            and pid not in self._known
            and pid not in self._announced
            and not self._forks
        ):
            self._root_alias = pid
        return 0 if pid == self._root_alias else pid

    def _time(self, stamp: str, line: int) -> int:
        if not stamp:
            return line
        if stamp[0] == "@":  # a line that was held back: its time is known
            return int(stamp[1:])
        value = text.nanoseconds(self.clock, stamp)
        if self.clock is Clock.RELATIVE:
            self._elapsed += value
            return self._elapsed
        return value

    def _decoder(self, name: str) -> calls.Decoder | None:
        """What to do with a call; None where it has no effect that the graph models."""
        return None if self.annotated and name in calls.DESCRIPTORS else calls.DECODERS.get(name)

    def _begin(self, name: str, words: str, line: int, pid: int, time: int) -> None:
        """The first half of a call. Writes and clones take effect here."""
        entered = False
        if name in calls.FORKS:
            self._forks[pid] = (time, "CLONE_THREAD" in words, "CLONE_FILES" in words)
        elif name in calls.WRITES and "," in words:
            fd, resource, end = calls.descriptor(self, words)
            if resource != "":
                rest = words[end:]
                address, method = text.address_of(rest), text.method_of(rest)
                self.out.append(r.WriteEntered(line, pid, time, fd, resource, address, method))
                entered = True
        self._pending[pid] = (name, words, line, time, entered)

    def _resume(
        self, name: str, rest: str, begun: tuple[str, str, int, int, bool] | None, line: int, pid: int, time: int
    ) -> None:
        decode = self._decoders.get(name)
        if decode is None:
            if name not in self._decoders:
                self._decoders[name] = decode = self._decoder(name)
            if decode is None:
                return
        if rest.endswith(_UNFINISHED):
            return
        words, equals, result = rest.rpartition(" = ")
        if result[:1] == "-" and begun is not None:
            self._short(line, pid, time, name, begun[1] + words, result)
        if begun is not None and begun[4]:  # a write whose beginning was told
            size = 0
            if equals and result[:1] not in "?-":
                size = (
                    sum(map(int, re.findall(r"msg_len=(\d+)", words))) if name == "sendmmsg" else calls.number(result)
                )
            self.out.append(r.WriteLeft(line, pid, time, size))
            return
        if not equals:
            self.out.append(Skipped(line, "torn line", rest[:200]))
            return
        if begun is None or begun[0] != name:
            if name not in calls.FORKS:
                self.out.append(Skipped(line, "resumed without a beginning", name))
                return
            begun = (name, "", line, time, False)
        if result[:1] == "?":
            self._forks.pop(pid, None)
            return
        if name in calls.FORKS:
            time = begun[3]
        decode(self, line, pid, time, begun[1] + words, result)

    def _other(self, other: str, line: int, pid: int, time: int) -> None:
        if other.startswith("+++"):
            if match := _EXITED.match(other):
                self._gone(pid)
                self.out.append(r.TaskExited(line, pid, time, int(match[1]), None))
            elif match := _KILLED.match(other):
                self._gone(pid)
                self.out.append(r.TaskExited(line, pid, time, None, match[1]))
            elif match := _SUPERSEDED.match(other):
                self.superseded[pid] = int(match[1])
            else:
                self.out.append(Skipped(line, "not a strace line", other[:200]))
        elif other.startswith("---") and (match := _SIGNAL.match(other)):
            signal = match[1] or match[3]
            if signal not in _QUIET_SIGNALS:
                told = match[2] or ""
                sender = _SENDER.search(told)
                self.out.append(
                    r.Signalled(
                        line, pid, time, signal, 0 if "SI_KERNEL" in told else int(sender[1]) if sender else None
                    )
                )
        elif other.strip() and not _ATTACHED.match(other) and not other.startswith(_NAMELESS):
            self.out.append(Skipped(line, "not a strace line", other[:200]))

    # ------------------------------------------------------------------------------------------- tasks

    def _met(self, pid: int, line: int, time: int, match: _Line) -> bool:
        """The first line of a task. False where it has to wait until one of several forks under way names it."""
        if not (match[3] or match[5] or match[7].startswith(("+++ ", "--- "))):
            return True  # not strace's own words: says nothing about tasks
        timed: _Line = (match[0], match[1], f"@{time}", *match[3:])
        if pid in self._held:
            waiting = self._held[pid]
            waiting.append((line, timed))
            if len(waiting) > _HELD_LIMIT:
                self._release(pid)
            return False
        undecided = [(parent, fork) for parent, fork in self._forks.items() if parent not in self._announced.values()]
        if len(undecided) > 1:
            self._held[pid] = [(line, timed)]
            return False
        if len(undecided) == 1:
            parent, (time, thread, shares) = undecided[0]
            self._announced[pid] = parent
            self.out.append(r.TaskCreated(line, parent, time, pid, thread, shares))
        self._known.add(pid)
        self._live.add(pid)
        return True

    def forked(self, line: int, pid: int, time: int, words: str, child: int) -> None:
        """A fork returned (`child` < 0: it failed). Tells the weaver, unless the child's own lines came first and did."""
        begun = self._forks.pop(pid, None)
        if child <= 0:
            return
        told = self._announced.pop(child, None)
        if told == pid:
            return
        time, thread, shares = begun or (time, "CLONE_THREAD" in words, "CLONE_FILES" in words)
        self.out.append(r.TaskCreated(line, pid, time, child, thread, shares))
        self._known.add(child)
        self._live.add(child)
        if child in self._held:
            self._replay(child)
        for waiting in [] if self._forks else list(self._held):
            self._release(waiting)

    def _release(self, pid: int) -> None:
        """No fork will name the task any more: it begins without a parent."""
        self._known.add(pid)
        self._live.add(pid)
        self._replay(pid)

    def _replay(self, pid: int) -> None:
        for line, match in self._held.pop(pid, ()):
            self._run([match], line)

    def _gone(self, pid: int) -> None:
        self._known.discard(pid)
        self._live.discard(pid)
        self._pending.pop(pid, None)
        self._forks.pop(pid, None)
        self.directories.pop(pid, None)

    # ------------------------------------------------------------------------------------------- for decoders

    def resource(self, annotation: str) -> str:
        """`text.resource_of`, remembered."""
        known = self._resources.get(annotation)
        if known is None:
            if len(self._resources) > _CACHE_LIMIT:
                self._resources.clear()
            known = self._resources[annotation] = text.resource_of(annotation)
        return known

    def directory(self, line: int, pid: int, time: int, folder: str) -> None:
        """The working directory was shown in passing."""
        if self.directories.get(pid) != folder:
            self.directories[pid] = folder
            self.out.append(r.DirectoryKnown(line, pid, time, folder))

    def _short(self, line: int, pid: int, time: int, name: str, words: str, result: str) -> None:
        """A call failed; worth telling where something had run out."""
        failure = calls.error(result)
        if failure in r.SHORTAGES and (failure != "EAGAIN" or name in calls.FORKS):
            self.out.append(r.CallRefused(line, pid, time, name, text.path_in(words), failure))

    def refused(self, line: int, pid: int, time: int, call: str, target: str, result: str) -> None:
        """A call that would have changed something failed; worth telling where it was not allowed to."""
        failure = calls.error(result)
        if failure in _REFUSALS:
            self.out.append(r.CallRefused(line, pid, time, call, target, failure))


class StraceFormat:
    """`strace -f` output; see strace(1)."""

    name = "strace"
    family = "effects"
    description = "strace output, with or without -f, times (-ttt -tt -t -r), -y/-yy; per-pid files of -ff"

    def score(self, head: Head) -> float:
        lines = [line.decode("utf-8", "replace") for line in head.lines(40)]
        if not lines or b"\0" in head.data[:4096]:
            return 0.0
        hits = sum(1 for line in lines if text.CALL_LINE.match(line))
        return 0.0 if hits < len(lines) * 0.3 else min(0.95, 0.3 + hits / len(lines))

    def parser(self, head: Head) -> Trace:
        lines = [line.decode("utf-8", "replace") for line in head.lines(200)]
        return Trace(text.clock_of(lines), text.annotates(lines))


FORMAT = StraceFormat()
