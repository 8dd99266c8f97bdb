"""Constraint equations of a tree, ready for dynamics: position, velocity and acceleration level.

Holonomic Φ(q, t) = 0 gives Φ' = C v + drift and Φ'' = C v' - γ; a velocity constraint starts at the second level.
All are expressions of the layout's symbols, so they hold for any speeds and for drivers in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from torseur.algebra.graph import Expr, as_expr, constant_value, jacobian, substitute, symbols_of, time_derivative
from torseur.derivation.dynamics.loads.frames_in_motion import MovingFrames
from torseur.derivation.dynamics.loads.sensor_values import coordinate_rates, law_values
from torseur.derivation.loops.closure.dimension_conditions import (
    known_values,
    nonlinear,
    require_distance,
    without_conditions,
)
from torseur.derivation.loops.closure.joint_closure import POSITION, VELOCITY, Residual, closure, residual
from torseur.derivation.loops.closure.rolling import distance_residual, rolling_residuals
from torseur.derivation.tree import Snapshot, Tree, resolve
from torseur.description.mechanism import TIME, Distance, Equation, Rolling
from torseur.errors import UnsupportedError


@dataclass(frozen=True)
class ConstraintEquation:
    """One scalar constraint: C v + drift = 0 and C v' = γ, and Φ(q, t) = 0 when it is holonomic.

    `kind` is "holonomic" or "velocity", `residual` is Φ, or C v + drift for a velocity constraint. `owner` names the
    joint or constraint it comes from, `unit` is that of the residual.
    """

    name: str
    owner: str
    kind: str
    residual: Expr
    unit: str
    row: tuple[Expr, ...]
    drift: Expr
    gamma: Expr

    @property
    def is_holonomic(self) -> bool:
        return self.kind == POSITION


def rows_by_owner(constraints: Sequence[ConstraintEquation]) -> list[list[int]]:
    """Numbers of the constraints of each joint, one after the other."""
    return [list(run) for _, run in groupby(range(len(constraints)), key=lambda k: constraints[k].owner)]


def constraint_equations(tree: Tree, to_read: bool = False) -> tuple[ConstraintEquation, ...]:
    """Every equation of the loop joints and constraints that restricts the tree's coordinates or speeds.

    Equations that hold whatever the coordinates (a planar loop's third direction) are left out; those that no
    coordinate can satisfy raise MechanismError. `to_read`: loops close in the axes in which that is shortest to write,
    not in those of the joint, in which rows stay apart whatever the position.
    """
    return differentiate_residuals(tree, without_conditions(tree, residuals(tree, to_read)))


def residuals(tree: Tree, to_read: bool = False) -> list[Residual]:
    """The residuals of all loop joints and constraints, in the order of the description."""
    now = tree.at(tree.layout.coordinates, tree.layout.speeds)
    frames, values = MovingFrames(now), known_values(tree)
    items = [item for joint in tree.loops for item in closure(joint, now, values, to_read)]
    for constraint in tree.mechanism.constraints:
        if isinstance(constraint, Distance):
            if constraint.value.is_constant:
                require_distance(constraint.name, constant_value(constraint.value))
            items.append(distance_residual(constraint, now))
        elif isinstance(constraint, Rolling):
            items += rolling_residuals(constraint, now, frames, values)
        else:
            items.append(_equation(constraint, now, frames))
    formulas = resolve(tree.mechanism, dict(tree.definitions), [item.value for item in items])
    return [replace(r, value=as_expr(value)) for r, value in zip(items, formulas, strict=True)]


def _equation(equation: Equation, now: Snapshot, frames: MovingFrames) -> Residual:
    """A user's equation: a velocity constraint when rates appear in it, holonomic otherwise."""
    used = set(symbols_of(resolve(now.tree.mechanism, dict(now.tree.definitions), [equation.residual])))
    for sensor in now.tree.mechanism.sensors:
        if sensor.symbol in used and sensor.kind in ("acceleration", "rotation_rate"):
            raise UnsupportedError(
                f"constraint '{equation.name}' depends on the acceleration '{sensor.name}': "
                "a constraint holds between coordinates and rates."
            )
    (value,) = law_values(now, frames, [equation.residual])
    moving = any(speed in set(symbols_of([value])) for speed in now.tree.layout.speeds)
    kind, unit = (VELOCITY, "1/s") if moving else (POSITION, "1")
    return residual(f"constraint '{equation.name}'", "", value, unit, kind)


def differentiate_residuals(tree: Tree, items: Sequence[Residual]) -> tuple[ConstraintEquation, ...]:
    """Residuals with their velocity and acceleration levels, by exact derivatives along the motion."""
    # time_derivative takes q' from the rates and leaves v alone: what it gives has no v' in it.
    rates = _rates(tree)
    holonomic = [r.value for r in items if r.kind == POSITION]
    levels = iter(time_derivative(holonomic, rates, TIME))
    velocities = [next(levels) if r.kind == POSITION else r.value for r in items]
    rows = _rows(tree, items, velocities)
    # Φ' = C v + drift, the drift being what is left at v = 0: drivers in time. Φ'' at vdot = 0 is -γ.
    still = {v: as_expr(0) for v in tree.layout.speeds}
    drifts = substitute(velocities, still)
    accelerations = time_derivative(velocities, rates, TIME)
    return tuple(
        ConstraintEquation(r.name, r.owner, r.kind, r.value, r.unit, row, drift, -acceleration)
        for r, row, drift, acceleration in zip(items, rows, drifts, accelerations, strict=True)
    )


def _rates(tree: Tree) -> dict[Expr, Expr]:
    """q' in terms of q, v and t."""
    return dict(zip(tree.layout.coordinates, coordinate_rates(tree), strict=True))


def _rows(tree: Tree, items: Sequence[Residual], velocities: Sequence[Expr]) -> list[tuple[Expr, ...]]:
    """C, from velocities that must be linear in the speeds."""
    speeds = tree.layout.speeds
    # C by differentiating Φ' by the speeds, not Φ by the coordinates: quasi-velocities and quaternions need no q' = W
    # v.
    entries = jacobian(velocities, speeds)
    moving = set(speeds)
    for (i, j), entry in entries.items():
        if items[i].kind == VELOCITY and moving & set(symbols_of([entry])):
            raise UnsupportedError(nonlinear(items[i].name, speeds[j]))
    zero = as_expr(0)
    return [tuple(entries.get((i, j), zero) for j in range(len(speeds))) for i in range(len(velocities))]
