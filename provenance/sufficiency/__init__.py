"""Counterfactual sufficiency: can the kept evidence tell the likeliest explanations apart; if not, what is missing?

The questions and their rival explanations are data (`queries/sufficiency/`); here they are asked and weighed.
"""

from __future__ import annotations

from provenance.sufficiency.incidents import Incident, incidents, incidents_at
from provenance.sufficiency.judging import judge
from provenance.sufficiency.verdicts import Anchor, Missing, Pair, Verdict

__all__ = ["Anchor", "Incident", "Missing", "Pair", "Verdict", "incidents", "incidents_at", "judge"]
