"""Angles whose sines and cosines are computed first and together, which vector instructions do fastest."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.graph.evaluation import live_nodes
from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.program import Program
from torseur.algebra.graph.simd_batching import PACK, vector_width

FEWEST = 2
"""Angles from which computing them together pays."""

_CIRCULAR = frozenset(("sin", "cos"))
# Doubles of an AVX-512 vector; narrower processors take the same arrays in two or four rounds (targets/c/sines.h).
_STRIDE = 8


@dataclass(frozen=True)
class EarlySines:
    """The angles, the operations they take, and the places of their sines and cosines.

    `places` maps a sine or cosine to its index in an array of sines followed by cosines, each `size` long; a pack of
    them to the index of its first.
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


def _late(angles: list[Expr], program: Program) -> set[Expr]:
    """Of some angles and what they are computed from, the values that need a sine or a table."""
    late: set[Expr] = set()
    for node in live_nodes(angles, program.given):
        # Nodes come with their arguments first, so that one pass carries the mark from a sine to everything behind it.
        needs = node.op in _CIRCULAR or node.op == "table" or any(argument in late for argument in node.args)
        if needs and node not in program.given:
            late.add(node)
    return late


# Why sines come first and together: docs/decisions/0009-sines-first-in-vector-lanes.md.
def early_sines_of(program: Program) -> EarlySines:
    """The angles of a program that need no sine themselves; none when they are few."""
    circular = [node for node in program.operations if node.op in _CIRCULAR]
    late = _late([node.args[0] for node in circular], program)
    early = [node for node in circular if _varies(node.args[0], late)]
    packs = [node for node in program.operations if node.op == PACK and all(a.op in _CIRCULAR for a in node.args)]
    angles, index = _order_angles(early, packs)
    if len(index) < FEWEST:
        return EarlySines()
    placed = EarlySines(angles)
    places = {node: index[node.args[0]] + (placed.size if node.op == "cos" else 0) for node in early}
    for pack in packs:
        if _is_run([places.get(node, -1) for node in pack.args]):
            places[pack] = places[pack.args[0]]
    operations = [node for node in live_nodes(angles, program.given) if node.args and node not in program.given]
    return EarlySines(angles, tuple(operations), places)


def _order_angles(early: list[Expr], packs: list[Expr]) -> tuple[tuple[Expr, ...], dict[Expr, int]]:
    """The angles and their places: those of SIMD-batched limbs side by side, filled up to the width of their vector."""
    wanted = {node.args[0] for node in early}
    angles: list[Expr] = []
    index: dict[Expr, int] = {}
    for pack in packs:
        group = [node.args[0] for node in pack.args]
        if all(angle in wanted and angle not in index for angle in group):
            index |= {angle: len(angles) + k for k, angle in enumerate(group)}
            # Filled up with an angle of the group: empty lanes hold some number, and this one is in range where the
            # group is.
            angles += group + [group[-1]] * (vector_width(len(group)) - len(group))
    for angle in (node.args[0] for node in early):
        if angle not in index:
            index[angle] = len(angles)
            angles.append(angle)
    return tuple(angles), index


def _is_run(places: list[int]) -> bool:
    return places[0] >= 0 and places == list(range(places[0], places[0] + len(places)))
