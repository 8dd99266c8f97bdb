"""The order in which the operations of a program are computed."""

from __future__ import annotations

from operator import attrgetter

from torseur.codegen.straight.turns import Turns
from torseur.graph.abreast import LANE
from torseur.graph.expr import Expr
from torseur.graph.program import Program

_serial = attrgetter("serial")


def _made(result: Expr) -> int:
    """When a result was made; a lane, when its vector was."""
    return result.args[0].serial if result.op == LANE else result.serial


def demanded(program: Program, turns: Turns) -> list[Expr]:
    """The operations as results need them: for each result, oldest first, what is still missing, oldest first.

    Results of one limb are then computed together and fewer values wait for their use than in the order of
    derivation, which goes over all limbs again and again: inverse dynamics of a humanoid gains a fifth.
    """
    done = {*program.given, *(turns.places or ())}
    order: list[Expr] = []
    results = dict.fromkeys(entry for output in program.outputs for entry in output.entries)
    for result in sorted(results, key=_made):
        missing = [result] if result.args and result not in done else []
        done.update(missing)
        for node in missing:  # which grows by what its own nodes need
            for argument in node.args:
                if argument not in done and argument.args:
                    done.add(argument)
                    missing.append(argument)
        order += sorted(missing, key=_serial)
    return order
