"""Records a real agent run: `python -m tests.rig.record SCENARIO OUT` (or `all`), with `--agents PREFIX`.

PREFIX is where `npm install --prefix PREFIX @openai/codex @anthropic-ai/claude-code` went; the second also needs its
`install.cjs` run once for the native program. The whole run happens in namespaces of its own (`unshare`): no network but
loopback, a process tree of its own, and `/home/agent`, `/home/agent/ws`, `/opt/agents` and `/tmp` made for it, so that
the recording shows those paths with their true lengths and nothing of the machine. Needs Linux with unprivileged user
namespaces or root, strace, node, git, curl, make and python3.

OUT/SCENARIO receives `syscalls.strace.zst`, the agent's session file (`rollout.jsonl`, or `transcript.jsonl` with
`subagents/`), `stream.jsonl` and `truth.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import zstandard

from tests.rig import count_truth, sanitise
from tests.rig.scenario import SINK_PORT, SITE_PORT, WORKSPACE_FILES, Kill, Scenario
from tests.rig.scenarios import ALL, BY_NAME
from tests.rig.scripted_model import ScriptedModel, UploadSink

# Data moves by more than read and write: cp uses copy_file_range, build tools mmap, agents writev to the network.
TRACED = (
    "%process,%file,%network,read,write,readv,writev,preadv,pwritev,preadv2,pwritev2,close,pread64,pwrite64,ftruncate,"
    "dup,dup2,dup3,pipe,pipe2,fchdir,fcntl,copy_file_range,sendfile,splice,tee,memfd_create,mmap,io_uring_setup,eventfd2"
)
STRACE = ["strace", "-f", "-ttt", "-yy", "-s", "4096", "-e", f"trace={TRACED}", "-e", "abbrev=!execve"]
CODEX_CONFIG = """{top}model = "gpt-5.1-codex"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
supports_websockets = false
[analytics]
enabled = false
[otel]
exporter = "none"
[features]
plugins = false
remote_plugin = false
plugin_sharing = false
apps = false
goals = false
skill_search = false
tool_suggest = false
code_mode_host = false
image_generation = false
shell_snapshot = false
"""
HOME, WORKSPACE, AGENTS = Path("/home/agent"), Path("/home/agent/ws"), Path("/opt/agents")
STAGE = Path("/mnt")
MODEL_PORT = 18080
LIMIT_S = 90.0
ETC = {
    "hosts": "127.0.0.1 localhost\n",
    "resolv.conf": "nameserver 127.0.0.53\n",
    "gitconfig": "",
    "hostname": "agent-host\n",
}


def _run(*command: str, cwd: Path | None = None) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def isolate(scenario: str, out: Path, agents: Path) -> int:
    """Starts this module again inside fresh namespaces; answers its exit status."""
    command = ["unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--mount-proc", "--propagation", "private"]
    if os.geteuid():
        command += ["--user", "--map-root-user"]
    inside = [sys.executable, "-m", "tests.rig.record", scenario, str(out), "--agents", str(agents), "--inside"]
    return subprocess.run([*command, *inside], check=False).returncode


def furnish(out: Path, agents: Path) -> Path:
    """Mounts what the agent will see; answers where `out` is to be found afterwards."""
    _run("mount", "-t", "tmpfs", "stage", str(STAGE))
    for name, source in (("agents", agents), ("out", out)):
        (STAGE / name).mkdir()
        _run("mount", "--bind", str(source), str(STAGE / name))
    for hidden in ("/opt", "/home", "/tmp"):
        _run("mount", "-t", "tmpfs", "-o", "mode=1777", "private", hidden)
    AGENTS.mkdir()
    _run("mount", "--bind", str(STAGE / "agents"), str(AGENTS))
    for name, text in ETC.items():
        if (target := Path("/etc") / name).exists():
            (STAGE / name).write_text(text)
            _run("mount", "--bind", str(STAGE / name), str(target))
    _only_distribution_certificates()
    # What an administrator added to the system's Python stays out.
    for packages in [
        *Path("/usr/lib").glob("python3*/dist-packages"),
        *Path("/usr/local/lib").glob("python3*/*-packages"),
    ]:
        _run("mount", "-t", "tmpfs", "empty", str(packages))
    (STAGE / "version").write_text("Linux version 6.1.0 (builder@example) (gcc 12.2.0) #1 SMP\n")
    _run("mount", "--bind", str(STAGE / "version"), "/proc/version")
    socket.sethostname("agent-host")
    _run("ip", "link", "set", "lo", "up")
    return STAGE / "out"


def _only_distribution_certificates() -> None:
    """Agents load every certificate of the machine: show them the distribution's, not the ones added locally."""
    folder = Path("/etc/ssl/certs")
    texts = {path.stem: path.read_text() for path in Path("/usr/share/ca-certificates").rglob("*.crt")}
    if not texts or not folder.is_dir():
        return
    _run("mount", "-t", "tmpfs", "certificates", str(folder))
    for name, text in texts.items():
        (folder / f"{name}.pem").write_text(text)
    (folder / "ca-certificates.crt").write_text("".join(texts.values()))


