"""λ(t) and the basis Q_f(t) of the adjoint system, as the printed equations have them.

`ContinuousAdjoint` integrates adjoints μ of y' = F(y): μ' = -F_yᵀ μ. In A(y) y' = f(y), with A regular, the printed λ
has Aᵀ λ = -μ, where entries of the right side that belong to integrals of multipliers are zero. The basis of the
homogeneous system with Q_f = 1 at the end is A⁻ᵀ(t) Q(t) Aᵀ(t_f), where Q is that of μ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.algebra.graph import Input, Program, matrix
from torseur.analysis.sensitivity.adjoint.continuous_adjoint import ContinuousAdjoint, basis
from torseur.analysis.sensitivity.criteria.criteria import as_criteria, read_criterion
from torseur.analysis.sensitivity.extended_loop import Course
from torseur.analysis.sensitivity.model.preparation import prepare
from torseur.analysis.sensitivity.sensitivity_study import Study
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import System, Vector
from torseur.computation.simulation.problem import sample_times
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms import derive
from torseur.description.mechanism import TIME, Mechanism
from torseur.errors import TorseurError, UnsupportedError


@dataclass(frozen=True, eq=False)
class AdjointSolution:
    """λ of one criterion along a motion, a column per row of A, and the basis Q_f (time, row, solution).

    `basis` is None where there are constraints: C λ_v = 0 leaves no solution that is one at the end.
    """

    criterion: str
    rows: tuple[str, ...]
    time: Vector
    values: Vector
    basis: Vector | None
    conditions: Vector | None

    def plot(self, path: str | Path, of_basis: bool = False) -> Path:
        """Draws λ over time, or the entries of the basis."""
        from torseur.analysis.sensitivity.results.sensitivity_plots import draw_adjoints

        if of_basis and self.basis is None:
            raise UnsupportedError("with constraints the adjoint system has no basis that is one at the end.")
        return draw_adjoints(self, Path(path), of_basis)


def adjoint_solution(
    model: Mechanism | Equations,
    criterion: str | Criterion,
    *,
    until: float,
    samples: int = 101,
    integral: bool = False,
    values: Mapping[str, float] | None = None,
    initial: Mapping[str, float] | None = None,
    rtol: float = 1e-9,
) -> AdjointSolution:
    """λ(t) of the adjoint system that `sensitivity_equations` writes, from its end conditions back, and its basis.

    The criterion is a value at the end or an integral; jumps, contacts and events have no λ that is one curve.
    """
    if not isinstance(model, Mechanism | Equations):
        raise TorseurError(f"a model is a mechanism or its equations, not {type(model).__name__}.")
    (wanted,) = as_criteria(criterion, integral)
    if wanted.kind not in ("value", "integral"):
        raise UnsupportedError(f"criterion '{wanted.label}': λ(t) is given of values at the end and integrals.")
    equations = model if isinstance(model, Equations) else derive(model)
    ready = prepare(equations, [f"{equations.layout.coordinate_names[0]}(0)"], values or {}, initial or {}, {}, 0.0)
    times = sample_times(samples, 0.0, until, 8)
    course = Course(0.0, until, times, rtol, None, 1_000_000, None, "auto", 1e9, None, "explicit")
    study = Study(ready, (read_criterion(wanted, ready.system),), course)
    if len(study.discontinuities):
        raise UnsupportedError("jumps and loads that switch make λ jump: it is not one curve.")
    adjoint = ContinuousAdjoint(study.routines, course)
    settings = ready.system.solver_parameters
    motion = adjoint.motion
    _, ends, _ = study.end_adjoints(motion.t, motion.y, study.criteria, lambda t: settings)
    back = np.ascontiguousarray(times[::-1])
    curves = adjoint.solutions(ends, back)[0][::-1, 0]
    states = len(ready.system.states)
    matrices = _matrices(equations, ready.system, times, motion.samples[:, :states])
    size, count = matrices.shape[1], equations.multipliers
    right = np.hstack([curves[:, :states], np.zeros((len(times), size - states))])
    adjoints = np.array([np.linalg.solve(a.T, -r) for a, r in zip(matrices, right, strict=True)])
    names = tuple(str(x.name) for x in (*equations.layout.coordinates, *equations.layout.speeds, *count))
    if count:
        return AdjointSolution(wanted.label, names, times, adjoints, None, None)
    whole = basis(adjoint).q[:, :states, :states]
    own = np.array([np.linalg.solve(a.T, q @ matrices[-1].T) for a, q in zip(matrices, whole, strict=True)])
    conditions = np.array([np.linalg.cond(q) for q in own])
    return AdjointSolution(wanted.label, names, times, adjoints, own, conditions)


def _matrices(equations: Equations, system: System, times: Vector, states: Vector) -> Vector:
    """A along the motion."""
    layout = equations.layout
    inputs = [Input("t", (TIME,)), Input("y", (*layout.coordinates, *layout.speeds)), Input("p", layout.parameters)]
    program = Program("state_matrix", tuple(g for g in inputs if len(g)), (matrix("A", equations.state_form.matrix),))
    run = Evaluator(program)
    given = {"p": list(system.values)} if len(layout.parameters) else {}
    return np.array([run({"t": [float(t)], "y": y.tolist(), **given})["A"] for t, y in zip(times, states, strict=True)])
