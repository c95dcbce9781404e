"""The schema for readers: `docs/schema.md` and the answer of `capsule schema`, both written from `schema.py`.

`python -m provenance.schema_docs docs/schema.md` writes the page; a test holds the file to it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from provenance import schema

HEAD = f"""\
# Schema

<!-- Written by `python -m provenance.schema_docs docs/schema.md`: change `provenance/schema.py`, not this file. -->

Version {schema.VERSION}. Edges point from an effect to what it depended on. What the words mean: [model.md](model.md).
"""

_FLOWS = {
    schema.Flow.CONTENT: "bytes went there",
    schema.Flow.ARGUMENT: "argv and environment, across the start of a program",
    schema.Flow.METADATA: "a stat, a name that was looked for",
    schema.Flow.DECISION: "what a model saw, planned, was allowed or was told",
    schema.Flow.NONE: "bookkeeping, never followed",
}


def as_markdown() -> str:
    """The whole page."""
    parts = [HEAD, "## Fields of every node\n", _fields(schema.NODE_FIELDS), "## Nodes\n"]
    for kind in schema.NODES:
        parts += [f"### {kind.name}\n", f"{kind.meaning} Level {kind.level}; `{kind.prov}`.\n", _fields(kind.fields)]
    parts += ["## Fields of every edge\n", _fields(schema.EDGE_FIELDS), "## Edges\n"]
    for flow, meaning in _FLOWS.items():
        parts += [f"### Flow {flow.value}: {meaning}\n", _edges(schema.edges_of_flow(flow))]
    return "\n".join(parts)


def as_json() -> dict[str, Any]:
    """Everything that is declared, as plain data."""
    return {
        "version": schema.VERSION,
        "node_fields": [_field(field) for field in schema.NODE_FIELDS],
        "edge_fields": [_field(field) for field in schema.EDGE_FIELDS],
        "nodes": [
            {
                "name": kind.name,
                "meaning": kind.meaning,
                "level": kind.level,
                "prov": kind.prov,
                "fields": [_field(field) for field in kind.fields],
            }
            for kind in schema.NODES
        ],
        "edges": [
            {
                "name": kind.name,
                "meaning": kind.meaning,
                "flow": kind.flow.value,
                "prov": kind.prov,
                "endpoints": [list(pair) for pair in kind.endpoints],
                "fields": [_field(field) for field in kind.fields],
            }
            for kind in schema.EDGES
        ],
    }


def _field(field: schema.Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": field.type.value,
        "meaning": field.meaning,
        "sensitivity": field.sensitivity.value,
        "values": list(field.values),
    }


def _fields(fields: Iterable[schema.Field]) -> str:
    lines = ["| Field | Type | Sensitivity | Meaning |", "|---|---|---|---|"]
    for field in fields:
        values = f" One of: {', '.join(f'`{value}`' for value in field.values)}." if field.values else ""
        lines.append(
            f"| `{field.name}` | {field.type.value} | {field.sensitivity.value} | {_cell(field.meaning)}{values} |"
        )
    return "\n".join(lines) + "\n"


def _edges(kinds: Iterable[schema.EdgeKind]) -> str:
    lines = ["| Edge | From → to | Meaning | PROV-O |", "|---|---|---|---|"]
    for kind in kinds:
        heads: dict[str, list[str]] = {}
        for tail, head in kind.endpoints:
            heads.setdefault(tail, []).append(head)
        ends = "; ".join(f"{tail} → {', '.join(found)}" for tail, found in heads.items())
        own = "".join(f" Field `{field.name}`: {_cell(field.meaning)}." for field in kind.fields)
        lines.append(f"| `{kind.name}` | {ends} | {_cell(kind.meaning)}{own} | `{kind.prov}` |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    if arguments:
        Path(arguments[0]).write_text(as_markdown(), encoding="utf-8")
    else:
        sys.stdout.write(as_markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
