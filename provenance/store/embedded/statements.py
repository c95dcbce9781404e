"""Every statement that defines or changes a graph in LadybugDB, generated from the schema. Pure: names in, text out.

Rows travel as one parameter, `$rows`, whose columns are named by position (`c0`, `c1`, ...), so no field name can meet
a reserved word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provenance import schema
from provenance.store.reading import Dialect, quoted

DIALECT = Dialect(either=":", kind_of_edge="label(e)", optional="OPTIONAL ")
"""OPTIONAL for the reason given at `_match_edges`."""

TYPES: dict[schema.Type, str] = {
    schema.Type.STRING: "STRING",
    schema.Type.INTEGER: "INT64",
    schema.Type.FLOAT: "DOUBLE",
    schema.Type.BOOLEAN: "BOOL",
    schema.Type.STRINGS: "STRING[]",
}

RECORD_TABLE = "_Store"
"""An always empty node table. Its comment carries what the store knows about itself: comments are part of the catalogue,
so they commit and roll back with the graph, and `MATCH (n)` never meets them."""


def text(value: str) -> str:
    """A string literal, for the few statements that take no parameters."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


# Definition (tables; Ladybug)


def create_node_table(kind: schema.NodeKind) -> str:
    columns = ", ".join(_column(field) for field in schema.node_columns(kind))
    return f"CREATE NODE TABLE {quoted(kind.name)} ({columns}, PRIMARY KEY (`id`))"


def create_edge_table(kind: schema.EdgeKind) -> str:
    ends = ", ".join(_ends(tail, head) for tail, head in kind.endpoints)
    columns = ", ".join(_column(field) for field in schema.edge_columns(kind))
    return f"CREATE REL TABLE {quoted(kind.name)} ({ends}, {columns})"


def add_column(table: str, field: schema.Field) -> str:
    return f"ALTER TABLE {quoted(table)} ADD {_column(field)}"


def add_ends(table: str, tail: str, head: str) -> str:
    return f"ALTER TABLE {quoted(table)} ADD {_ends(tail, head)}"


def list_columns(table: str) -> str:
    return f"CALL table_info({text(table)}) RETURN name"


def list_ends(table: str) -> str:
    """Rows (from, to)."""
    return f"CALL show_connection({text(table)}) RETURN *"


def create_graph() -> Iterator[str]:
    """All statements that make an empty graph of the present schema."""
    yield f"CREATE NODE TABLE {quoted(RECORD_TABLE)} (`id` STRING, PRIMARY KEY (`id`))"
    for kind in schema.NODES:
        yield create_node_table(kind)
    for kind in schema.EDGES:
        yield create_edge_table(kind)
    yield "CREATE MACRO type(r) AS label(r)"


def write_record(record: str) -> str:
    return f"COMMENT ON TABLE {quoted(RECORD_TABLE)} IS {text(record)}"


def read_record() -> str:
    return f"CALL show_tables() WHERE name = {text(RECORD_TABLE)} RETURN comment"


def _column(field: schema.Field) -> str:
    return f"{quoted(field.name)} {TYPES[field.type]}"


def _ends(tail: str, head: str) -> str:
    return f"FROM {quoted(tail)} TO {quoted(head)}"


# Nodes: rows are (id, fields ...)


def create_nodes(kind: str, fields: Sequence[str]) -> str:
    columns = _columns(len(fields) + 1)
    return f"LOAD FROM $rows CREATE (n:{quoted(kind)} {_map(('id', *fields), columns)})"


def set_nodes(kind: str, fields: Sequence[str]) -> str:
    identity, *columns = _columns(len(fields) + 1)
    return f"LOAD FROM $rows MATCH (n:{quoted(kind)} {{id: {identity}}}) SET {_assignments('n', fields, columns)}"


def remove_nodes(kind: str) -> str:
    (identity,) = _columns(1)
    return f"LOAD FROM $rows MATCH (n:{quoted(kind)} {{id: {identity}}}) DETACH DELETE n"


# Edges: rows are (tail id, head id, fields ...)


def create_edges(kind: str, tail: str, head: str, fields: Sequence[str]) -> str:
    """Both ends by primary key. The WITH keeps Ladybug from pairing all tails with all heads."""
    first, second, *columns = _columns(len(fields) + 2)
    return (
        f"LOAD FROM $rows MATCH (a:{quoted(tail)} {{id: {first}}}) WITH a, {', '.join(_columns(len(fields) + 2))} "
        f"MATCH (b:{quoted(head)} {{id: {second}}}) CREATE (a)-[:{quoted(kind)} {_map(fields, columns)}]->(b) "
        "RETURN count(*)"
    )


def find_edges(kind: str, tail: str, head: str, *, by_tail: bool) -> str:
    """Which of the edges exist: rows (tail id, head id)."""
    return f"{_match_edges(kind, tail, head, 0, by_tail)} RETURN a.id, b.id"


def set_edges(kind: str, tail: str, head: str, fields: Sequence[str], *, by_tail: bool) -> str:
    columns = _columns(len(fields) + 2)[2:]
    matched = _match_edges(kind, tail, head, len(fields), by_tail)
    return f"{matched} SET {_assignments('e', fields, columns)} RETURN count(*)"


def remove_edges(kind: str, tail: str, head: str, *, by_tail: bool) -> str:
    return f"{_match_edges(kind, tail, head, 0, by_tail)} DELETE e"


def _match_edges(kind: str, tail: str, head: str, count: int, by_tail: bool) -> str:
    """Bind a, e, b for each row, from the side that `by_tail` names.

    OPTIONAL MATCH is deliberate: Ladybug then walks from the node found by its key (18 ms for 1,000 edges of 600,000);
    a plain MATCH makes it scan the whole edge table (800 ms). The WHERE takes the nulls out again.
    """
    first, second = _columns(2)
    near, far = (("a", tail), ("b", head)) if by_tail else (("b", head), ("a", tail))
    near_id, far_id = (first, second) if by_tail else (second, first)
    pattern = (
        f"(a)-[e:{quoted(kind)}]->(b:{quoted(far[1])})" if by_tail else f"(a:{quoted(far[1])})-[e:{quoted(kind)}]->(b)"
    )
    return (
        f"LOAD FROM $rows MATCH ({near[0]}:{quoted(near[1])} {{id: {near_id}}}) OPTIONAL MATCH {pattern} "
        f"WITH a, e, b, {', '.join(_columns(count + 2))} WHERE {far[0]}.id = {far_id}"
    )


def _columns(count: int) -> list[str]:
    return [f"c{position}" for position in range(count)]


def _map(fields: Sequence[str], columns: Sequence[str]) -> str:
    return "{" + ", ".join(f"{quoted(f)}: {c}" for f, c in zip(fields, columns, strict=True)) + "}"


def _assignments(variable: str, fields: Sequence[str], columns: Sequence[str]) -> str:
    return ", ".join(f"{variable}.{quoted(f)} = {c}" for f, c in zip(fields, columns, strict=True))
