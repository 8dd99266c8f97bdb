"""Constraint equations of a tree, ready for dynamics: position, velocity and acceleration level.

Holonomic Φ(q, t) = 0 gives Φ' = C v + drift and Φ'' = C v' - γ; a velocity constraint starts at the second level.
All are expressions of the layout's symbols, so they hold for any speeds and for drivers in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.dynamics.frames_in_motion import MovingFrames
from torseur.dynamics.sensors import law_values
from torseur.errors import UnsupportedError
from torseur.graph import Expr, as_expr, constant_value, jacobian, substitute, symbols_of, time_derivative
from torseur.loops.closure import Values, closure
from torseur.loops.conditions import known_values, nonlinear, require_distance, without_conditions
from torseur.loops.residuals import POSITION, VELOCITY, Residual, residual
from torseur.loops.rolling import distance_residual, rolling_residuals
from torseur.mechanism import TIME, Distance, Equation, Rolling
from torseur.tree import Snapshot, Tree, resolve


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


def constraint_equations(tree: Tree) -> tuple[ConstraintEquation, ...]:
    """Every equation of the loop joints and constraints that restricts the tree's coordinates or speeds.

    Equations that hold whatever the coordinates (a planar loop's third direction) are left out; those that no
    coordinate can satisfy raise MechanismError.
    """
    return differentiated(tree, without_conditions(tree, residuals(tree)))


def residuals(tree: Tree) -> list[Residual]:
    """The residuals of all loop joints and constraints, in the order of the description."""
    now = tree.at(tree.layout.coordinates, tree.layout.speeds)
    frames, values = MovingFrames(now), known_values(tree)
    found = [item for joint in tree.loops for item in closure(joint, now, values)]
    for constraint in tree.mechanism.constraints:
        if isinstance(constraint, Distance):
            if constraint.value.is_constant:
                require_distance(constraint.name, constant_value(constraint.value))
            found.append(distance_residual(constraint, now))
        elif isinstance(constraint, Rolling):
            found += rolling_residuals(constraint, now, frames, values)
        else:
            found.append(_equation(constraint, now, frames))
    resolved = resolve(tree.mechanism, dict(tree.definitions), [item.value for item in found])
    return [residual(r.owner, r.part, value, r.unit, r.kind) for r, value in zip(found, resolved, strict=True)]


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


def differentiated(tree: Tree, found: Sequence[Residual]) -> tuple[ConstraintEquation, ...]:
    """Residuals with their velocity and acceleration levels, by exact derivatives along the motion."""
    rates = _rates(tree)
    holonomic = [r.value for r in found if r.kind == POSITION]
    levels = iter(time_derivative(holonomic, rates, TIME))
    velocities = [next(levels) if r.kind == POSITION else r.value for r in found]
    rows = _rows(tree, found, velocities)
    still = {v: as_expr(0) for v in tree.layout.speeds}
    drifts = substitute(velocities, still)
    accelerations = time_derivative(velocities, rates, TIME)
    return tuple(
        ConstraintEquation(r.name, r.owner, r.kind, r.value, r.unit, row, drift, -acceleration)
        for r, row, drift, acceleration in zip(found, rows, drifts, accelerations, strict=True)
    )


def _rates(tree: Tree) -> dict[Expr, Expr]:
    """q' in terms of q, v and t."""
    rates = [as_expr(rate) for link in tree.links for rate in link.motion.rates]
    return dict(zip(tree.layout.coordinates, rates, strict=True))


def _rows(tree: Tree, found: Sequence[Residual], velocities: Sequence[Expr]) -> list[tuple[Expr, ...]]:
    """C, from velocities that must be linear in the speeds."""
    speeds = tree.layout.speeds
    entries = jacobian(velocities, speeds)
    moving = set(speeds)
    for (i, j), entry in entries.items():
        if found[i].kind == VELOCITY and moving & set(symbols_of([entry])):
            raise UnsupportedError(nonlinear(found[i].name, speeds[j]))
    zero = as_expr(0)
    return [tuple(entries.get((i, j), zero) for j in range(len(speeds))) for i in range(len(velocities))]


__all__ = ["ConstraintEquation", "Values", "constraint_equations", "differentiated", "residuals"]
