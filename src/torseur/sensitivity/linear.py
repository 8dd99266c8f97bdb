"""Sensitivities of small motions about a steady state: eigenvalues and frequency responses.

Small motions δy, δλ with factor exp(s t) satisfy, in the unreduced equations,

    s δq = rates_y δy,   r_y δy + s M δv + Cᵀ δλ = force,   c_y δy + s C δv = 0

which is linear in (δy, s δv, δλ): the change of (rates, r, c) along these. For left weights (l₁, l₂, l₃) the scalar

    Ψ = l₁ · rates' - l₂ · r' - l₃ · c'      (a prime is the change along δy, δa = s δv, δλ)

changes with the parameters and with the steady state they move. An eigenvalue changes by
dΨ / (l₁ δq + l₂ M δv + l₃ C δv), a frequency response, with right and left solutions of the forced equations, by dΨ.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.errors import TorseurError, unknown_name
from torseur.graph import Input, Program, as_expr, directional_derivative, symbol, vector
from torseur.linearisation import SmallMotions, linearise, steady_motion
from torseur.linearisation.frequency import force_slot
from torseur.mechanism import TIME
from torseur.sensitivity.constrained_programs import ConstrainedPrograms
from torseur.sensitivity.parameters import Requested, Varied, constants_matrix
from torseur.sensitivity.preparation import prepare
from torseur.sensitivity.routines import constrained_programs
from torseur.sensitivity.steady import SteadyState
from torseur.sensitivity.variation import Variation
from torseur.simulation.from_equations import Model
from torseur.simulation.system import Vector

Complex = NDArray[np.complex128]
REPEATED = 1e-6  # distance of eigenvalues, in units of the largest, below which they are not told apart


@dataclass(frozen=True, eq=False)
class ModeSensitivities:
    """Eigenvalues of small motions (1/s), slowest first, and their slopes: a row per mode, a column per parameter."""

    parameters: tuple[Varied, ...]
    motions: SmallMotions
    eigenvalues: Complex
    slopes: Complex
    notes: tuple[str, ...] = ()

    @property
    def frequency_slopes(self) -> Vector:
        """Of the frequencies |Im s| / 2π (Hz)."""
        return np.asarray(np.sign(self.eigenvalues.imag)[:, None] * self.slopes.imag / (2.0 * np.pi))

    @property
    def damping_slopes(self) -> Vector:
        """Of the damping ratios -Re s / |s|."""
        s, ds = self.eigenvalues[:, None], self.slopes
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.abs(s)
            return np.asarray(-ds.real / size + s.real * (s.real * ds.real + s.imag * ds.imag) / size**3)


@dataclass(frozen=True, eq=False)
class ResponseSensitivities:
    """A frequency response at angular frequencies (rad/s), and its slopes: a row per frequency."""

    parameters: tuple[Varied, ...]
    frequencies: Vector
    values: Complex
    slopes: Complex

    @property
    def gain_slopes(self) -> Vector:
        """Of the gains |H|."""
        return np.asarray((np.conj(self.values)[:, None] * self.slopes).real / np.abs(self.values)[:, None])


def eigenvalue_sensitivity(
    model: Model,
    parameters: Requested | None = None,
    *,
    at: Mapping[str, float] | None = None,
    moving: Collection[str] = (),
    fixed: Collection[str] = (),
    values: Mapping[str, float] | None = None,
) -> ModeSensitivities:
    """Slopes of the eigenvalues of small motions about equilibrium, or about a steady motion (see steady_motion)."""
    small = _Small.about(model, parameters, at, moving, fixed, values)
    eigenvalues = np.array([mode.eigenvalue for mode in small.motions.modes])
    resolution = REPEATED * float(np.abs(eigenvalues).max(initial=0.0))
    slopes = np.full((len(eigenvalues), len(small.variation.varied)), np.nan + 0j)
    lost = []
    for k, s in enumerate(eigenvalues):
        apart = np.abs(np.delete(eigenvalues, k) - s).min(initial=np.inf)
        if abs(s) <= resolution or apart <= resolution:
            lost.append(f"{s:.4g}")
            continue
        slopes[k] = small.eigenvalue_slopes(complex(s))
    notes = (
        (f"No slopes for zero or repeated eigenvalues ({', '.join(lost)}): they need not be smooth.",) if lost else ()
    )
    return ModeSensitivities(small.variation.varied, small.motions, eigenvalues, slopes, notes)


def frequency_response_sensitivity(
    model: Model,
    input: str,
    output: str,
    frequencies: Sequence[float] | Vector,
    parameters: Requested | None = None,
    *,
    at: Mapping[str, float] | None = None,
    moving: Collection[str] = (),
    fixed: Collection[str] = (),
    values: Mapping[str, float] | None = None,
) -> ResponseSensitivities:
    """Slopes of the response of a coordinate or speed to a generalised force (see frequency_response)."""
    small = _Small.about(model, parameters, at, moving, fixed, values)
    omega = np.asarray(frequencies, dtype=float)
    found = [small.response(force_slot(small.motions, input), output, 1j * w) for w in omega]
    table = np.array([value for value, _ in found]), np.array([slopes for _, slopes in found])
    return ResponseSensitivities(small.variation.varied, omega, *table)


@dataclass(frozen=True, eq=False)
class _Small:
    """Small motions about a steady state, with everything that varies."""

    variation: Variation
    state: SteadyState
    motions: SmallMotions

    @staticmethod
    def about(
        model: Model,
        parameters: Requested | None,
        at: Mapping[str, float] | None,
        moving: Collection[str],
        fixed: Collection[str],
        values: Mapping[str, float] | None,
    ) -> _Small:
        ready = prepare(model, parameters, values or {}, at or {}, {}, 0.0)
        programs = ready.system.programs
        if programs is None:
            raise TorseurError(f"{ready.system.name}: small motions are those of a mechanism.")
        variation = Variation(ready.system, ready.varied, np.zeros((len(ready.system.states), len(ready.varied))))
        given = dict(zip([q.name for q in ready.system.parameters], ready.system.values, strict=True))
        steady = steady_motion(programs.equations, at, moving=moving, fixed=fixed, parameters=given)
        motions = linearise(programs.equations, steady.state, parameters=given)
        return _Small(variation, SteadyState(variation, steady, tuple(moving), tuple(fixed)), motions)

    @cached_property
    def programs(self) -> ConstrainedPrograms:
        return constrained_programs(self.variation)

    @cached_property
    def _rows(self) -> list[int]:
        """Constraints that say something new."""
        rows = self.state.steady.point.rows
        kept: list[int] = []
        for k in range(len(rows)):
            if np.linalg.matrix_rank(rows[[*kept, k]], tol=1e-9 * np.abs(rows).max()) > len(kept):
                kept.append(k)
        return kept

    @cached_property
    def _pencil(self) -> tuple[Vector, Vector]:
        """A and E of s E z = A z + force, with z = (δq, δv, δλ)."""
        point, rows = self.state.steady.point, self._rows
        n, m, c = point.numbers.coordinates, point.speeds, len(rows)
        slopes = point.numbers.of(
            point.programs.linearised_with_laws, 0.0, point.y, a=np.zeros(m), l=self.state.steady.multipliers
        )
        by_rows = slopes["row_slopes"].reshape(n + m, -1)[:, rows]
        constraints = point.rows[rows]
        a = np.block(
            [
                [slopes["rate_slopes"].T, np.zeros((n, c))],
                [-slopes["force_slopes"].T, -constraints.T],
                [-by_rows.T, np.zeros((c, c))],
            ]
        )
        e = np.zeros_like(a)
        e[:n, :n], e[n : n + m, n : n + m], e[n + m :, n : n + m] = np.eye(n), point.mass, constraints
        return a, e

    def eigenvalue_slopes(self, s: complex) -> Complex:
        """dΨ / (l E z) for right and left eigenvectors."""
        a, e = self._pencil
        u, _, vh = np.linalg.svd(a - s * e)
        right, left = vh[-1].conj(), u[:, -1].conj()
        right, left = right.astype(complex), left.astype(complex)
        return self._change(left, right, s) / (left @ e @ right)

    def response(self, force: int, output: str, s: complex) -> tuple[complex, Complex]:
        """The response and its slopes at one frequency."""
        a, e = self._pencil
        n = self.state.steady.point.numbers.coordinates
        load, row = np.zeros(len(a)), np.zeros(len(a))
        load[n + force] = 1.0
        row[self._output(output)] = 1.0
        # Redundancy of quaternions leaves the equations consistent but not square: least squares solves both.
        right = np.asarray(np.linalg.lstsq(s * e - a, load.astype(complex), rcond=1e-13)[0], dtype=complex)
        left = np.asarray(np.linalg.lstsq((s * e - a).T, row.astype(complex), rcond=1e-13)[0], dtype=complex)
        return complex(row @ right), self._change(left, right, s)

    def _output(self, name: str) -> int:
        states = [quantity.name for quantity in self.variation.system.states]
        if name not in states:
            raise TorseurError(unknown_name("coordinate or speed", name, states, "output: "))
        return states.index(name)

    @cached_property
    def _scalar(self) -> Program:
        """dΨ along a change of the steady state and the constants, as a program of everything it depends on."""
        layout = self.programs.programs.equations.layout
        states, constants = self.variation.states, self.variation.moving
        accelerations, multipliers = layout.accelerations, self.programs.programs.multipliers
        formulas = [*self.programs.programs.equations.rates, *self.programs.equations_of_motion]
        rates = len(layout.coordinates)
        names = {
            "left": len(formulas), "dy": len(states), "da": len(accelerations), "dl": len(multipliers),
            "ey": len(states), "el": len(multipliers), "ep": len(constants),
        }  # fmt: skip
        marks = {name: tuple(symbol(f"{name} {k}") for k in range(count)) for name, count in names.items()}
        along = dict(
            zip((*states, *accelerations, *multipliers), (*marks["dy"], *marks["da"], *marks["dl"]), strict=True)
        )
        changed = directional_derivative(formulas, along)
        signs = [1] * rates + [-1] * (len(formulas) - rates)
        psi = sum((sign * l * x for sign, l, x in zip(signs, marks["left"], changed, strict=True)), as_expr(0))
        moved = dict(zip((*states, *multipliers, *constants), (*marks["ey"], *marks["el"], *marks["ep"]), strict=True))
        (change,) = directional_derivative([psi], moved)
        inputs = [Input("t", (TIME,)), Input("y", states), Input("p", layout.parameters)]
        inputs += [Input("a", accelerations), Input("l", multipliers), *(Input(n, marks[n]) for n in names)]
        return Program("mode_change", tuple(g for g in inputs if len(g)), (vector("change", [change]),))

    def _change(self, left: Complex, right: Complex, s: complex) -> Complex:
        """dΨ for each parameter; the steady state moves along."""
        point, rows = self.state.steady.point, self._rows
        n, m, count = point.numbers.coordinates, point.speeds, len(point.rows)
        whole = np.zeros(n + m + count, dtype=complex)
        whole[: n + m], whole[[n + m + k for k in rows]] = left[: n + m], left[n + m :]
        multipliers = np.zeros(count, dtype=complex)
        multipliers[rows] = right[n + m :]
        program = self._scalar
        system, changes = self.variation.system, self.state.changes
        constants = constants_matrix(self.variation.varied, len(self.variation.constants))
        slots = [self.variation.constants.index(node) for node in self.variation.moving]
        result = []
        for k in range(self.variation.columns):
            values = {
                "t": [0.0], "y": point.y, "p": system.values, "a": np.zeros(m), "l": self.state.steady.multipliers,
                "left": whole, "dy": right[: n + m], "da": s * right[n : n + m], "dl": multipliers,
                "ey": self.state.state_changes[:, k], "el": changes[2 * m :, k], "ep": constants[slots, k],
            }  # fmt: skip
            given = {g.name: [_number(x) for x in np.asarray(values[g.name])] for g in program.inputs}
            result.append(complex(program.evaluate(given)["change"][0]))
        return np.array(result)


def _number(x: Any) -> complex | float:
    """A plain Python number."""
    return complex(x) if np.iscomplexobj(x) else float(x)
