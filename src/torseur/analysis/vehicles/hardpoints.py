"""Hardpoints of a suspension moved, within bounds, until its curves come nearest to what is wanted of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.analysis.vehicles.suspension_curves import QUANTITIES, Curves, require_curve, suspension_curves
from torseur.analysis.vehicles.wheel_travel import Suspension
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError

Target = float | Callable[[Vector], Vector]
NUDGE = 1e-6  # part of a bound's range over which derivatives are differences
# What counts as much as what: a milliradian, a millimetre, a part in a thousand.
WEIGHTS = {"rad": 1e3, "m": 1e3, "1": 1e3, "N": 1e-1, "N/m": 1e-2}
UNREACHED = 1e3  # residual of a position that the suspension does not reach


@dataclass(frozen=True, eq=False)
class BestSuspension:
    """Hardpoints that bring the curves nearest to their targets, and the curves before and after."""

    values: Mapping[str, float]
    before: Curves
    after: Curves
    error_before: float
    error_after: float
    at_bounds: tuple[str, ...]


def optimise_suspension(
    suspension: Suspension,
    vary: Mapping[str, tuple[float, float]],
    targets: Mapping[str, Target],
    travel: Sequence[float] | Vector,
    progress: Callable[[float], None] | None = None,
) -> BestSuspension:
    """The hardpoints (parameters within bounds) whose curves over the travel are nearest to the targets.

    A target is a number or a function of the travel (m), in SI. Errors are root mean squares, a milliradian counting as
    much as a millimetre and as ten newtons.
    """
    from scipy.optimize import least_squares

    places = np.asarray(travel, dtype=float)
    names, low, span, middle = _box(suspension, vary)
    before = suspension_curves(suspension, places, name="before")
    for name in targets:
        require_curve(name, before)
    wanted = {n: np.broadcast_to(t(places) if callable(t) else t, places.shape) for n, t in targets.items()}

    def values_at(x: Vector) -> dict[str, float]:
        return dict(zip(names, (low + span * x).tolist(), strict=True))

    def residual(x: Vector) -> NDArray[np.float64]:
        try:
            curves = suspension_curves(suspension.with_values(values_at(x)), places)
        except TorseurError:
            return np.full(len(places) * len(wanted), UNREACHED)
        if progress is not None:
            progress(0.5)
        return _errors(curves, wanted)

    fit = least_squares(
        residual, middle, bounds=(0.0, 1.0), diff_step=[NUDGE] * len(names), x_scale=1.0, xtol=1e-10, ftol=1e-10
    )
    values = values_at(fit.x)
    after = suspension_curves(suspension.with_values(values), places, name="after")
    bound = tuple(n for n, x in zip(names, fit.x, strict=True) if min(x, 1.0 - x) < 1e-6)
    return BestSuspension(values, before, after, _size(_errors(before, wanted)), _size(_errors(after, wanted)), bound)


def _box(suspension: Suspension, vary: Mapping[str, tuple[float, float]]) -> tuple[list[str], Vector, Vector, Vector]:
    """Names, lower bounds and ranges of what varies, and where it starts as parts of these."""
    layout = suspension.prepared.kinematics.programs.equations.layout
    now = dict(zip(layout.parameter_names, suspension.prepared.start().point.numbers.parameters.tolist(), strict=True))
    for name, (least, most) in vary.items():
        if name not in now:
            raise TorseurError(f"'{name}' is not a parameter of the suspension, or nothing in it depends on it.")
        if not least < most:
            raise TorseurError(f"{name}: expected bounds that rise, got {least:g}..{most:g}.")
    low = np.array([least for least, _ in vary.values()])
    span = np.array([most - least for least, most in vary.values()])
    start = (np.array([now[name] for name in vary]) - low) / span
    return list(vary), low, span, np.clip(start, 1e-3, 1.0 - 1e-3)


def _errors(curves: Curves, wanted: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([WEIGHTS[QUANTITIES[n][0]] * (curves.values[n] - target) for n, target in wanted.items()])


def _size(errors: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(errors**2)))
