"""How a store of an older schema version becomes one of the present.

Most versions only add kinds, fields or permitted ends; `add_what_is_missing` does that for any of them by comparing the
store with `schema.py`. What else a version needs (a renamed field, values to compute) is a function in `STEPS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from provenance import schema
from provenance.errors import StoreError
from provenance.store.embedded import statements

Run: TypeAlias = Callable[[str], list[tuple[object, ...]]]
"""Runs one statement in the open transaction and gives its rows."""

Step: TypeAlias = Callable[[Run], None]


def migrate(run: Run, found: int, target: int, steps: Mapping[int, Step] | None = None) -> None:
    """Run every step from the version found to the target, in order. Raises StoreError where one is missing."""
    steps = STEPS if steps is None else steps
    missing = [version for version in range(found + 1, target + 1) if version not in steps]
    if missing:
        raise StoreError(
            f"the store has schema version {found}, this program {target}, and no step leads to version {missing[0]}"
        )
    for version in range(found + 1, target + 1):
        steps[version](run)


def add_what_is_missing(
    run: Run,
    nodes: tuple[schema.NodeKind, ...] = schema.NODES,
    edges: tuple[schema.EdgeKind, ...] = schema.EDGES,
) -> None:
    """Create the tables, columns and permitted ends that the schema declares and the store lacks. Removes nothing."""
    tables = {row[0] for row in run("CALL show_tables() RETURN name")}
    for kind in nodes:
        if kind.name not in tables:
            run(statements.create_node_table(kind))
        else:
            _add_columns(run, kind.name, schema.node_columns(kind))
    for kind in edges:
        if kind.name not in tables:
            run(statements.create_edge_table(kind))
            continue
        _add_columns(run, kind.name, schema.edge_columns(kind))
        ends = {(row[0], row[1]) for row in run(statements.list_ends(kind.name))}
        for tail, head in kind.endpoints:
            if (tail, head) not in ends:
                run(statements.add_ends(kind.name, tail, head))


def _add_columns(run: Run, table: str, fields: tuple[schema.Field, ...]) -> None:
    present = {row[0] for row in run(statements.list_columns(table))}
    for field in fields:
        if field.name not in present:
            run(statements.add_column(table, field))


STEPS: dict[int, Step] = {2: add_what_is_missing}
"""Version reached -> what makes it from the version before; `add_what_is_missing` for one that only adds."""
