"""What is wrong with a constrained mechanism at a state, or simply worth knowing, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torseur.algebra.graph import as_expr, evaluate
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.position_assembly import CLOSED
from torseur.computation.simulation.constrained.start.regularity import selected_by, sizes_added, whitened
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.loops.closure.rolling import flat_wheel_words, wheel_lean
from torseur.derivation.tree.flatten import flatten
from torseur.description.mechanism import TIME, Rolling
from torseur.errors import TorseurError

WITHOUT_INERTIA = 1e-12  # smallest eigenvalue of the mass matrix of allowed motions, scaled, that counts as none
TAKES_PART = 0.1  # share of a speed in a motion
SINGULAR = 3e-2  # part of what a constraint usually adds below which the configuration is singular
UNDECIDED = 1e-7  # the same, below which nothing tells which way the mechanism goes from rest
AT_REST = 1e-12
FLAT = 1e-14  # square of the sine of the angle between axle and normal that is rounding
INVOLVED = 1e-8  # weight of a constraint in another from which it takes part in it
MOST_NOTES = 6


def missing_inertia(numbers: StateNumbers, t: float, y: Vector) -> str | None:
    """The motion that the constraints allow and nothing with inertia resists; None when there is none."""
    rows = numbers.of(numbers.programs.velocities, t, y)["rows"] * numbers.scales
    _, sizes, directions = np.linalg.svd(rows)
    rank = int(np.sum(sizes > numbers.negligible(1e-10) * sizes.max(initial=0.0)))
    allowed, mass = directions[rank:], numbers.mass(t, y)
    if not len(allowed):
        return None
    reduced = allowed @ mass @ allowed.T
    values, vectors = np.linalg.eigh(reduced)
    if values[0] > WITHOUT_INERTIA * max(np.diag(mass).max(), 1e-300):
        return None
    motion = np.abs(vectors[:, 0] @ allowed)
    names = numbers.equations.layout.speed_names
    guilty = [f"'{name}'" for name, share in zip(names, motion, strict=True) if share > TAKES_PART * motion.max()]
    blamed = _massless_bodies(numbers)
    hint = f" {blamed}" if blamed else " Angles of one joint do so where two of its axes align: use a quaternion there."
    return f"Nothing with inertia resists a motion of {' and '.join(guilty)} that the constraints allow.{hint}"


def flat_wheel(numbers: StateNumbers, t: float, y: Vector) -> str | None:
    """The wheel that lies flat on its plane at a state, where no point of its rim is the lowest; None without any."""
    layout, tree = numbers.equations.layout, numbers.equations.tree
    wheels = [c for c in numbers.equations.mechanism.constraints if isinstance(c, Rolling)]
    symbols = (*layout.coordinates, *layout.speeds, *layout.parameters, TIME)
    bound = dict(zip(symbols, [*y.tolist(), *numbers.parameters.tolist(), t], strict=True))
    now = tree.at(layout.coordinates, layout.speeds)
    for rolling in wheels:
        (lean,) = evaluate([as_expr(wheel_lean(rolling, now))], bound)
        if 1.0 - float(lean) ** 2 <= FLAT:
            return flat_wheel_words(rolling, "at the start")
    return None


def _massless_bodies(numbers: StateNumbers) -> str:
    """Bodies without mass and inertia, as a hint; empty when every body has some."""
    tree = numbers.equations.tree
    bound = dict(zip(numbers.equations.layout.parameters, numbers.parameters.tolist(), strict=True))
    guilty = []
    for link in tree.links:
        entries = [as_expr(x) for x in flatten((link.inertia.mass, link.inertia.matrix))]
        if link.name in tree.places and all(float(x) == 0.0 for x in evaluate(entries, bound)):
            guilty.append(f"'{link.name}'")
    if not guilty:
        return ""
    return f"Body {guilty[0]} has no mass." if len(guilty) == 1 else f"Bodies {', '.join(guilty)} have no mass."


def singular_constraints(
    numbers: StateNumbers, usual: Vector, t: float, y: Vector, part: float = SINGULAR
) -> str | None:
    """The constraints that lose all but a part of their usual effect at a state; None in a regular configuration."""
    now = sizes_added(whitened(numbers, t, y), np.flatnonzero(usual > 0.0).tolist()) * numbers.row_scales
    lost = [
        c.name for c, before, here in zip(numbers.programs.constraints, usual, now, strict=True) if here < part * before
    ]
    if not lost:
        return None
    return (
        f"The configuration is singular there: {' and '.join(lost)} add no condition on the velocities. Drivers that "
        "demand more than the mechanism can reach lead to such a pose."
    )


def ambiguous_start(numbers: StateNumbers, usual: Vector, t: float, y: Vector) -> str | None:
    """Why a motion from a singular configuration at rest is not determined; None when it is."""
    speeds = np.abs(y[numbers.coordinates :] / numbers.scales).max(initial=0.0)
    singular = singular_constraints(numbers, usual, t, y, UNDECIDED) if speeds < AT_REST else None
    if singular is None:
        return None
    return (
        "the motion starts at rest in a singular configuration, from where several motions are possible. "
        f" {singular.split('. ')[0]}. Start near it, or with a velocity."
    )


def explain_constrained(numbers: StateNumbers, usual: Vector, t: float, y: Vector) -> str | None:
    """Why the equations cannot be solved at or beyond a state; None when they look sound."""
    try:
        return missing_inertia(numbers, t, y) or singular_constraints(numbers, usual, t, y)
    except (ArithmeticError, ValueError, TorseurError, np.linalg.LinAlgError):
        return "The equations are not finite there."


def rounded_dimensions(numbers: StateNumbers, t: float, y: Vector) -> str | None:
    """What rounded dimensions leave open at a state, which steps cannot tell from a motion; None where they close."""
    residual = numbers.closure(t, y)[0]
    worst = int(np.argmax(np.abs(residual))) if len(residual) else 0
    if not len(residual) or abs(residual[worst]) <= CLOSED:
        return None
    constraint = numbers.programs.constraints[worst]
    gap = f"{abs(residual[worst] * numbers.row_scales[worst]):.2g} {constraint.unit.removesuffix('1')}".rstrip()
    return (
        f"{constraint.name} stays open by {gap}, because dimensions are rounded, and redundant constraints contradict "
        "each other by as much. Give the dimensions more digits, or a larger rtol; `within`, which lets a loop be "
        "open, does not make them agree."
    )


def dependence(numbers: StateNumbers, t: float, y: Vector, usual: Vector) -> Vector:
    """Combinations of the constraints that vanish, one per row: what can be added to the multipliers without effect."""
    rows = numbers.of(numbers.programs.velocities, t, y)["rows"] * numbers.scales
    usually, independent = np.flatnonzero(usual > 0.0).tolist(), selected_by(numbers, whitened(numbers, t, y))
    if len(independent) != len(usually):  # a singular configuration
        independent = usually
    dependent = [k for k in range(len(rows)) if k not in independent]
    result = np.zeros((len(dependent), len(rows)))
    for k, row in enumerate(dependent):
        result[k, row] = 1.0
        if len(independent):
            result[k, independent] = -np.linalg.lstsq(rows[independent].T, rows[row], rcond=None)[0]
    return np.where(np.abs(result) > INVOLVED, result, 0.0)


def redundancy_notes(numbers: StateNumbers, combinations: Vector) -> tuple[str, ...]:
    """Which constraints others impose already."""
    names = [c.name for c in numbers.programs.constraints]
    notes = []
    for combination in combinations:
        row = int(np.flatnonzero(combination)[-1]) if np.count_nonzero(combination) else 0
        others = [names[k] for k in np.flatnonzero(combination) if k != row]
        imposed = f"is already imposed by {_listing(others)}" if others else "holds whatever moves"
        notes.append(f"{names[row]} {imposed}: multipliers among these are not determined one by one.")
    if len(notes) > MOST_NOTES:
        notes = [*notes[: MOST_NOTES - 1], f"{len(notes) - MOST_NOTES + 1} more constraints are redundant."]
    return tuple(notes)


def _listing(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
