"""Slices of the graph made by hand: what must be reached, where it ends, and what is a gap. Nothing but data."""

from __future__ import annotations

from tests import handmade as g
from tests.conformance.forms import Sliced

COPIED = {g.FLOW, g.CURL, g.file("upload.txt"), g.TOOLCHAIN, g.file("notes.txt"), g.CP}
MESSAGE = "artifact:s1/message/1"
MODEL_1, MODEL_2, MODEL_3 = (f"modelcall:s1/{number}" for number in (1, 2, 3))
NOWHERE = "artifact:h:/nowhere@t.1"
MEMORY = "through_agent_memory"

CASES = [
    # What was sent came from the copied file.
    Sliced("handmade", g.FLOW, "content", COPIED, origins={g.TOOLCHAIN, g.file("notes.txt")}),
    # Content stops at the start of a program, and argument does not; the fork from the agent is a gap.
    Sliced(
        "handmade",
        g.FLOW,
        "content argument",
        COPIED | {g.SHELL, g.FORK, g.file("script.sh")},
        origins={g.TOOLCHAIN, g.file("notes.txt"), g.file("script.sh")},
        gaps=[(MEMORY, g.SHELL)],
    ),
    Sliced("handmade", g.SHELL, "content", {g.SHELL, g.file("script.sh")}, {g.file("script.sh")}, [(MEMORY, g.SHELL)]),
    # What the model saw, by the call that it formed: 40 bytes came into the context, the call had 12 of arguments.
    Sliced(
        "handmade",
        g.FLOW,
        "content decision",
        COPIED
        | {g.call("c0"), g.call("c1"), g.file(".env"), g.PIPE, g.OUTPUT, g.CAT, MESSAGE, MODEL_1, MODEL_2},
        origins={g.TOOLCHAIN, g.file("notes.txt"), g.file(".env"), MESSAGE},
        gaps=[(MEMORY, g.CAT)],
        bounds={g.file(".env"): 12, MESSAGE: 12},
    ),
    # Decision alone follows no bytes.
    Sliced(
        "handmade",
        g.CURL,
        "decision",
        {g.CURL, g.call("c1"), g.OUTPUT, MESSAGE, MODEL_1, MODEL_2},
        origins={g.OUTPUT, MESSAGE},
        bounds={g.OUTPUT: 12, MESSAGE: 12},
    ),
    # An older version is followed only where the write kept it.
    Sliced("handmade", g.file("run.log", 3), "content", {g.file("run.log", 3), g.file("run.log", 2)}, {g.file("run.log", 2)}),
    Sliced("handmade", g.file("run.log"), "content", {g.file("run.log")}, forward=True),
    # What the agent's own process wrote leads to the call that asked for it, never through its memory.
    Sliced(
        "handmade",
        g.file("src/app.py", 2),
        "content",
        {g.file("src/app.py", 2), g.file("app.py.tmp"), g.call("c2"), g.file("src/app.py")},
        origins={g.file("src/app.py")},
    ),
    Sliced("handmade", g.file("state.json"), "content decision", {g.file("state.json")}, gaps=[(MEMORY, g.file("state.json"))]),
    Sliced("handmade", g.MODEL_FLOW, "content decision", {g.MODEL_FLOW}, gaps=[(MEMORY, g.MODEL_FLOW)]),
    Sliced("handmade", g.AGENT, "content", {g.AGENT}, gaps=[(MEMORY, g.AGENT)]),
    # Nothing is known of what is not there.
    Sliced("handmade", NOWHERE, "content", {NOWHERE}),
    Sliced("empty", NOWHERE, "content decision", {NOWHERE}),
    # Depth.
    Sliced("handmade", g.FLOW, "content", {g.FLOW, g.CURL}, gaps=[("cut_off", g.FLOW)], depth=1),
    Sliced("handmade", g.FLOW, "content", COPIED, {g.TOOLCHAIN, g.file("notes.txt")}, depth=10),
    Sliced("handmade", g.FLOW, "content", COPIED, {g.TOOLCHAIN, g.file("notes.txt")}, bound=6),
    # Forward: what became of a file, and of a secret that the model saw.
    Sliced(
        "handmade",
        g.file("notes.txt"),
        "content",
        {g.file("notes.txt"), g.file("upload.txt"), g.CP, g.CURL, g.CURL2, g.FLOW},
        origins={g.FLOW, g.CURL2},
        forward=True,
    ),
    Sliced(
        "handmade",
        g.file("src/app.py"),
        "content",
        {g.file("src/app.py"), g.call("c2"), g.file("src/app.py", 2)},
        origins={g.file("src/app.py", 2)},
        forward=True,
    ),
    Sliced(
        "handmade", g.file(".env"), "content", {g.file(".env"), g.CAT, g.PIPE, g.OUTPUT}, origins={g.OUTPUT}, forward=True
    ),
    Sliced(
        "handmade",
        g.file(".env"),
        "content decision",
        {g.file(".env"), g.CAT, g.PIPE, g.OUTPUT, MODEL_2, MODEL_3, g.call("c1"), g.call("c2"), g.SHELL, g.FORK, g.CP}
        | {g.CURL, g.CURL2, g.file("upload.txt"), g.FLOW, g.file("src/app.py", 2), "session:s1/sub"},
        origins={g.FORK, g.CURL2, g.FLOW, g.file("src/app.py", 2), "session:s1/sub"},
        forward=True,
    ),
]  # fmt: skip
