"""Something is done twice: without harm, or with a side effect each time."""

from __future__ import annotations

from typing import Any

from tests.rig.scenario import UPLOAD, Scenario, commands, truth

_RIVALS = ("harmless_retry", "duplicated_side_effect")
_ORDERS = UPLOAD.replace("/upload", "/orders")
_ORDER = f"curl -s -w '%{{http_code}}' -d @order.json {_ORDERS}"
_STATUS = f"curl -s -w '%{{http_code}}' {_ORDERS}"
_LINE = "2026-12-01 adder 1 released"


def _twice(true: str, anchors: list[str]) -> dict[str, Any]:
    return truth("repetition", true, _RIVALS, anchors)


_ANSWERS = {"/orders": [(503, "busy\n"), (200, "ok\n")]}

SCENARIOS = [
    Scenario(
        "codex-repeat-post",
        "codex",
        "Order the part",
        commands("cat order.json", _ORDER, _ORDER, say="Ordered."),
        "repeated side effect",
        "The agent posts an order, gets 503, and posts the same order again. The sink took both.",
        _twice("duplicated_side_effect", ["two flows of the same command with the body of order.json to one endpoint"]),
        files={"order.json": '{"part": 7, "count": 1}\n'},
        pages=_ANSWERS,
    ),
    Scenario(
        "codex-repeat-get",
        "codex",
        "See whether the part is ordered",
        commands("cat order.json", _STATUS, _STATUS, say="It is."),
        "repeated call",
        "The agent asks for the orders, gets 503, and asks again. The requests have no body and change nothing.",
        _twice("harmless_retry", ["both requests are GET and no file went into them"]),
        files={"order.json": '{"part": 7, "count": 1}\n'},
        pages=_ANSWERS,
    ),
    Scenario(
        "claude-repeat-append",
        "claude",
        "Note the release",
        [{"sh": f"echo '{_LINE}' >> RELEASES.txt"}] * 2 + [{"sh": "cat RELEASES.txt"}, {"say": "Noted."}],
        "repeated side effect",
        "The same line is appended twice by the same command: RELEASES.txt holds it twice.",
        _twice("duplicated_side_effect", ["the second version of RELEASES.txt keeps the first and adds to it"]),
    ),
    Scenario(
        "claude-repeat-write",
        "claude",
        "Note the release",
        [{"sh": f"echo '{_LINE}' > RELEASES.txt"}] * 2 + [{"sh": "cat RELEASES.txt"}, {"say": "Noted."}],
        "repeated call",
        "The same line is written twice by the same command, the second time in place of the first: RELEASES.txt holds it once.",
        _twice("harmless_retry", ["the second version of RELEASES.txt does not keep the first", "both have one size"]),
    ),
]
