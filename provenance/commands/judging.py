"""`capsule sufficiency`: what the evidence decides about incidents, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provenance.commands.output import Settings, answer_json, note, opened, say

if TYPE_CHECKING:
    from provenance.sufficiency import Anchor, Verdict


def sufficiency(
    context: typer.Context,
    node: Annotated[
        str | None,
        typer.Argument(
            metavar="NODE",
            help="A node of the incident: id, end of an id, path or host:port. Without it: all incidents.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Answer in JSON: an array with one object an incident.")
    ] = False,
) -> None:
    """Tell which explanations of an incident the evidence supports and refutes, and what would decide where it cannot.

    \b
    Examples:
      capsule sufficiency
      capsule sufficiency 127.0.0.1:18090
      capsule sufficiency --json
    """
    from provenance.resolve import resolve
    from provenance.sufficiency import incidents, incidents_at, judge

    settings: Settings = context.obj
    with opened(settings) as store:
        found = incidents(store) if node is None else incidents_at(store, set(resolve(store, node).ids))
        verdicts = [judge(store, incident) for incident in found]
    if as_json:
        answer_json([verdict.as_json() for verdict in verdicts])
    elif not verdicts:
        note("no incident found" if node is None else f"{node} is no part of an incident")
    else:
        for verdict in verdicts:
            _tell(verdict)


def _tell(verdict: Verdict) -> None:
    from queries.explanations import families

    family = families()[verdict.family]
    titles = {rival.name: rival.title for rival in family.rivals}
    say(
        f"{family.title}: {verdict.what}",
        f"  {verdict.incident}",
        f"  {family.question}",
        f"  Verdict: {verdict.verdict}",
    )
    for name, state in verdict.states.items():
        say(f"    {state:9}  {titles[name]} ({name})")
        anchors = verdict.supporting.get(name, []) + verdict.refuting.get(name, [])
        for what in dict.fromkeys(anchor.what for anchor in anchors):
            say(f"               {what}")
    if verdict.deciding:
        say("  Decided by:", *(f"    {_named(anchor)}" for anchor in verdict.deciding))
    if verdict.critical_step:
        say(f"  Critical step: {verdict.critical_step}")
    for told in verdict.conflict:
        say(f"  Conflict: {told}")
    if verdict.missing:
        say("  Missing:", *(f"    {missing.what}: {missing.why} ({missing.about})" for missing in verdict.missing))
    if verdict.gaps:
        say("  Not captured, without bearing on this:", *(f"    {gap.what}: {gap.why}" for gap in verdict.gaps))
    say("")


def _named(anchor: Anchor) -> str:
    before = f" (before: {anchor.before})" if anchor.before else ""
    return f"{anchor.anchor}{before}"
