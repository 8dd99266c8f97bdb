"""The direct method in time steps: each step is taken, then differentiated where its impulses have settled."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from torseur.analysis.sensitivity.criteria.observation import PlainObservation
from torseur.analysis.sensitivity.direct.direct_method import Mark, Tangents
from torseur.analysis.sensitivity.direct.step_equations import StepEquations
from torseur.analysis.sensitivity.direct.step_outcome import Outcome, outcome_of
from torseur.analysis.sensitivity.direct.step_tangents import SolvedStep, StepDerivatives
from torseur.analysis.sensitivity.extended_loop import Course
from torseur.analysis.sensitivity.model.preparation import Prepared
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine
from torseur.computation.simulation.constrained.stepping.stepped_motion import SteppedMotion, stepped_motion
from torseur.computation.simulation.constrained.stepping.time_step import NO_INERTIA, TAKEN, take_time_step
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.loop.adjusting import SolverSettings
from torseur.computation.simulation.loop.integrator import Run, Statistics
from torseur.computation.simulation.loop.routine_binding import Binding, compile_once
from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.problem import checked_rtol
from torseur.computation.simulation.simulate import step_length
from torseur.errors import SimulationError, UnsupportedError

WHOLE = 1e-9  # part of a step by which the last one before a sample may be longer
TOGETHER = 1e-6  # part of their size by which instants of impacts in one step may move differently


def stepped_tangents(ready: Prepared, variation: Variation, course: Course) -> Tangents:
    """States and tangents at the samples of a motion in time steps."""
    assert ready.switching is not None
    begin = time.perf_counter()
    binding = Binding(variation.system, None)
    step = step_length(course.start, course.until, course.max_step)
    motion = stepped_motion(ready.switching, binding, course.start, step, checked_rtol(course.rtol), 1)
    take = compile_once(
        take_time_step, motion.statics, {**binding.externals, **motion.programs.externals}, course.backend
    )
    walk = _Walk(ready, variation, motion, take, course)
    times, x, u = walk.samples()
    seconds = time.perf_counter() - begin
    statistics = Statistics(walk.steps, 0, walk.steps, 0.0, take.backend, seconds, "time_stepping")
    nothing = np.zeros((0, len(variation.states)))
    run = Run(
        memory.DONE,
        course.until,
        x[-1],
        x,
        nothing,
        nothing,
        0,
        statistics,
        None,
        motion.account(walk.steps, is_counted=False),
    )
    parameters = variation.system.solver_parameters
    end = Mark(-1, course.until, x[-1], u[-1])
    return Tangents(times, x, u, (), end, run, lambda t: parameters)


@dataclass(eq=False)
class _Walk:
    """Steps of a motion one by one, with their tangents."""

    ready: Prepared
    variation: Variation
    motion: SteppedMotion
    take: CompiledRoutine
    course: Course
    steps: int = 0

    def __post_init__(self) -> None:
        equations = StepEquations(self.variation, self.motion.programs, self.ready.restitutions)
        self.derivatives = StepDerivatives(equations, np.array(self.variation.system.values), self.course.backend)
        self.parameters = SolverSettings(self.variation.system, self.variation.system.solver_parameters).parameters
        self.integrands = PlainObservation(self.variation, self.variation.integrands)
        self.last: Outcome | None = None
        self.slip_rates = np.zeros(len(self.motion.programs.rows))
        self.margins: dict[int, list[tuple[float, Vector]]] = {}
        elements = [(f"{e.name}", len(e.rows)) for e in self.motion.programs.friction]
        self.row_names = [i.name for i in self.motion.impacts] + [name for name, size in elements for _ in range(size)]
        self.acceleration: Vector | None = None
        # How much later impacts of the last step are, a row per state: what behind them accelerates is known a step on.
        self.late: Vector | None = None
        self.late_in_all = np.zeros(self.variation.columns)

    def samples(self) -> tuple[Vector, Vector, Vector]:
        """Times, x and u at the samples; both with the integrals behind the states."""
        variation, times = self.variation, self.course.times
        y, u, t = np.array(variation.system.initial), variation.start.copy(), self.course.start
        z, u_z = np.zeros(len(variation.integrands)), np.zeros((len(variation.integrands), variation.columns))
        kept: list[tuple[Vector, Vector]] = []
        for stop in [*times.tolist(), *([self.course.until] if times[-1] < self.course.until else [])]:
            count = math.floor((stop - t) / self.motion.structure.longest * (1.0 - WHOLE)) + 1 if stop > t else 0
            h = (stop - t) / count if count else 0.0
            for k in range(count):
                before, behind = y.copy(), u
                y, u, started = self._step(h, t, before, behind)
                if k == 0 and kept and len(z) == 0:
                    # Accelerations behind an impact at the very end of a span between samples are known only here.
                    kept[-1] = (kept[-1][0], started)
                t = stop if k == count - 1 else t + h
                if len(z):
                    z, u_z = self._integrated(h, t, (before, started), (y, u), z, u_z)
            kept.append((np.concatenate([y, z]), np.vstack([u, u_z])))
        rows = kept[: len(times)]
        return times, np.array([x for x, _ in rows]), np.array([tangents for _, tangents in rows])

    def _step(self, h: float, t: float, y: Vector, behind: Vector) -> tuple[Vector, Vector, Vector]:
        """State and tangents behind a step, and the tangents before it, with accelerations behind an impact there."""
        u, after, work, structure = behind, y.copy(), self.motion.work, self.motion.structure
        lowered = work.lowered
        taken = self.take(h, t, after, self.parameters, structure, work)
        self.steps += 1
        if taken != TAKEN or not np.all(np.isfinite(after)):
            reason = "some motion has no inertia" if taken == NO_INERTIA else "forces are too stiff for its steps"
            if work.contradictory:
                raise SimulationError(f"{self.motion.system.name}: {self.motion.contradiction(t)}")
            raise SimulationError(f"{self.motion.system.name}: the motion ends at t = {t:.9g} s: {reason}.")
        if work.lowered > lowered:
            raise UnsupportedError(
                f"{self.motion.system.name}: at t = {t:.6g} s the rebound is limited by the energy that it may not "
                "exceed, so that the motion has no derivative there. A restitution of 0 needs no such bound."
            )
        nq = self.derivatives.sizes[0]
        found = outcome_of(self.derivatives.equations, structure, work, self.last)
        middle, half = self.derivatives.moved(0.5 * h, t, y, y[:nq], u, u[:nq])
        solved = SolvedStep(self.derivatives, h, t + 0.5 * h, middle, y[nq:], after[nq:], found)
        if self.late is not None:
            u = u.copy()
            u[nq:] -= solved.acceleration[:, None] * self.late[nq:]
        started, broken = u, self._breaking_away(solved)
        if broken is not None and self.acceleration is not None:
            u = u.copy()
            u[nq:] += self.acceleration[:, None] * broken[nq:]
        if u is not behind:
            half = self.derivatives.moved(0.5 * h, t, y, y[:nq], u, u[:nq])[1]
        tangents = self._tangents(solved, t, y, after, u, half)
        if broken is not None:
            self.late = broken if self.late is None else self.late + broken
        self.slip_rates = (found.slips - self.last.slips) / h if self.last is not None else np.zeros(len(found.slips))
        self.last, self.acceleration = found, solved.acceleration
        return after, tangents, started

    def _breaking_away(self, solved: SolvedStep) -> Vector | None:
        """How much later friction breaks away, a row per state; None where none does.

        It does so when the force that holds it reaches its limit, whose rate the last two steps give.
        """
        late = np.zeros((len(self.variation.states), self.variation.columns))
        for k in solved.found.begun:
            margins = self.margins.get(k, [])
            if len(margins) == 2 and margins[1][0] > margins[0][0]:
                rate = (margins[1][0] - margins[0][0]) / solved.h
                row = self.derivatives.equations.first_row(k)
                (speeds,) = (own for own, rows in self._groups(solved) if row in rows)
                late[self._states_of(speeds, solved)] -= margins[1][1] / rate
        return late if late.any() else None

    def _tangents(self, solved: SolvedStep, t: float, y: Vector, after: Vector, u: Vector, half: Vector) -> Vector:
        nq = self.derivatives.sizes[0]
        shift, leaving, late = np.zeros_like(u), np.zeros_like(u), np.zeros(u.shape[1])
        self.late = None
        if solved.found.happens:
            self.late, late = self._later(solved, half, u[nq:], t)
            self.late_in_all = late
            arriving, behind = solved.rates_about()
            before = self.acceleration if self.acceleration is not None else solved.acceleration
            shift = np.concatenate([arriving, before])[:, None] * self.late
            leaving[:nq] = behind[:, None] * self.late[:nq]
        start, half = u + shift, half + shift[:nq]
        speeds, impulses = solved.tangents(half, start[nq:], late)
        self._note_margins(solved, half, impulses)
        mean = np.concatenate([solved.q, 0.5 * (y[nq:] + after[nq:])])
        u_mean = np.concatenate([half, 0.5 * (start[nq:] + speeds)])
        _, moved = self.derivatives.moved(solved.h, solved.t, mean, y[:nq], u_mean, start[:nq])
        return solved.on_constraints(t + solved.h, after, np.concatenate([moved, speeds]) - leaving)

    def _note_margins(self, solved: SolvedStep, half: Vector, impulses: dict[int, Vector]) -> None:
        """Keeps by how much what sticks misses its limit, with tangents, of the last two steps."""
        equations, found = self.derivatives.equations, solved.found
        for k, element in enumerate(equations.stepping.friction):
            if found.friction.get(k, True):
                self.margins.pop(k, None)
                continue
            rows = range(equations.first_row(k), equations.first_row(k) + len(element.rows))
            force = np.array([found.impulses[row] for row in rows])
            size = max(float(np.linalg.norm(force)), 1e-300)
            of_force = sum(found.impulses[row] / size * impulses[row] for row in rows)
            moved = of_force - solved.limit_tangents(k, half, impulses)
            self.margins[k] = [*self.margins.get(k, [])[-1:], (size - found.limits[k], moved)]

    def _later(self, solved: SolvedStep, half: Vector, u_w: Vector, t: float) -> tuple[Vector, Vector]:
        """How much later what happens in the step is: for each state, and for all of the motion where it is one."""
        instants = solved.later(half, u_w, self.slip_rates)
        groups = self._groups(solved)
        late = np.zeros((len(self.variation.states), half.shape[1]))
        chosen: list[Vector] = []
        for speeds, rows in groups:
            own = [row for row in instants if row in rows]
            hits = [row for row in own if row in solved.found.struck]
            own = hits or own  # what an impact turns round does not turn by itself
            if not own:
                continue
            first = instants[own[0]]
            for row in own[1:]:
                if np.abs(instants[row] - first).max(initial=0.0) > TOGETHER * np.abs(first).max(initial=0.0):
                    one, other = (self.row_names[r] for r in (own[0], row))
                    raise UnsupportedError(
                        f"'{one}' and '{other}' happen in the same step at t = {t:.6g} s, at instants that move "
                        "differently with the parameters: shorten max_step, so that one happens after the other."
                    )
            late[self._states_of(speeds, solved)] = first
            chosen.append(first)
        if len(chosen) == 1 and len(groups) == 1:
            late[:] = chosen[0]
        # Time stands in the equations of all bodies alike: where several are hit, what it changes is left out.
        return late, chosen[0] if len(chosen) == 1 else np.zeros(half.shape[1])

    def _groups(self, solved: SolvedStep) -> list[tuple[set[int], set[int]]]:
        """Speeds that contacts and friction couple in the step, with the rows that do."""
        stepping, equations = self.motion.programs, self.derivatives.equations
        groups: list[tuple[set[int], set[int]]] = []
        for row in [*solved.found.contacts, *map(equations.first_row, solved.found.friction)]:
            blocks, rows = set(stepping.touched[row]), {row}
            apart = [g for g in groups if not g[0] & blocks]
            for own, others in (g for g in groups if g[0] & blocks):
                blocks, rows = blocks | own, rows | others
            groups = [*apart, (blocks, rows)]
        return [({v for b in blocks for v in stepping.blocks[b]}, rows) for blocks, rows in groups]

    def _states_of(self, speeds: set[int], solved: SolvedStep) -> list[int]:
        """Coordinates that such speeds move, and these speeds."""
        nq = self.derivatives.sizes[0]
        _, derivatives = self.derivatives.at("rates", solved.t, solved.y)
        moving = [i for i in range(nq) if any(derivatives[i, nq + v] != 0.0 for v in speeds)]
        return [*moving, *(nq + v for v in sorted(speeds))]

    def _integrated(
        self, h: float, t: float, before: tuple[Vector, Vector], after: tuple[Vector, Vector], z: Vector, u_z: Vector
    ) -> tuple[Vector, Vector]:
        """Integrals behind a step, by the trapezoidal rule."""
        times, states = np.array([t - h, t]), np.array([before[0], after[0]])
        values, tangents = self.integrands.tangents(times, states, np.array([before[1], after[1]]), lambda t: z)
        u_z = u_z + 0.5 * h * (tangents[0] + tangents[1])
        if self.late is not None:
            u_z = u_z + np.outer(values[0] - values[1], self.late_in_all)
        return z + 0.5 * h * (values[0] + values[1]), u_z
