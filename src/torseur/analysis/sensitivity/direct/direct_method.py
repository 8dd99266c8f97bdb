"""The direct method: states and all their tangents in one integration, under one error control."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torseur.analysis.sensitivity.criteria.criteria_at_events import NOTHING, Watch
from torseur.analysis.sensitivity.criteria.observation import Settings
from torseur.analysis.sensitivity.events.discontinuities import Discontinuities, selection
from torseur.analysis.sensitivity.extended_loop import Course, integrator_of_course
from torseur.analysis.sensitivity.method_routines import Routines
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.loop.adjusting import SolverSettings
from torseur.computation.simulation.loop.integrator import Run
from torseur.computation.simulation.model.system import System, Vector
from torseur.computation.simulation.output.failure import failure_message
from torseur.computation.simulation.problem import Problem
from torseur.errors import SimulationError


@dataclass(frozen=True, eq=False)
class Mark:
    """A state met at an event, with its tangents."""

    number: int
    t: float
    x: Vector
    u: Vector


@dataclass(frozen=True, eq=False)
class Tangents:
    """x and u at the samples (time first), what was met at events, and the run behind them."""

    times: Vector
    x: Vector
    u: Vector
    marks: tuple[Mark, ...]
    end: Mark
    run: Run
    settings: Settings
    passes_singularity: bool = False


def integrate_tangents(
    routines: Routines, course: Course, watch: Watch = NOTHING, jumps: Discontinuities | None = None
) -> Tangents:
    """States and their tangents along the motion; `jumps` change both where the loop stops at an event."""
    variation = routines.variation
    problem = replace(course.problem(variation, True), directions=watch.directions, limits=watch.limits)
    running = jumps.along(problem.parameters) if jumps is not None else None
    reselect = selection(variation, problem.parameters)
    problem = replace(problem, jump=running.apply if running is not None else None, reselect=reselect)
    externals = routines.direct
    held: list[Vector] = []
    if variation.system.constrained is not None and not variation.columns:
        # Without tangents it is the motion of a simulation, which holds accelerations across singular configurations.
        terms = {name: program for name, program in externals.items() if name.endswith("motion_terms")}
        externals = {**routines.forward, **terms}
        settings, states = SolverSettings(variation.system, problem.parameters), len(variation.states)

        def hold(derivative: Vector) -> None:
            held.append(derivative)
            settings.hold(derivative[:states])

        problem = replace(problem, hold=hold, let_go=settings.let_go)
    statics = {**routines.direct_statics, "NG": len(watch.directions)}
    loop = integrator_of_course(routines, len(problem.initial), statics, {**externals, **watch.externals}, course)
    run = loop.run(problem)
    require_done(run, problem, variation.system)
    size, columns = variation.size, variation.columns
    times = problem.times[: len(run.samples)]
    marks = [_mark(row, size, columns) for row in run.marks]
    x, u = _split(run.samples, size, columns)
    end_x, end_u = _split(run.y[None], size, columns)
    end = Mark(-1, run.t, end_x[0], end_u[0])
    settings_at = running.settings_at if running is not None else lambda t: problem.parameters
    return Tangents(times, x, u, tuple(marks), end, run, settings_at, bool(held))


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
        # The message names a state of the system: tangents and integrals behind it have no names.
        own = run._replace(worst=min(max(run.worst, 0), size - 1), y=run.y[:size])
        text = failure_message(own, replace(problem, initial=problem.initial[:size]), system)
        # Beside a singular configuration tangents vary faster than the motion, by which alone the adjoint steps.
        advice = " Its derivatives need shorter steps than a simulation: method='adjoint' takes those of a simulation."
        raise SimulationError(f"{text}{advice if len(problem.initial) > size else ''}")
