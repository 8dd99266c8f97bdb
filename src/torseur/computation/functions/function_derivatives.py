"""Exact derivatives of the functions of a mechanism, as outputs of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Input, Output, Solved, directional_derivative, vector
from torseur.computation.functions.differentiation_variables import Direction, Rows, Variables
from torseur.computation.functions.mechanism_functions import outputs_of
from torseur.computation.functions.recursive_derivatives import (
    STRUCTURED,
    VECTORS,
    AccelerationDerivatives,
    Structure,
    plain_jacobian,
)
from torseur.derivation.equations.equations import Equations


@dataclass(frozen=True)
class Differentiation:
    """A function of a mechanism, ready to be differentiated in several ways; what they share is derived once."""

    equations: Equations
    function: str

    def outputs(self, ways: Sequence[Variables | Direction]) -> list[Output]:
        """The outputs differentiated once or twice.

        By variables, each differentiation adds a last dimension; along a direction, shapes stay as they are.
        """
        first = ways[0]
        results = self._first(first)
        for way in ways[1:]:
            symmetric = way == first and isinstance(first, Variables) and not first.along
            results = [self._differentiate(result, way, symmetric) for result in results]
        names = [_name(output.name, ways) for output in self._plain]
        return [Output(name, r.shape, r.entries) for name, r in zip(names, results, strict=True)]

    def column_system(self, inputs: Sequence[Input], ways: Sequence[Variables]) -> Solved | None:
        """The first derivatives in two stages, where that is shorter: forward dynamics solves many columns at once."""
        if not isinstance(self._structure, AccelerationDerivatives):
            return None
        return self._structure.column_system(inputs, ways)

    @cached_property
    def _plain(self) -> list[Output]:
        """What is differentiated; where the derivatives have a way of their own, symbols for it."""
        if self._structure is not None:
            return [vector(VECTORS[self.function], self.equations.layout.accelerations)]
        return outputs_of(self.equations, self.function)

    @cached_property
    def _structure(self) -> Structure | None:
        return STRUCTURED[self.function](self.equations) if self.function in STRUCTURED else None

    def _first(self, by: Variables | Direction) -> list[Output]:
        if self._structure is None:
            return [self._differentiate(output, by) for output in self._plain]
        if isinstance(by, Direction):
            tangents = self._structure.along(by.tangents(self.equations.layout.coordinates, self.equations.rates))
            return [vector(self._plain[0].name, tangents)]
        return [_output(self._plain[0], self._structure.rows(by), by)]

    def _differentiate(self, output: Output, by: Variables | Direction, symmetric: bool = False) -> Output:
        """d output / d variables; `symmetric` when the last dimension of the output stems from the same variables."""
        if isinstance(by, Direction):
            direction = by.tangents(self.equations.layout.coordinates, self.equations.rates)
            return Output(output.name, output.shape, tuple(directional_derivative(list(output.entries), direction)))
        rows = plain_jacobian(self.equations, list(output.entries), by)
        n = len(by.nodes)
        if symmetric:
            # Both halves are equal but computed differently; one of them is enough.
            rows = [[rows[k - k % n + max(k % n, j)][min(k % n, j)] for j in range(n)] for k in range(len(rows))]
        return _output(output, rows, by)


def _output(output: Output, rows: Rows, by: Variables) -> Output:
    return Output(output.name, (*output.shape, *by.shape), tuple(entry for row in rows for entry in row))


def _name(output: str, ways: Sequence[Variables | Direction]) -> str:
    """dtau_dq, d2tau_dq_dv, tau_along_q_v, dtau_along_q_v_dq."""
    order = sum(isinstance(way, Variables) for way in ways)
    suffix = "".join(f"_d{way.name}" if isinstance(way, Variables) else f"_along_{way.name}" for way in ways)
    return f"{'d' if order else ''}{order if order > 1 else ''}{output}{suffix}"
