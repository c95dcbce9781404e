"""`capsule copy`: a store into another one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from provenance.commands.output import answer_json, console, say


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The store to copy: a folder or a URI.")],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="An empty store: a folder or a URI; made where it is not there.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Copy a whole store into an empty one, of the same engine or the other, and compare the two.

    A copy that was cut off goes on with the same call. What is there afterwards is equal: nodes, edges, and how far sources were read.

    \b
    Examples:
      capsule copy ./store neo4j://localhost/evidence
      capsule copy neo4j://localhost/evidence ./store
    """
    from provenance.copying import copy
    from provenance.store import open_store

    screen = console(error=True)
    with open_store(source) as first, open_store(target, write=True) as second:
        if screen.is_terminal:
            with screen.status("copying") as status:
                copied = copy(first, second, lambda what, count: status.update(f"{what}: {count:,} nodes and edges"))
        else:
            copied = copy(first, second)
    if as_json:
        answer_json(asdict(copied))
    else:
        say(f"{copied.nodes:,} nodes, {copied.edges:,} edges and {copied.states:,} states, equal in both")
