"""Second derivatives: the discrete adjoint differentiated along every parameter, forward over adjoint.

The motion is that of the direct method, so that all stages of states and tangents are known. Going back, adjoints λ are
accompanied by their tangents Λ along each parameter, and the adjoints of the parameters by a row of the Hessian each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated

import numpy as np

from torseur.analysis.sensitivity.adjoint.backward_routines import repeat_steps, steps_back
from torseur.analysis.sensitivity.adjoint.step_recording import Recording, Switch, record
from torseur.analysis.sensitivity.criteria.formula_rates import Rates
from torseur.analysis.sensitivity.criteria.observation import observed_back
from torseur.analysis.sensitivity.direct.direct_method import require_done
from torseur.analysis.sensitivity.direct.tangent_routines import NM, NPAR, NX, NY
from torseur.analysis.sensitivity.events.discontinuities import Discontinuities, selection
from torseur.analysis.sensitivity.events.event_crossing import Landing
from torseur.analysis.sensitivity.extended_loop import Course, integrator, routine_of
from torseur.analysis.sensitivity.method_routines import OpenRoutines, Routines, constrained_programs
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.analysis.sensitivity.second_order.constrained_second_order import (
    DIRECTIONS,
    ConstrainedCurvature,
    constrained_pullback_twice,
)
from torseur.computation.codegen.routine import Array, External, Record, Static, routine
from torseur.computation.simulation.constrained.solver.constrained_sizes import NQ
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.model.system import Vector

NB: int = Static("NB")  # directions at once
NA: int = Static("NACC")  # accelerations

AT_ONCE = 4

first_pullback = External(
    "first_pullback", "t: float, y: Array, p: Array, a: Array, w: Array, ybar: Array, pbar: Array"
)


class Columns(Record):
    """Tangents along some parameters at once, a column each; programs know them by these names."""

    u: Annotated[Array, NY, NB]  # of the states
    b: Annotated[Array, NA, NB]  # of the accelerations
    v: Annotated[Array, NX, NB]  # of the adjoints of x'
    e: Annotated[Array, NM, NB]  # of the constants that vary
    ybar: Annotated[Array, NY, NB]  # of the adjoints of the states
    pbar: Annotated[Array, NPAR, NB]  # of those of the parameters: columns of the Hessian


curvature = External("curvature", "t: float, y: Array, p: Array, a: Array, w: Array, along: Columns", Columns)


@routine
def open_pullback_twice(t: float, y: Array, p: Array, a: Array, w: Array, ybar: Array, gains: Array) -> None:
    """Adjoints w of (x', u') pulled back, and what the parameters and then the Hessian gain.

    `a` are the derivatives of (x, u) from the accelerations on.
    """
    along = Columns()
    first_pullback(t, y, p, a, w, ybar, gains)
    for i in range(NY * NPAR, NX * NPAR):
        ybar[NX + i] = 0.0
    for start in range(0, NPAR, NB):
        count = min(NB, NPAR - start)
        gather(NY, count, start, y[NX:], along.u)
        gather(NA, count, start, a[NX - NQ + NQ * NPAR :], along.b)
        gather(NX, count, start, w[NX:], along.v)
        gather(NM, count, start, p[DIRECTIONS:], along.e)
        curvature(t, y, p, a, w, along)
        for i in range(NY):
            for j in range(count):
                ybar[NX + i * NPAR + start + j] = along.ybar[i, j]
        for i in range(NPAR):
            for j in range(count):
                gains[NPAR + i * NPAR + start + j] = along.pbar[i, j]


@routine
def gather(rows: int, count: int, start: int, source: Array, target: Annotated[Array, ..., NB]) -> None:
    """Some columns of a matrix with a column per parameter."""
    for i in range(rows):
        for j in range(count):
            target[i, j] = source[i * NPAR + start + j]


@dataclass(frozen=True, eq=False)
class Curvature:
    """Second derivatives of formulas of the state and of integrals along a motion."""

    routines: Routines
    course: Course
    jumps: Discontinuities

    @cached_property
    def recording(self) -> Recording:
        """The motion of states and tangents."""
        variation = self.routines.variation
        problem = self.course.problem(variation, True, np.empty(0), memory.KEEP_STAGES)
        size, watching = len(problem.initial), self.routines.direct
        if self.jumps:
            problem = replace(problem, directions=self.jumps.directions, limits=(1,) * len(self.jumps))
            watching = {**watching, **self.jumps.externals(Rates(variation).externals(self.jumps.functions))}
        statics = {**self.routines.direct_statics, "NG": len(self.jumps)}
        # Explicit steps, also of stiff motions: the way back through implicit ones has no tangents.
        loop = integrator(size, statics, watching, self.course.backend)
        statics = self.routines.direct_statics
        repeat = partial(routine_of, repeat_steps, size, statics, self.routines.direct, self.course.backend)
        problem = replace(problem, reselect=selection(variation, problem.parameters))
        recording = record(loop, repeat, problem, self.course.most_bytes, self.jumps)
        require_done(recording.run, problem, variation.system)
        return recording

    def hessian(self, adjoints: Vector, pbar: Vector, hessian: Vector) -> tuple[Vector, Vector, Vector]:
        """Gradient and Hessian, from adjoints of (x, u) at the end and what the criterion has itself.

        The Hessian lacks second derivatives of the initial state, which count with the adjoints of x at the start.
        """
        variation, routines = self.routines.variation, self.routines
        w, gains, columns = adjoints.copy(), np.concatenate([pbar, hessian.ravel()]), variation.columns
        size = variation.size * (1 + columns)
        loop = routine_of(steps_back, size, self.statics(routines), externals(routines), self.course.backend)
        p, end = self._with_directions(routines, self.recording.parameters), self.recording.end.copy()
        for part in self.recording.backwards():
            if isinstance(part, Switch):
                p = self._with_directions(routines, part.settings)
            elif isinstance(part, Landing):
                w, gains = part.back_twice(w, gains)
                p = self._with_directions(routines, part.settings)
            else:
                loop(len(part), part.rows.reshape(-1), end, p, w, gains)
        # The start depends on the parameters too, x₀(p): with adjoint λ and its tangents Λ there,
        #
        #     g_p = μ + λ x₀_p,   H = μ_p + x₀_pᵀ Λ + λ · x₀_pp
        #
        # and the last term is added where x₀_pp is known (hessians.py).
        start, pbar, hessian = variation.initial_tangents, gains[:columns], gains[columns:].reshape(columns, columns)
        first, second = w[: variation.size], w[variation.size :].reshape(variation.size, variation.columns)
        return pbar + first @ start, hessian + start.T @ second, first

    @staticmethod
    def statics(routines: Routines) -> dict[str, int]:
        variation = routines.variation
        accelerations = len(variation.states) - variation.system.coordinates if variation.system.programs else 0
        own = {"NB": min(AT_ONCE, variation.columns), "NM": len(variation.moving), "NACC": accelerations}
        # Projections count as the identity on this way back (see constrained_second_order.py): PROJECT is 0.
        own |= {"GAINS": variation.columns * (1 + variation.columns), "NW": 1, "PROJECT": 0}
        own["DIRECTIONS"] = len(variation.system.solver_parameters)
        return {**routines.direct_statics, **own}

    @staticmethod
    def _with_directions(routines: Routines, parameters: Vector) -> Vector:
        """The parameters as the way back takes them: with the directions of the constants that vary behind."""
        # p = [ parameters and settings | tangents of the constants that vary, row by row | 0 ]. The last entry keeps
        # the array longer than DIRECTIONS when nothing of that kind varies.
        return np.concatenate([parameters, MotionDerivatives(routines.variation).directions.ravel(), [0.0]])

    def observe(self, routines: Routines, t: float, x: Vector, u: Vector, place: int) -> tuple[Vector, Vector, Vector]:
        """Adjoints of (x, u), of the parameters, and the Hessian of one formula in a state with known tangents."""
        variation = routines.variation
        states, columns, size = len(variation.states), variation.columns, variation.size
        y, w = np.zeros(size * (1 + columns)), np.zeros(size * (1 + columns))
        y[:states], w[states + place] = x[:states], 1.0
        y[size : size + states * columns] = u[:states].ravel()
        ybar, gains = np.zeros_like(y), np.zeros(columns * (1 + columns))
        back = routine_of(observed_back, len(y), self.statics(routines), externals(routines), "python")
        back(float(t), y, self._with_directions(routines, self.recording.parameters), w, ybar, gains)
        return ybar, gains[:columns], gains[columns:].reshape(columns, columns)


def externals(routines: Routines) -> dict[str, object]:
    """Programs of the way back with its tangents."""
    if isinstance(routines, OpenRoutines) and not routines.is_large:
        programs, at_once = routines.programs, min(AT_ONCE, routines.variation.columns)
        own = {"first_pullback": programs.pullback, "curvature": programs.curvature(at_once)}
        return {**routines.direct, **own, "pullback": open_pullback_twice}
    solved = constrained_programs(routines.variation)
    curved = ConstrainedCurvature(solved)
    curvatures = {
        "pullback_alone": solved.pullback_alone,
        "adjoint_tangent_rhs": curved.adjoint_tangent_rhs,
        "pullback_tangent": curved.pullback_tangent,
    }
    return {**routines.direct, **curvatures, "pullback": constrained_pullback_twice}
