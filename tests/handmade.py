"""A small graph made by hand, with everything that slices, names and queries have rules for.

An agent (runtime process) with one session. Call `c1` ran `cp`: notes.txt -> upload.txt (copy) and curl sent it out. The
agent wrote app.py itself: version 2 for call `c2`, which had read version 1; state.json for nobody. The model saw .env by
call `c0`. A log was appended to (keeps) after it had been truncated (does not keep).
"""

from __future__ import annotations

from provenance.changes import Changes

WS = "/home/a/ws"
SESSION = "session:s1"
AGENT = "process:h/1@1/0"
SHELL, FORK, CP, CURL, CURL2 = (f"process:h/{name}" for name in ("2@1/0", "3@1/0", "3@1/1", "4@1/0", "4@1/1"))
CAT = "process:h/5@1/0"


def file(name: str, version: int = 1) -> str:
    return f"artifact:h:{WS}/{name}@t.{version}"


FLOW = "flow:t/10.0.0.9:80/out/1"
MODEL_FLOW = "flow:t/10.0.0.1:443/out/2"
REPLY = "flow:t/10.0.0.9:80/in/3"
OUTPUT = "artifact:s1/output/c0"
PIPE = "artifact:h:pipe:[7]@t.1"
TOOLCHAIN = "artifact:h:toolchain/ab@t"


def call(name: str) -> str:
    return f"toolcall:s1/{name}"


