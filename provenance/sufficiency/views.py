"""What a family's texts are given beside the columns of its incident: slices and comparisons, as lists of ids.

A view is computed once for an incident. Its names and what they hold are in `docs/sufficiency.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import cast

from provenance import comparison, slices
from provenance.changes import Fields, Value
from provenance.errors import UsageError
from provenance.schema import Flow
from provenance.slices import Slice
from provenance.store.interface import Store
from provenance.sufficiency import builds
from provenance.sufficiency.incidents import Incident
from provenance.sufficiency.verdicts import Missing

BOUND = 20_000
"""Nodes of one slice."""

TELLS = 8
"""Bytes that must have been able to pass through a model's context before it can have passed anything worth the name."""

_WRITTEN = ("file", "pipe", "memory")
"""Classes of artifacts whose content something must have written, but for version 0 of a file: that was there before."""


@dataclass(slots=True)
class Gathered:
    """The evidence of one incident."""

    parameters: dict[str, Value | list[str]] = field(default_factory=dict[str, "Value | list[str]"])
    slices: list[Slice] = field(default_factory=list[Slice])
    before: dict[str, str] = field(default_factory=dict[str, str])
    """Version -> the version that it is compared with."""
    holes: list[Missing] = field(default_factory=list[Missing])
    """Where what was followed ends though it should go on: an argument from absence cannot stand."""
    copied_by: set[str] = field(default_factory=set[str])
    nodes: dict[str, Fields] = field(default_factory=dict[str, Fields])
    leads: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Version -> further nodes that what is said about it rests on."""

    def path(self, node: str) -> list[str]:
        """The nodes from a start to this one, in the first slice that reaches it; nothing where none does."""
        for found in self.slices:
            if node in found.nodes:
                return found.path_ids(node)
        return []

    def counted(self) -> dict[str, Value | list[str]]:
        """The parameters, and for each list NAME its length as `n_NAME`."""
        lengths = {f"n_{name}": len(held) for name, held in self.parameters.items() if isinstance(held, list)}
        return {**self.parameters, **lengths}


View = Callable[[Store, Incident, Gathered], None]


def gather(store: Store, incident: Incident, views: Iterable[str]) -> Gathered:
    """Raises ValueError for a view that there is not."""
    gathered = Gathered({"incident": incident.node, "session": incident.session, **incident.given})
    for name in views:
        if name not in VIEWS:
            raise ValueError(f"the family {incident.family} asks for a view {name!r}; there are {', '.join(VIEWS)}")
        VIEWS[name](store, incident, gathered)
    return gathered


def _content(store: Store, incident: Incident, gathered: Gathered) -> None:
    """`content`, `origins`: what the suspect's content came from. Of these: `files`; `secrets`, labelled so; `known`, files of
    the workspace (`cwd`) as they were before, and secrets; `outside`, other files as they were before; `model_written`, tool
    calls that wrote by themselves; `unexplained`, versions that something must have written, and nothing is seen to."""
    found = slices.why(store, _starts(incident, gathered), (Flow.CONTENT,), bound=BOUND)
    gathered.slices.append(found)
    nodes = store.nodes(found.nodes)
    gathered.nodes.update(nodes)
    files = [node for node in found.nodes if _is_file(nodes.get(node, {}))]
    secrets = [node for node in files if nodes[node].get("label") == "secret"]
    first = [node for node in found.origins if node in set(files) and not nodes[node].get("version")]
    workspace = f"{incident.given.get('cwd') or ''}/"
    known = [node for node in first if str(nodes[node].get("path")).startswith(workspace) or node in secrets]
    unexplained = _unexplained(store, found, nodes)
    gathered.holes += [
        Missing(f"what wrote {_name(nodes[node])}", "nothing seen wrote the content that was read from it", node)
        for node in unexplained
    ]
    gathered.holes += [Missing("what the agent's memory held", gap.detail, gap.about) for gap in found.gaps]
    edges = slices.fields_of(store, [edge for edge in found.edges if edge.kind == "DERIVED_FROM"])
    gathered.copied_by |= {str(edge.fields.get("rule")) for edge in edges}
    gathered.parameters |= {
        "content": list(found.nodes),
        "origins": list(found.origins),
        "files": files,
        "secrets": secrets,
        "known": sorted({*known, *secrets}),
        "outside": [node for node in first if node not in known],
        "model_written": [node for node in found.nodes if node.startswith("toolcall:")],
        "unexplained": unexplained,
    }


def _is_file(fields: Fields) -> bool:
    """A file that people or programs made: not the toolchain, not the agent's own state, not the machine's configuration."""
    return fields.get("class") == "file" and fields.get("label") not in ("toolchain", "agent_state", "protected")


def _unexplained(store: Store, found: Slice, nodes: dict[str, Fields]) -> list[str]:
    """Origins that cannot be origins: written content of which no writer is seen."""
    loose = [
        node
        for node in found.origins
        if nodes.get(node, {}).get("class") in _WRITTEN and nodes[node].get("version") not in (0, None)
    ]
    read = {
        edge.head: cast("int | None", edge.fields.get("bytes"))
        for edge in slices.fields_of(store, [edge for edge in found.edges if edge.head in loose])
    }
    return [node for node in loose if read.get(node) != 0]


def _decision(store: Store, incident: Incident, gathered: Gathered) -> None:
    """`decision`: all that led to the suspect, the model's context included; `told`: files that reach it through the model
    alone, within as many bytes as can carry something; `told_secrets`: of these, those labelled secret; `hinted`: the others."""
    found = slices.why(store, _starts(incident, gathered), (Flow.CONTENT, Flow.ARGUMENT, Flow.DECISION), bound=BOUND)
    gathered.slices.append(found)
    by_content = set(cast("list[str]", gathered.parameters.get("content", [])))
    origins = [node for node in found.nodes if node.startswith("artifact:") and node not in by_content]
    nodes = store.nodes(origins)
    gathered.nodes.update(nodes)
    told: list[str] = []
    hinted: list[str] = []
    for node in origins:
        if nodes[node].get("class") != "file":
            continue
        size = cast(int, nodes[node].get("size") or TELLS)
        wide = (found.bounds.get(node) or 2**62) >= min(size, TELLS)
        (told if wide else hinted).append(node)
    gathered.parameters |= {
        "decision": list(found.nodes),
        "told": told,
        "told_secrets": [node for node in told if nodes[node].get("label") == "secret"],
        "hinted": hinted,
    }


def _difference(store: Store, incident: Incident, gathered: Gathered) -> None:
    """Of a failed call, against its last pass. Inputs that differ and reached the failing program: `causes`, and of these
    `source_causes`, `environment_causes` (configuration, by name) and `stale_causes` (built from a version of a file that
    was no longer the last one); `others` differ and did not reach it. `baseline` (call), `process` (state in which the
    failing program began), `same` (number of inputs in the same version), `answer` (see `provenance.comparison`). Slices
    then start at the failing program."""
    call = str(incident.given.get("call", incident.node))
    found = comparison.InputDifference(call, "")
    try:
        found = comparison.input_difference(store, call)
    except UsageError as error:
        found.notes.append(str(error))
    gathered.before |= {cause.now_id: cause.before_id for cause in (*found.causes, *found.others)}
    if found.answer in ("no_baseline", "no_processes", "no_failing_process"):
        what = "the same check's last pass and this failure, compared"
        gathered.holes += [Missing(what, note, call) for note in found.notes]
    causes = [cause.now_id for cause in found.causes]
    stale = builds.outdated(store, causes, call)
    for cause in causes:
        if cause in stale:
            gathered.leads[cause] = stale[cause]
    classes = {cause.now_id: comparison.class_of(cause) for cause in found.causes}
    if found.baseline is not None:
        gathered.holes += builds.edits_without_effect(store, found.baseline, call)
    gathered.parameters |= {
        "causes": causes,
        "source_causes": [cause for cause in causes if cause not in stale and classes[cause] == "source"],
        "environment_causes": [cause for cause in causes if cause not in stale and classes[cause] != "source"],
        "stale_causes": [cause for cause in causes if cause in stale],
        "others": [cause.now_id for cause in found.others],
        "baseline": found.baseline or "",
        "process": found.process or "",
        "same": found.same,
        "answer": found.answer,
    }


def _claim(store: Store, incident: Incident, gathered: Gathered) -> None:
    """Of a claim: `check`, the last check before it whose kind fits (call), `check_outcome` and `check_verdict`; `stale`,
    what that check read that was built from a version no longer the last; `changed`, the versions of what it read, or of
    what this was built from, that are younger than it and older than the claim; `refusals`, calls refused before it."""
    found = builds.last_check(store, incident.node)
    if found is None:
        gathered.holes.append(Missing("a check before the claim", "none is recorded in this session", incident.node))
        check, outcome, verdict, claimed = "", "", "", 0
    else:
        check, outcome, verdict, claimed = found
    read = builds.inputs_of(store, check) if check else []
    if check and not read:
        gathered.holes.append(Missing("what the check read", "no trace shows its processes", check))
    stale = builds.outdated(store, read, check) if check else {}
    changed = builds.changed_after(store, read, check, claimed) if check else {}
    gathered.before |= changed
    gathered.leads |= stale
    if check:
        gathered.holes += builds.edits_without_effect(store, check, incident.node)
    gathered.parameters |= {
        "check": check,
        "check_outcome": outcome,
        "check_verdict": verdict,
        "stale": list(stale),
        "changed": list(changed),
        "inputs": read,
    }


def _starts(incident: Incident, gathered: Gathered) -> list[str]:
    """Where slices begin: the failing program of a check that was compared, else the suspect step."""
    return [str(gathered.parameters.get("process") or incident.node)]


def _name(fields: Fields) -> str:
    path = str(fields.get("path") or fields.get("name") or fields.get("id"))
    version = fields.get("version")
    return f"{path} version {version}" if version is not None else path


VIEWS: dict[str, View] = {"difference": _difference, "claim": _claim, "content": _content, "decision": _decision}
