"""Capsule documents to export: made from the bundled recordings and from the graph made by hand, and a hostile one."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from provenance import schema
from provenance.schema import Flow
from provenance.slices import fields_of, impact, why
from provenance.store import Store, open_store
from provenance.sufficiency import incidents, judge
from tests import handmade
from tests.ingested import ingested, recording

RECORDINGS = ("claude-build-break-source", "codex-egress-public", "codex-outcome-mismatch")
EXAMPLES = ("handmade", *RECORDINGS)


@cache
def _made(name: str) -> dict[str, Any]:
    if name != "handmade":
        store = ingested(recording(name)).store
        found = incidents(store)[0]
        return _document(store, found.node, [judge(store, found).as_json()])
    folder = Path(mkdtemp(prefix="capsule-test-")) / "store"
    with open_store(folder, write=True) as store:
        store.apply(handmade.changes())
        missing = {"what": "environment variables", "why": "never_captured", "about": "coverage:t"}
        verdict = {
            "incident": handmade.FLOW, "family": "egress", "session": handmade.SESSION, "what": "transfer to 10.0.0.9:80",
            "verdict": "cannot distinguish", "supported": [], "refuted": [], "open": ["public_artifact", "secret_read"],
            "deciding": [], "missing": [missing], "critical_step": None, "minimal": [], "redundant": [],
            "supporting": {}, "refuting": {}, "conflict": [], "gaps": [],
            "pairs": [{"rivals": ["public_artifact", "secret_read"], "verdict": "cannot distinguish", "because": "both are open"}],
        }  # fmt: skip
        return _document(store, handmade.FLOW, [verdict])


def document(name: str) -> dict[str, Any]:
    """A capsule document of its own: it may be changed."""
    return copy.deepcopy(_made(name))


def _document(store: Store, suspect: str, verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    starts = {suspect} | {str(anchor["anchor"]) for verdict in verdicts for anchor in verdict["deciding"]}
    starts |= {str(verdict["critical_step"]) for verdict in verdicts if verdict["critical_step"]}
    reached = [
        why(store, starts, (Flow.CONTENT, Flow.ARGUMENT), bound=150),
        why(store, starts, (Flow.CONTENT, Flow.DECISION), bound=200),
        impact(store, starts, bound=40),
    ]
    ids = {node for slice_ in reached for node in slice_.nodes}
    beside = ("PART_OF", "ATTRIBUTED_TO", "OUTCOME_OF", "JUDGED_BY", "AUTHORISED_BY", "GOVERNED_BY", "COVERED_BY",
              "RECORDED_IN", "SENT_TO", "CONTRADICTS", "BASED_ON", "RAN_IN", "GRANTED_BY")  # fmt: skip
    for _ in range(2):
        ids |= {edge.head for edge in store.expand(sorted(ids), beside)}
        about = ("ABOUT", "OUTCOME_OF", "CONTRADICTS")
        ids |= {edge.tail for edge in store.expand(sorted(ids), about, backward=False)}
    kinds = tuple(schema.EDGE_KINDS)
    edges = [edge for edge in store.expand(sorted(ids), kinds, fields=()) if edge.head in ids]
    nodes = store.nodes(sorted(ids))
    missing = [{**missing, "gap": None} for verdict in verdicts for missing in (*verdict["missing"], *verdict["gaps"])]
    return {
        "format": "evidence-capsule", "version": 1, "graph_schema": schema.VERSION,
        "id": "capsule:0123456789abcdef0123456789abcdef",
        "made": {"at": "1796079099000000000", "by": "evidence-capsule 0.1.0", "request": "incident", "reason": None},
        "question": {"family": verdicts[0]["family"], "incident": suspect, "title": verdicts[0]["what"], "text": "What caused it?"},
        "critical_step": {"node": verdicts[0]["critical_step"], "why": "the step that the deciding anchor came from"},
        "selection": {"policy": None, "policy_digest": None, "triggers": [], "rule_version": None, "probability": None,
                      "mode": "not sampled"},
        "suspects": [suspect],
        "graph": {
            "nodes": [{"id": node, "kind": schema.kind_of(node), **_plain(nodes[node])} for node in sorted(nodes)],
            "edges": [
                {"kind": edge.kind, "tail": edge.tail, "head": edge.head, **_plain(edge.fields)}
                for edge in sorted(fields_of(store, edges), key=lambda edge: (edge.kind, edge.tail, edge.head))
            ],
            "cut_offs": [{"at": suspect, "reason": "cut_off", "detail": "stopped at 150 nodes: more would follow"}],
        },
        "windows": [
            {"source": "source:t", "uri": "/home/agent/run.strace", "format": "strace", "digest": "ab" * 32,
             "first_line": 10, "last_line": 11, "why": "round the suspect step",
             "lines": ['12 1796079097.1 openat(AT_FDCWD, "README.md", O_RDONLY) = 3', "12 1796079097.2 close(3) = 0"],
             "omitted": None},
            {"source": "source:u", "uri": "/home/agent/run.jsonl", "format": "codex-exec", "digest": "cd" * 32,
             "first_line": 1, "last_line": 4, "why": "a window that fed it", "lines": None,
             "omitted": "the source is no longer there"},
        ],
        "background": {"method": "hash", "seed": "s", "population": 9,
                       "sample": [{"id": "process:h/9@1/0", "kind": "Process", "probability": "0.5"}]},
        "omitted": [{"what": "window lines", "count": 4, "bytes": 900, "why": "size bound", "retention": "present"}],
        "versions": {"policy": [], "model": [{"id": None, "name": "gpt-5", "version": "not recorded"}], "tool": [],
                     "environment": [], "workspace": [{"id": None, "name": "workspace", "version": "not recorded"}]},
        "privacy": {"transforms": [{"what": "secrets", "count": 2, "by": "redaction 1"}],
                    "access": [{"fields": "command lines", "needs": "content"}]},
        "verdicts": verdicts,
        "missing": [*missing, {"what": "environment variables", "why": "never_captured", "about": suspect, "gap": None}],
        "bounds": {"nodes": 1000, "bytes": 1000000, "used_nodes": len(nodes), "used_bytes": 1234},
        "predecessor": None, "successor_reason": None,
    }  # fmt: skip


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    """Times and other integers that a double cannot hold are decimal strings."""
    return {
        name: str(value) if isinstance(value, int) and abs(value) >= 2**53 else value
        for name, value in fields.items()
        if name != "id" and value is not None
    }
