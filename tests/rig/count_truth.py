"""Counts what a recording holds, with plain regular expressions and nothing of this project's own parsers.

`python -m tests.rig.count_truth FOLDER...` prints the counts; with `--check` it compares them with each folder's
`truth.json` and leaves with status 1 at the first difference. The counts are the yardstick that the parsers are tested
against, so this file must not import `ingest` or `provenance`, and stays simple enough to be checked by reading.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import zstandard

WORKSPACE = "/home/agent/ws"
LINE = re.compile(r"^(?P<pid>\d+) +\d+\.\d+ (?P<rest>.*)$", re.DOTALL)
UNFINISHED = re.compile(r"^(\w+)\((.*) <unfinished \.\.\.>$", re.DOTALL)
RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$", re.DOTALL)
WHOLE = re.compile(r"^(\w+)\((.*)$", re.DOTALL)
RESULT = re.compile(r"\) += (-?\d+|0x[0-9a-f]+)")
OPEN = re.compile(r'^(?:AT_FDCWD|\d+)<(?P<at>[^>]*)>, "(?P<path>(?:[^"\\]|\\.)*)", (?P<flags>[A-Z_|0-9]+)')
PLAIN_OPEN = re.compile(r'^"(?P<path>(?:[^"\\]|\\.)*)", (?P<flags>[A-Z_|0-9]+)')
NAMED = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
CONNECT = re.compile(r'sa_family=AF_INET, sin_port=htons\((\d+)\), sin_addr=inet_addr\("([\d.]+)"\)')
PEER = re.compile(r"^\d+<TCP:\[[^\]]*->([\d.]+:\d+)\]>")
FD_PATH = re.compile(r"\d+<(/[^>]*)>")
SENDS = {"write", "writev", "sendto", "sendmsg", "pwrite64", "sendfile"}


def read_trace(folder: Path) -> str:
    """The trace of a recording, compressed or not."""
    packed = folder / "syscalls.strace.zst"
    if packed.exists():
        return zstandard.ZstdDecompressor().decompress(packed.read_bytes()).decode(errors="surrogateescape")
    return (folder / "syscalls.strace").read_text(errors="surrogateescape")


def _in_workspace(path: str) -> str | None:
    """The path relative to the workspace, or None for what lies outside it, is its root, or is inside `.git/`."""
    if not path.startswith(WORKSPACE + "/"):
        return None
    inside = path[len(WORKSPACE) + 1 :]
    return None if inside.startswith(".git/") else inside


def count_trace(text: str) -> dict[str, Any]:
    """Counts over one trace; two halves of an interrupted call are joined by pid before they are counted."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    pids: set[str] = set()
    pending: dict[tuple[str, str], str] = {}
    execs = unfinished = resumed = 0
    written: set[str] = set()
    opened: set[str] = set()
    renames: list[str] = []
    relative_renames: list[str] = []
    copies: list[list[Any]] = []
    connects: set[str] = set()
    sent: Counter[str] = Counter()
    for line in lines:
        if not (match := LINE.match(line)):
            continue
        pid, rest = match["pid"], match["rest"]
        pids.add(pid)
        unfinished += "<unfinished ...>" in rest  # a call that never came back reads `<unfinished ...>) = ?`
        if half := UNFINISHED.match(rest):
            pending[pid, half[1]] = half[2]
            if half[1] == "connect":
                connects.update(f"{host}:{port}" for port, host in CONNECT.findall(half[2]))
            continue
        if half := RESUMED.match(rest):
            resumed += 1
            call = half[1]
            begin = pending.pop((pid, call), None)
            if begin is None:  # an exec by another thread comes back under the leader's pid
                begin = ""
            body = begin + half[2]
        elif whole := WHOLE.match(rest):
            call, body = whole[1], whole[2]
        else:
            continue
        results = RESULT.findall(body)
        result = results[-1] if results else "?"
        if call == "connect":
            connects.update(f"{host}:{port}" for port, host in CONNECT.findall(body))
        if call in ("execve", "execveat") and result == "0":
            execs += 1
        if not re.fullmatch(r"\d+", result):
            continue
        if call in ("openat", "open", "creat") and (match := OPEN.match(body) or PLAIN_OPEN.match(body)):
            at = match.groupdict().get("at") or WORKSPACE
            path = _in_workspace(posixpath.normpath(posixpath.join(at, match["path"])))
            if path is not None:
                opened.add(path)
                if re.search(r"O_WRONLY|O_RDWR", match["flags"]):
                    written.add(path)
        elif call in ("rename", "renameat", "renameat2"):
            named = [(at or WORKSPACE, path) for at, path in NAMED.findall(body)]
            joined = [posixpath.normpath(posixpath.join(at, path)) for at, path in named]
            if WORKSPACE + "/" in body and WORKSPACE + "/.git/" not in body:
                renames.append(f"{call}({body}")
            elif any(
                not path.startswith("/") and _in_workspace(full) for (_, path), full in zip(named, joined, strict=True)
            ):
                relative_renames.append(f"{call}({body}")
        elif call in ("copy_file_range", "sendfile", "splice"):
            paths = FD_PATH.findall(body)
            if call == "sendfile":  # sendfile names the destination first
                paths.reverse()
            if int(result) and len(paths) == 2 and all(_in_workspace(path) for path in paths):
                copies.append([call, *paths, int(result)])
        if call in SENDS and (peer := PEER.match(body)):
            sent[peer[1]] += int(result)
    return {
        "strace_lines": len(lines),
        "threads_and_processes_seen": len(pids),
        "successful_execs": execs,
        "workspace_files_opened_for_writing": sorted(written),
        "workspace_files_only_read": sorted(opened - written),
        "unfinished_lines": unfinished,
        "resumed_lines": resumed,
        "renames_in_workspace": renames,
        "renames_by_relative_names": relative_renames,
        "tcp_connects_to": sorted(connects),
        "tcp_bytes_sent_to": dict(sorted(sent.items())),
        "in_kernel_copies_in_workspace": copies,
    }


