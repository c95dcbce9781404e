"""The Neo4j store keeps its own nodes in the user's database; questions about the graph must not meet them."""

from __future__ import annotations

import itertools

from provenance.cypher import patterns
from provenance.cypher.patterns import Element, Path
from provenance.cypher.tokens import Tokens, tokens_of


def hide_own_nodes(cypher: str, label: str = "_Store") -> str:
    """The text with `(n)` made `(n:!_Store)` wherever a node may match by itself, without label and without relationship.

    Own nodes have no relationships, so a node at the end of one relationship needs nothing. A label expression that says
    what a node is not (`!A`, `%`) gets `&!_Store`. All else stays as it is.
    """
    tokens = Tokens(tokens_of(cypher))
    parts: list[str] = []
    end = 0
    for path in patterns.paths(tokens):
        if _cannot_be_own(path, tokens):
            continue
        for node in path.nodes:
            if not node.lone:
                continue
            if not node.labels and not _excludes(node, tokens):
                before = tokens[node.after_variable - 1]
                place = before.place + len(before.text)
                added = f":!{label}{' ' if cypher[place].isalpha() else ''}"
            elif _excludes(node, tokens):
                first, last = tokens[node.after_variable + 1], tokens[node.after_labels - 1]
                place = last.place + len(last.text)
                parts += [cypher[end : first.place], "("]
                end = first.place
                added = f")&!{label}"
            else:
                continue
            parts += [cypher[end:place], added]
            end = place
    return "".join((*parts, cypher[end:]))


def _cannot_be_own(path: Path, tokens: Tokens) -> bool:
    """Whether one step is certain, or one node has a label. So then has every node that no step parts from it; but a group
    or a quantifier may stand for nothing."""
    pairs = itertools.pairwise(path.elements)
    certain = any(edge.length is None or edge.length[0] > 0 for edge in path.edges)
    labelled = any(node.labels and not _excludes(node, tokens) for node in path.nodes)
    return (certain or labelled) and all(one.last + 1 == other.first for one, other in pairs)


def _excludes(node: Element, tokens: Tokens) -> bool:
    """Whether the labels are an expression that nodes without any of them may meet."""
    return not {"!", "%"}.isdisjoint(tokens.texts[node.after_variable : node.after_labels])
