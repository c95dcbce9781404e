"""Every statement that defines or changes a graph in Neo4j, generated from the schema. Pure: names in, text out.

Rows travel as one parameter, `$rows`: a list of lists, the last item of which is the map of fields to set, or the last
items of which are the values of fields that the statement names. A null removes the field. All of them may run twice: what is there already is found by its key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provenance import schema
from provenance.store.reading import Dialect, quoted

DIALECT = Dialect(either="|", kind_of_edge="type(e)", optional="")

OWN = "_Store"
"""Label of the store's own nodes: its record and the state of its weavers. They have no relationships."""

RECORD = "store"
"""Key of the record."""

INDEXED: dict[str, tuple[str, ...]] = {
    "Artifact": ("path", "label"),
    "Endpoint": ("address",),
    "Process": ("process", "start"),
    "ToolCall": ("command_digest",),
}
"""Fields that questions begin with, beside `id`."""


def definitions() -> Iterator[str]:
    """Constraints and indexes of the present schema; each may run again."""
    yield f"CREATE CONSTRAINT store_key IF NOT EXISTS FOR (n:{quoted(OWN)}) REQUIRE n.key IS UNIQUE"
    for kind in schema.NODES:
        name = quoted(f"id_{kind.name}")
        yield f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{quoted(kind.name)}) REQUIRE n.id IS UNIQUE"
    for kind, fields in INDEXED.items():
        for field in fields:
            name = quoted(f"{field}_{kind}")
            yield f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{quoted(kind)}) ON (n.{quoted(field)})"


# The store's own nodes

READ_RECORD = f"MATCH (s:{OWN} {{key: $key}}) RETURN s.schema"
WRITE_RECORD = f"MERGE (s:{OWN} {{key: $key}}) SET s.schema = $schema"
FOREIGN = f"MATCH (n:!{OWN}) RETURN count(n) > 0"
"""Whether the database holds nodes beside the store's own."""

READ_STATE = f"MATCH (s:{OWN} {{key: $key}}) RETURN s.value, s.number"
READ_STATES = f"MATCH (s:{OWN}) WHERE s.key STARTS WITH $prefix RETURN s.key, s.value, s.number ORDER BY s.key"
CLAIM_STATE = (
    f"UNWIND $keys AS key MERGE (s:{OWN} {{key: key}}) ON CREATE SET s.number = 0 SET s.claimed = $token "
    "RETURN s.key, s.number, s.token"
)
"""Take the write lock of each key until the transaction ends, and tell how often and by whom it was written last."""

WRITE_STATE = (
    f"UNWIND $rows AS r MATCH (s:{OWN} {{key: r[0]}}) SET s.value = r[1], s.number = r[2], s.token = $token "
    "REMOVE s.claimed"
)


TERMINATE = (
    "SHOW TRANSACTIONS YIELD transactionId AS id, metaData WHERE metaData.evidence_capsule = $token "
    "TERMINATE TRANSACTIONS id YIELD message RETURN message"
)
"""End the transaction that carries the token."""


# Nodes


def read_nodes(kind: str) -> str:
    """All fields that are set of the nodes in `$ids`, as maps."""
    return f"UNWIND $ids AS x MATCH (n:{quoted(kind)} {{id: x}}) RETURN properties(n)"


def merge_nodes(kind: str, fields: Sequence[str] | None = None) -> str:
    """Rows (id, map of fields), or (id, values of these fields ...)."""
    return f"UNWIND $rows AS r MERGE (n:{quoted(kind)} {{id: r[0]}}){_set('n', 1, fields)}"


def remove_nodes(kind: str) -> str:
    """Rows: ids."""
    return f"UNWIND $rows AS x MATCH (n:{quoted(kind)} {{id: x}}) DETACH DELETE n"


def prune(kind: str) -> str:
    """Delete the nodes without edges, and count them. The SET takes each node's lock, so that no other writer can link it
    between the look and the deletion."""
    alone = "NOT EXISTS { (n)--() }"
    return f"MATCH (n:{quoted(kind)}) WHERE {alone} SET n.id = n.id WITH n WHERE {alone} DELETE n RETURN count(*)"


# Edges: rows are (tail id, head id, map of fields), or (tail id, head id, values of the fields named ...)


def merge_edges(kind: str, tail: str, head: str, fields: Sequence[str] | None = None) -> str:
    """Gives how many rows found both ends."""
    return f"{_ends(tail, head)} MERGE (a)-[e:{quoted(kind)}]->(b){_set('e', 2, fields)} RETURN count(*)"


def set_edges(kind: str, tail: str, head: str, fields: Sequence[str] | None = None) -> str:
    """Gives how many rows found their edge."""
    return f"{_ends(tail, head)} MATCH (a)-[e:{quoted(kind)}]->(b){_set('e', 2, fields)} RETURN count(*)"


def find_edges(kind: str, tail: str, head: str) -> str:
    """Which of the edges exist: rows (tail id, head id)."""
    return f"{_ends(tail, head)} MATCH (a)-[e:{quoted(kind)}]->(b) RETURN r[0], r[1]"


def remove_edges(kind: str, tail: str, head: str) -> str:
    return f"{_ends(tail, head)} MATCH (a)-[e:{quoted(kind)}]->(b) DELETE e"


def _set(variable: str, first: int, fields: Sequence[str] | None) -> str:
    """From a map; or from values that begin at a place in the row, which the server does in two thirds of the time."""
    if fields is None:
        return f" SET {variable} += r[{first}]"
    each = (f"{variable}.{quoted(field)} = r[{first + place}]" for place, field in enumerate(fields))
    return f" SET {', '.join(each)}" if fields else ""


def _ends(tail: str, head: str) -> str:
    return f"UNWIND $rows AS r MATCH (a:{quoted(tail)} {{id: r[0]}}) MATCH (b:{quoted(head)} {{id: r[1]}})"
