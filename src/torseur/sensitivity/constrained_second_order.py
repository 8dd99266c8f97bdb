"""Second derivatives with constraints: the way back through K [x; m] = [weights], differentiated along every parameter.

With the changes of states, accelerations and multipliers along a parameter known, K [x'; m'] = [weights]' - K' [x; m],
and what `pulled` gives changes along all of these. The projections of the steps count as the identity here: along the
constraints they are, up to the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torseur.codegen.routine import Array, External, Static, routine, zeros
from torseur.graph import Expr, Input, Program, as_expr, directional_derivative, jacobian, symbol, vector
from torseur.sensitivity.constrained_programs import ConstrainedPrograms
from torseur.sensitivity.constrained_tangent import (
    NSHARED,
    NZ,
    changed,
    factored_motion,
    integrands,
    slopes,
    solve_columns,
    solve_factored,
)
from torseur.sensitivity.tangent import NM, NPAR, NX, NY
from torseur.simulation.constrained.sizes import NC, NQ, NV

DIRECTIONS: int = Static("DIRECTIONS")  # place in p of the changes of the constants that vary, behind everything else

pulled_alone = External(
    "pulled_alone", "t: float, y: Array, p: Array, a: Array, l: Array, w: Array, x: Array, ybar: Array, pbar: Array"
)
bending = External(
    "bending",
    "t: float, y: Array, p: Array, a: Array, l: Array, w: Array, x: Array, u: Array, b: Array, k: Array, v: Array, "
    "e: Array, out: Array",
)
bent_pull = External(
    "bent_pull",
    "t: float, y: Array, p: Array, a: Array, l: Array, w: Array, x: Array, u: Array, b: Array, k: Array, v: Array, "
    "z: Array, e: Array, ybar: Array, pbar: Array",
)


@routine
def constrained_pull_twice(t: float, y: Array, p: Array, known: Array, w: Array, ybar: Array, gains: Array) -> None:
    """Weights w of (x', u') pulled back, and what the parameters and then the Hessian gain (see open_pull_twice)."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    plain = zeros(NC * NV)
    shared = zeros(NSHARED + 1)
    r = zeros(NC * NC)
    own = zeros(NQ + NV)
    multipliers = zeros(NC + 1)
    rate_slopes = zeros((NY + NPAR) * NQ)
    equation_slopes = zeros((NY + NPAR) * (NV + NC))
    integrand_slopes = zeros((NY + NPAR) * NZ + 1)
    change = zeros((NV + NC) * NPAR)
    values = zeros(NZ + 1)
    by_solution = zeros(NZ * (NV + NC) + 1)
    x = zeros(NV + NC)
    weight = factored_motion(t, y, p, own, multipliers, mass, rows, r, plain, shared)
    a = own[NQ:]
    slopes(t, y, p, a, multipliers, shared, rate_slopes, equation_slopes, integrand_slopes)
    changed(NV + NC, -1.0, equation_slopes, y[NX:], change)
    solve_columns(p, mass, rows, r, plain, weight, change)
    for i in range(NV):
        x[i] = w[NQ + i]
    if NZ > 0:
        integrands(t, y, p, a, multipliers, values, by_solution)
        for n in range(NZ):
            for i in range(NV + NC):
                x[i] += by_solution[n * (NV + NC) + i] * w[NY + n]
    solve_factored(p, mass, rows, r, plain, weight, x, x[NV:])
    pulled_alone(t, y, p, a, multipliers, w, x, ybar, gains)
    for i in range(NY * NPAR, NX * NPAR):
        ybar[NX + i] = 0.0
    for k in range(NPAR):
        bend(t, y, p, a, multipliers, w, x, k, change, mass, rows, r, plain, weight, ybar, gains[NPAR:])


