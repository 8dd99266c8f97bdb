"""Angles whose sines and cosines are computed first and together, which vector instructions do fastest."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph.evaluation import live_nodes
from torseur.graph.expr import Expr
from torseur.graph.program import Program

FEWEST = 2
"""Angles from which computing them together pays."""

_CIRCULAR = ("sin", "cos")
_STRIDE = 8


@dataclass(frozen=True)
class Turns:
    """The angles, the operations they take, and the places of their sines and cosines.

    `places` maps a sine or cosine to its index in an array of sines followed by cosines, each `size` long.
    """

    angles: tuple[Expr, ...] = ()
    operations: tuple[Expr, ...] = ()
    places: dict[Expr, int] | None = None

    @property
    def size(self) -> int:
        """The number of angles, filled up to whole vectors."""
        return -(-len(self.angles) // _STRIDE) * _STRIDE


def _varies(angle: Expr, late: set[Expr]) -> bool:
    """Whether an angle is a value of its own, known before any sine."""
    return angle not in late and angle.op not in ("constant", "pi")


def turns_of(program: Program) -> Turns:
    """The angles of a program that need no sine themselves; none when they are few."""
    given = {node for group in program.inputs for node in group.nodes}
    late: set[Expr] = set()
    for node in program.operations:
        if node.op in (*_CIRCULAR, "table") or any(argument in late for argument in node.args):
            late.add(node)
    early = [node for node in program.operations if node.op in _CIRCULAR and _varies(node.args[0], late)]
    angles = tuple(dict.fromkeys(node.args[0] for node in early))
    if len(angles) < FEWEST:
        return Turns()
    index = {angle: k for k, angle in enumerate(angles)}
    found = Turns(angles)
    places = {node: index[node.args[0]] + (found.size if node.op == "cos" else 0) for node in early}
    operations = [node for node in live_nodes(angles, given) if node.args and node not in given]
    return Turns(angles, tuple(operations), places)
