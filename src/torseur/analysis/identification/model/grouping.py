"""Grouping rules: inertial parameters that a joint cannot tell from its parent's, moved there with symbolic geometry.

A mass distribution J of a link moves like the link's parent when the joint's motion gives it no momentum (J S = 0 for
every screw S of the joint) and its inertia seen from the parent does not depend on the joint's coordinates: a rod on a
revolute axis, any rotational inertia on a sliding joint, a point mass in a ball's centre (Gautier and Khalil 1990).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, as_expr, evaluate, substitute, symbol, symbols_of
from torseur.algebra.spatial import NO_INERTIA, Inertia, Scalar, Symmetric3, Transform, Vec3
from torseur.analysis.identification.model.columns import PARAMETER_NAMES, UNITS, parameters_of
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.derivation.dynamics.regressor import unit_inertias
from torseur.derivation.tree import GROUND, Link, Tree
from torseur.derivation.tree.definitions import resolve_structure
from torseur.derivation.tree.flatten import flatten
from torseur.derivation.tree.joints.joint_kinematics import joint_kinematics, joint_symbols
from torseur.derivation.tree.tree import instantiate
from torseur.description.mechanism import TIME, followed_coordinates
from torseur.errors import TorseurError

_POSES, _ATTEMPTS = 4, 20
_SMALL = 1e-9
# Which parameter of a group goes: the mass first, the moments of inertia across an axis before those about it.
GROUPING_ORDER = (0, 3, 2, 1, 6, 4, 9, 8, 7, 5)


@dataclass(frozen=True)
class Grouping:
    """What is left after grouping: the parameters that remain, and what each of them stands for.

    `meanings[k]` is an expression, linear in symbols named after the parameters (`arm.mass`, `arm.h.x`, `arm.Ixx`);
    its coefficients hold the mechanism's own parameters as symbols.
    """

    names: tuple[str, ...]
    meanings: tuple[Expr, ...]


def parameter_symbols(owner: str) -> list[Expr]:
    """The symbols of a link's ten parameters."""
    return [symbol(f"{owner}.{name}", unit) for name, unit in zip(PARAMETER_NAMES, UNITS, strict=True)]


