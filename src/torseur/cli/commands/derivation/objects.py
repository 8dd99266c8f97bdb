"""`torseur objects`: what a formalism computes on its way to the equations."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import ForceOption, FormalismOption, JsonOption, SourceArgument

if TYPE_CHECKING:
    from torseur.algebra.graph import Expr


class Form(StrEnum):
    """How they are written."""

    text = "text"
    latex = "latex"
    tex = "tex"
    mathml = "mathml"
    sympy = "sympy"
    omml = "omml"


@option_rules(
    Rule("--json", not_with="--format --out", why="it prints the formulas as text among data"),
    force_needs("--out"),
)
def objects(
    source: SourceArgument,
    formalism: FormalismOption = "lagrange",
    only: Annotated[list[str] | None, typer.Option(
        "--only", metavar="NAME", help="Print only these results, e.g. 'kinetic energy'. Repeatable.")] = None,
    form: Annotated[Form, typer.Option(
        "--format", help="Output format: latex is a fragment to paste, tex a whole document.")] = Form.text,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the result to a file.")] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Print the intermediate results of a formalism: energies, momenta, partial velocities, Christoffel symbols, ...

    Example: torseur objects library:double_pendulum --formalism inertia_tensors --only 'Christoffel symbols'
    """
    from torseur.cli.shared.console import print_json, say, working
    from torseur.cli.shared.exits import CommandError
    from torseur.cli.shared.output_files import require_free, write_text
    from torseur.cli.shared.prepared_model import Work
    from torseur.errors import unknown_name
    from torseur.presentation.levels.object_statements import components, formula_texts, object_statements
    from torseur.presentation.levels.write_equations import write_statements

    if out is not None:
        require_free(out, force)
    work = Work.begin(source)
    with working(f"{work.source.mechanism.name}: {formalism}", quiet=json):
        equations = work.equations(formalism)
        available = equations.objects
        for name in only or []:
            if name not in available:
                raise CommandError(unknown_name("object", name, available, f"{formalism}: "))
        chosen = {name: available[name] for name in only or available}
        if json:
            texts = {name: formula_texts(dict(components(name, thing))) for name, thing in chosen.items()}
            print_json({"mechanism": work.source.mechanism.name, "formalism": formalism, "objects": texts})
            return
        if form is Form.text:
            text = "\n".join(_paragraph(name, dict(components(name, thing))) for name, thing in chosen.items())
        else:
            text = write_statements(equations, object_statements(chosen), form.value)
    if out is not None:
        write_text(out, text)
        say(f"written: {out}")
    else:
        say(text or f"{formalism} goes to the equations without objects of its own.")


def _paragraph(name: str, formulas: dict[str, Expr]) -> str:
    """The formulas of one object under its name."""
    from torseur.presentation.levels.object_statements import formula_texts

    lines = [f"  {left} = {right}" for left, right in formula_texts(formulas).items() if right != "0"]
    return "\n".join([f"{name}:", *(lines or ["  all zero"])])
