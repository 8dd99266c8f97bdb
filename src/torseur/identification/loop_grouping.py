"""Grouping across joints that close loops: what both of their sides carry alike is found once only.

A mass distribution in which a closing joint's motion leaves no trace (a point mass in a ball's centre, a rod on a
hinge) may be counted to either of the two links it joins. The difference of the two moves no force: one parameter goes,
and its amount is added to the others with symbolic geometry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.graph import Expr, as_expr, evaluate, substitute, symbol
from torseur.identification.columns import parameters_of
from torseur.identification.grouping import GROUPING_ORDER, at_zero, indistinct_directions, inertia_of
from torseur.identification.linear_model import LinearModel
from torseur.spatial import NO_INERTIA, Inertia, Scalar
from torseur.tree import GROUND, Link, Tree
from torseur.tree.definitions import resolved
from torseur.tree.joint_kinematics import joint_kinematics, joint_symbols

_SMALL = 1e-9


def grouped_across_loops(model: LinearModel, meanings: Mapping[int, Expr]) -> dict[int, Expr]:
    """Columns with what they stand for, less one for each distribution that a closing joint leaves undecided."""
    left = dict(meanings)
    for shared in _shared(model.equations.tree):
        own = {as_expr(s): as_expr(x) for s, x in zip(_symbols(model), _by_column(model, shared), strict=True)}
        weights = dict(zip(left, substitute(list(left.values()), own), strict=True))
        pivot = _pivot(model, weights)
        if pivot is None:
            continue
        amount, gone = left.pop(pivot), weights.pop(pivot)
        left = {c: meaning - weights[c] / gone * amount for c, meaning in left.items()}
    return left


def _symbols(model: LinearModel) -> list[Expr]:
    return [symbol(column.name, column.unit) for column in model.columns]


def _by_column(model: LinearModel, shared: Mapping[str, Sequence[Scalar]]) -> list[Scalar]:
    """Ten parameters of some links as values of all columns."""
    found: list[Scalar] = [0] * len(model.columns)
    for owner, where in model.bodies.items():
        if owner in shared:
            found[where] = shared[owner]
    return found


def _pivot(model: LinearModel, weights: Mapping[int, Expr]) -> int | None:
    """The column to let go: of the last link, its mass or first moment rather than an inertia; None if none counts."""
    values = {s: model.values.get(str(s.name), 0.0) for s in model.equations.layout.parameters}
    numbers = np.abs(np.array([float(x) for x in evaluate(list(weights.values()), values)]))
    size = float(np.max(numbers, initial=0.0))
    counting = [c for c, x in zip(weights, numbers, strict=True) if size > 0 and x > _SMALL * size]
    carried = {owner: (number, where.start) for number, (owner, where) in enumerate(model.bodies.items())}

    def rank(c: int) -> tuple[int, int]:
        number, start = carried[model.columns[c].owner]
        return -number, GROUPING_ORDER.index(c - start)

    return min(counting, key=rank, default=None)


def _shared(tree: Tree) -> list[dict[str, list[Scalar]]]:
    """Per closing joint, distributions counted to its child less the same counted to its parent, by link."""
    found = []
    for joint in tree.loops:
        symbols = joint_symbols(joint)
        motion = resolved(tree.mechanism, tree.definitions, joint_kinematics(joint, symbols, False))
        nowhere = slice(0, 0)
        link = Link(joint.name, GROUND, joint, symbols, False, motion, NO_INERTIA, nowhere, nowhere)
        parent, child = tree.place(joint.parent), tree.place(joint.child)
        for _, direction in indistinct_directions(link):
            body = inertia_of(direction)
            total: dict[int, list[Scalar]] = {}
            _add(total, child[0], child[1].inertia_to_parent(body), 1)
            _add(total, parent[0], parent[1].inertia_to_parent(at_zero(link).inertia_to_parent(body)), -1)
            found.append({tree.links[i].name: parameters for i, parameters in total.items() if i != GROUND})
    return found


def _add(total: dict[int, list[Scalar]], link: int, inertia: Inertia, sign: int) -> None:
    before = total.get(link, [0] * 10)
    total[link] = [a + sign * b for a, b in zip(before, parameters_of(inertia), strict=True)]
