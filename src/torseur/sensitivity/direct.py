"""The direct method: states and all their changes in one integration, under one error control."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torseur.errors import SimulationError
from torseur.sensitivity.course import Course
from torseur.sensitivity.discontinuities import Discontinuities, selection
from torseur.sensitivity.loop import stepping
from torseur.sensitivity.moments import NOTHING, Watch
from torseur.sensitivity.observation import Settings
from torseur.sensitivity.routines import Routines
from torseur.simulation import memory
from torseur.simulation.failure import failure_message
from torseur.simulation.integrator import Run
from torseur.simulation.problem import Problem
from torseur.simulation.system import System, Vector


@dataclass(frozen=True, eq=False)
class Mark:
    """A state met at an event, with its changes."""

    number: int
    t: float
    x: Vector
    u: Vector


@dataclass(frozen=True, eq=False)
class Changes:
    """x and u at the samples (time first), what was met at events, and the run behind them."""

    times: Vector
    x: Vector
    u: Vector
    marks: tuple[Mark, ...]
    end: Mark
    run: Run
    settings: Settings


def direct(routines: Routines, course: Course, watch: Watch = NOTHING, jumps: Discontinuities | None = None) -> Changes:
    """States and their changes along the motion; `jumps` change both where the loop stops at an event."""
    variation = routines.variation
    problem = replace(course.problem(variation, True), directions=watch.directions, limits=watch.limits)
    running = jumps.along(problem.parameters) if jumps is not None else None
    reselect = selection(variation, problem.parameters)
    problem = replace(problem, jump=running.apply if running is not None else None, reselect=reselect)
    statics = {**routines.direct_statics, "NG": len(watch.directions)}
    loop = stepping(routines, len(problem.initial), statics, {**routines.direct, **watch.externals}, course)
    run = loop.run(problem)
    require_done(run, problem, variation.system)
    size, columns = variation.size, variation.columns
    times = problem.times[: len(run.samples)]
    marks = [_mark(row, size, columns) for row in run.marks]
    x, u = _split(run.samples, size, columns)
    end_x, end_u = _split(run.y[None], size, columns)
    end = Mark(-1, run.t, end_x[0], end_u[0])
    settings = running.settings_at if running is not None else lambda t: problem.parameters
    return Changes(times, x, u, tuple(marks), end, run, settings)


def _split(rows: Vector, size: int, columns: int) -> tuple[Vector, Vector]:
    return rows[:, :size].copy(), rows[:, size:].reshape(len(rows), size, columns)


def _mark(row: Vector, size: int, columns: int) -> Mark:
    x, u = _split(row[None, 2:], size, columns)
    return Mark(int(row[1]), float(row[0]), x[0], u[0])


def require_done(run: Run, problem: Problem, system: System) -> None:
    """Refuses a motion that ended early."""
    if run.error is not None:
        raise SimulationError(f"{system.name}: {run.error}")
    if run.answer not in (memory.DONE, memory.STOPPED):
        size = len(system.states)
        own = run._replace(worst=min(max(run.worst, 0), size - 1), y=run.y[:size])
        raise SimulationError(failure_message(own, replace(problem, initial=problem.initial[:size]), system))