def changes() -> Changes:
    made = Changes()
    made.put(SESSION, agent="codex", cwd=WS, status="completed", start=1, end=90, clock="wall")
    made.put("turn:s1/1", ordinal=1, status="completed")
    made.link("PART_OF", "turn:s1/1", SESSION)
    for ordinal in (1, 2, 3):
        made.put(f"modelcall:s1/{ordinal}", ordinal=ordinal)
        made.link("PART_OF", f"modelcall:s1/{ordinal}", "turn:s1/1")
    for before in (1, 2):
        made.link("FOLLOWS", f"modelcall:s1/{before + 1}", f"modelcall:s1/{before}")
    for place, (name, action, command, size) in enumerate(
        (
            ("c0", "shell", "cat .env", 10),
            ("c1", "shell", "cp notes.txt upload.txt && curl 10.0.0.9", 12),
            ("c2", "edit", None, 500),
        )
    ):
        made.put(call(name), action=action, tool=action, status="completed", exit_code=0, arguments_size=size,
                 call=name, ordinal=place + 1, attempt=1, cwd=WS, start=10 + place, end=11 + place)  # fmt: skip
        if command:
            made.put(call(name), command=command, command_digest=f"d-{name}")
        made.link("PART_OF", call(name), "turn:s1/1")
        made.link("FORMED_BY", call(name), f"modelcall:s1/{place + 1}")
    made.put("artifact:s1/message/1", role="user", size=30, **{"class": "message"})
    made.link("INFORMED_BY", "modelcall:s1/1", "artifact:s1/message/1", bytes=30)
    made.put(OUTPUT, size=40, **{"class": "tool_output"})
    made.link("GENERATED_BY", OUTPUT, call("c0"))
    made.link("INFORMED_BY", "modelcall:s1/2", OUTPUT, bytes=40)

    def process(identity: str, began: str, executable: str | None = None, **fields: str | int) -> None:
        made.put(
            identity, host="h", trace="t", process=identity.rpartition("/")[0].removeprefix("process:"), image=identity,
            began=began, state=int(identity.rpartition("/")[2]), executable=executable, command=executable, **fields,
        )  # fmt: skip

    process(AGENT, "seen", "/opt/codex", role="agent_runtime")
    process(SHELL, "exec", "/bin/bash")
    process(FORK, "fork")
    process(CP, "exec", "/bin/cp")
    process(CURL, "exec", "/usr/bin/curl")
    process(CURL2, "input")
    made.put(CURL2, image=CURL)
    process(CAT, "exec", "/bin/cat")
    made.link("FORKED_FROM", SHELL, AGENT)
    made.link("FORKED_FROM", FORK, SHELL)
    made.link("STARTED_BY", CP, FORK)
    made.link("STARTED_BY", CURL, SHELL)
    made.link("CONTINUES", CURL2, CURL)
    made.link("FORKED_FROM", CAT, AGENT)
    for state in (SHELL, FORK, CP, CURL, CURL2):
        made.link("ATTRIBUTED_TO", state, call("c1"), basis="inferred", confidence=1.0)
    made.link("ATTRIBUTED_TO", CAT, call("c0"), basis="inferred", confidence=1.0)
    made.link("ATTRIBUTED_TO", AGENT, SESSION, basis="inferred", confidence=0.99)

    def artifact(name: str, version: int = 1, label: str | None = None, kind: str = "file") -> None:
        made.put(file(name, version), name=name.rpartition("/")[2], uri=f"file://{WS}/{name}", path=f"{WS}/{name}",
                 host="h", trace="t", version=version, label=label, **{"class": kind})  # fmt: skip

    for name in ("notes.txt", "upload.txt", "src/app.py", "lib/app.py", "script.sh", "state.json"):
        artifact(name)
    artifact("upload.txt", 0, kind="absent")
    artifact("src/app.py", 2)
    artifact(".env", 1, "secret")
    artifact("app.py.tmp")
    for version in (1, 2, 3):
        artifact("run.log", version)
    made.put(TOOLCHAIN, members=["/lib/a.so", "/lib/b.so"], digest="ab", trace="t", **{"class": "toolchain"})
    made.put(PIPE, trace="t", **{"class": "pipe"})

    made.link("USED", SHELL, file("script.sh"), rule="open", bytes=9)
    made.link("USED", CP, file("notes.txt"), rule="copy_file_range", bytes=37)
    made.link("USED", CP, TOOLCHAIN)
    made.link("GENERATED_BY", file("upload.txt"), CP, rule="create", bytes=37)
    made.link("DERIVED_FROM", file("upload.txt"), file("notes.txt"), rule="copy_file_range", bytes=37, basis="observed")
    made.link("REVISION_OF", file("upload.txt"), file("upload.txt", 0), keeps=False)
    made.link("USED", CURL, file("upload.txt"), rule="open", bytes=37)
    made.link("USED", CURL, TOOLCHAIN)
    made.link("USED", CAT, file(".env"), rule="open", bytes=40)
    made.link("GENERATED_BY", PIPE, CAT, bytes=40)
    made.link("USED", AGENT, PIPE, bytes=40)
    made.link("DERIVED_FROM", OUTPUT, PIPE, rule="output_channel", bytes=40, basis="inferred")
    # By the agent's own process: written under another name, then renamed onto the file.
    made.link("GENERATED_BY", file("app.py.tmp"), AGENT)
    made.link("RENAMED_FROM", file("src/app.py", 2), file("app.py.tmp"))
    made.link("REVISION_OF", file("src/app.py", 2), file("src/app.py"), keeps=False)
    made.link("ATTRIBUTED_TO", file("src/app.py", 2), call("c2"), basis="inferred", confidence=0.9)
    made.link("USED", call("c2"), file("src/app.py"), bytes=60)
    made.link("USED", AGENT, file("src/app.py"), bytes=60)
    made.link("GENERATED_BY", file("state.json"), AGENT)
    made.link("REVISION_OF", file("run.log", 2), file("run.log"), keeps=False)
    made.link("REVISION_OF", file("run.log", 3), file("run.log", 2), keeps=True)

    for address, flow in (("10.0.0.9:80", FLOW), ("10.0.0.1:443", MODEL_FLOW)):
        host, port = address.split(":")
        made.put(f"endpoint:tcp/{address}", address=address, host=host, port=int(port), scope="private", protocol="tcp")
        made.put(flow, direction="out", bytes=192, remote=address, trace="t", version=1, protocol="tcp")
        made.link("SENT_TO", flow, f"endpoint:tcp/{address}")
    made.link("GENERATED_BY", FLOW, CURL, bytes=192)
    made.link("GENERATED_BY", MODEL_FLOW, AGENT, bytes=192)
    made.put(REPLY, direction="in", bytes=5, remote="10.0.0.9:80", trace="t", version=3, protocol="tcp")
    made.link("RECEIVED_FROM", REPLY, "endpoint:tcp/10.0.0.9:80")
    made.link("USED", CURL2, REPLY, bytes=5)

    made.put("source:t", name="run.strace", uri="/nowhere/run.strace", format="strace", lines=9, complete=True)
    made.put("coverage:t", name="coverage of run.strace", complete=False, lost=1, processes=5, calls=["read"])
    made.link("RECORDED_IN", "coverage:t", "source:t")
    made.link("COVERED_BY", SESSION, "coverage:t")
    made.put("gap:t/environment", reason="never_captured", about="environment variables", count=1)
    made.link("ABOUT", "gap:t/environment", "coverage:t")
    made.put("oracle:agent", name="agent's own words", type="agent")
    made.put("outcome:s1/claimed", type="claimed", subject="test", verdict="pass", statement="all pass")
    made.put("outcome:s1/checked", type="checked", subject="test", verdict="fail", statement="1 failed")
    made.link("JUDGED_BY", "outcome:s1/claimed", "oracle:agent")
    made.link("OUTCOME_OF", "outcome:s1/claimed", "turn:s1/1")
    made.link("OUTCOME_OF", "outcome:s1/checked", call("c1"))
    made.link("CONTRADICTS", "outcome:s1/checked", "outcome:s1/claimed")
    made.put("session:s1/sub", agent="codex", cwd=WS, status="failed", start=5)
    made.link("PART_OF", "session:s1/sub", SESSION)
    made.link("DELEGATED_BY", "session:s1/sub", call("c2"))
    return made