def group_parameters(tree: Tree) -> Grouping:
    """Parameters after grouping toward the earth, from the last links inward."""
    bodies = {body.name for body in tree.mechanism.bodies}
    content: list[list[Scalar]] = [
        list(parameter_symbols(link.name)) if link.name in bodies else [0] * 10 for link in tree.links
    ]
    left: list[list[int]] = [list(range(10)) for _ in tree.links]
    # Leaves first, so that what a link hands to its parent is grouped further with the parent's own.
    for i in tree.inward():
        link = tree.links[i]
        for pivot, direction in indistinct_directions(link):
            amount = content[i][pivot]
            # π = Σ amount · direction + rest: along the direction the link lets its mass go, down to zero of the pivot.
            content[i] = [x - amount * d if d else x for x, d in zip(content[i], direction, strict=True)]
            left[i].remove(pivot)
            if link.parent != GROUND:
                moved = at_zero(link).inertia_to_parent(inertia_of([amount * d if d else 0 for d in direction]))
                content[link.parent] = [a + b for a, b in zip(content[link.parent], parameters_of(moved), strict=True)]
    columns = [10 * i + k for i in tree.outward() for k in left[i]]
    names = [f"{tree.links[c // 10].name}.{PARAMETER_NAMES[c % 10]}" for c in columns]
    return Grouping(tuple(names), tuple(as_expr(content[c // 10][c % 10]) for c in columns))


def indistinct_directions(link: Link) -> list[tuple[int, list[Scalar]]]:
    """A basis of the mass distributions that move like the parent, each with the parameter it lets go.

    Found numerically at random coordinates; entries are whole numbers or simple fractions where the joint's axes are.
    """
    if not _scleronomic(link):
        return []
    conditions = _conditions(link)
    if conditions is None:
        return []
    _, values, right = np.linalg.svd(conditions)
    rank = int(np.sum(values > _SMALL * max(values[0], 1.0)))
    return [(pivot, [_simple(x) for x in row]) for pivot, row in _echelon(right[rank:])]


def _conditions(link: Link) -> Array | None:
    """Linear conditions on the ten parameters: no momentum from the joint, the same inertia seen from the parent.

    At random geometry; None where formulas of the description have no value at any that was tried.
    """
    for attempt in range(_ATTEMPTS):
        try:
            return _conditions_at(link, attempt)
        except TorseurError:
            continue
    return None


def _conditions_at(link: Link, attempt: int) -> Array:
    rng = np.random.default_rng(20240229)
    units = unit_inertias()
    rows, first = [], None
    for _ in range(_POSES):
        joint = instantiate(link.motion, _random_values(link, rng, attempt))
        # J S = 0 for the joint's screws (six rows per screw), and the inertia seen from the parent the same as in the
        # first pose (ten rows per pose).
        for screw in joint.screws:
            momenta = [unit @ screw for unit in units]
            rows.append(np.array([[float(x) for x in (*p.moment, *p.force)] for p in momenta]).T)
        seen = [parameters_of(joint.transform.inertia_to_parent(unit)) for unit in units]
        table = np.array([[float(x) for x in column] for column in seen]).T
        first = table if first is None else first
        rows.append(table - first)
    return np.vstack(rows)


def _random_values(link: Link, rng: np.random.Generator, attempt: int) -> dict[Expr, float]:
    used = symbols_of([leaf for leaf in flatten(link.motion) if isinstance(leaf, Expr)])
    fixed = np.random.default_rng(7 + attempt)
    symbols = link.symbols
    own = {*symbols.coordinates, *symbols.speeds, *symbols.rates, *chain.from_iterable(symbols.followed), TIME}
    # Geometry is the same at every pose, the state another one: what holds at four of them holds at all, but for a rare
    # chance.
    values = {s: float((rng if s in own else fixed).uniform(0.3, 1.3)) for s in used}
    if link.symbols.quaternion:
        size = sum(values.get(s, 0.0) ** 2 for s in link.symbols.quaternion) ** 0.5
        values |= {s: values.get(s, 0.0) / size for s in link.symbols.quaternion}
    return values


def _echelon(basis: Array) -> list[tuple[int, Array]]:
    """The basis in reduced echelon form, pivots taken in the order of GROUPING_ORDER."""
    rows = basis.copy()
    pivots: list[int] = []
    for column in GROUPING_ORDER:
        if len(pivots) == len(rows):
            break
        free = rows[len(pivots) :, column]
        best = int(np.argmax(np.abs(free))) + len(pivots)
        if abs(rows[best, column]) < 1e-7:
            continue
        here = len(pivots)
        rows[[here, best]] = rows[[best, here]]
        rows[here] /= rows[here, column]
        for other in range(len(rows)):
            if other != here:
                rows[other] -= rows[other, column] * rows[here]
        pivots.append(column)
    return list(zip(pivots, rows, strict=True))


def _simple(value: float) -> Scalar:
    """The fraction a number stands for, or the number."""
    # Axes along the frame give 0, 1 and simple fractions; others stay numbers, and their meanings are checked later.
    near = Fraction(value).limit_denominator(64)
    return near if abs(float(near) - value) < 1e-9 else value


def inertia_of(parameters: list[Scalar]) -> Inertia:
    """The inertia with these ten parameters, in the order of the regressor."""
    mass, hx, hy, hz, xx, xy, yy, xz, yz, zz = parameters
    return Inertia(mass, Vec3(hx, hy, hz), Symmetric3(xx, yy, zz, xy, xz, yz))


def _scleronomic(link: Link) -> bool:
    """Whether the joint moves by its coordinates alone."""
    still = instantiate(link.motion.velocity, {v: 0 * v for v in link.symbols.moving} | {TIME: TIME})
    return all(as_expr(c).is_zero for c in (*still.angular, *still.linear))


def at_zero(link: Link) -> Transform:
    """The place of the link when its coordinates are zero (a quaternion: no rotation)."""
    coordinates = (*link.symbols.coordinates, *(q for q, _ in link.symbols.followed))
    zero = {q: as_expr(0) for q in coordinates} | {TIME: TIME}
    if link.symbols.quaternion:
        zero[link.symbols.quaternion[0]] = as_expr(1)
    place: Transform = instantiate(link.motion.transform, zero)
    return place


def group_across_loops(model: LinearModel, meanings: Mapping[int, Expr]) -> dict[int, Expr]:
    """Columns with what they stand for, less one for each distribution that a closing joint leaves undecided.

    A mass distribution in which a closing joint's motion leaves no trace (a point mass in a ball's centre, a rod on a
    hinge) may be counted to either of the two links it joins. The difference of the two moves no force: one parameter
    goes, and its amount is added to the others with symbolic geometry.
    """
    left = dict(meanings)
    for shared in _shared_distributions(model.equations.tree):
        own = {as_expr(s): as_expr(x) for s, x in zip(_symbols(model), _by_column(model, shared), strict=True)}
        shares = dict(zip(left, substitute(list(left.values()), own), strict=True))
        pivot = _pivot(model, shares)
        if pivot is None:
            continue
        # Along the shared distribution, parameters change by their shares and no force does: eliminate one of them.
        amount, gone = left.pop(pivot), shares.pop(pivot)
        left = {c: meaning - shares[c] / gone * amount for c, meaning in left.items()}
    return left


def _symbols(model: LinearModel) -> list[Expr]:
    return [symbol(column.name, column.unit) for column in model.columns]


def _by_column(model: LinearModel, shared: Mapping[str, Sequence[Scalar]]) -> list[Scalar]:
    """Ten parameters of some links as values of all columns."""
    values: list[Scalar] = [0] * len(model.columns)
    for owner, where in model.bodies.items():
        if owner in shared:
            values[where] = shared[owner]
    return values


def _pivot(model: LinearModel, shares: Mapping[int, Expr]) -> int | None:
    """The column to let go: of the last link, its mass or first moment rather than an inertia; None if none counts."""
    values = {s: model.values.get(str(s.name), 0.0) for s in model.equations.layout.parameters} | {TIME: 0.0}
    numbers = np.abs(np.array([float(x) for x in evaluate(list(shares.values()), values)]))
    size = float(np.max(numbers, initial=0.0))
    counting = [c for c, x in zip(shares, numbers, strict=True) if size > 0 and x > _SMALL * size]
    carried = {owner: (number, where.start) for number, (owner, where) in enumerate(model.bodies.items())}

    def rank(c: int) -> tuple[int, int]:
        number, start = carried[model.columns[c].owner]
        return -number, GROUPING_ORDER.index(c - start)

    return min(counting, key=rank, default=None)


def _shared_distributions(tree: Tree) -> list[dict[str, list[Scalar]]]:
    """Per closing joint, distributions counted to its child less the same counted to its parent, by link."""
    distributions, followed = [], followed_coordinates(tree.mechanism)
    for joint in tree.loops:
        symbols = joint_symbols(joint, followed.get(joint.name, ()))
        motion = resolve_structure(tree.mechanism, tree.definitions, joint_kinematics(joint, symbols, False))
        nowhere = slice(0, 0)
        link = Link(joint.name, GROUND, joint, symbols, False, motion, NO_INERTIA, nowhere, nowhere)
        parent, child = tree.place(joint.parent), tree.place(joint.child)
        for _, direction in indistinct_directions(link):
            body = inertia_of(direction)
            total: dict[int, list[Scalar]] = {}
            _add(total, child[0], child[1].inertia_to_parent(body), 1)
            _add(total, parent[0], parent[1].inertia_to_parent(at_zero(link).inertia_to_parent(body)), -1)
            distributions.append({tree.links[i].name: parameters for i, parameters in total.items() if i != GROUND})
    return distributions


def _add(total: dict[int, list[Scalar]], link: int, inertia: Inertia, sign: int) -> None:
    before = total.get(link, [0] * 10)
    total[link] = [a + sign * b for a, b in zip(before, parameters_of(inertia), strict=True)]
