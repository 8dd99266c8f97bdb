"""Exact derivatives of the functions of a mechanism, as outputs of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.equations.equations import Equations
from torseur.equations.functions import outputs_of
from torseur.equations.structured import STRUCTURED, VECTORS, AccelerationDerivatives, Structure, plain_jacobian
from torseur.equations.variables import Rows, Variables, direction_of
from torseur.graph import Input, Output, Solved, directional_derivative, vector


@dataclass(frozen=True)
class Differentiation:
    """A function of a mechanism, ready to be differentiated in several ways; what they share is derived once."""

    equations: Equations
    function: str

    def outputs(self, ways: Sequence[Variables]) -> list[Output]:
        """The outputs differentiated once or twice; each differentiation adds a last dimension."""
        first = ways[0]
        results = self._first(first)
        if len(ways) > 1:
            symmetric = ways[1] == first and not first.along
            results = [self._differentiated(result, ways[1], symmetric) for result in results]
        order = f"{len(ways)}" if len(ways) > 1 else ""
        suffix = "".join(f"_d{way.name}" for way in ways)
        names = [f"d{order}{output.name}{suffix}" for output in self._plain]
        return [Output(name, r.shape, r.entries) for name, r in zip(names, results, strict=True)]

    def solved(self, inputs: Sequence[Input], ways: Sequence[Variables]) -> Solved | None:
        """The first derivatives in two stages, where that is shorter: forward dynamics solves many columns at once."""
        if not isinstance(self._structure, AccelerationDerivatives):
            return None
        return self._structure.solved(inputs, ways)

    def outputs_along(self, ways: Sequence[Variables]) -> list[Output]:
        """The change of the outputs, in their own shapes, when all variables change in a given direction."""
        direction = {
            node: change for way in ways for node, change in zip(way.nodes, direction_of(way).nodes, strict=True)
        }
        suffix = "_".join(way.name for way in ways)
        if self._structure is not None:
            changes = [self._structure.along(direction)]
        else:
            changes = [directional_derivative(list(output.entries), direction) for output in self._plain]
        pairs = zip(self._plain, changes, strict=True)
        return [Output(f"{output.name}_along_{suffix}", output.shape, tuple(c)) for output, c in pairs]

    @cached_property
    def _plain(self) -> list[Output]:
        """What is differentiated; where the derivatives have a way of their own, symbols for it."""
        if self._structure is not None:
            return [vector(VECTORS[self.function], self.equations.layout.accelerations)]
        return outputs_of(self.equations, self.function)

    @cached_property
    def _structure(self) -> Structure | None:
        return STRUCTURED[self.function](self.equations) if self.function in STRUCTURED else None

    def _first(self, by: Variables) -> list[Output]:
        if self._structure is None:
            return [self._differentiated(output, by) for output in self._plain]
        return [_output(self._plain[0], self._structure.rows(by), by)]

    def _differentiated(self, output: Output, by: Variables, symmetric: bool = False) -> Output:
        """d output / d variables; `symmetric` when the last dimension of the output stems from the same variables."""
        rows = plain_jacobian(self.equations, list(output.entries), by)
        n = len(by.nodes)
        if symmetric:
            # Both halves are equal but computed differently; one of them is enough.
            rows = [[rows[k - k % n + max(k % n, j)][min(k % n, j)] for j in range(n)] for k in range(len(rows))]
        return _output(output, rows, by)


def _output(output: Output, rows: Rows, by: Variables) -> Output:
    return Output(output.name, (*output.shape, *by.shape), tuple(entry for row in rows for entry in row))
