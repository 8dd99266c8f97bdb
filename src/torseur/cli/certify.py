"""`torseur certify`: the same equations by every formalism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.options import JsonOption, SourceArgument, complete_formalism

if TYPE_CHECKING:
    from torseur.formalisms import Certificate


def certify(
    source: SourceArgument,
    formalism: Annotated[list[str] | None, typer.Option(
        "--formalism", metavar="NAME", help="Only these. Repeatable.", autocompletion=complete_formalism)] = None,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Derive by every formalism and compare: operations, time, largest difference, and what does not apply.

    Ends with exit code 4 when two formalisms disagree. Example: torseur certify library:double_pendulum
    """
    from torseur.cli.console import print_json, working
    from torseur.cli.exits import DISAGREE, CommandError
    from torseur.cli.sources import open_source
    from torseur.formalisms import certify as compare

    mechanism = open_source(source).mechanism
    _require_known(formalism or [])
    with working(f"{mechanism.name}: comparing formalisms", quiet=json):
        found = compare(mechanism, formalism)
    if json:
        print_json({**vars(found), "agrees": found.agrees, "worst": found.worst})
    else:
        _show(found)
    if not found.agrees:
        guilty = ", ".join(entry.formalism for entry in found.entries if entry.difference > found.tolerance)
        raise CommandError(f"{found.mechanism}: the formalisms disagree by {found.worst:.1e} ({guilty}).", DISAGREE)


def _require_known(names: list[str]) -> None:
    from torseur.cli.exits import CommandError
    from torseur.errors import unknown_name
    from torseur.formalisms import FORMALISMS

    for name in names:
        if name not in FORMALISMS:
            raise CommandError(unknown_name("formalism", name, FORMALISMS))


def _show(found: Certificate) -> None:
    from torseur.cli.console import say, show_table

    rows = [
        (e.formalism, str(e.operations), f"{e.seconds * 1e3:.1f}", f"{e.difference:.1e}", "")
        if e.applies else (e.formalism, "-", "-", "-", f"does not apply: {e.reason}")
        for e in found.entries
    ]  # fmt: skip
    show_table(found.mechanism, ("formalism", "operations", "time [ms]", "difference", ""), rows, numeric=(1, 2, 3))
    if found.agrees:
        say(f"The formalisms agree, {found.method}.")
