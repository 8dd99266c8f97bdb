"""Grouping rules: inertial parameters that a joint cannot tell from its parent's, moved there with symbolic geometry.

A mass distribution J of a link moves like the link's parent when the joint's motion gives it no momentum (J S = 0 for
every screw S of the joint) and its inertia seen from the parent does not depend on the joint's coordinates: a rod on a
revolute axis, any rotational inertia on a sliding joint, a point mass in a ball's centre (Gautier and Khalil 1990).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from torseur.dynamics.regressor import unit_inertias
from torseur.graph import Expr, as_expr, symbol, symbols_of
from torseur.identification.arrays import Array
from torseur.identification.columns import SPELLED, UNITS, parameters_of
from torseur.mechanism import TIME
from torseur.spatial import Inertia, Scalar, Symmetric3, Transform, Vec3
from torseur.tree import GROUND, Link, Tree
from torseur.tree.flatten import flatten
from torseur.tree.tree import instantiate

_POSES = 4
_SMALL = 1e-9
# Which parameter of a group goes: the mass first, the moments of inertia across an axis before those about it.
GROUPING_ORDER = (0, 3, 2, 1, 6, 4, 9, 8, 7, 5)


@dataclass(frozen=True)
class Grouped:
    """What is left after grouping: the parameters that remain, and what each of them stands for.

    `meanings[k]` is an expression, linear in symbols named after the parameters (`arm.mass`, `arm.h.x`, `arm.Ixx`);
    its coefficients hold the mechanism's own parameters as symbols.
    """

    names: tuple[str, ...]
    meanings: tuple[Expr, ...]


def parameter_symbols(owner: str) -> list[Expr]:
    """The symbols of a link's ten parameters."""
    return [symbol(f"{owner}.{name}", unit) for name, unit in zip(SPELLED, UNITS, strict=True)]


def grouped_parameters(tree: Tree) -> Grouped:
    """Parameters after grouping toward the earth, from the last links inward."""
    bodies = {body.name for body in tree.mechanism.bodies}
    content: list[list[Scalar]] = [
        list(parameter_symbols(link.name)) if link.name in bodies else [0] * 10 for link in tree.links
    ]
    left: list[list[int]] = [list(range(10)) for _ in tree.links]
    for i in tree.inward():
        link = tree.links[i]
        for pivot, direction in indistinct_directions(link):
            amount = content[i][pivot]
            content[i] = [x - amount * d if d else x for x, d in zip(content[i], direction, strict=True)]
            left[i].remove(pivot)
            if link.parent != GROUND:
                moved = at_zero(link).inertia_to_parent(inertia_of([amount * d if d else 0 for d in direction]))
                content[link.parent] = [a + b for a, b in zip(content[link.parent], parameters_of(moved), strict=True)]
    columns = [10 * i + k for i in tree.outward() for k in left[i]]
    names = [f"{tree.links[c // 10].name}.{SPELLED[c % 10]}" for c in columns]
    return Grouped(tuple(names), tuple(as_expr(content[c // 10][c % 10]) for c in columns))


def indistinct_directions(link: Link) -> list[tuple[int, list[Scalar]]]:
    """A basis of the mass distributions that move like the parent, each with the parameter it lets go.

    Found numerically at random coordinates; entries are whole numbers or simple fractions where the joint's axes are.
    """
    if not _scleronomic(link):
        return []
    conditions = _conditions(link)
    _, values, right = np.linalg.svd(conditions)
    rank = int(np.sum(values > _SMALL * max(values[0], 1.0)))
    return [(pivot, [_simple(x) for x in row]) for pivot, row in _echelon(right[rank:])]


def _conditions(link: Link) -> Array:
    """Linear conditions on the ten parameters: no momentum from the joint, the same inertia seen from the parent."""
    rng = np.random.default_rng(20240229)
    units = unit_inertias()
    rows, first = [], None
    for _ in range(_POSES):
        joint = instantiate(link.motion, _random_values(link, rng))
        for screw in joint.screws:
            momenta = [unit @ screw for unit in units]
            rows.append(np.array([[float(x) for x in (*p.moment, *p.force)] for p in momenta]).T)
        seen = [parameters_of(joint.transform.inertia_to_parent(unit)) for unit in units]
        table = np.array([[float(x) for x in column] for column in seen]).T
        first = table if first is None else first
        rows.append(table - first)
    return np.vstack(rows)


def _random_values(link: Link, rng: np.random.Generator) -> dict[Expr, float]:
    used = symbols_of([leaf for leaf in flatten(link.motion) if isinstance(leaf, Expr)])
    fixed = np.random.default_rng(7)
    own = {*link.symbols.coordinates, *link.symbols.speeds, *link.symbols.rates, TIME}
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
    near = Fraction(value).limit_denominator(64)
    return near if abs(float(near) - value) < 1e-9 else value


def inertia_of(parameters: list[Scalar]) -> Inertia:
    """The inertia with these ten parameters, in the order of the regressor."""
    mass, hx, hy, hz, xx, xy, yy, xz, yz, zz = parameters
    return Inertia(mass, Vec3(hx, hy, hz), Symmetric3(xx, yy, zz, xy, xz, yz))


def _scleronomic(link: Link) -> bool:
    """Whether the joint moves by its coordinates alone."""
    still = instantiate(link.motion.velocity, {v: 0 * v for v in link.symbols.speeds})
    return all(as_expr(c).is_zero for c in (*still.angular, *still.linear))


def at_zero(link: Link) -> Transform:
    """The place of the link when its coordinates are zero (a quaternion: no rotation)."""
    zero = {q: as_expr(0) for q in link.symbols.coordinates}
    if link.symbols.quaternion:
        zero[link.symbols.quaternion[0]] = as_expr(1)
    place: Transform = instantiate(link.motion.transform, zero)
    return place
