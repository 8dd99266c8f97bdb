"""`torseur objects`: what a formalism computes on its way to the equations."""

from __future__ import annotations

from typing import Annotated

import typer

from torseur.cli.shared.options import FormalismOption, JsonOption, SourceArgument


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
    from torseur.cli.shared.console import print_json, say, working
    from torseur.cli.shared.exits import CommandError
    from torseur.cli.shared.formula_lines import components, formula_texts
    from torseur.cli.shared.prepared_model import Work
    from torseur.errors import unknown_name

    work = Work.begin(source)
    with working(f"{work.source.mechanism.name}: {formalism}", quiet=json):
        available = work.equations(formalism).objects
        for name in only or []:
            if name not in available:
                raise CommandError(unknown_name("object", name, available, f"{formalism}: "))
        chosen = {name: available[name] for name in only or available}
        texts = {name: formula_texts(dict(components(name, thing))) for name, thing in chosen.items()}
    if json:
        print_json({"mechanism": work.source.mechanism.name, "formalism": formalism, "objects": texts})
        return
    if not texts:
        say(f"{formalism} goes to the equations without objects of its own.")
    for name, lines in texts.items():
        say(f"{name}:")
        say("\n".join(f"  {left} = {right}" for left, right in lines.items() if right != "0") or "  all zero")
