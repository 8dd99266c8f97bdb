"""`torseur reactions`: the forces and moments in joints, as formulas."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.shared.options import JsonOption, SourceArgument

if TYPE_CHECKING:
    from torseur.algebra.graph import Expr
    from torseur.derivation.formalisms import Reaction


class Method(StrEnum):
    """How they are found."""

    newton_euler = "newton_euler"
    multipliers = "multipliers"


METHODS = (
    "newton_euler: balance of the free bodies; multipliers: those of the six constraints that hold the joint together."
)


def reactions(
    source: SourceArgument,
    joint: Annotated[list[str] | None, typer.Option(
        "--joint", metavar="NAME", help="Print only this joint. Repeatable.")] = None,
    method: Annotated[Method, typer.Option("--method", help=METHODS)] = Method.newton_euler,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Print the force and moment of the parent on the child in every joint, as formulas in the child's joint frame.

    `torseur simulate --output` gives them along a motion. Example: torseur reactions library:pendulum
    """
    from torseur.cli.shared.console import print_json, say, working
    from torseur.cli.shared.prepared_model import Work
    from torseur.derivation.formalisms import reactions as derived
    from torseur.description.mechanism import Update
    from torseur.errors import list_names
    from torseur.presentation.levels.object_statements import formula_texts

    work = Work.begin(source)
    with working(f"{work.source.mechanism.name}: reactions", quiet=json):
        by_joint = derived(work.source.mechanism, joint, method.value)
        texts = {name: formula_texts(_formulas(reaction)) for name, reaction in by_joint.items()}
    # Which of them act is a matter of the motion, and no formula of the state says it.
    besides = [element.name for element in work.source.mechanism.contacts if not isinstance(element, Update)]
    if json:
        open_ones = {name: reaction.undetermined for name, reaction in by_joint.items()}
        print_json({"mechanism": work.source.mechanism.name, "reactions": texts, "undetermined": open_ones,
                    "besides": besides})  # fmt: skip
        return
    for name, lines in texts.items():
        say("\n".join(f"{left} = {right}" for left, right in lines.items()))
        for component, constraint in by_joint[name].undetermined.items():
            say(f"{name}.{component} is not determined by the motion: {constraint} may carry any part of it.")
    if besides:
        say(
            f"Without the forces of {list_names(besides)}: simulate --output '{next(iter(texts))}.force.x' counts them."
        )


def _formulas(reaction: Reaction) -> dict[str, Expr]:
    from torseur.derivation.formalisms.joint_reactions import COMPONENTS

    return {f"{reaction.joint}.{part}": reaction[part] for part in COMPONENTS}
