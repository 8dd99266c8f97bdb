"""Independent checks of steady states and linearisations, cheap enough to be made by default.

A steady state is right if nothing in it accelerates. A linearisation is right if the motion's own equations, evaluated
at two states on either side, change as it says: they have no derivative in common with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from torseur.computation.linearisation.operating_point import Point
from torseur.computation.simulation.model.system import Vector

if TYPE_CHECKING:
    from torseur.computation.linearisation.small_motions import SmallMotions

STEP = 2e-6  # to either side, in units of the mechanism and in its speeds: its square and rounding over it are errors
LINEAR = 1e-5  # difference from the linearisation, in units of its largest terms, that differences may have
STEADY = 1e-6  # move in the time of the slowest mode, in units of the mechanism, that a steady state may make
LONGEST_TIME = 1.0  # s
NO_SIZE = 1e-12  # of a state, in its unit
ROUNDING = 1e-15
KINK = ": in a singular configuration, or where a force has a kink, no small motions are linear"


@dataclass(frozen=True)
class Check:
    """How far another computation agrees with a result: a relative error, and what it may be."""

    by: str
    error: float
    limit: float
    hint: str = ""  # what may be the reason where it does not agree

    @property
    def agrees(self) -> bool:
        return bool(self.error <= self.limit)

    def __str__(self) -> str:
        if self.agrees:
            return f"checked by {self.by}: agrees to {self.error:.1e}"
        return f"checked by {self.by}: DISAGREES by {self.error:.1e}, expected {self.limit:.0e} at most{self.hint}"

    def to_dict(self) -> dict[str, object]:
        return {"by": self.by, "error": self.error, "limit": self.limit, "agrees": self.agrees}


def check_steadiness(point: Point, moving: tuple[int, ...], roots: Vector) -> Check:
    """Whether accelerations and rates of what stands still vanish, measured by what they do in the slowest mode."""
    sizes = np.abs(roots)
    slowest = sizes[sizes > 1e-6 * sizes.max(initial=0.0)].min(initial=np.inf)
    time = min(1.0 / slowest if np.isfinite(slowest) else LONGEST_TIME, LONGEST_TIME)
    scales = point.numbers.scales
    still = [k for k in range(point.speeds) if k not in moving]
    accelerations, rates = point.solution[0] / scales, (point.v / scales)[still]
    # A state that is zero up to rounding, as the slip of a tyre straight ahead, has no size to measure its rate by.
    sizes_of_states = np.maximum(point.move_scales[point.speeds :], NO_SIZE)
    changing = np.abs(point.state_rates / sizes_of_states).max(initial=0.0)
    move = max(
        np.abs(accelerations).max(initial=0.0) * time * time, np.abs(rates).max(initial=0.0) * time, changing * time
    )
    return Check("its accelerations", float(move), STEADY)


def check_linearisation(motions: SmallMotions) -> Check:
    """A z, along a direction z that all states take part in, against differences of the equations of motion."""
    point, count = motions.point, len(motions.positions)
    units = np.concatenate([point.move_scales[list(motions.positions)], point.numbers.scales[list(motions.speeds)]])
    z = np.random.default_rng(1).uniform(0.5, 1.5, len(units)) * units
    moves, speeds = motions.position_basis @ z, motions.speed_basis @ z
    ends = [_rates_at(point.after_move(h * moves, h * speeds)) for h in (STEP, -STEP)]
    rates, accelerations = ((a - b) / (2.0 * STEP) for a, b in zip(*ends, strict=True))
    # δq' = N δπ' + Ṅ δπ, solved for δπ'.
    along = rates - point.kinematics["reach_rate"] @ moves
    move_rates = np.linalg.lstsq(point.kinematics["reach"], along, rcond=None)[0]
    differences = np.concatenate([move_rates[list(motions.positions)], accelerations[list(motions.speeds)]])
    errors = np.abs(differences - motions.state_matrix @ z) / units
    # Accelerations themselves are subtracted: what is left of their digits is no fault of the linearisation.
    errors[count:] -= ROUNDING / STEP * np.abs(point.solution[0] / point.numbers.scales).max(initial=0.0)
    sizes = np.abs(motions.state_matrix) @ np.abs(z) / units
    error = max(errors.max(initial=0.0), 0.0) / max(sizes.max(initial=0.0), 1e-300)
    return Check("differences of the motion's equations", float(error), LINEAR, KINK)


def _rates_at(point: Point) -> tuple[Vector, Vector]:
    rates = point.numbers.of(point.programs.dynamics, point.t, point.y)["rates"]
    return rates, point.solution[0]
