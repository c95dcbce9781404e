"""What each system call means: from its name, arguments and result to effects.

One function a family of calls; `DECODERS` is the table. A decoder appends records to `trace.out`, or nothing where the
call has no effect that the graph models. It may raise ValueError or IndexError on text that is no call: the line then
becomes a Skipped. Arguments and results are text as strace prints them (strace(1), syscalls(2)).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ingest.effects import strace_text as text
from provenance import records as r
from provenance.identity import absolute

if TYPE_CHECKING:
    from ingest.effects.strace import Trace

Decoder: TypeAlias = "Callable[[Trace, int, int, int, str, str], None]"
"""(trace, line, pid, time in ns, arguments, result)"""

_MESSAGE_LENGTHS = re.compile(r"msg_len=(\d+)")
_NAME = re.compile(r"msg_name=(\{[^}]*\})")
_NAME_EXISTS = frozenset(("EINVAL", "ERANGE", "ENODATA"))  # readlink on what is no link, an attribute that is not set
_NO_SUCH_NAME = frozenset(("ENOENT", "ENOTDIR"))


def number(result: str) -> int:
    """The leading integer of a result; negative where the call failed. Raises ValueError for `?`."""
    try:
        return int(result)
    except ValueError:
        return int(result.partition(" ")[0].partition("<")[0], 0)


def error(result: str) -> str | None:
    """`ENOENT` of `-1 ENOENT (No such file or directory)`; None for a success."""
    if result[:2] != "-1":
        return None
    return result[3:].partition(" ")[0] or "EUNKNOWN"


def descriptor(trace: Trace, words: str, start: int = 0) -> tuple[int, str | None, int]:
    """A descriptor argument at `start`: its number, what it stands for, and where the argument ends."""
    comma = words.find(",", start)
    mark = words.find("<", start)
    if mark < 0 or (0 <= comma < mark):
        end = comma if comma >= 0 else len(words.rstrip().rstrip(")"))
        return int(words[start:end].rstrip(" )")), None, end
    end = words.find(">, ", mark)
    deleted = words.find(">(deleted)", mark, end + 1 if end >= 0 else len(words))
    if deleted >= 0:
        end = deleted
    elif end < 0:
        end = words.rfind(">")
    resource = trace.resource(words[mark + 1 : end])
    if deleted >= 0 and resource:
        resource += r.DELETED
    after = words.find(",", end)
    fd = words[start:mark]
    return (r.AT_CWD if fd == "AT_FDCWD" else int(fd)), resource, after if after >= 0 else len(words)


def located(trace: Trace, line: int, pid: int, time: int, words: str, start: int = 0) -> tuple[str, int, int]:
    """A `dirfd, "path"` pair at `start`: the path (absolute where known), its base, where the path ends."""
    quote = words.index('"', start)
    raw, end = _quoted(words, quote)
    if raw[:1] == "/":
        return _normal(raw), r.AT_CWD, end
    if words.startswith("AT_FDCWD", start):
        if words[start + 8 : start + 9] == "<":
            folder = text.unescape(words[start + 9 : words.rindex(">", start, quote)])
            trace.directory(line, pid, time, folder)
            return (_normal(f"{folder}/{raw}") if raw else folder), r.AT_CWD, end
        return raw, r.AT_CWD, end
    fd, resource, _ = descriptor(trace, words, start)
    if resource and resource[0] == "/":
        return (_normal(f"{resource}/{raw}") if raw else resource), r.AT_CWD, end
    return raw, fd, end


def _quoted(words: str, quote: int) -> tuple[str, int]:
    """The string whose opening quote stands at `quote`, unescaped, and where it ends."""
    close = words.index('"', quote + 1)
    raw = words[quote + 1 : close]
    if "\\" not in raw:
        return raw, close + 1
    _, end = _skip_string(words, quote)
    return text.unescape(words[quote + 1 : end - 1]), end


def _normal(path: str) -> str:
    """An absolute path without `.`, `..`, empty parts and a slash at its end."""
    if "/." not in path and "//" not in path:
        return path.rstrip("/") or "/"
    return absolute("", path)


def _plain_path(trace: Trace, words: str) -> tuple[str, int]:
    """The quoted path that the arguments begin with."""
    if words[0] == '"':
        raw = words[1 : words.index('"', 1)]
        if "\\" not in raw:
            return (_normal(raw) if raw[:1] == "/" else raw), r.AT_CWD
    raw, _ = _quoted(words, words.index('"'))
    return (_normal(raw) if raw[:1] == "/" else raw), r.AT_CWD


# ----------------------------------------------------------------------------------------------------------- bytes


def read(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    size = number(result)
    if size < 0:
        return
    fd, resource, _ = descriptor(trace, words)
    if resource != "":
        trace.out.append(r.Read(line, pid, time, fd, resource, size))


def write(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    size = number(result)
    if size < 0:
        return
    fd, resource, end = descriptor(trace, words)
    if resource != "":
        address = text.address_of(words[end:]) if resource is None or resource[:3] == "udp" else None
        method = text.method_of(words[end:]) if resource is None or resource[:3] == "tcp" else None
        trace.out.append(r.Wrote(line, pid, time, fd, resource, size, address, method))


def receive_many(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if number(result) < 0:
        return
    fd, resource, _ = descriptor(trace, words)
    if resource != "":
        trace.out.append(r.Read(line, pid, time, fd, resource, sum(map(int, _MESSAGE_LENGTHS.findall(words)))))


def send_many(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if number(result) < 0:
        return
    fd, resource, end = descriptor(trace, words)
    if resource != "":
        size = sum(map(int, _MESSAGE_LENGTHS.findall(words)))
        rest = words[end:]
        trace.out.append(r.Wrote(line, pid, time, fd, resource, size, text.address_of(rest), text.method_of(rest)))


def copy_range(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    _copied(trace, line, pid, time, words, result, "copy_file_range")


def splice(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    _copied(trace, line, pid, time, words, result, "splice")


def _copied(trace: Trace, line: int, pid: int, time: int, words: str, result: str, call: str) -> None:
    size = number(result)
    if size < 0:
        return
    source, source_resource, end = descriptor(trace, words)
    second = words.index(",", end + 1) + 2  # past the offset of the first
    target, target_resource, _ = descriptor(trace, words, second)
    trace.out.append(r.Copied(line, pid, time, source, source_resource, target, target_resource, size, call))


def tee(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    size = number(result)
    if size < 0:
        return
    source, source_resource, end = descriptor(trace, words)
    target, target_resource, _ = descriptor(trace, words, end + 2)
    trace.out.append(r.Copied(line, pid, time, source, source_resource, target, target_resource, size, "tee"))


def sendfile(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    size = number(result)
    if size < 0:
        return
    target, target_resource, end = descriptor(trace, words)
    source, source_resource, _ = descriptor(trace, words, end + 2)
    trace.out.append(r.Copied(line, pid, time, source, source_resource, target, target_resource, size, "sendfile"))


def mmap(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if ", -1, 0)" in words or "MAP_ANON" in words or result[:1] == "-":
        return
    shared = "MAP_SHARED" in words
    writes = shared and "PROT_WRITE" in words
    if not shared and trace.annotated:
        return  # the open counts as a use already
    parts = words.split(", ", 4)
    fd, resource, _ = descriptor(trace, parts[4])
    if resource != "":
        trace.out.append(r.Mapped(line, pid, time, fd, resource, writes))


# ----------------------------------------------------------------------------------------------------------- files

_FLAGS = {
    "O_WRONLY": r.Open.WRITE,
    "O_RDWR": r.Open.READ | r.Open.WRITE,
    "O_CREAT": r.Open.CREATE,
    "O_TRUNC": r.Open.TRUNCATE,
    "O_APPEND": r.Open.APPEND,
    "O_EXCL": r.Open.EXCLUSIVE,
    "O_PATH": r.Open.PATH_ONLY,
    "O_DIRECTORY": r.Open.DIRECTORY,
    "O_TMPFILE": r.Open.CREATE,
}
_flag_cache: dict[str, int] = {}


def open_flags(words: str) -> int:
    """The value of `records.Open` for strace's words (`O_RDONLY|O_CLOEXEC`)."""
    known = _flag_cache.get(words)
    if known is None:
        known = 0
        for word in words.split("|"):
            known |= int(_FLAGS.get(word, 0))
        if not known & r.Open.WRITE and not known & r.Open.PATH_ONLY:
            known |= int(r.Open.READ)
        if len(_flag_cache) < 1000:
            _flag_cache[words] = known
    return known