def make_workspace(further: Mapping[str, str]) -> None:
    """A git repository with one commit; `.env` stays untracked by nothing, as in a careless project."""
    for name, text in {**WORKSPACE_FILES, **further}.items():
        path = WORKSPACE / name  # an absolute name stays what it is
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for command in (
        ["git", "init", "-q", "-b", "master"],
        ["git", "config", "user.name", "a"],
        ["git", "config", "user.email", "a@example.org"],
        ["git", "add", "-A"],
        ["git", "commit", "-qm", "init"],
    ):
        _run(*command, cwd=WORKSPACE)


def agent_command(scenario: Scenario) -> list[str]:
    """The command line of the real agent program; by default without approvals and without a sandbox of its own."""
    if scenario.agent == "codex":
        options = scenario.options or ("--sandbox", "danger-full-access")
        return [*scenario.wrapper, "codex", "exec", "--json", "--skip-git-repo-check", *options, scenario.prompt]
    spoken = ("--input-format", "stream-json") if scenario.then else (scenario.prompt,)
    return [
        *(*scenario.wrapper, "claude", "-p", "--output-format", "stream-json", "--verbose"),
        *("--permission-mode", "acceptEdits", "--allowedTools", "Bash Read Edit Write Task"),
        *("--model", "claude-sonnet-4-5", *scenario.options, *spoken),
    ]


def spoken_turns(scenario: Scenario) -> str:
    """What Claude Code reads from its standard input: one line a turn."""
    messages = [{"role": "user", "content": text} for text in (scenario.prompt, *scenario.then)]
    return "".join(json.dumps({"type": "user", "message": message}) + "\n" for message in messages)


def _wait(run: subprocess.Popen[bytes], kill: Kill | None) -> str:
    """Waits for the run, and kills its group when told to; answers how it ended."""
    end = time.monotonic() + LIMIT_S
    killed_at: float | None = None
    while run.poll() is None:
        now = time.monotonic()
        if kill and killed_at is None:
            path = WORKSPACE / kill.file
            if path.exists() and path.read_text().count("\n") >= kill.lines:
                os.killpg(run.pid, kill.number)
                killed_at = now
        if now > end or (killed_at is not None and now > killed_at + 15):
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            return "killed"
        time.sleep(0.02)
    return "terminated" if killed_at is not None else "exited"


