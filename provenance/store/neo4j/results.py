"""What the driver answers, as the store contract has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from neo4j import Result
from neo4j.graph import Node, Path, Relationship

from provenance.store.interface import Rows


def rows(result: Result, limit: int | None) -> Rows:
    """Rows up to the limit; the server is told to keep the rest."""
    columns = tuple(result.keys())
    taken: list[tuple[object, ...]] = []
    truncated = False
    for record in result:
        if limit is not None and len(taken) >= limit:
            truncated = True
            break
        taken.append(tuple(_plain(value) for value in record.values()))
    result.consume()
    return Rows(columns, taken, truncated)


def _plain(value: Any) -> object:
    """A value as the contract has it: no objects of the driver."""
    if isinstance(value, Node):
        return {"_kind": next(iter(value.labels), ""), **_fields(value)}
    if isinstance(value, Relationship):
        return {"_kind": value.type, **_fields(value)}
    if isinstance(value, Path):
        return {
            "nodes": [_plain(node) for node in value.nodes],
            "edges": [_plain(edge) for edge in value.relationships],
        }
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return value.iso_format() if hasattr(value, "iso_format") else str(value)  # times, durations, points


def _fields(entity: Node | Relationship) -> Mapping[str, object]:
    return {name: _plain(value) for name, value in entity.items()}
