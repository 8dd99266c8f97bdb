"""Rates of the coordinates along recorded states: q' = E(q, t) v + n(q, t).

E is the identity where the speeds are the rates of the coordinates; quaternions and declared speeds make it another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Input, Program, as_expr, jacobian, substitute, time_derivative, vector
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine, compile_routine
from torseur.computation.simulation.output.along_motion import outputs_along
from torseur.description.mechanism import TIME


@dataclass(frozen=True, eq=False)
class Rates:
    """At every sample: E (samples, coordinates, speeds), n, and q'' where no speed changes."""

    matrix: Array
    drift: Array
    bias: Array

    def speeds(self, rates: Array, second: Array) -> tuple[Array, Array]:
        """v and v̇ that give these q' and q'' (`bias` must have been computed with the v that comes out)."""
        inverse: Array = np.linalg.pinv(self.matrix).astype(np.float64)
        return _apply(inverse, rates - self.drift), _apply(inverse, second - self.bias)


@dataclass(frozen=True, eq=False)
class CoordinateRates:
    """The rates of a model's coordinates, evaluated along samples in compiled code."""

    model: LinearModel

    @cached_property
    def are_speeds(self) -> bool:
        """Whether the speeds are the rates of the coordinates, one by one."""
        layout = self.model.equations.layout
        same = zip(self.model.equations.rates, layout.speeds, strict=False)
        return len(layout.coordinates) == len(layout.speeds) and all(rate is v for rate, v in same)

    @cached_property
    def _entries(self) -> dict[tuple[int, int], object]:
        return dict(jacobian(list(self.model.equations.rates), list(self.model.equations.layout.speeds)))

    @cached_property
    def _along(self) -> CompiledRoutine:
        equations, layout = self.model.equations, self.model.equations.layout
        rates = list(equations.rates)
        still = substitute(rates, {v: as_expr(0) for v in layout.speeds})
        # q'' = E v' + (d/dt at constant v) of E v + n: the second part.
        bias = time_derivative(rates, dict(zip(layout.coordinates, rates, strict=True)), TIME)
        state = (*layout.coordinates, *layout.speeds)
        entries = [as_expr(e) for e in self._entries.values()] + still + bias
        inputs = (Input("t", (TIME,)), Input("y", state), Input("p", layout.parameters))
        program = Program("rates_along", inputs, (vector("z", entries),))
        sizes = {"N": len(state), "NZ": len(entries)}
        return compile_routine(outputs_along, sizes, {"outputs": program}, self.model.backend)

    def at(self, time: Array, q: Array, v: Array | None = None) -> Rates:
        """The rates at every sample, at rest when no speeds are given."""
        count, width, n = len(q), q.shape[1], len(self.model.equations.layout.speeds)
        if self.are_speeds:
            zero = np.zeros((count, width))
            return Rates(np.broadcast_to(np.eye(n), (count, n, n)), zero, zero)
        states = np.ascontiguousarray(np.hstack([q, np.zeros((count, n)) if v is None else v]))
        table = np.empty((count, len(self._entries) + 2 * width))
        self._along(count, np.ascontiguousarray(time), states.ravel(), self.model.parameter_vector, table.ravel())
        # Columns of the table:  entries of E that do not vanish | n (width) | bias (width)
        E = np.zeros((count, width, n))
        rows, columns = (np.array([place[k] for place in self._entries], dtype=np.intp) for k in (0, 1))
        E[:, rows, columns] = table[:, : len(rows)]
        return Rates(E, table[:, len(rows) : len(rows) + width], table[:, len(rows) + width :])

    def speeds_of(self, time: Array, q: Array, rates: Array, second: Array) -> tuple[Array, Array]:
        """v and v̇ from q' and q'' of all coordinates."""
        if self.are_speeds:
            return rates, second
        # Twice: the bias of q'' needs the speeds, which q' alone gives.
        v, _ = self.at(time, q).speeds(rates, second)
        return self.at(time, q, v).speeds(rates, second)

    def move(self, time: Array, q: Array, step: Array) -> Array:
        """Coordinates after a small motion by these speeds times time; quaternions keep their length."""
        moved = q + _apply(self.at(time, q).matrix, step)
        return moved if self.are_speeds else self.unit(moved)

    @cached_property
    def quaternions(self) -> list[list[int]]:
        """Slots of each quaternion's four coordinates."""
        tree = self.model.equations.tree
        names = tree.layout.coordinate_names
        return [
            [names.index(str(s.name)) for s in link.symbols.quaternion]
            for link in tree.links
            if link.symbols.quaternion
        ]

    def unit(self, q: Array) -> Array:
        """Coordinates whose quaternions have length one."""
        result = q.copy()
        for slots in self.quaternions:
            result[:, slots] /= np.linalg.norm(result[:, slots], axis=1, keepdims=True)
        return result


def _apply(matrices: Array, vectors: Array) -> Array:
    return np.einsum("tij,tj->ti", matrices, vectors)