def record(scenario: Scenario, out: Path, shown: list[tuple[str, str]]) -> None:
    """Runs the scenario inside prepared namespaces and writes its folder; `shown` replaces paths in the result."""
    HOME.mkdir(exist_ok=True)
    if scenario.room:
        _run("mount", "-t", "tmpfs", "-o", f"size={scenario.room}", "home", str(HOME))
    make_workspace(scenario.files)
    script = json.loads(json.dumps(scenario.script).replace("{ws}", str(WORKSPACE)))
    trace, raw_stream = STAGE / "syscalls.strace", STAGE / "stream.jsonl"
    (HOME / ".codex").mkdir()
    (HOME / ".codex/config.toml").write_text(CODEX_CONFIG.format(port=MODEL_PORT, top=scenario.config))
    environment = {
        "PATH": f"{AGENTS}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(HOME),
        "SCRIPTED_KEY": "dummy",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{MODEL_PORT}",
        "ANTHROPIC_API_KEY": "dummy-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "IS_SANDBOX": "1",
    }
    version = subprocess.run(
        [AGENTS / "node_modules/.bin" / scenario.agent, "--version"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    (STAGE / "turns.jsonl").write_text(spoken_turns(scenario) if scenario.then else "")
    with (
        ScriptedModel(script, MODEL_PORT),
        UploadSink(SINK_PORT, scenario.pages) as sink,
        UploadSink(SITE_PORT, scenario.pages),
        raw_stream.open("wb") as stream,
    ):
        started = time.monotonic()
        run = subprocess.Popen(
            [*STRACE, "-o", str(trace), *agent_command(scenario)],
            cwd=WORKSPACE,
            env=environment,
            stdin=(STAGE / "turns.jsonl").open("rb"),
            stdout=stream,
            stderr=(STAGE / "stderr.txt").open("wb"),
            start_new_session=True,
        )
        ending = _wait(run, scenario.kill)
        wall = time.monotonic() - started
    folder = out / scenario.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text = sanitise.clean_trace(trace.read_text(errors="surrogateescape"), shown)
    packer = zstandard.ZstdCompressor(level=19, write_checksum=True)
    (folder / "syscalls.strace.zst").write_bytes(packer.compress(text.encode(errors="surrogateescape")))
    (folder / "stream.jsonl").write_text(sanitise.clean_records(raw_stream.read_text(), shown))
    sessions = HOME / (".codex/sessions" if scenario.agent == "codex" else ".claude/projects")
    main_name = "rollout.jsonl" if scenario.agent == "codex" else "transcript.jsonl"
    for path in sorted(sessions.rglob("*.jsonl")):
        target = folder / ("subagents/" + path.name if path.parent.name == "subagents" else main_name)
        target.parent.mkdir(exist_ok=True)
        target.write_text(sanitise.clean_records(path.read_text(), shown))
    truth = {
        "scenario": scenario.name,
        "agent": scenario.agent,
        "agent_version": version,
        "prompt": scenario.prompt,
        "process_outcome": ending,
        "return_code": run.returncode,
        "wall_s": round(wall, 2),
        "site_hits": sink.hits,
        "git_status": _run("git", "status", "--short", cwd=WORKSPACE),
        "git_log": _run("git", "log", "--oneline", cwd=WORKSPACE),
        "incident": scenario.incident,
        "what_happened": scenario.what_happened,
        **scenario.truth,
        "counts": count_truth.count(folder),
    }
    (folder / "truth.json").write_text(json.dumps(truth, indent=1, ensure_ascii=False) + "\n")
    size = (folder / "syscalls.strace.zst").stat().st_size
    print(f"{scenario.name}: {ending}, {truth['counts']['strace_lines']} lines, {size} bytes packed")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("scenario", choices=["all", *BY_NAME])
    parser.add_argument("out", type=Path)
    parser.add_argument("--agents", type=Path, required=True, help="the npm prefix the agent programs live under")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.inside:
        # A process list that an agent takes shows this recorder's own command line.
        shown = [
            (sys.executable, "/usr/bin/python3"),
            (str(Path.cwd()), "/opt/rig"),
            (str(options.out), "/opt/recordings"),
            (f" {options.agents} ", " /opt/agents "),
        ]
        record(BY_NAME[options.scenario], furnish(options.out, options.agents), shown)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    names = [scenario.name for scenario in ALL] if options.scenario == "all" else [options.scenario]
    return max(isolate(name, options.out.resolve(), options.agents.resolve()) for name in names)


if __name__ == "__main__":
    raise SystemExit(main())
