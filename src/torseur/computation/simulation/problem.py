"""One motion to compute: what is asked is checked here, so that the loop can trust it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.model.system import System, Vector
from torseur.edges.budgets import NUMBER, require_memory
from torseur.errors import TorseurError, unknown_name

Tolerance: TypeAlias = float | Sequence[float] | Mapping[str, float] | None
Samples: TypeAlias = int | ArrayLike | None

SMALLEST_RTOL = 1e-14
SMALLEST_ATOL = 1e-100
PARTS_OF_SPAN = 10  # no step is longer than this part of the time span, so that short loads are noticed


@dataclass(frozen=True)
class Problem:
    """One motion to compute: from where, to when, how well, and what to keep.

    `repartition` chooses new independent speeds at a state, writes them into the parameters and says which they are.
    `hold` takes the derivative of the state to go on with across a singular configuration, `let_go` forgets it.
    `reselect` looks for other constraints among redundant ones at a state; None when there is no choice.
    `jump` changes the state where the loop stopped at an event, and says whether the motion goes on. The first events,
    as many as `contacts`, are contacts, and the motion starts with an impact on those in `struck`. `control` sets
    parameters at the start, and at the time that it gives as the next one. A step may write as many
    `marks` beside those of events.
    """

    initial: Vector
    parameters: Vector
    start: float
    until: float
    rtol: float
    atol: Vector
    times: Vector
    keep: int
    max_steps: int
    max_step: float
    directions: tuple[int, ...] = ()
    limits: tuple[int, ...] = ()
    contacts: int = 0
    marks: int = 0
    struck: tuple[int, ...] = ()
    progress: Callable[[float], None] | None = None
    repartition: Callable[[float, Vector], str] | None = None
    hold: Callable[[Vector], None] | None = None
    let_go: Callable[[], None] | None = None
    reselect: Callable[[float, Vector], None] | None = None
    jump: Callable[[Any], bool] | None = None
    control: Callable[[Any], float] | None = None

    def part_done(self, time: float) -> float:
        """How much of the motion is done, from 0 to 1; a motion of no length is done at once."""
        span = self.until - self.start
        return (time - self.start) / span if span else 1.0


def finite_time(name: str, t: float) -> float:
    """A time in seconds."""
    if not isinstance(t, int | float | np.number) or not np.isfinite(t):
        raise TorseurError(f"{name} is {t!r}: expected a finite time in seconds.")
    return float(t)


def sample_times(samples: Samples, start: float, until: float, width: int = 1) -> Vector:
    """The times asked for, in the order in which the motion meets them; `width` numbers are kept at each."""
    if samples is None:
        return np.empty(0)
    if isinstance(samples, (int, np.integer)):
        if samples < 2:
            raise TorseurError(f"samples is {samples}: expected at least 2, the start and the end.")
        require_memory(int(samples), 2 * NUMBER * (width + 1), f"samples = {samples}")
        return np.linspace(start, until, int(samples))
    try:
        times = np.array(samples, dtype=float).ravel()
    except (TypeError, ValueError) as problem:
        raise TorseurError(f"samples is {samples!r}: expected how many, or a list of times in seconds.") from problem
    direction = 1.0 if until >= start else -1.0
    if np.any(np.diff(times) * direction < 0.0):
        raise TorseurError("the times in samples must follow each other from start to until.")
    outside = times[~((times - start) * direction >= 0.0) | ~((until - times) * direction >= 0.0)]
    if outside.size:
        raise TorseurError(
            f"the sample at t = {outside[0]:g} s is not between start = {start:g} s and until = {until:g} s."
        )
    return times


def finite_state(state: Vector, system: System) -> Vector:
    """The state, when all its values are finite."""
    wrong = np.flatnonzero(~np.isfinite(state))
    if wrong.size:
        name, value = system.states[wrong[0]].name, state[wrong[0]]
        raise TorseurError(f"the initial value of '{name}' is {value}: expected a finite number.")
    return state


def checked_rtol(rtol: float) -> float:
    """The relative tolerance, when double precision can hold it."""
    if not SMALLEST_RTOL <= rtol < 1.0:
        raise TorseurError(
            f"rtol = {rtol:g} cannot be met in double precision: choose it between {SMALLEST_RTOL:g} and 1."
        )
    return float(rtol)


def absolute_tolerance(atol: Tolerance, rtol: float, system: System, state: Vector) -> Vector:
    """Absolute tolerance per state."""
    result = rtol * system.state_scales(state)
    if isinstance(atol, Mapping):
        slots = {quantity.name: slot for slot, quantity in enumerate(system.states)}
        for name, value in atol.items():
            if name not in slots:
                raise TorseurError(unknown_name("state", name, slots))
            result[slots[name]] = value
    elif atol is not None:
        given = np.asarray(atol, dtype=float)
        if given.shape not in ((), result.shape):
            raise TorseurError(
                f"atol has {given.size} values: expected one, one for each of {len(result)} states, or some by name."
            )
        result = np.array(np.broadcast_to(given, result.shape))
    if not np.all(result >= 0.0):
        raise TorseurError(f"atol = {atol} is negative or not a number.")
    return np.maximum(result, SMALLEST_ATOL)


def longest_step(max_step: float | None, start: float, until: float) -> float:
    """The longest step allowed."""
    if max_step is None:
        return abs(until - start) / PARTS_OF_SPAN
    if not max_step > 0.0:
        raise TorseurError(f"max_step = {max_step} s: expected a positive time.")
    return float(max_step)


def kept_of_steps(samples: Samples, dense: bool) -> int:
    """What the loop keeps of each step."""
    if dense:
        return memory.KEEP_DENSE
    return memory.KEEP_STATES if samples is None else memory.KEEP_NOTHING


def most_steps(max_steps: int) -> int:
    """The number of steps after which the motion is given up."""
    if max_steps < 1:
        raise TorseurError(f"max_steps = {max_steps}: expected a positive number.")
    return max_steps
