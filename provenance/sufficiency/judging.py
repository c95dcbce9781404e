"""Rival explanations weighed: what speaks for and against each, what that rests on, and what would be needed for more.

A conclusion is one row of a rival's text. It rests on its anchor, on the way from the suspect step to that anchor, and where
it argues from absence on the coverage and on all that was followed. Losing any of these takes the conclusion away, so what
carries a verdict is computed from the conclusions, without asking again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from provenance.store import cypher_text
from provenance.store.interface import Store
from provenance.sufficiency.coverage import Coverage, coverage_of
from provenance.sufficiency.incidents import Incident
from provenance.sufficiency.verdicts import Anchor, Answer, Missing, Pair, State, Verdict
from provenance.sufficiency.views import Gathered, gather
from queries.explanations import Family, Rival, families

_LARGEST = 3
"""Size of the sets of anchors that are tried as minimal deciding sets before a greedy one is taken."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One row that speaks for or against a rival."""

    rival: str
    against: bool
    anchor: str
    what: str
    step: str | None
    rests_on: frozenset[str]


def judge(
    store: Store, incident: Incident, without: Collection[str] = (), known: Mapping[str, Family] | None = None
) -> Verdict:
    """The verdict on one incident, as if the store did not hold the nodes in `without`.

    Raises KeyError for a family that is not known.
    """
    family = (known if known is not None else families())[incident.family]
    gathered = gather(store, incident, family.views)
    coverage = coverage_of(store, incident.session, gathered.copied_by)
    conclusions: list[Conclusion] = []
    lacking: dict[str, list[Missing]] = {}
    for rival in family.rivals:
        shortages = [*gathered.holes, *coverage.shortages(rival.needs)] if rival.absence else []
        for text, against in ((rival.supports, False), (rival.refutes, True)):
            absent = ("refutes" if against else "supports") in rival.absence
            if not (absent and shortages):
                base = _absence(gathered, coverage) if absent else frozenset[str]()
                conclusions += _conclusions(store, rival, text, gathered, base, against=against)
        lacking[rival.name] = [*shortages, *_lacks(store, rival, gathered)]
    left = frozenset(without)
    kept = [conclusion for conclusion in conclusions if not conclusion.rests_on & left]
    verdict = _verdict(incident, family, kept, gathered)
    _explain_missing(verdict, family, lacking, conclusions, left)
    _weigh(verdict, family, kept, gathered)
    verdict.gaps = list(coverage.gaps)
    return verdict


def _conclusions(
    store: Store, rival: Rival, text: str, gathered: Gathered, base: frozenset[str], *, against: bool
) -> list[Conclusion]:
    found: list[Conclusion] = []
    for row in _asked(store, text, gathered):
        anchor = str(row["anchor"])
        rests_on = base | {anchor, *gathered.path(anchor), *gathered.leads.get(anchor, ())}
        if (before := gathered.before.get(anchor)) is not None:
            rests_on |= {before}
        step = row.get("step")
        found.append(Conclusion(rival.name, against, anchor, str(row["what"]), str(step) if step else None, rests_on))
    return sorted(set(found), key=lambda conclusion: (conclusion.anchor, conclusion.what))


def _asked(store: Store, text: str, gathered: Gathered) -> list[dict[str, Any]]:
    named = cypher_text.parameters(text)
    given = {name: value for name, value in gathered.counted().items() if name in named}
    return store.query(text, given).dicts()


def _absence(gathered: Gathered, coverage: Coverage) -> frozenset[str]:
    """What an argument from absence rests on: the coverage, and everything that was followed by content."""
    followed = gathered.slices[0].nodes if gathered.slices else ()
    return frozenset((*coverage.ids, *followed))


def _lacks(store: Store, rival: Rival, gathered: Gathered) -> list[Missing]:
    if rival.lacks is None:
        return []
    rows = _asked(store, rival.lacks, gathered)
    return sorted(
        (Missing(str(row["what"]), str(row["why"]), str(row["about"])) for row in rows),
        key=lambda missing: (missing.about, missing.what),
    )


# The verdict


def _states(family: Family, conclusions: Iterable[Conclusion]) -> dict[str, State]:
    sides = {(conclusion.rival, conclusion.against) for conclusion in conclusions}
    states: dict[str, State] = {}
    for rival in family.rivals:
        pro, contra = (rival.name, False) in sides, (rival.name, True) in sides
        states[rival.name] = "conflict" if pro and contra else "supported" if pro else "refuted" if contra else "open"
    return states


def _answer(states: Mapping[str, State]) -> Answer:
    found = list(states.values())
    if "conflict" in found:
        return "contradictory"
    return "distinguishes" if found.count("supported") == 1 and "open" not in found else "cannot distinguish"


