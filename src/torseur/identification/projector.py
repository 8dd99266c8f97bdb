"""The constraint projector along recorded states: motions that loops and constraints allow.

C(q) v + drift = 0 leaves v = N z. Equations of motion multiplied by Nᵀ hold without multipliers, since N spans what
C lets through.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.codegen.compiled import compile_routine
from torseur.errors import IdentificationError, UnsupportedError
from torseur.graph import Input, Program, vector
from torseur.identification.arrays import Array
from torseur.identification.linear_model import LinearModel
from torseur.loops import assemble
from torseur.loops.partition import independent_rows
from torseur.mechanism import TIME
from torseur.simulation.along import outputs_along

_CLOSED = 1e-10
_ROUNDS = 60
_RANK = 1e-8


@dataclass(frozen=True, eq=False)
class Constraints:
    """Values at every sample: residual Φ, the matrix C, drift and γ in C v + drift = 0 and C v̇ = γ."""

    residual: Array
    matrix: Array
    drift: Array
    gamma: Array


@dataclass(frozen=True, eq=False)
class Projector:
    """The constraints of a model, evaluated along samples in compiled code."""

    model: LinearModel

    @staticmethod
    def of(model: LinearModel) -> Projector:
        if any(not c.is_holonomic for c in model.equations.constraints):
            raise UnsupportedError(
                f"{model.equations.mechanism.name}: identification through constraints between speeds (rolling) is not "
                "covered; loops and constraints between coordinates are."
            )
        if any(a is not b for a, b in zip(model.equations.layout.rates, model.equations.layout.speeds, strict=False)):
            names = model.equations.layout.speed_names
            raise UnsupportedError(
                f"{model.equations.mechanism.name}: loops are identified where the speeds are the rates of the "
                f"coordinates, not with {', '.join(names)}."
            )
        return Projector(model)

    @cached_property
    def _along(self) -> object:
        equations, layout = self.model.equations, self.model.equations.layout
        rows = equations.constraints
        entries = [c.residual for c in rows] + [e for c in rows for e in c.row]
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
        along = self._along
        assert callable(along)
        along(len(q), np.ascontiguousarray(time), states.ravel(), self.model.parameter_vector, table.ravel())
        residual, rest = table[:, :m], table[:, m + m * n :]
        return Constraints(residual, table[:, m : m + m * n].reshape(-1, m, n), rest[:, :m], rest[:, m:])

    def basis(self, time: Array, q: Array, preferred: tuple[int, ...] = ()) -> Array:
        """N at every sample, (samples, speeds, freedoms), one where the preferred speeds are independent.

        An orthonormal basis where they are not, which changes the scale of the remaining equations only.
        """
        motions = _null_space(self.at(time, q).matrix)
        freedoms = motions.shape[2]
        if not preferred or freedoms == 0:
            return motions
        chosen = independent_rows(motions[0], preferred)
        pivots = motions[:, chosen, :]
        weakest = np.linalg.svd(pivots, compute_uv=False)[:, -1]
        return motions @ np.linalg.inv(pivots) if weakest.min() > 1e-3 else motions

    def closed(self, time: Array, q: Array, held: tuple[int, ...] = ()) -> Array:
        """Coordinates brought onto the constraints, those in `held` left as they are."""
        free = np.ones(q.shape[1])
        free[list(held)] = 0.0
        found = q.copy()
        for _ in range(_ROUNDS):
            now = self.at(time, found)
            if float(np.max(np.abs(now.residual), initial=0.0)) < _CLOSED * 1e-2:
                break
            step = _least_norm(now.matrix * free, -now.residual)
            found = found + np.clip(step, -0.5, 0.5)
        return found

    def completed(self, time: Array, q: Array, v: Array, vdot: Array, known: tuple[int, ...]) -> tuple[Array, ...]:
        """Whole states from those of the known coordinates: the loops give the others.

        Samples are closed one after the other, each from where the last one was, so that the branch is kept.
        """
        place, found = self._start(q[0], known, time[:1]), []
        for k in range(len(q)):
            guess = place.copy()
            guess[:, list(known)] = q[k, list(known)]
            place = self.closed(time[k : k + 1], guess, known)
            found.append(place[0])
        coordinates = np.array(found)
        self.require_closed(time, coordinates)
        N = self.basis(time, coordinates, known)
        if N.shape[2] != len(known):
            raise IdentificationError(
                f"{len(known)} coordinates are recorded and the loops leave {N.shape[2]} free: record those, or all."
            )
        here = self.at(time, coordinates)
        speeds = _through(N, v[:, list(known)], _least_norm(here.matrix, -here.drift), known)
        moving = self.at(time, coordinates, speeds)
        rest = _least_norm(moving.matrix, moving.gamma)
        return coordinates, speeds, _through(N, vdot[:, list(known)], rest, known)

    def _start(self, q: Array, known: tuple[int, ...], time: Array) -> Array:
        """A closed configuration with the known coordinates of the first sample, on the description's branch."""
        start = self._assembled()[None, :]
        # Small steps keep the branch the description begins on.
        for part in np.linspace(0.05, 1.0, 20):
            guess = start.copy()
            guess[:, list(known)] += part * (q[list(known)] - guess[:, list(known)])
            start = self.closed(time, guess, known)
        return start

    def _assembled(self) -> Array:
        """The closed configuration nearest to the description's initial state."""
        mechanism = self.model.equations.mechanism
        independent = {p.name for p in mechanism.parameters} & self.model.values.keys()
        found = assemble(mechanism.with_values(**{name: self.model.values[name] for name in independent}))
        if not found.found:
            raise IdentificationError(f"{mechanism.name}: its loops do not close. {found.explanation}")
        values = found.configurations[0].coordinates
        return np.array([float(values[name]) for name in self.model.equations.layout.coordinate_names])

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

    def random(self, count: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Random states on the constraints."""
        n = len(self.model.equations.layout.speeds)
        time = np.zeros(4 * count)
        q = self.closed(time, self._assembled() + rng.uniform(-1.5, 1.5, (4 * count, n)))
        good = np.flatnonzero(np.max(np.abs(self.at(time, q).residual), axis=1) < _CLOSED)
        if not len(good):
            raise IdentificationError(f"{self.model.equations.mechanism.name}: no closed configuration was found.")
        q, time = q[np.resize(good, count)], time[:count]
        N = _null_space(self.at(time, q).matrix)
        z, zdot = rng.uniform(-3, 3, (count, N.shape[2])), rng.uniform(-10, 10, (count, N.shape[2]))
        here = self.at(time, q)
        v = np.einsum("tij,tj->ti", N, z) + _least_norm(here.matrix, -here.drift)
        moving = self.at(time, q, v)
        return q, v, np.einsum("tij,tj->ti", N, zdot) + _least_norm(moving.matrix, moving.gamma)


def _null_space(C: Array) -> Array:
    """Orthonormal motions that C lets through at every sample, as many as at the sample with fewest."""
    _, values, right = np.linalg.svd(C)
    rank = int(np.max(np.sum(values > _RANK * np.maximum(values[:, :1], 1e-300), axis=1)))
    return np.swapaxes(right[:, rank:, :], 1, 2)


def _least_norm(C: Array, right: Array) -> Array:
    """The shortest solution of C x = right at every sample; redundant rows do not matter."""
    return np.einsum("tij,tj->ti", np.linalg.pinv(C, rcond=_RANK), right)


def _through(N: Array, given: Array, particular: Array, known: tuple[int, ...]) -> Array:
    """N z + particular with z such that the known speeds (or accelerations) come out as given."""
    z = np.linalg.solve(N[:, list(known), :], (given - particular[:, list(known)])[..., None])[..., 0]
    return np.einsum("tij,tj->ti", N, z) + particular
