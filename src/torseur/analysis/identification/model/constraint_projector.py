"""The constraint projector along recorded states: motions that loops and constraints allow.

C(q) v + drift = 0 leaves v = N z. Equations of motion multiplied by Nᵀ hold without multipliers, since N spans what
C lets through. Rows of C from closed loops restrict the coordinates too; those of rolling restrict speeds only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots
from torseur.algebra.graph import Input, Program, as_expr, vector
from torseur.analysis.identification.model.coordinate_rates import CoordinateRates
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine, compile_routine
from torseur.computation.simulation.model.initial_state import initial_state
from torseur.computation.simulation.output.along_motion import outputs_along
from torseur.derivation.loops import assemble
from torseur.derivation.loops.mobility.partition import independent_rows
from torseur.description.mechanism import TIME
from torseur.errors import IdentificationError, UnsupportedError

_CLOSED = 1e-10
_ROUNDS, _FEW, _ASTRAY = 60, 8, 1e-3
_RANK = 1e-8
_WAY = np.linspace(0.05, 0.35, 12)  # small steps first: near a singular start branches are close together


@dataclass(frozen=True, eq=False)
class Constraints:
    """Values at every sample: Φ (zero for rolling), the matrix C, drift and γ in C v + drift = 0 and C v̇ = γ."""

    residual: Array
    matrix: Array
    drift: Array
    gamma: Array


@dataclass(frozen=True, eq=False)
class Projector:
    """The constraints of a model, evaluated along samples in compiled code."""

    model: LinearModel

    @cached_property
    def rates(self) -> CoordinateRates:
        return CoordinateRates(self.model)

    @cached_property
    def holonomic(self) -> Slots:
        """Rows that restrict coordinates."""
        return np.flatnonzero([c.is_holonomic for c in self.model.equations.constraints])

    @cached_property
    def _along(self) -> CompiledRoutine:
        equations, layout = self.model.equations, self.model.equations.layout
        rows = equations.constraints
        entries = [c.residual if c.is_holonomic else as_expr(0) for c in rows] + [e for c in rows for e in c.row]
        entries += [c.drift for c in rows] + [c.gamma for c in rows]
        state = (*layout.coordinates, *layout.speeds)
        inputs = (Input("t", (TIME,)), Input("y", state), Input("p", layout.parameters))
        program = Program("constraints_along", inputs, (vector("z", entries),))
        sizes = {"N": len(state), "NZ": len(entries)}
        return compile_routine(outputs_along, sizes, {"outputs": program}, self.model.backend)

    def at(self, time: Array, q: Array, v: Array | None = None) -> Constraints:
        """The constraints at every sample, at rest when no speeds are given."""
        equations = self.model.equations
        m, n = len(equations.constraints), len(equations.layout.speeds)
        states = np.ascontiguousarray(np.hstack([q, np.zeros((len(q), n)) if v is None else v]))
        table = np.empty((len(q), m * (n + 3)))
        self._along(len(q), np.ascontiguousarray(time), states.ravel(), self.model.parameter_vector, table.ravel())
        # Columns of the table:  Φ (m) | C by rows (m n) | drift (m) | γ (m)
        residual, rest = table[:, :m], table[:, m + m * n :]
        return Constraints(residual, table[:, m : m + m * n].reshape(-1, m, n), rest[:, :m], rest[:, m:])

    def basis(self, time: Array, q: Array, preferred: tuple[int, ...] = ()) -> Array:
        """N at every sample, (samples, speeds, freedoms), one where the preferred speeds are independent.

        An orthonormal basis where they are not, which changes the scale of the remaining equations only.
        """
        # N is unique up to a change of z. Choosing it as the identity in the measured speeds makes each remaining
        # equation the one that a measured force drives, so that its noise is that force's noise.
        motions = null_space(self.at(time, q).matrix)
        freedoms = motions.shape[2]
        if not preferred or freedoms == 0:
            return motions
        chosen = independent_rows(motions[0], preferred)
        pivots = motions[:, chosen, :]
        weakest = np.linalg.svd(pivots, compute_uv=False)[:, -1]
        return motions @ np.linalg.inv(pivots) if weakest.min() > 1e-3 else motions

    def close(self, time: Array, q: Array, held: tuple[int, ...] = (), rounds: int = _ROUNDS) -> Array:
        """Coordinates brought onto the loops, those in `held` left as they are."""
        near, rows, fixed = q.copy(), self.holonomic, list(held)
        for _ in range(rounds):
            now = self.at(time, near)
            if float(np.nanmax(np.abs(now.residual), initial=0.0)) < _CLOSED * 1e-2:
                break
            kept = self.rates.at(time, near).matrix[:, fixed]
            # Newton's step for  [ C ]        [ -Φ ]
            #                    [ E ] δ  =   [  0 ],   E the rates of held coordinates; redundant rows may stay
            ways = np.concatenate([now.matrix[:, rows], kept], axis=1)
            right = np.hstack([-now.residual[:, rows], np.zeros((len(q), len(fixed)))])
            alive = np.isfinite(right).all(axis=1) & np.isfinite(ways).all(axis=(1, 2))
            step = np.zeros((len(q), ways.shape[2]))
            step[alive] = least_norm(ways[alive], right[alive])
            # Half a radian at a time: longer steps jump to another branch of the assembly.
            near = self.rates.move(time, near, np.clip(step, -0.5, 0.5))
            near[:, fixed] = q[:, fixed]
        return near

    @cached_property
    def assembled_coordinates(self) -> Array:
        """The closed configuration nearest to the description's initial state."""
        equations = self.model.equations
        independent = {p.name for p in equations.mechanism.parameters} & self.model.values.keys()
        mechanism = equations.mechanism.with_values(**{name: self.model.values[name] for name in independent})
        try:
            assembly = assemble(mechanism)
        except UnsupportedError:  # constraints that only dynamics reads, as between angular velocities
            return self._closed_start
        if not assembly.found:
            raise IdentificationError(f"{equations.mechanism.name}: its loops do not close. {assembly.explanation}")
        coordinates = assembly.configurations[0].coordinates
        return np.array([float(coordinates[name]) for name in equations.layout.coordinate_names])

    @property
    def _closed_start(self) -> Array:
        """The initial state, brought onto the loops from where it is."""
        equations = self.model.equations
        values = {name: self.model.values.get(name, 0.0) for name in equations.layout.parameter_names}
        start = np.array(initial_state(equations, values, {}))[None, : len(equations.layout.coordinates)]
        near = self.close(np.zeros(1), start)
        self.require_closed(np.zeros(1), near)
        return np.asarray(near[0])

    def require_closed(self, time: Array, q: Array, tolerance: float = 1e-6) -> None:
        """Refuses recorded states that contradict the loops, naming the worst."""
        residual = np.abs(self.at(time, q).residual)
        sample, number = np.unravel_index(int(np.argmax(residual)), residual.shape)
        if residual[sample, number] > tolerance:
            constraint = self.model.equations.constraints[int(number)]
            raise IdentificationError(
                f"the recorded coordinates do not close {constraint.name}: {residual[sample, number]:.3g} "
                f"{constraint.unit} are left at sample {sample}, t = {time[sample]:.6g} s. Check units and zero "
                "positions, or record the independent coordinates only."
            )

    def require_rolling(self, time: Array, q: Array, v: Array, tolerance: float = 0.2) -> None:
        """Refuses recorded speeds that slip where the description rolls; noise is left to the fit."""
        now = self.at(time, q)
        slip = np.einsum("tij,tj->ti", now.matrix, v) + now.drift
        sizes = np.linalg.norm(np.einsum("tij,tj->tij", now.matrix, v), axis=2) + np.abs(now.drift)
        for number, constraint in enumerate(self.model.equations.constraints):
            size = float(np.sqrt(np.mean(sizes[:, number] ** 2)))
            part = float(np.sqrt(np.mean(slip[:, number] ** 2))) / size if size > 0 else 0.0
            if not constraint.is_holonomic and part > tolerance:
                raise IdentificationError(
                    f"the recorded motion contradicts {constraint.name}: its speeds miss it by {100 * part:.0f} % of "
                    "their size. Check units, signs and zero positions."
                )

    def random(self, count: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Random states on the constraints, on the branch that the description begins on."""
        q = self._walk(count + count // 4 + 1, rng)
        good = self._closed_rows(q)
        if len(good) < count // 2:  # as beside a singular configuration, where closing takes longer
            q = self.close(np.zeros(len(q)), q)
            good = self._closed_rows(q)
        if not len(good):
            raise IdentificationError(f"{self.model.equations.mechanism.name}: no closed configuration was found.")
        q, time = q[np.resize(good, count)], np.zeros(count)
        here = self.at(time, q)
        N = null_space(here.matrix)
        z, zdot = rng.uniform(-3, 3, (count, N.shape[2])), rng.uniform(-10, 10, (count, N.shape[2]))
        # General solutions of C v = -drift and C v̇ = γ: a particular one and a random motion within the null space.
        v = np.einsum("tij,tj->ti", N, z) + least_norm(here.matrix, -here.drift)
        moving = self.at(time, q, v)
        return q, v, np.einsum("tij,tj->ti", N, zdot) + least_norm(moving.matrix, moving.gamma)

    def _closed_rows(self, q: Array) -> Slots:
        return np.flatnonzero(np.max(np.abs(self.at(np.zeros(len(q)), q).residual), axis=1) < _CLOSED)

    # Why samples walk: docs/decisions/0042-loops-sampled-by-walking.md.
    def _walk(self, count: int, rng: np.random.Generator) -> Array:
        """Configurations reached from the assembled one along motions that the loops allow, in small steps."""
        q, time = np.repeat(self.assembled_coordinates[None, :], count, axis=0), np.zeros(count)
        # One direction for each sample, kept on the whole way: steps add up instead of going to and fro.
        ways = rng.uniform(-1, 1, (count, len(self.model.equations.layout.speeds)))
        for part in _WAY:
            rows = self.at(time, q).matrix[:, self.holonomic]
            along = ways - least_norm(rows, np.einsum("tij,tj->ti", rows, ways))
            moved = self.close(time, self.rates.move(time, q, part * along), rounds=_FEW)
            now = self.at(time, moved)
            done: Mask = np.all(np.abs(now.residual) < _ASTRAY, axis=1) & np.all(np.isfinite(now.matrix), axis=(1, 2))
            q = np.where(done[:, None], moved, q)  # a way that ends stops where it was
        return q


def null_space(C: Array) -> Array:
    """Orthonormal motions that C lets through at every sample, as many as at the sample with fewest."""
    right = np.linalg.svd(C)[2]
    # As few freedoms as at the most regular sample: beside a singular configuration one direction seems free that is
    # not.
    rank = int(np.max(ranks(C)))
    return np.swapaxes(right[:, rank:, :], 1, 2)


def ranks(C: Array) -> Slots:
    """The rank of C at every sample."""
    values = np.linalg.svd(C, compute_uv=False)
    return np.sum(values > _RANK * np.maximum(values[:, :1], 1e-300), axis=1)


def least_norm(C: Array, right: Array) -> Array:
    """The shortest solution of C x = right at every sample; redundant rows do not matter."""
    return np.einsum("tij,tj->ti", np.linalg.pinv(C, rcond=_RANK), right)
