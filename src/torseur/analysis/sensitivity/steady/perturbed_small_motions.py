"""Small motions about a steady state, and their derivatives by the parameters.

Small motions δy, δλ with factor exp(s t) satisfy, in the unreduced equations,

    s δq = rates_y δy,   r_y δy + s M δv + Cᵀ δλ = force,   c_y δy + s C δv = 0

which is linear in (δy, s δv, δλ): the derivative of (rates, r, c) along these. For left vectors (l₁, l₂, l₃) the scalar

    Ψ = l₁ · rates' - l₂ · r' - l₃ · c'      (a prime is the derivative along δy, δa = s δv, δλ)

changes with the parameters and with the steady state they move. An eigenvalue changes by
dΨ / (l₁ δq + l₂ M δv + l₃ C δv), a frequency response, with right and left solutions of the forced equations, by dΨ and
by what its own formula changes along the same motion.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import (
    Expr,
    Input,
    Program,
    as_expr,
    directional_derivative,
    symbol,
    vector,
    weighted_gradient,
)
from torseur.analysis.sensitivity.constrained.constrained_programs import ConstrainedPrograms
from torseur.analysis.sensitivity.criteria.motion_formulas import Read, read_formula
from torseur.analysis.sensitivity.method_routines import constrained_programs
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.analysis.sensitivity.model.preparation import Prepared
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.steady.steady_states import SteadyState, steady_state
from torseur.computation.linearisation import SmallMotions, linearise
from torseur.computation.simulation.constrained.constraint_quantities import ConstrainedQuantities
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError

Complex = NDArray[np.complex128]


class ForcedQuantities(ConstrainedQuantities):
    """Quantities under a force from outside, in which accelerations do not follow from the state alone."""

    @property
    def has_symbols(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Perturbed:
    """Small motions about a steady state, with everything that varies."""

    variation: Variation
    state: SteadyState
    motions: SmallMotions

    @staticmethod
    def about(ready: Prepared, moving: Collection[str], fixed: Collection[str]) -> Perturbed:
        """Those of a prepared mechanism."""
        state = steady_state(ready, moving, fixed)
        if not isinstance(state, SteadyState):
            raise TorseurError(f"{ready.system.name}: small motions are those of a mechanism.")
        given = dict(zip([q.name for q in ready.system.parameters], ready.system.values, strict=True))
        motions = linearise(state.steady.point.equations, state.steady.state, parameters=given)
        return Perturbed(state.variation, state, motions)

    @cached_property
    def programs(self) -> ConstrainedPrograms:
        return constrained_programs(self.variation)

    @cached_property
    def _rows(self) -> list[int]:
        """Constraints that say something new."""
        rows = self.state.steady.point.rows
        # Redundant constraints would make A - s E singular for every s.
        independent: list[int] = []
        for k in range(len(rows)):
            if np.linalg.matrix_rank(rows[[*independent, k]], tol=1e-9 * np.abs(rows).max()) > len(independent):
                independent.append(k)
        return independent

    @cached_property
    def _pencil(self) -> tuple[Vector, Vector]:
        """A and E of s E z = A z + force, with z = (δq, δv, δλ)."""
        point, rows = self.state.steady.point, self._rows
        n, m, c = point.numbers.coordinates, point.speeds, len(rows)
        derivatives = point.numbers.of(
            point.programs.linearised_with_laws, 0.0, point.y, a=np.zeros(m), l=self.state.steady.multipliers
        )
        by_rows = derivatives["row_derivatives"].reshape(n + m, -1)[:, rows]
        constraints = point.rows[rows]
        #          δq δv    δλ                    δq  δv  δλ
        #     A = [ rates_y   0  ]           E = [ 1   0   0 ]     δq' = rates_y δy
        #         [ -r_y     -Cᵀ ]               [ 0   M   0 ]     balance of forces
        #         [ -c_y      0  ]               [ 0   C   0 ]     constraints on accelerations
        a = np.block(
            [
                [derivatives["rate_derivatives"].T, np.zeros((n, c))],
                [-derivatives["force_derivatives"].T, -constraints.T],
                [-by_rows.T, np.zeros((c, c))],
            ]
        )
        e = np.zeros_like(a)
        e[:n, :n], e[n : n + m, n : n + m], e[n + m :, n : n + m] = np.eye(n), point.mass, constraints
        return a, e

    def eigenvalue_derivatives(self, s: complex) -> Complex:
        """dΨ / (l E z) for right and left eigenvectors."""
        a, e = self._pencil
        # Right and left eigenvectors span the null spaces of A - s E; the singular vectors of its smallest singular
        # value do so stably, also where E is singular and a generalised eigensolver would mix in infinite eigenvalues.
        u, _, vh = np.linalg.svd(a - s * e)
        right, left = vh[-1].conj(), u[:, -1].conj()
        right, left = right.astype(complex), left.astype(complex)
        return self._derivatives(self._scalar, left, right, s) / (left @ e @ right)

    def read(self, text: str) -> Read:
        """A formula in the names of the mechanism, with accelerations and multipliers as symbols."""
        system, programs = self.variation.system, self.programs.programs
        return read_formula(text, replace(system, quantities=ForcedQuantities(programs), solution=programs.solution))

    def forced(self, force: int, output: Expr, s: complex) -> tuple[complex, Complex, Complex]:
        """The response at one frequency, the small motion that it belongs to, and the output as a row of that."""
        a, e = self._pencil
        n = self.state.steady.point.numbers.coordinates
        load = np.zeros(len(a))
        load[n + force] = 1.0
        row = self._row(output, s)
        # Redundancy of quaternions leaves the equations consistent but not square: least squares solves both.
        right = np.asarray(np.linalg.lstsq(s * e - a, load.astype(complex), rcond=1e-13)[0], dtype=complex)
        return complex(row @ right), right, row

    def response(self, force: int, output: Expr, s: complex) -> tuple[complex, Complex]:
        """The response and its derivatives at one frequency."""
        (value, right, row), (a, e) = self.forced(force, output, s), self._pencil
        observed = self._output_derivative(output)
        left = np.asarray(np.linalg.lstsq((s * e - a).T, row, rcond=1e-13)[0], dtype=complex)
        derivatives = self._derivatives(self._scalar, left, right, s) + self._derivatives(observed, left, right, s)
        return value, derivatives

    def _row(self, output: Expr, s: complex) -> Complex:
        """The output as a combination of (δq, δv, δλ)."""
        layout, rows = self.programs.programs.equations.layout, self._rows
        n, m = len(layout.coordinates), len(layout.speeds)
        known = (*self.variation.states, *layout.accelerations, *self.programs.programs.multipliers)
        gradient = weighted_gradient([output], [as_expr(1)], known)
        inputs = tuple(group for group in self._inputs if len(group))
        steady = self.state.steady
        values = {"t": [0.0], "y": steady.point.y.tolist(), "p": list(self.variation.system.values)}
        values |= {"a": [0.0] * m, "l": steady.multipliers.tolist()}
        program = Program("observed", inputs, (vector("derivatives", gradient),))
        entries = program.evaluate({g.name: values[g.name] for g in inputs})["derivatives"]
        derivatives = np.array([float(x) for x in entries])
        by_state, by_acceleration, by_multiplier = np.split(derivatives, [n + m, n + 2 * m])
        by_state = by_state.astype(complex)
        by_state[n:] += s * by_acceleration
        return np.concatenate([by_state, by_multiplier[rows]])

    @property
    def _inputs(self) -> tuple[Input, ...]:
        layout, programs = self.programs.programs.equations.layout, self.programs.programs
        first = Input("t", (TIME,)), Input("y", self.variation.states), Input("p", layout.parameters)
        return (*first, Input("a", layout.accelerations), Input("l", programs.multipliers))

    @cached_property
    def _scalar(self) -> Program:
        """dΨ along a move of the steady state and the constants, as a program of everything it depends on."""
        formulas = [*self.programs.programs.equations.rates, *self.programs.equations_of_motion]
        rates = len(self.programs.programs.equations.rates)
        signs = [1] * rates + [-1] * (len(formulas) - rates)
        left = self._marks["left"]
        return self._second_derivative([sign * l for sign, l in zip(signs, left, strict=True)], formulas)

    def _output_derivative(self, output: Expr) -> Program:
        """The derivative of what a small motion makes of a formula, along a move of the steady state."""
        return self._second_derivative([as_expr(1)], [output])

    @cached_property
    def _marks(self) -> dict[str, tuple[Expr, ...]]:
        layout, multipliers = self.programs.programs.equations.layout, self.programs.programs.multipliers
        states, constants = len(self.variation.states), len(self.variation.moving)
        sizes = {
            "left": len(layout.coordinates) + len(self.programs.equations_of_motion), "dy": states,
            "da": len(layout.accelerations), "dl": len(multipliers), "ey": states, "el": len(multipliers),
            "ep": constants,
        }  # fmt: skip
        return {name: tuple(symbol(f"{name} {k}") for k in range(count)) for name, count in sizes.items()}

    def _second_derivative(self, left: Sequence[Expr], formulas: Sequence[Expr]) -> Program:
        """Weighted formulas, differentiated along a small motion and then along a move of the steady state."""
        marks, multipliers = self._marks, self.programs.programs.multipliers
        accelerations, states = self.programs.programs.equations.layout.accelerations, self.variation.states
        motion = zip((*states, *accelerations, *multipliers), (*marks["dy"], *marks["da"], *marks["dl"]), strict=True)
        tangents = directional_derivative(list(formulas), dict(motion))
        psi = sum((w * x for w, x in zip(left, tangents, strict=True)), as_expr(0))
        ends = (*states, *multipliers, *self.variation.moving), (*marks["ey"], *marks["el"], *marks["ep"])
        (derivative,) = directional_derivative([psi], dict(zip(*ends, strict=True)))
        inputs = [*self._inputs, *(Input(name, nodes) for name, nodes in marks.items())]
        return Program("mode_derivative", tuple(g for g in inputs if len(g)), (vector("derivative", [derivative]),))

    def _derivatives(self, program: Program, left: Complex, right: Complex, s: complex) -> Complex:
        """What such a program gives for each parameter; the steady state moves along."""
        point, rows = self.state.steady.point, self._rows
        n, m, count = point.numbers.coordinates, point.speeds, len(point.rows)
        whole = np.zeros(n + m + count, dtype=complex)
        whole[: n + m], whole[[n + m + k for k in rows]] = left[: n + m], left[n + m :]
        multipliers = np.zeros(count, dtype=complex)
        multipliers[rows] = right[n + m :]
        system, tangents = self.variation.system, self.state.tangents
        constants = MotionDerivatives(self.variation).directions
        result = []
        for k in range(self.variation.columns):
            values = {
                "t": [0.0], "y": point.y, "p": system.values, "a": np.zeros(m), "l": self.state.steady.multipliers,
                "left": whole, "dy": right[: n + m], "da": s * right[n : n + m], "dl": multipliers,
                "ey": self.state.state_tangents[:, k], "el": tangents[point.moves + m :, k], "ep": constants[:, k],
            }  # fmt: skip
            given = {g.name: [_number(x) for x in np.asarray(values[g.name])] for g in program.inputs}
            result.append(complex(program.evaluate(given)["derivative"][0]))
        return np.array(result)


def _number(x: Any) -> complex | float:
    """A plain Python number."""
    return complex(x) if np.iscomplexobj(x) else float(x)