def openat(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    path, base, end = located(trace, line, pid, time, words)
    _opened(trace, line, pid, time, path, base, words[end + 2 :], result, "openat")


def open_(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    raw, end = _quoted(words, words.index('"'))
    path = _normal(raw) if raw[:1] == "/" else raw
    _opened(trace, line, pid, time, path, r.AT_CWD, words[end + 2 :], result, "open")


def openat2(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    path, base, end = located(trace, line, pid, time, words)
    _opened(trace, line, pid, time, path, base, words[end + 2 :].replace("{flags=", ""), result, "openat2")


def creat(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    path, base = _plain_path(trace, words)
    _opened(trace, line, pid, time, path, base, "O_WRONLY|O_CREAT|O_TRUNC", result, "creat")


def _opened(
    trace: Trace, line: int, pid: int, time: int, path: str, base: int, flags: str, result: str, call: str
) -> None:
    if result[:1] == "-":
        failure = error(result) or ""
        trace.out.append(r.Consulted(line, pid, time, path, base, failure not in _NO_SUCH_NAME, call, failure))
        return
    value = open_flags(flags.partition(",")[0].rstrip(") "))
    mark = result.find("<")
    if mark > 0 and result[mark + 1 : mark + 2] == "/":
        end = result.rfind(">")
        resource = trace.resource(result[mark + 1 : end])
        if result[end + 1 :].startswith("(deleted)"):
            resource += r.DELETED
        if resource:
            trace.out.append(r.Opened(line, pid, time, int(result[:mark]), resource, value, r.AT_CWD, True))
        return
    if mark > 0:
        return  # opened something without content of interest (a device shown as such)
    trace.out.append(r.Opened(line, pid, time, number(result), path, value, base, False))


def consult_path(call: str) -> Decoder:
    """stat, access, readlink ...: the most frequent calls of a build, so written in one piece."""

    def decode(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
        end = words.find('"', 1)
        path = words[1:end]
        if words[0] != '"' or "\\" in path:
            path, _ = _plain_path(trace, words)
        elif path[:1] == "/" and ("/." in path or "//" in path or path[-1] == "/"):
            path = _normal(path)
        if not path:
            return
        if result[0] == "-":
            failure = result[3:].partition(" ")[0]
            if failure not in _NAME_EXISTS:
                trace.out.append(
                    r.Consulted(line, pid, time, path, r.AT_CWD, failure not in _NO_SUCH_NAME, call, failure)
                )
                return
        trace.out.append(r.Consulted(line, pid, time, path, r.AT_CWD, True, call, None))

    return decode


def consult_at(call: str) -> Decoder:
    def decode(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
        if ', "", ' in words or ", NULL, " in words[:200]:
            return  # about a descriptor: its open was seen
        path, base, _ = located(trace, line, pid, time, words)
        _consulted(trace, line, pid, time, path, base, call, result)

    return decode


def _consulted(trace: Trace, line: int, pid: int, time: int, path: str, base: int, call: str, result: str) -> None:
    if not path:
        return
    failure = error(result) if result[:1] == "-" else None
    if failure is None or failure in _NAME_EXISTS:
        trace.out.append(r.Consulted(line, pid, time, path, base, True, call, None))
    else:
        trace.out.append(r.Consulted(line, pid, time, path, base, failure not in _NO_SUCH_NAME, call, failure))


def pair(call: str) -> Decoder:
    """rename, link and symlink in their plain and `*at` forms."""
    at_form = call.endswith(("at", "at2"))
    symbolic = call.startswith("symlink")

    def decode(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
        if symbolic:
            target, end = _quoted(words, words.index('"'))
            path, base = target, r.AT_CWD
        elif at_form:
            path, base, end = located(trace, line, pid, time, words)
        else:
            raw, end = _quoted(words, words.index('"'))
            path, base = (_normal(raw) if raw[:1] == "/" else raw), r.AT_CWD
        if at_form:
            target, target_base, end = located(trace, line, pid, time, words, end + 2)
        else:
            raw, end = _quoted(words, words.index('"', end))
            target, target_base = (_normal(raw) if raw[:1] == "/" else raw), r.AT_CWD
        if number(result) < 0:
            trace.refused(line, pid, time, call, target, result)
        elif call.startswith("rename"):
            exchange = "RENAME_EXCHANGE" in words[end:]
            trace.out.append(r.Renamed(line, pid, time, path, base, target, target_base, exchange))
        else:
            trace.out.append(r.Linked(line, pid, time, path, base, target, target_base, symbolic))

    return decode


def unlink(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    path, base = _plain_path(trace, words)
    _unlinked(trace, line, pid, time, path, base, False, result)


def unlinkat(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    path, base, end = located(trace, line, pid, time, words)
    _unlinked(trace, line, pid, time, path, base, "AT_REMOVEDIR" in words[end:], result)


def rmdir(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    path, base = _plain_path(trace, words)
    _unlinked(trace, line, pid, time, path, base, True, result)


def _unlinked(trace: Trace, line: int, pid: int, time: int, path: str, base: int, directory: bool, result: str) -> None:
    if number(result) < 0:
        trace.refused(line, pid, time, "rmdir" if directory else "unlink", path, result)
    else:
        trace.out.append(r.Unlinked(line, pid, time, path, base, directory))


def truncate(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if number(result) >= 0:
        path, base = _plain_path(trace, words)
        length = int(words.rpartition(", ")[2].rstrip(" )"))
        trace.out.append(r.Truncated(line, pid, time, path, base, -1, None, length))


def ftruncate(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if number(result) >= 0:
        fd, resource, _ = descriptor(trace, words)
        length = int(words.rpartition(", ")[2].rstrip(" )"))
        trace.out.append(r.Truncated(line, pid, time, "", r.AT_CWD, fd, resource, length))


def mkdir(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    path, base = _plain_path(trace, words)
    _made(trace, line, pid, time, path, base, result)


def mkdirat(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    path, base, _ = located(trace, line, pid, time, words)
    _made(trace, line, pid, time, path, base, result)


def _made(trace: Trace, line: int, pid: int, time: int, path: str, base: int, result: str) -> None:
    if number(result) >= 0:
        trace.out.append(r.DirectoryMade(line, pid, time, path, base))
    else:
        trace.refused(line, pid, time, "mkdir", path, result)


def chdir(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if number(result) >= 0:
        path, base = _plain_path(trace, words)
        trace.out.append(r.DirectoryChanged(line, pid, time, path, base, -1))
        trace.directories.pop(pid, None)


def fchdir(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if number(result) >= 0:
        fd, resource, _ = descriptor(trace, words)
        trace.out.append(r.DirectoryChanged(line, pid, time, resource or "", r.AT_CWD, fd))
        trace.directories.pop(pid, None)


def getcwd(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if result[:1] not in "-?0":
        folder = text.first_string(words)
        if folder:
            trace.directory(line, pid, time, folder)


def chmod(call: str) -> Decoder:
    def decode(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
        if '"' not in words:
            return
        path, base, end = (
            located(trace, line, pid, time, words) if call.endswith("at") else (*_plain_path(trace, words), 0)
        )
        if number(result) >= 0:
            value = words[end:].partition(", ")[2].rstrip(" )") if end else words.rpartition('", ')[2].rstrip(" )")
            trace.out.append(r.AttributesChanged(line, pid, time, path, base, call, value))
        else:
            trace.refused(line, pid, time, call, path, result)

    return decode


# ----------------------------------------------------------------------------------------------------------- descriptors


def close(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if result[:1] == "0":
        trace.out.append(r.Closed(line, pid, time, int(words.rstrip(" )"))))


def dup(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if result[:1] != "-":
        trace.out.append(r.Duplicated(line, pid, time, int(words.partition(",")[0].rstrip(" )")), number(result)))


def fcntl(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if result[:1] == "-":
        return
    if "F_DUPFD" in words:
        trace.out.append(r.Duplicated(line, pid, time, int(words.partition(",")[0]), number(result)))
        if "F_DUPFD_CLOEXEC" in words:
            trace.out.append(r.CloseOnExec(line, pid, time, number(result), True))
    elif "F_SETFD" in words:
        trace.out.append(r.CloseOnExec(line, pid, time, int(words.partition(",")[0]), "FD_CLOEXEC" in words))


def pipe(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if number(result) < 0:
        return
    inner = words[words.index("[") + 1 : words.rindex("]")]
    first, resource, end = descriptor(trace, inner)
    second, other, _ = descriptor(trace, inner, end + 2)
    trace.out.append(r.Piped(line, pid, time, first, resource, second, other, "AF_" in words))


def socket(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if result[:1] == "-":
        return
    family = words.partition(",")[0].removeprefix("AF_").removeprefix("PF_").lower()
    kind = "dgram" if "SOCK_DGRAM" in words else "stream" if "SOCK_STREAM" in words else "other"
    trace.out.append(r.SocketMade(line, pid, time, number(result), None, family, kind))


def connect(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    fd, resource, end = descriptor(trace, words)
    address = text.address_of(words[end:])
    if address is None:
        return
    failure = error(result)
    outcome = {None: "connected", "EINPROGRESS": "pending", "EALREADY": "pending", "ECONNREFUSED": "refused"}.get(
        failure, "failed"
    )
    trace.out.append(r.Connected(line, pid, time, fd, resource, address, outcome))


def accept(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if result[:1] in "-?":
        return
    mark = result.find("<")
    resource = trace.resource(result[mark + 1 : result.rfind(">")]) if mark > 0 else None
    trace.out.append(r.Accepted(line, pid, time, number(result), resource, text.address_of(words)))


def bind(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if number(result) < 0:
        return
    fd, resource, end = descriptor(trace, words)
    if address := text.address_of(words[end:]):
        trace.out.append(r.Bound(line, pid, time, fd, resource, address))


# ----------------------------------------------------------------------------------------------------------- processes


def clone(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    trace.forked(line, pid, time, words, number(result))


def execve(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    if words.startswith('"'):
        raw, end = _quoted(words, 0)
        path, base = (_normal(raw) if raw[:1] == "/" else raw), r.AT_CWD
    else:
        path, base, end = located(trace, line, pid, time, words)
    failure = error(result)
    if failure is not None:
        trace.out.append(r.Consulted(line, pid, time, path, base, failure not in _NO_SUCH_NAME, "execve", failure))
        return
    if result[:1] != "0":
        return
    argv_end = _list_end(words, end + 2)
    argv, cut = text.strings(words[end + 2 : argv_end + 1])
    rest = words[argv_end + 1 :].lstrip(", ")
    env = None
    if rest.startswith("[") and "/*" not in rest[:6]:
        env, _ = text.strings(rest)
        trace.environment = True
    trace.out.append(r.ProgramExecuted(line, pid, time, path, argv, env, cut, base, trace.superseded.pop(pid, None)))


def _list_end(words: str, start: int) -> int:
    """Where the bracketed list that begins at `start` ends: at the bracket that stands outside quotes."""
    position = start + 1
    while True:
        quote = words.find('"', position)
        bracket = words.find("]", position)
        if bracket < 0:
            raise ValueError("argv does not end")
        if quote < 0 or bracket < quote:
            return bracket
        _, position = _skip_string(words, quote)


_STRING_BODY = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def _skip_string(words: str, quote: int) -> tuple[int, int]:
    match = _STRING_BODY.match(words, quote)
    if match is None:
        raise ValueError("a string does not end")
    return match.span()


def memfd_create(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    """Memory with a name: empty at first. Several may have one name; each creation begins a new generation."""
    mark = result.find("<")
    if mark > 0:
        resource = trace.resource(result[mark + 1 : result.rfind(">")]) + r.DELETED
        trace.out.append(r.Truncated(line, pid, time, "", r.AT_CWD, int(result[:mark]), resource, 0))


def ioctl(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
    """Only clones of content matter: `ioctl(target, FICLONE, source)` (cp --reflink)."""
    if "FICLONE" not in words or result[:1] == "-":
        return
    target, target_resource, end = descriptor(trace, words)
    source, source_resource, _ = descriptor(trace, words, words.index(", ", end + 1) + 2)
    trace.out.append(r.Copied(line, pid, time, source, source_resource, target, target_resource, 0, "ficlone"))


def unseen(call: str) -> Decoder:
    """Ways for bytes to move that leave no further calls."""

    def decode(trace: Trace, line: int, pid: int, time: int, words: str, result: str) -> None:
        if result[:1] not in "-?":
            trace.out.append(r.AsyncIO(line, pid, time, call))

    return decode


DECODERS: dict[str, Decoder] = {
    **dict.fromkeys(("read", "pread64", "pread", "readv", "preadv", "preadv2", "recvfrom", "recv", "recvmsg"), read),
    **dict.fromkeys(
        ("write", "pwrite64", "pwrite", "writev", "pwritev", "pwritev2", "sendto", "send", "sendmsg"), write
    ),
    "recvmmsg": receive_many,
    "sendmmsg": send_many,
    "copy_file_range": copy_range,
    "splice": splice,
    "tee": tee,
    "sendfile": sendfile,
    "sendfile64": sendfile,
    "mmap": mmap,
    "mmap2": mmap,
    "open": open_,
    "openat": openat,
    "openat2": openat2,
    "creat": creat,
    **{
        name: consult_path(name)
        for name in ("stat", "lstat", "access", "readlink", "stat64", "lstat64", "statfs", "getxattr", "lgetxattr")
    },
    **{
        name: consult_at(name) for name in ("newfstatat", "fstatat64", "statx", "faccessat", "faccessat2", "readlinkat")
    },
    **{name: pair(name) for name in ("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat")},
    "unlink": unlink,
    "unlinkat": unlinkat,
    "rmdir": rmdir,
    "truncate": truncate,
    "truncate64": truncate,
    "ftruncate": ftruncate,
    "ftruncate64": ftruncate,
    "mkdir": mkdir,
    "mkdirat": mkdirat,
    "chdir": chdir,
    "getcwd": getcwd,
    "fchdir": fchdir,
    **{name: chmod(name) for name in ("chmod", "fchmodat", "chown", "lchown", "fchownat")},
    "close": close,
    **dict.fromkeys(("dup", "dup2", "dup3"), dup),
    "fcntl": fcntl,
    "fcntl64": fcntl,
    "pipe": pipe,
    "pipe2": pipe,
    "socketpair": pipe,
    "socket": socket,
    "connect": connect,
    "accept": accept,
    "accept4": accept,
    "bind": bind,
    **dict.fromkeys(("clone", "clone3", "fork", "vfork"), clone),
    "execve": execve,
    "execveat": execve,
    "memfd_create": memfd_create,
    "ioctl": ioctl,
    **{name: unseen(name) for name in ("io_uring_setup", "shmat", "process_vm_readv", "process_vm_writev", "vmsplice")},
}
DESCRIPTORS = frozenset(("close", "dup", "dup2", "dup3", "fcntl", "fcntl64", "socket"))
"""Calls that only move descriptors about: of interest where the trace does not say what a descriptor stands for."""
WRITES = frozenset(
    ("write", "pwrite64", "pwrite", "writev", "pwritev", "pwritev2", "sendto", "send", "sendmsg", "sendmmsg")
)
FORKS = frozenset(("clone", "clone3", "fork", "vfork"))
