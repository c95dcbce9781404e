"""The statements of a store's own primitives, in the Cypher that both engines share. Pure: names in, text out.

What changes a graph differs between engines: see `embedded/statements.py` and `neo4j/statements.py`. Reads beyond the
primitives live in `queries/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from provenance import schema
from provenance.errors import UsageError


@dataclass(frozen=True, slots=True)
class Dialect:
    """The little in which the reading statements differ."""

    either: str  # between labels of which one must fit
    kind_of_edge: str  # the kind of edge `e`
    optional: str  # the word before a pattern that may be absent, where that makes the engine walk from the found node


def quoted(name: str) -> str:
    """A name in backticks; kinds and fields of the schema are plain words, so nothing needs escaping."""
    return f"`{name}`"


def find_nodes(kind: str) -> str:
    """Which of the ids exist: `$ids` in, rows (id) out."""
    return f"UNWIND $ids AS x MATCH (n:{quoted(kind)} {{id: x}}) RETURN n.id"


def read_nodes(kind: str, fields: Sequence[str]) -> str:
    """Fields of the nodes in `$ids`."""
    returned = ", ".join(f"n.{quoted(field)}" for field in fields)
    return f"UNWIND $ids AS x MATCH (n:{quoted(kind)} {{id: x}}) RETURN {returned}"


def page_of_ids(kind: str) -> str:
    """The next `$count` ids after `$after`, in the engine's own order: rows (id)."""
    return f"MATCH (n:{quoted(kind)}) WHERE n.id > $after WITH n.id AS id ORDER BY id LIMIT $count RETURN id"


def expand(
    kind: str,
    edges: Sequence[str],
    others: Sequence[str],
    fields: Sequence[str],
    *,
    backward: bool,
    dialect: Dialect,
) -> str:
    """Edges of the kinds between the nodes in `$ids`, all of one kind, and nodes of the other kinds.

    Rows out: own id, edge kind, other id, fields ... A node without edges may give one row of nulls.
    """
    pattern = f"-[e:{'|'.join(map(quoted, edges))}]-"
    other = dialect.either.join(map(quoted, others))
    arrow = f"(n){pattern}>(m:{other})" if backward else f"(n)<{pattern}(m:{other})"
    returned = ", ".join(["n.id", dialect.kind_of_edge, "m.id", *(f"e.{quoted(field)}" for field in fields)])
    return f"UNWIND $ids AS x MATCH (n:{quoted(kind)} {{id: x}}) {dialect.optional}MATCH {arrow} RETURN {returned}"


@lru_cache(maxsize=1024)
def expansion(
    kind: str, kinds: tuple[str, ...], backward: bool, fields: tuple[str, ...] | None, dialect: Dialect
) -> tuple[str, tuple[str, ...]]:
    """The statement that expands nodes of a kind, and the edge fields it gives. No statement: nothing to follow.

    Raises UsageError for an edge kind that there is not.
    """
    edges: list[str] = []
    others: dict[str, None] = {}
    columns: dict[str, None] = {}
    for name in dict.fromkeys(kinds):
        declared = schema.EDGE_KINDS.get(name)
        if declared is None:
            raise UsageError(f"there is no edge kind {name!r}")
        far = [head if backward else tail for tail, head in declared.endpoints if (tail if backward else head) == kind]
        if far:
            edges.append(name)
            others.update(dict.fromkeys(far))
            columns.update(dict.fromkeys(f for f in declared.by_name if fields is None or f in fields))
    if not edges:
        return "", ()
    return expand(kind, edges, list(others), list(columns), backward=backward, dialect=dialect), tuple(columns)


def count_nodes(kind: str) -> str:
    return f"MATCH (n:{quoted(kind)}) RETURN count(*)"


def count_edges(kind: str) -> str:
    return f"MATCH ()-[e:{quoted(kind)}]->() RETURN count(*)"
