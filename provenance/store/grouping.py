"""Ids and edge keys sorted by what a statement can take at once, and what no store can hold. Pure, the same for every engine."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar

from provenance import schema
from provenance.changes import Changes, EdgeKey, Fields, Value
from provenance.errors import InvalidChange

Ends: TypeAlias = tuple[str, str, str]
"""(edge kind, tail kind, head kind)"""

Key = TypeVar("Key", str, EdgeKey)


def check(changes: Changes) -> None:
    """What `provenance.changes.validate` leaves to the store. Raises InvalidChange for ids that no store can hold."""
    for identity, put in changes.nodes.items():
        if put.get("id", identity) != identity:
            raise InvalidChange(f"node {identity}: field 'id' cannot be {put['id']!r}")
    ends = (end for keys in (changes.edges, changes.edge_updates) for key in keys for end in key[1:])
    for identity in _unstorable(itertools.chain(changes.nodes, ends)):
        raise InvalidChange(f"field 'id' is not text that can be stored as UTF-8: {identity!r}")


def ids_by_kind(identities: Iterable[str]) -> dict[str, list[str]]:
    """Distinct ids by node kind, in order; ids that no node can have are left out."""
    identities = list(identities)
    unstorable = set(_unstorable(identities))
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    for identity in identities:
        kind = schema.KIND_OF_PREFIX.get(identity.partition(":")[0])
        if kind is not None and identity not in unstorable:
            groups[kind][identity] = None
    return {kind: list(group) for kind, group in groups.items()}


def edges_by_ends(keys: Iterable[EdgeKey]) -> dict[Ends, list[EdgeKey]]:
    """Edge keys by kind and kinds of their ends; keys that the schema does not permit are left out."""
    groups: dict[Ends, list[EdgeKey]] = defaultdict(list)
    prefixes = schema.KIND_OF_PREFIX
    for key in keys:
        kind, tail, head = key
        tail_kind, head_kind = prefixes.get(tail.partition(":")[0], ""), prefixes.get(head.partition(":")[0], "")
        if kind in schema.EDGE_KINDS and (tail_kind, head_kind) in schema.EDGE_KINDS[kind].endpoints:
            groups[kind, tail_kind, head_kind].append(key)
    return groups


def by_fields(keys: Iterable[Key], puts: Mapping[Key, Fields]) -> Iterator[tuple[tuple[str, ...], list[Key]]]:
    """Keys that set the same fields, with the names of these."""
    groups: dict[frozenset[str], list[Key]] = defaultdict(list)
    for key in keys:
        groups[frozenset(puts[key])].append(key)
    for names, group in groups.items():
        yield tuple(sorted(names - {"id"})), group


def named(puts: Iterable[Fields]) -> tuple[str, ...]:
    """All fields that occur, `id` aside."""
    names: dict[str, None] = {}
    for put in puts:
        names.update(dict.fromkeys(put))
    names.pop("id", None)
    return tuple(names)


def not_storable(name: str, values: Iterable[Value]) -> InvalidChange:
    """The error for a field of which one value cannot be written as UTF-8."""
    bad = next(value for value in values if not storable(value))
    return InvalidChange(f"field {name!r} is not text that can be stored as UTF-8: {bad!r}")


def storable(value: Value) -> bool:
    """Whether it can be written as UTF-8."""
    try:
        "".join(value if isinstance(value, list) else (str(value),)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _unstorable(texts: Iterable[str]) -> list[str]:
    """Those with a lone surrogate. Nearly always none, which one look at all together tells."""
    texts = list(texts)
    return [] if storable("".join(texts)) else [text for text in texts if not storable(text)]
