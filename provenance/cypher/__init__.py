"""What is known of a Cypher text before an engine sees it: whether it only reads, and whether it names what there is."""

from provenance.cypher.guard import REFUSED, guard
from provenance.cypher.lint import Finding, lint
from provenance.cypher.names import check_names
from provenance.cypher.own_nodes import hide_own_nodes
from provenance.cypher.tokens import Token, tokens_of

__all__ = ["REFUSED", "Finding", "Token", "check_names", "guard", "hide_own_nodes", "lint", "tokens_of"]
