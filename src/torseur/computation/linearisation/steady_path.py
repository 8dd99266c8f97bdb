"""Whether a state at constant speeds goes on as it is: its motion, followed for a radian or the mechanism's length.

That nothing accelerates at one instant is not enough: a pendulum has no acceleration as it swings through its lowest
point. In a steady motion no force and no constraint depends on the coordinates that move.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torseur.algebra.graph import symbols_of
from torseur.computation.linearisation.operating_point import Point
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import TIME

STEPS = 16
LOOKS = (0, 3, 7, 12, 16)  # unevenly, so that no period of a force hides between them
STEADY = 1e-6  # move that accelerations may make in the time, in units of the mechanism
LONGEST_TIME = 1.0  # s, for accelerations by forces: a slow motion has no longer to show that nothing drives it


def reason_unsteady(point: Point, moving: tuple[int, ...]) -> str:
    """Why the motion from a state without accelerations does not go on at constant speeds; nothing where it does."""
    states = np.abs(point.state_rates) / point.move_scales[point.speeds :]
    pace = max(np.abs(point.v / point.numbers.scales).max(initial=0.0), states.max(initial=0.0))
    if not moving or pace == 0.0:
        return ""
    time = 1.0 / pace
    later, clock = point, _clock(point)
    for step in range(STEPS + 1):
        reason = _reason_at(later, point, time, step / STEPS) if step in LOOKS else ""
        if reason:
            return reason
        later = _carried_on(later, time / STEPS, clock)
    return ""


def _reason_at(later: Point, start: Point, time: float, part: float) -> str:
    """What changes the speeds of a state in which `part` of the time has passed."""
    scales, constraints = start.numbers.scales, start.programs.constraints
    if constraints:
        gamma = later.numbers.of(later.programs.dynamics, later.t, later.y)["gamma"]
        # C v' = γ: the least accelerations that constraints ask of speeds that are to stay as they are.
        asked = np.linalg.lstsq(later.rows * scales, gamma, rcond=1e-11)[0]
        if not np.abs(asked).max() * time**2 <= STEADY:
            name = constraints[int(np.argmax(np.abs(gamma)))].name
            return (
                f"{name} does not hold at constant speeds. Declare speeds that are constant in the motion, in axes "
                "that turn with it (speeds = ... in the joint), or let fewer coordinates move"
            )
    accelerations = np.abs(later.solution[0] / scales)
    if not accelerations.max() * min(time, LONGEST_TIME) ** 2 <= STEADY:
        worst, names = int(np.argmax(accelerations)), start.equations.layout.speed_names
        when = f" after {part * time:.3g} s" if part else ""
        return (
            f"at constant speeds the rate of '{names[worst]}' would be {later.solution[0][worst]:.4g}{when}: forces or "
            "inertia depend on what moves. Only coordinates that nothing depends on can move steadily"
        )
    return ""


def _carried_on(point: Point, time: float, clock: float) -> Point:
    """The state a while later if no speed changes, by a Runge-Kutta step of fourth order."""
    first = _rates(point, point.y, 0.0)
    second = _rates(point, _moved(point, first, time / 2), clock * time / 2)
    third = _rates(point, _moved(point, second, time / 2), clock * time / 2)
    fourth = _rates(point, _moved(point, third, time), clock * time)
    y = _moved(point, (first + 2 * second + 2 * third + fourth) / 6, time)
    return replace(point, t=point.t + clock * time, y=y)


def _rates(point: Point, y: Vector, later: float) -> Vector:
    rates: Vector = point.numbers.of(point.programs.dynamics, point.t + later, y)["rates"]
    return rates


def _moved(point: Point, rates: Vector, time: float) -> Vector:
    y = point.y.copy()
    y[: point.numbers.coordinates] += time * rates
    return y


def _clock(point: Point) -> float:
    """How fast time goes on: drivers of constraints follow it, inputs of forces stay as they are at the instant."""
    written = [entry for c in point.programs.constraints for entry in (*c.row, c.drift)]
    return 1.0 if TIME in symbols_of(written) else 0.0


def reason_unbalanced(point: Point, balance: Vector, rates: Vector, limit: float) -> str:
    """Why the state in which a search ended is not steady: a force, a state that changes, or a constraint."""
    largest = max(1.0, np.abs(balance).max(initial=0.0))
    if len(point.rows):  # what constraints can bear is no reason
        balance = balance - point.rows.T @ np.linalg.lstsq(point.rows.T, balance, rcond=1e-12)[0]
    if np.abs(balance).max(initial=0.0) <= limit * largest:
        if np.abs(rates).max(initial=0.0) > limit:
            worst = int(np.argmax(np.abs(rates)))
            return (
                f"the state '{point.equations.layout.states[worst].name}' would still change by {rates[worst]:.4g} per "
                "second. Name it among those that move, or start nearer (--init, at={...})"
            )
        for values, words in ((point.gaps, "is off by"), (point.slips, "would still change at a rate of")):
            if np.abs(values).max(initial=0.0) > limit:
                worst = int(np.argmax(np.abs(values)))
                return (
                    f"{point.programs.constraints[worst].name} {words} {values[worst]:.4g}. Fix fewer coordinates; "
                    "what time moves leaves nothing at rest"
                )
    worst = int(np.argmax(np.abs(balance)))
    return (
        f"along '{point.equations.layout.speed_names[worst]}' a force of {balance[worst]:.4g} is left. Start nearer to "
        "it (--init, at={...}), or fix fewer coordinates"
    )
