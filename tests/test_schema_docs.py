"""The page about the schema is what the schema says."""

from __future__ import annotations

import json

from provenance import schema, schema_docs
from tests.shared import ROOT


def test_the_page_is_current() -> None:
    page = (ROOT / "docs" / "schema.md").read_text()
    assert page == schema_docs.as_markdown(), "out of date: run `python -m provenance.schema_docs docs/schema.md`"


def test_every_kind_and_field_is_told() -> None:
    page = schema_docs.as_markdown()
    for kind in schema.NODES:
        assert f"### {kind.name}\n" in page
    for edge in schema.EDGES:
        assert page.count(f"| `{edge.name}` |") == 1
    told = json.loads(json.dumps(schema_docs.as_json()))
    assert {node["name"] for node in told["nodes"]} == set(schema.NODE_KINDS)
    assert {edge["name"] for edge in told["edges"]} == set(schema.EDGE_KINDS)