def _verdict(incident: Incident, family: Family, conclusions: list[Conclusion], gathered: Gathered) -> Verdict:
    states = _states(family, conclusions)

    def side(against: bool) -> dict[str, list[Anchor]]:
        found: dict[str, list[Anchor]] = {}
        for conclusion in conclusions:
            if conclusion.against is against:
                anchor = Anchor(conclusion.anchor, conclusion.what, gathered.before.get(conclusion.anchor))
                found.setdefault(conclusion.rival, []).append(anchor)
        return found

    verdict = Verdict(
        incident.node, family.name, incident.session, incident.what, _answer(states), states, side(False), side(True)
    )
    verdict.conflict = [
        f"{name}: {pro.what}; but {contra.what}"
        for name, state in states.items()
        if state == "conflict"
        for pro, contra in ((verdict.supporting[name][0], verdict.refuting[name][0]),)
    ]
    winning = [name for name, state in states.items() if state in ("supported", "conflict")]
    steps = [conclusion.step for conclusion in conclusions if conclusion.rival in winning and not conclusion.against]
    verdict.critical_step = next((step for step in steps if step is not None), None)
    names = [rival.name for rival in family.rivals]
    verdict.pairs = [_pair(first, second, states) for first, second in combinations(names, 2)]
    return verdict


def _pair(first: str, second: str, states: Mapping[str, State]) -> Pair:
    both = (states[first], states[second])
    if "conflict" in both:
        return Pair((first, second), "contradictory", "what was recorded speaks for and against one of them")
    if set(both) == {"supported", "refuted"}:
        winner, loser = (first, second) if both[0] == "supported" else (second, first)
        return Pair((first, second), "distinguishes", f"{winner} is supported, {loser} refuted")
    if both == ("refuted", "refuted"):
        return Pair((first, second), "distinguishes", "both are refuted")
    told = {"supported": "supported", "refuted": "refuted", "open": "neither supported nor refuted"}
    return Pair((first, second), "cannot distinguish", f"{first} is {told[both[0]]}, {second} {told[both[1]]}")


def _explain_missing(
    verdict: Verdict,
    family: Family,
    lacking: Mapping[str, list[Missing]],
    conclusions: list[Conclusion],
    left: frozenset[str],
) -> None:
    """What would close the open explanations: each thing once, in the order of the rivals."""
    if verdict.verdict != "cannot distinguish":
        return
    found: dict[Missing, None] = {}
    for rival in family.rivals:
        state = verdict.states[rival.name]
        lost = sorted({node for c in conclusions if c.rival == rival.name for node in c.rests_on & left})
        found.update(dict.fromkeys(Missing(node, "left out", node) for node in lost))
        if state == "open":
            found.update(dict.fromkeys(lacking[rival.name]))
            if not lacking[rival.name] and not lost:
                found[
                    Missing(rival.missing, f"nothing recorded speaks for or against {rival.name}", verdict.incident)
                ] = None
        elif state == "supported" and verdict.supported != [rival.name]:
            told = f"{' and '.join(verdict.supported)} are supported alike"
            found[Missing(rival.missing, told, verdict.incident)] = None
    verdict.missing = list(found)


# What carries it


def _weigh(verdict: Verdict, family: Family, conclusions: list[Conclusion], gathered: Gathered) -> None:
    """Leave-one-out, and a minimal deciding set."""
    if verdict.verdict != "distinguishes":
        return

    def stands(without: frozenset[str]) -> bool:
        kept = [conclusion for conclusion in conclusions if not conclusion.rests_on & without]
        return _answer(_states(family, kept)) == "distinguishes"

    winner = verdict.supported[0]
    ranked = sorted(conclusions, key=lambda conclusion: (conclusion.against, conclusion.rival != winner))
    # The suspect step itself carries everything: without it there is no question.
    anchors = [node for node in dict.fromkeys(found.anchor for found in ranked) if node != verdict.incident]
    carrying = [anchor for anchor in anchors if not stands(frozenset((anchor,)))]
    verdict.redundant = [anchor for anchor in anchors if anchor not in carrying]
    verdict.minimal = carrying[:1] or _smallest(anchors, stands)
    decisive = carrying or verdict.minimal
    told = {conclusion.anchor: conclusion.what for conclusion in reversed(ranked)}
    verdict.deciding = [Anchor(anchor, told[anchor], gathered.before.get(anchor)) for anchor in decisive]


def _smallest(anchors: list[str], stands: Any) -> list[str]:
    """A smallest set without which the verdict falls; beyond `_LARGEST` one that is minimal."""
    for size in range(2, _LARGEST + 1):
        for chosen in combinations(anchors, size):
            if not stands(frozenset(chosen)):
                return list(chosen)
    taken = list(anchors)
    for anchor in anchors:
        rest = [other for other in taken if other != anchor]
        if not stands(frozenset(rest)):
            taken = rest
    return taken
