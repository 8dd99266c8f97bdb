"""`torseur objects`: what a formalism computes on its way to the equations."""

from __future__ import annotations

from typing import Annotated

import typer

from torseur.cli.options import FormalismOption, JsonOption, SourceArgument


def objects(
    source: SourceArgument,
    formalism: FormalismOption = "lagrange",
    only: Annotated[list[str] | None, typer.Option(
        "--only", metavar="NAME", help="Only these, e.g. 'kinetic energy'. Repeatable.")] = None,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Intermediate results of a formalism: energies, momenta, partial velocities, tensors, Christoffel symbols ...

    Example: torseur objects library:double_pendulum --formalism inertia_tensors --only 'Christoffel symbols'
    """
    from torseur.cli.console import print_json, say, working
    from torseur.cli.exits import CommandError
    from torseur.cli.formulas import components, spelled
    from torseur.cli.work import Work
    from torseur.errors import unknown_name

    work = Work.begin(source)
    with working(f"{work.source.mechanism.name}: {formalism}", quiet=json):
        found = work.equations(formalism).objects
        for name in only or []:
            if name not in found:
                raise CommandError(unknown_name("object", name, found, f"{formalism}: "))
        chosen = {name: found[name] for name in only or found}
        texts = {name: spelled(dict(components(name, thing))) for name, thing in chosen.items()}
    if json:
        print_json({"mechanism": work.source.mechanism.name, "formalism": formalism, "objects": texts})
        return
    if not texts:
        say(f"{formalism} goes to the equations without objects of its own.")
    for name, lines in texts.items():
        say(f"{name}:")
        say("\n".join(f"  {left} = {right}" for left, right in lines.items() if right != "0") or "  all zero")