def _records(path: Path) -> Iterable[dict[str, Any]]:
    for line in path.read_text().splitlines():
        yield json.loads(line)


def count_turns(folder: Path) -> dict[str, Any]:
    """Tool calls as the agent's own session file names them: the main agent's first, then the sub-agents'."""
    names: list[str] = []
    errors = 0
    rollout = folder / "rollout.jsonl"
    if rollout.exists():
        for record in _records(rollout):
            payload = record.get("payload", {})
            if record.get("type") == "response_item" and payload.get("type") in ("function_call", "custom_tool_call"):
                names.append(payload["name"])
    else:
        seen: set[str] = set()
        for path in [folder / "transcript.jsonl", *sorted((folder / "subagents").glob("*.jsonl"))]:
            for record in _records(path):
                content = record.get("message", {}).get("content")
                for block in content if isinstance(content, list) else []:
                    if block.get("type") == "tool_use" and block["id"] not in seen:
                        seen.add(block["id"])
                        names.append(block["name"])
                    errors += block.get("type") == "tool_result" and block.get("is_error") is True
    return {"tool_calls": len(names), "tool_names": names, "tool_results_marked_error": errors}


def count(folder: Path) -> dict[str, Any]:
    """All counts of one recording."""
    return {**count_trace(read_trace(folder)), **count_turns(folder)}


def differences(folder: Path) -> dict[str, tuple[Any, Any]]:
    """Per differing count: what `truth.json` says, and what was counted."""
    truth = json.loads((folder / "truth.json").read_text())["counts"]
    counted = count(folder)
    return {key: (value, counted.get(key)) for key, value in truth.items() if counted.get(key) != value}


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    wrong = 0
    for name in arguments:
        if name == "--check":
            continue
        folder = Path(name)
        if not check:
            print(json.dumps({"recording": folder.name, **count(folder)}, indent=1))
            continue
        found = differences(folder)
        wrong += bool(found)
        print(f"{folder.name}: {'same' if not found else json.dumps(found)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
