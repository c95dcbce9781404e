"""A session's part of the graph, whole, and the difference between two versions of it.

A session is woven from its whole log every time a source adds to it, and only the difference is written. So the order
of sources, the size of the pieces they come in and repeated reading cannot matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from provenance.changes import Changes, EdgeKey, Fields
from provenance.identity import kind_prefix, node_id

_SHARED = frozenset(("principal", "policy", "oracle", "environment", "sandbox", "source"))
"""Kinds whose ids come from their content: other sessions may stand on the same node."""


@dataclass(slots=True)
class Subgraph:
    """Nodes and edges that one session's records give. Fields that are not known are absent."""

    session: str
    nodes: dict[str, Fields] = field(default_factory=dict[str, Fields])
    edges: dict[EdgeKey, Fields] = field(default_factory=dict[EdgeKey, Fields])

    def owns(self, identity: str) -> bool:
        """Whether no other session can have put this node. Other sessions' nodes here carry no more than a name."""
        kind = kind_prefix(identity)
        if kind == "session":
            return identity == node_id("session", self.session)
        return kind not in _SHARED

    def changes(self) -> Changes:
        """All of it, for a store that holds nothing of the session yet."""
        return Changes(nodes=dict(self.nodes), edges=dict(self.edges))


def difference(old: Subgraph | None, new: Subgraph) -> Changes:
    """What turns `old` (what the store holds) into `new`.

    A field that `new` does not know any more is set to null. Nodes that other sessions may share are never removed.
    """
    if old is None:
        return new.changes()
    changes = Changes()
    for identity, fields in new.nodes.items():
        before = old.nodes.get(identity)
        if before is None:
            changes.nodes[identity] = fields
        elif before != fields:
            changes.nodes[identity] = _changed(before, fields)
    for key, fields in new.edges.items():
        before = old.edges.get(key)
        if before is None:
            changes.edges[key] = fields
        elif before != fields:
            changes.edge_updates[key] = _changed(before, fields)
    changes.removed_nodes = {identity for identity in old.nodes.keys() - new.nodes.keys() if old.owns(identity)}
    changes.removed_edges = {
        key
        for key in old.edges.keys() - new.edges.keys()
        if key[1] not in changes.removed_nodes and key[2] not in changes.removed_nodes
    }
    return changes


def _changed(before: Fields, after: Fields) -> Fields:
    fields: Fields = {name: value for name, value in after.items() if name not in before or before[name] != value}
    fields.update(dict.fromkeys(before.keys() - after.keys()))
    return fields
