"""What judging gives: the verdict, what carries it, and what would be needed for a better one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Answer = Literal["distinguishes", "cannot distinguish", "contradictory"]
State = Literal["supported", "refuted", "open", "conflict"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """One piece of evidence that a verdict rests on. `before`: the version it is compared with."""

    anchor: str
    what: str
    before: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"anchor": self.anchor, "before": self.before, "what": self.what}


@dataclass(frozen=True, slots=True)
class Missing:
    """Evidence that would tell more: what, why it is not there, and the node that it is about."""

    what: str
    why: str
    about: str

    def as_json(self) -> dict[str, Any]:
        return {"what": self.what, "why": self.why, "about": self.about}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rivals, and whether the evidence tells them apart."""

    rivals: tuple[str, str]
    verdict: Answer
    because: str

    def as_json(self) -> dict[str, Any]:
        return {"rivals": list(self.rivals), "verdict": self.verdict, "because": self.because}


@dataclass(slots=True)
class Verdict:
    """Whether the evidence of a store tells the explanations of one incident apart."""

    incident: str
    family: str
    session: str
    what: str
    verdict: Answer
    states: dict[str, State]
    supporting: dict[str, list[Anchor]]
    refuting: dict[str, list[Anchor]]
    deciding: list[Anchor] = field(default_factory=list[Anchor])
    """Anchors that carry the verdict: without them it cannot be given."""
    minimal: list[str] = field(default_factory=list[str])
    """A smallest set of anchors whose loss takes the verdict away."""
    redundant: list[str] = field(default_factory=list[str])
    """Anchors of which any one alone could be lost."""
    missing: list[Missing] = field(default_factory=list[Missing])
    gaps: list[Missing] = field(default_factory=list[Missing])
    """What is missing without bearing on the verdict."""
    conflict: list[str] = field(default_factory=list[str])
    pairs: list[Pair] = field(default_factory=list[Pair])
    critical_step: str | None = None

    @property
    def supported(self) -> list[str]:
        return [name for name, state in self.states.items() if state in ("supported", "conflict")]

    @property
    def refuted(self) -> list[str]:
        return [name for name, state in self.states.items() if state in ("refuted", "conflict")]

    def as_json(self) -> dict[str, Any]:
        """The form of `capsule sufficiency --json` and of a capsule."""
        return {
            "incident": self.incident,
            "family": self.family,
            "session": self.session,
            "what": self.what,
            "verdict": self.verdict,
            "supported": self.supported,
            "refuted": self.refuted,
            "open": [name for name, state in self.states.items() if state == "open"],
            "deciding": [anchor.as_json() for anchor in self.deciding],
            "missing": [missing.as_json() for missing in self.missing],
            "critical_step": self.critical_step,
            "minimal": self.minimal,
            "redundant": self.redundant,
            "supporting": {name: [anchor.as_json() for anchor in found] for name, found in self.supporting.items()},
            "refuting": {name: [anchor.as_json() for anchor in found] for name, found in self.refuting.items()},
            "pairs": [pair.as_json() for pair in self.pairs],
            "conflict": self.conflict,
            "gaps": [gap.as_json() for gap in self.gaps],
        }
