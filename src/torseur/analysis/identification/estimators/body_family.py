"""What bodies, joints and payloads of a model may be: the family of parameters, its reference and its conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.estimators.consistent_fit import (
    Cone,
    ConsistentProblem,
    Family,
    LinearLimits,
    triangle_of,
)
from torseur.analysis.identification.estimators.priors import Prior, description_parameters
from torseur.analysis.identification.model.linear_model import CARRIED, LinearModel
from torseur.analysis.identification.model.pseudo_inertia import BASIS, Limits, is_consistent, pseudo_inertia
from torseur.errors import IdentificationError, unknown_name

NON_NEGATIVE = ("rotor", "viscous", "coulomb", "stiffness")
_LOOSE = 1e4
_ROUND = 0.01  # of a body's size, which makes a rod or a point mass as easy to move as a thick body


def expected_parameters(model: LinearModel, prior: Prior | None) -> Array | None:
    """Values of all columns by the description or prior; None where a body has none."""
    known = _known_bodies(model, prior)
    if any(owner not in known for owner in model.bodies):
        return None
    return _with_joints(model, prior, known)


def _known_bodies(model: LinearModel, prior: Prior | None) -> dict[str, Array]:
    return {**description_parameters(model), **(prior.bodies if prior is not None else {})}


def _with_joints(model: LinearModel, prior: Prior | None, bodies: Mapping[str, Array]) -> Array:
    expected = np.zeros(len(model.columns))
    for owner, where in model.bodies.items():
        expected[where] = bodies[owner]
    for name, (value, _) in (prior.others if prior is not None else {}).items():
        if name in model.names:
            expected[model.names.index(name)] = value
    return expected


def body_family(
    model: LinearModel, columns: Sequence[int], combination: Array, values: Array, prior: Prior | None
) -> Family:
    """The parameters that have the identified combinations, with the description (or a prior) as reference.

    `columns` are the parameters that lead the combinations, `values` what these are about.

    The reference of a body without values, or with those of no body, is a ball as heavy and as large as the identified
    combinations are.
    """
    mass, length = _sizes(model, columns, values)
    # Moments 2/5 m r², in the order Ixx Ixy Iyy Ixz Iyz Izz.
    ball = np.array([mass, 0, 0, 0, *(0.4 * mass * length**2 * np.array([1, 0, 1, 0, 0, 1]))])
    known = {owner: p for owner, p in _known_bodies(model, prior).items() if p[0] > 0 and is_consistent(p)}
    reference = _with_joints(model, prior, {owner: known.get(owner, ball) for owner in model.bodies})
    expected = prior.others if prior is not None else {}
    # The description says nothing of friction, rotors and offsets: they give way before bodies do.
    metric = np.diag([1.0 if column.name in expected else _LOOSE for column in model.columns])
    for where in model.bodies.values():
        # S⁻¹ takes ten parameters to J₀^-½ J J₀^-½: distances do not depend on frame or units (see priors.py).
        root = _inverse_root(_rounder(pseudo_inertia(reference[where]), pseudo_inertia(ball)))
        metric[where, where] = np.linalg.inv(np.stack([triangle_of(root @ B @ root) for B in BASIS], axis=1))
    return Family(combination, reference, metric)


def _sizes(model: LinearModel, columns: Sequence[int], values: Array) -> tuple[float, float]:
    """A mass (kg) and a length (m) that the identified combinations speak of."""
    # Zeroth, first and second moments of a mass: m, m l, m l².
    largest = dict.fromkeys(("kg", "kg*m", "kg*m^2"), 0.0)
    for c, value in zip(columns, values, strict=True):
        if (unit := model.columns[c].unit) in largest and model.columns[c].kind in CARRIED:
            largest[unit] = max(largest[unit], abs(float(value)))
    zeroth, first, second = largest.values()
    # kg m² over kg m, or the root of kg m² over kg, whichever the data have; in a plane no mass may be among them.
    length = second / first if first * second > 0 else np.sqrt(second / zeroth) if zeroth * second > 0 else 1.0
    mass = zeroth or first / length or second / length**2 or 1.0
    return mass, length


def _rounder(J: Array, ball: Array) -> Array:
    """A body as it is expected, with some extent where it has none, and not far below what the data speak of.

    Its own metric would make a thin rod stiff, and a description in grams would call kilograms impossibly far.
    """
    extent = float(np.trace(J[:3, :3]))
    return J + _ROUND * np.diag([extent, extent, extent, float(J[3, 3])]) + _ROUND * ball


def _inverse_root(J: Array) -> Array:
    """J^-½."""
    values, vectors = np.linalg.eigh(J)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def consistent_problem(
    model: LinearModel,
    family: Family,
    data: tuple[Array, Array],
    prior: Prior | None,
    limits: Mapping[str, Limits],
    known: Mapping[str, float],
) -> ConsistentProblem:
    """The fit to R and c of `data` with the conditions of a model: its links, its joints, limits, and known values."""
    width = len(model.columns)
    for owner in limits:
        if owner not in model.bodies:
            raise IdentificationError(unknown_name("body", owner, model.bodies, "limits: "))
    for name in known:
        if name not in model.names:
            raise IdentificationError(unknown_name("parameter", name, model.names, "known values: "))
    slots = [model.names.index(name) for name in known]
    exact = LinearLimits(np.eye(width)[slots], np.array(list(known.values())), tuple(known))
    rows = prior.rows(model) if prior is not None else (np.zeros((0, width)), np.zeros(0))
    return ConsistentProblem(*data, family, _cones(model, family, limits), _bounds(model, limits), exact, rows)


def _cones(model: LinearModel, family: Family, limits: Mapping[str, Limits]) -> tuple[Cone, ...]:
    """J ⪰ 0 of every link with all that is fixed to it, and J ⪯ J_full where a density is limited."""
    cones = []
    for owner, where in model.bodies.items():
        # A congruence leaves the signs of eigenvalues alone: the solver sees every body in units of its own size.
        size = pseudo_inertia(family.metric[where, where] @ triangle_of(np.eye(4)))
        root = _inverse_root(size)
        cones.append(Cone(owner, np.zeros((4, 4)), root @ BASIS @ root, where))
        if owner in limits and (fullest := limits[owner].fullest) is not None:
            inner = _inverse_root(fullest)
            cones.append(Cone(f"density of {owner}", np.eye(4), -(inner @ BASIS @ inner), where))
    return tuple(cones)


def _bounds(model: LinearModel, limits: Mapping[str, Limits]) -> LinearLimits:
    """a π ≤ b: signs of friction, rotors and stiffness, masses, ellipsoids."""
    width = len(model.columns)
    signs = [c for c, column in enumerate(model.columns) if column.kind in NON_NEGATIVE]
    rows, right = [-row for row in np.eye(width)[signs]], [0.0] * len(signs)
    names = [model.columns[c].name for c in signs]
    for owner, limit in limits.items():
        where = model.bodies[owner]
        mass = np.eye(width)[where.start]
        if limit.mass is not None:
            rows += [-mass, mass]
            right += [-limit.mass[0], limit.mass[1]]
            names += [f"least mass of {owner}", f"greatest mass of {owner}"]
        if (Q := limit.quadric) is not None:
            inside = np.zeros(width)
            # tr(J Q) >= 0 as a row: J is linear in the parameters.
            inside[where] = [-float(np.sum(B * Q)) for B in BASIS]
            rows.append(inside)
            right.append(0.0)
            names.append(f"ellipsoid of {owner}")
    return LinearLimits(np.array(rows).reshape(-1, width), np.array(right), tuple(names))
