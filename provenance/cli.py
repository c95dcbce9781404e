"""`capsule`: the command line, and the one place where everything is put together.

Nothing heavy is loaded before a command needs it. Exit codes: see `EXIT_CODES` and `provenance/errors.py`.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from provenance.commands import copying, ingesting, judging, querying, reading, slicing
from provenance.commands.output import Settings, default_store
from provenance.errors import (
    CapsuleError,
    InvalidChange,
    QueryRefused,
    SourceError,
    StoreError,
    StoreLocked,
    UsageError,
)

EXIT_CODES = {
    0: "done",
    1: "a problem that has no number of its own",
    2: "the call is wrong: no such command, query, node or parameter",
    3: "the store cannot be opened, read or written",
    4: "a named source cannot be read",
    5: "a change would break the schema",
    6: "a query was refused because it does more than read",
    130: "interrupted",
    141: "the reader of the output went away",
}

_HINTS: tuple[tuple[type[CapsuleError], str], ...] = (
    (StoreLocked, "wait until the other `capsule ingest` is done, or stop it; reading works meanwhile"),
    (StoreError, "`capsule --store FOLDER ...` or CAPSULE_STORE names another store; `capsule ingest` makes one"),
    (QueryRefused, "`capsule query` lists questions that are ready; `capsule schema` tells what there is to ask about"),
    (SourceError, "`capsule ingest --help` tells what can be read"),
    (InvalidChange, "this is a defect of the program: please report it"),
    (UsageError, "`capsule --help` lists the commands, `capsule COMMAND --help` explains one"),
)


class _Commands(TyperGroup):
    """Turns errors that are the user's to mend into one line, a hint and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except CapsuleError as error:
            from provenance.commands.output import clean

            hint = next((text for kind, text in _HINTS if isinstance(error, kind)), None)
            print(f"capsule: {clean(error)}", file=sys.stderr)
            if hint:
                print(f"  hint: {hint}", file=sys.stderr)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            print("capsule: interrupted", file=sys.stderr)
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # What is still buffered can go nowhere; without this the interpreter complains at its end.
            _silence()
            raise typer.Exit(141) from None
        except OSError as error:
            _silence()
            print(
                f"capsule: {error.strerror or error}{f': {error.filename}' if error.filename else ''}", file=sys.stderr
            )
            raise typer.Exit(1) from None


def _silence() -> None:
    """Nothing more goes to a standard output that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"capsule {version('evidence-capsule')}")
        raise typer.Exit


app = typer.Typer(
    name="capsule",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Begin with: capsule ingest FOLDER, then capsule sessions, then capsule why HOST:PORT. "
        "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + "."
    ),
)


@app.callback()
def capsule(
    context: typer.Context,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="PATH|URI",
            envvar="CAPSULE_STORE",
            help="The store to use: a folder (also as a file: or ladybug: URI), or a Neo4j database (neo4j://HOST/DATABASE or bolt://).",
            show_default="a folder of the user's own data",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Tell the version and stop.")
    ] = False,
) -> None:
    """Provenance of AI agents: what the agent said and what the machine saw, in one causal graph that you can ask why."""
    del version
    context.obj = Settings(store or str(default_store()))


app.command("ingest")(ingesting.ingest)
app.command("status")(reading.status)
app.command("sessions")(reading.sessions)
app.command("why")(slicing.why)
app.command("impact")(slicing.impact)
app.command("sufficiency")(judging.sufficiency)
app.command("query")(querying.query)
app.command("cypher")(querying.cypher)
app.command("schema")(querying.schema)
app.command("copy")(copying.copy)
app.command("gaps")(reading.gaps)
app.command("raw")(reading.raw)


def main() -> None:
    """Entry point of the program `capsule`."""
    if sys.stdout is None:  # closed by the caller (`>&-`)
        sys.stdout = open(os.devnull, "w")  # pyright: ignore[reportUnreachable]  # noqa: SIM115, PTH123
    app()


if __name__ == "__main__":
    main()
