"""`torseur certify`: the same equations by every formalism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.shared.options import JsonOption, SourceArgument, complete_formalism

if TYPE_CHECKING:
    from torseur.derivation.formalisms import Certificate


def certify(
    source: SourceArgument,
    formalism: Annotated[list[str] | None, typer.Option(
        "--formalism", metavar="NAME", help="Compare only this formalism. Repeatable.",
        autocompletion=complete_formalism)] = None,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Derive the equations by every formalism and compare: operations, time, largest difference.

    Ends with exit code 4 when two formalisms disagree. Example: torseur certify library:double_pendulum
    """
    from torseur.cli.shared.console import print_json, remark, working
    from torseur.cli.shared.exits import DISAGREE
    from torseur.cli.shared.sources import open_source
    from torseur.derivation.formalisms import certify as compare

    mechanism = open_source(source).mechanism
    _require_known(formalism or [])
    with working(f"{mechanism.name}: comparing formalisms", quiet=json):
        comparison = compare(mechanism, formalism)
    if json:
        print_json({**vars(comparison), "agrees": comparison.agrees, "worst": comparison.worst})
    else:
        _show(comparison)
    if not comparison.agrees:
        guilty = ", ".join(comparison.guilty)
        remark(f"torseur: {comparison.mechanism}: the formalisms disagree by {comparison.worst:.1e} ({guilty}).")
        # Not an error of the command: with --json, what is printed above stays the only document.
        raise SystemExit(DISAGREE)


def _require_known(names: list[str]) -> None:
    from torseur.cli.shared.exits import CommandError
    from torseur.derivation.formalisms import FORMALISMS
    from torseur.errors import unknown_name

    for name in names:
        if name not in FORMALISMS:
            raise CommandError(unknown_name("formalism", name, FORMALISMS))


def _show(comparison: Certificate) -> None:
    from torseur.cli.shared.console import say, show_table

    rows = [
        (e.formalism, str(e.operations), f"{e.seconds * 1e3:.1f}", f"{e.difference:.1e}", "")
        if e.applies else (e.formalism, "-", "-", "-", f"does not apply: {e.reason}")
        for e in (*comparison.entries, comparison.positions)
    ]  # fmt: skip
    show_table(
        comparison.mechanism, ("formalism", "operations", "time [ms]", "difference", ""), rows, numeric=(1, 2, 3)
    )
    if comparison.agrees:
        say(f"The formalisms agree, {comparison.method}.")