@routine
def bend(
    t: float,
    y: Array,
    p: Array,
    a: Array,
    multipliers: Array,
    w: Array,
    x: Array,
    k: int,
    change: Array,
    mass: Array,
    rows: Array,
    r: Array,
    plain: Array,
    weight: float,
    ybar: Array,
    hessian: Array,
) -> None:
    """Changes of the weights along parameter k."""
    u = zeros(NY)
    b = zeros(NV)
    l = zeros(NC + 1)
    v = zeros(NX)
    d = zeros(NM + 1)
    z = zeros(NV + NC)
    turned = zeros(NY)
    part = zeros(NPAR)
    column(NY, k, y[NX:], u)
    column(NV, k, change, b)
    column(NC, k, change[NV * NPAR :], l)
    column(NX, k, w[NX:], v)
    column(NM, k, p[DIRECTIONS:], d)
    bending(t, y, p, a, multipliers, w, x, u, b, l, v, d, z)
    solve_factored(p, mass, rows, r, plain, weight, z, z[NV:])
    bent_pull(t, y, p, a, multipliers, w, x, u, b, l, v, z, d, turned, part)
    for i in range(NY):
        ybar[NX + i * NPAR + k] = turned[i]
    for i in range(NPAR):
        hessian[i * NPAR + k] = part[i]


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
        """What varies along a parameter, by the name of its change."""
        pulled, solution = self.programs.pulled_alone, self.programs.programs.solution
        variation = self.programs.variation
        return {
            "u": variation.states,
            "b": solution[0].nodes,
            "k": solution[1].nodes,
            "v": pulled.input("w").nodes,
            "e": variation.moving,
        }

    @cached_property
    def _marks(self) -> dict[str, tuple[Expr, ...]]:
        marks = {
            name: tuple(symbol(f"{name} of second order {k}") for k in range(len(nodes)))
            for name, nodes in self._nodes.items()
        }
        count = len(self.programs.equations_of_motion)
        return {**marks, "z": tuple(symbol(f"z of second order {k}") for k in range(count))}

    def _along(self, *names: str) -> dict[Expr, Expr]:
        return {node: mark for name in names for node, mark in zip(self._nodes[name], self._marks[name], strict=True)}

    def _inputs(self, *names: str) -> tuple[Input, ...]:
        return (*self.programs.pulled_alone.inputs, *(Input(name, self._marks[name]) for name in names))

    @cached_property
    def bending(self) -> Program:
        """[weights]' - K' [x; m]."""
        programs = self.programs
        pulled = programs.pulled_alone
        x, w = pulled.input("x").nodes, pulled.input("w").nodes
        speeds = len(programs.programs.equations.layout.speeds)
        turned = directional_derivative(self._stiffness(x), self._along("u", "e"))
        own = [
            *self._marks["v"][len(w) - speeds - self._count : len(w) - self._count],
            *([as_expr(0)] * (len(x) - speeds)),
        ]
        weighed = directional_derivative(self._weighed(w), self._along("u", "b", "k", "v", "e"))
        total = [a + b - c for a, b, c in zip(own, weighed, turned, strict=True)]
        return Program("bending", self._inputs("u", "b", "k", "v", "e"), (vector("out", total),))

    @property
    def _count(self) -> int:
        return len(self.programs.variation.integrands)

    def _stiffness(self, x: tuple[Expr, ...]) -> list[Expr]:
        """K [x; m]."""
        mechanism = self.programs.programs
        speeds = len(mechanism.equations.layout.speeds)
        upper = []
        for i, row in enumerate(mechanism.equations.mass_matrix):
            total = sum((m * e for m, e in zip(row, x[:speeds], strict=True)), as_expr(0))
            upper.append(sum((c.row[i] * e for c, e in zip(mechanism.constraints, x[speeds:], strict=True)), total))
        lower = [
            sum((a * e for a, e in zip(c.row, x[:speeds], strict=True)), as_expr(0)) for c in mechanism.constraints
        ]
        return [*upper, *lower]

    def _weighed(self, w: tuple[Expr, ...]) -> list[Expr]:
        """Weights that the integrands put on accelerations and multipliers."""
        known = [node for group in self.programs.programs.solution for node in group.nodes]
        formulas = self.programs.variation.integrands
        found = jacobian(list(formulas), known)
        of_integrals = w[len(w) - len(formulas) :]
        return [
            sum((found[i, j] * of_integrals[i] for i in range(len(formulas)) if (i, j) in found), as_expr(0))
            for j in range(len(known))
        ]

    @cached_property
    def bent_pull(self) -> Program:
        """Changes of what `pulled` gives."""
        pulled = self.programs.pulled_alone
        along = {**self._along("u", "b", "k", "v", "e")}
        along |= dict(zip(pulled.input("x").nodes, self._marks["z"], strict=True))
        ybar, pbar = (directional_derivative(list(output.entries), along) for output in pulled.outputs)
        return Program(
            "bent_pull", self._inputs("u", "b", "k", "v", "z", "e"), (vector("ybar", ybar), vector("pbar", pbar))
        )
