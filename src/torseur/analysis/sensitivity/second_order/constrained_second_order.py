"""Second derivatives with constraints: the pullback through K [x; m] = [ā; λ̄], differentiated along every parameter.

    K = [M Cᵀ]      ā, λ̄: adjoints of accelerations and multipliers      x, m: adjoints of the residuals r and c
        [C 0 ]

Along a parameter the tangents of states, accelerations and multipliers are known (a prime here), so that

    K [x'; m'] = [ā; λ̄]' - K' [x; m]

has the factors of K itself, and the pullback is differentiated along all of these. The projections of the steps count
as the identity here: along the constraints they are, up to the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from torseur.algebra.graph import Expr, Input, Program, as_expr, directional_derivative, jacobian, symbol, vector
from torseur.analysis.sensitivity.constrained.constrained_programs import ConstrainedPrograms
from torseur.analysis.sensitivity.constrained.constrained_tangents import (
    Derivatives,
    SolvedMotion,
    adjoint_of_solution,
    differentiate,
    motion_derivatives,
    solve_columns,
    solve_motion_with_factors,
    solve_with_factors,
)
from torseur.analysis.sensitivity.direct.tangent_routines import NM, NPAR, NX, NY
from torseur.computation.codegen.routine import Array, External, Record, Static, flat, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import NC, NQ, NV

DIRECTIONS: int = Static("DIRECTIONS")  # place in p of the tangents of the constants that vary, behind everything


class Direction(Record):
    """Tangents along one parameter; programs know them by these names."""

    u: Annotated[Array, NY]  # of the states
    b: Annotated[Array, NV]  # of the accelerations
    k: Annotated[Array, NC]  # of the multipliers
    v: Annotated[Array, NX]  # of the adjoints of x'
    e: Annotated[Array, NM]  # of the constants that vary


class AdjointTangents(Record):
    """Tangents of the adjoints along that parameter."""

    z: Annotated[Array, NV + NC]  # [x'; m']
    ybar: Annotated[Array, NY]
    pbar: Annotated[Array, NPAR]


pullback_alone = External(
    "pullback_alone",
    "t: float, y: Array, p: Array, solved: SolvedMotion, w: Array, x: Array, ybar: Array, pbar: Array",
    SolvedMotion,
)
adjoint_tangent_rhs = External(
    "adjoint_tangent_rhs",
    "t: float, y: Array, p: Array, solved: SolvedMotion, w: Array, x: Array, along: Direction, out: Array",
    SolvedMotion,
    Direction,
)
pullback_tangent = External(
    "pullback_tangent",
    "t: float, y: Array, p: Array, solved: SolvedMotion, w: Array, x: Array, along: Direction, out: AdjointTangents",
    SolvedMotion,
    Direction,
    AdjointTangents,
)


@routine
def constrained_pullback_twice(t: float, y: Array, p: Array, known: Array, w: Array, ybar: Array, gains: Array) -> None:
    """Adjoints w of (x', u') pulled back; what parameters and Hessian gain (see open_pullback_twice)."""
    solved = SolvedMotion()
    derivatives = Derivatives()
    along = Direction()
    out = AdjointTangents()
    rates = zeros(NQ)
    tangents = zeros(NV + NC, NPAR)  # of accelerations and multipliers
    x = zeros(NV + NC)
    solve_motion_with_factors(t, y, p, rates, solved)
    motion_derivatives(t, y, p, solved, derivatives)
    # As in constrained_tangent_rhs: the tangents of accelerations and multipliers, which states alone do not carry.
    differentiate(NV + NC, -1.0, flat(derivatives.equation_derivatives), y[NX:], flat(tangents))
    solve_columns(p, solved, tangents)
    adjoint_of_solution(t, y, p, solved, w, x)
    pullback_alone(t, y, p, solved, w, x, ybar, gains)
    for i in range(NY * NPAR, NX * NPAR):
        ybar[NX + i] = 0.0
    for k in range(NPAR):
        column(NY, k, y[NX:], along.u)
        column(NV, k, flat(tangents), along.b)
        column(NC, k, flat(tangents[NV:]), along.k)
        column(NX, k, w[NX:], along.v)
        column(NM, k, p[DIRECTIONS:], along.e)
        # [x; m]' by the factors of K again; only then can the pullback be differentiated along everything in it.
        adjoint_tangent_rhs(t, y, p, solved, w, x, along, out.z)
        solve_with_factors(p, solved, out.z, out.z[NV:])
        pullback_tangent(t, y, p, solved, w, x, along, out)
        for i in range(NY):
            ybar[NX + i * NPAR + k] = out.ybar[i]
        for i in range(NPAR):
            gains[NPAR + i * NPAR + k] = out.pbar[i]


@routine
def column(count: int, k: int, source: Array, target: Array) -> None:
    """One column of a matrix with a column per parameter."""
    for i in range(count):
        target[i] = source[i * NPAR + k]


@dataclass(frozen=True, eq=False)
class ConstrainedCurvature:
    """The programs of the way back differentiated once more."""

    programs: ConstrainedPrograms

    @property
    def _nodes(self) -> dict[str, tuple[Expr, ...]]:
        """What varies along a parameter, by the name of its tangent."""
        pullback, solution = self.programs.pullback_alone, self.programs.programs.solution
        variation = self.programs.variation
        return {
            "u": variation.states,
            "b": solution[0].nodes,
            "k": solution[1].nodes,
            "v": pullback.input("w").nodes,
            "e": variation.moving,
        }

    @cached_property
    def _marks(self) -> dict[str, tuple[Expr, ...]]:
        marks = {
            name: tuple(symbol(f"{name} of second order {k}") for k in range(len(nodes)))
            for name, nodes in self._nodes.items()
        }
        # z is [x; m]', which is solved for in between: an input of the second program only.
        count = len(self.programs.equations_of_motion)
        return {**marks, "z": tuple(symbol(f"z of second order {k}") for k in range(count))}

    def _along(self, *names: str) -> dict[Expr, Expr]:
        return {node: mark for name in names for node, mark in zip(self._nodes[name], self._marks[name], strict=True)}

    def _inputs(self, *names: str) -> tuple[Input, ...]:
        return (*self.programs.pullback_alone.inputs, *(Input(name, self._marks[name]) for name in names))

    @cached_property
    def adjoint_tangent_rhs(self) -> Program:
        """[adjoints]' - K' [x; m]."""
        programs = self.programs
        pullback = programs.pullback_alone
        x, w = pullback.input("x").nodes, pullback.input("w").nodes
        speeds = len(programs.programs.equations.layout.speeds)
        # K depends on states and constants only; [ā; λ̄] on everything, through the integrands.
        stiffness = directional_derivative(self._stiffness(x), self._along("u", "e"))
        own = [
            *self._marks["v"][len(w) - speeds - self._count : len(w) - self._count],
            *([as_expr(0)] * (len(x) - speeds)),
        ]
        of_integrands = directional_derivative(self._adjoints_by_integrands(w), self._along("u", "b", "k", "v", "e"))
        total = [a + b - c for a, b, c in zip(own, of_integrands, stiffness, strict=True)]
        return Program("adjoint_tangent_rhs", self._inputs("u", "b", "k", "v", "e"), (vector("out", total),))

    @property
    def _count(self) -> int:
        return len(self.programs.variation.integrands)

    def _stiffness(self, x: tuple[Expr, ...]) -> list[Expr]:
        """K [x; m]."""
        mechanism = self.programs.programs
        speeds = len(mechanism.equations.layout.speeds)
        #     [M Cᵀ] [x]
        #     [C 0 ] [m]
        upper = []
        for i, row in enumerate(mechanism.equations.mass_matrix):
            total = sum((m * e for m, e in zip(row, x[:speeds], strict=True)), as_expr(0))
            upper.append(sum((c.row[i] * e for c, e in zip(mechanism.constraints, x[speeds:], strict=True)), total))
        lower = [
            sum((a * e for a, e in zip(c.row, x[:speeds], strict=True)), as_expr(0)) for c in mechanism.constraints
        ]
        return [*upper, *lower]

    def _adjoints_by_integrands(self, w: tuple[Expr, ...]) -> list[Expr]:
        """Adjoints that the integrands put on accelerations and multipliers."""
        known = [node for group in self.programs.programs.solution for node in group.nodes]
        formulas = self.programs.variation.integrands
        by_solution = jacobian(list(formulas), known)
        of_integrals = w[len(w) - len(formulas) :]
        return [
            sum(
                (by_solution[i, j] * of_integrals[i] for i in range(len(formulas)) if (i, j) in by_solution), as_expr(0)
            )
            for j in range(len(known))
        ]

    @cached_property
    def pullback_tangent(self) -> Program:
        """Tangents of what `pullback` gives."""
        pullback = self.programs.pullback_alone
        along = {**self._along("u", "b", "k", "v", "e")}
        along |= dict(zip(pullback.input("x").nodes, self._marks["z"], strict=True))
        ybar, pbar = (directional_derivative(list(output.entries), along) for output in pullback.outputs)
        return Program(
            "pullback_tangent", self._inputs("u", "b", "k", "v", "z", "e"), (vector("ybar", ybar), vector("pbar", pbar))
        )
