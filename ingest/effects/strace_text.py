"""Words of strace's output: quoted strings, descriptors with what they stand for, socket addresses, times.

Format: strace(1), sections "TRACE FORMAT" and `-y`/`--decode-fds`. Everything here takes and returns text.
"""

from __future__ import annotations

import re

from provenance.records import Clock

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b", "0": "\0"}
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?', re.DOTALL)
_INET = re.compile(r"sin_port=htons\((\d+)\), sin_addr=inet_addr\(\"([^\"]+)\"\)")
_INET6 = re.compile(r"sin6_port=htons\((\d+)\).*?inet_pton\(AF_INET6, \"([^\"]+)\"")
_UNIX = re.compile(r'sun_path=(@?)"((?:[^"\\]|\\.)*)"')
_TRANSPORTS = {"TCP": "tcp", "TCPv6": "tcp", "UDP": "udp", "UDPv6": "udp", "UDPLITE": "udp", "UDPLITEv6": "udp"}
_QUIET = ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random")


def unescape(text: str) -> str:
    """Undo strace's C escapes; the bytes are read as UTF-8, undecodable ones kept as surrogates."""
    if "\\" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "x" and len(code) == 3:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        return _SIMPLE.get(code, code)

    plain = _ESCAPE.sub(one, text)
    try:
        return plain.encode("latin-1").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return plain  # the log held unescaped characters beside the escapes


def first_string(text: str) -> str | None:
    """The first quoted string, unescaped; None where there is none."""
    match = _STRING.search(text)
    return unescape(match[1]) if match else None


def strings(text: str) -> tuple[tuple[str, ...], bool]:
    """All quoted strings of a list such as argv, and whether one of them was cut (`"..."...`)."""
    found = _STRING.findall(text)
    return tuple(unescape(body) for body, _ in found), any(cut for _, cut in found)


def resource_of(annotation: str) -> str:
    """What a descriptor stands for, from strace's `<...>`, in the vocabulary of `provenance.records.Effect`."""
    if annotation[:1] == "/":
        path = annotation.partition("<char ")[0].partition("<block ")[0]
        return "" if path in _QUIET else unescape(path)
    kind, bracket, rest = annotation.partition(":[")
    if not bracket:
        return "" if annotation.startswith("anon_inode") else annotation
    inner = rest.rstrip("]")
    if kind in _TRANSPORTS:
        local, arrow, remote = inner.partition("->")
        if arrow:
            return f"{_TRANSPORTS[kind]}:{local}>{remote}"
        return f"{_TRANSPORTS[kind]}:[{inner}]" if inner.isdigit() else f"{_TRANSPORTS[kind]}:{local}"
    if kind.startswith("UNIX"):
        own = inner.partition(",")[0]
        return f"unix:[{own.replace('->', '>')}]"
    if kind in ("anon_inode", "NETLINK"):
        return ""
    return annotation


def address_of(text: str) -> str | None:
    """The address in a sockaddr as strace prints it: `HOST:PORT`, `unix:PATH`, or None."""
    if match := _INET.search(text):
        return f"{match[2]}:{match[1]}"
    if match := _INET6.search(text):
        return f"[{match[2]}]:{match[1]}"
    if match := _UNIX.search(text):
        return f"unix:{match[1]}{unescape(match[2])}"
    return None


_REQUEST = re.compile(
    r'^, (?:\[\{iov_base=|\{msg_name=[^"]*iov_base=)?"(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE) '
)
_PATH = re.compile(r'[<"](/[^>"]*)[>"]')


def method_of(text: str) -> str | None:
    """The HTTP request method that the bytes shown after a descriptor begin with."""
    match = _REQUEST.match(text)
    return match[1] if match else None


def path_in(text: str) -> str:
    """The first absolute path among a call's arguments; "" where there is none."""
    match = _PATH.search(text)
    return unescape(match[1]) if match else ""


# --------------------------------------------------------------------------------------------------------------------
# How a log's lines begin

_TIME_PATTERNS = {
    Clock.WALL: r"\d{9,}\.\d+",
    Clock.TIME_OF_DAY: r"\d\d:\d\d:\d\d(?:\.\d+)?",
    Clock.RELATIVE: r" *\d{1,8}\.\d+",
}
_PREFIX = re.compile(
    r"^(?:\[pid +\d+\] |\d+ +)?(?:(\d{9,}\.\d+)|(\d\d:\d\d:\d\d(?:\.\d+)?)|( *\d{1,8}\.\d{6,9}))? *(?:\w+\(|<\.\.\. |---|\+\+\+)"
)
_ANNOTATED = re.compile(r"[(, ]\d+</|AT_FDCWD<|\d<(?:pipe|socket|TCP|UDP|UNIX|anon_inode)")
CALL_LINE = re.compile(
    r"^(?:\[pid +\d+\] +|\d+ +)?(?:\d+:\d\d:\d\d(?:\.\d+)? +| *\d+\.\d+ +)?"
    r"(?:[a-z_][a-z0-9_]*\(.*(?:= (?:-?\d|\?|0x)|<unfinished \.\.\.>)|<\.\.\. [a-z_][a-z0-9_]* resumed>|\+\+\+ (?:exited|killed)|--- SIG[A-Z0-9]+ )"
)


def clock_of(lines: list[str]) -> Clock:
    """Which clock the first readable line shows."""
    for line in lines:
        if match := _PREFIX.match(line):
            if match[1]:
                return Clock.WALL
            if match[2]:
                return Clock.TIME_OF_DAY
            if match[3]:
                return Clock.RELATIVE
            return Clock.ORDER
    return Clock.ORDER


def annotates(lines: list[str]) -> bool:
    """Whether descriptors are shown with what they stand for (`-y`, `-yy`)."""
    return any(_ANNOTATED.search(line) for line in lines)


def line_pattern(clock: Clock) -> re.Pattern[str]:
    """The pattern of one line for `findall`: pid in brackets, bare pid, time, call, rest, resumed call, rest, other."""
    time = f"(?:({_TIME_PATTERNS[clock]}) )?" if clock in _TIME_PATTERNS else "()"
    return re.compile(
        rf"^(?:\[pid +(\d+)\] +|(\d+) +)?{time} *(?:([a-z_][a-z0-9_]*)\((.*)|<\.\.\. ([a-z_][a-z0-9_]*) resumed>(.*)|(.*))$",
        re.MULTILINE,
    )


def nanoseconds(clock: Clock, text: str) -> int:
    """A time as strace prints it, exactly, in nanoseconds."""
    if clock is Clock.TIME_OF_DAY:
        clock_part, _, fraction = text.partition(".")
        hours, minutes, seconds = clock_part.split(":")
        whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    else:
        seconds_part, _, fraction = text.partition(".")
        whole = int(seconds_part)
    return whole * 1_000_000_000 + int(fraction.ljust(9, "0")[:9] or 0)
