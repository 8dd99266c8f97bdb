"""Exact derivatives of the functions of a mechanism, as outputs of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.equations.equations import Equations
from torseur.equations.functions import forces_of, outputs_of
from torseur.equations.solve import solve_symmetric
from torseur.graph import Expr, Output, dense_jacobian, substitute


@dataclass(frozen=True)
class Variables:
    """What to differentiate by: an input, or one entry of it, which then adds no dimension to the result."""

    name: str
    nodes: tuple[Expr, ...]
    single: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.single else (len(self.nodes),)


def derivatives(equations: Equations, function: str, ways: Sequence[Variables]) -> list[Output]:
    """The outputs of a function differentiated once or twice; each differentiation adds a last dimension."""
    first = ways[0]
    if function == "forward_dynamics":
        results = [_forward_dynamics(equations, first)]
    else:
        results = [_differentiated(output, first) for output in outputs_of(equations, function)]
    if len(ways) > 1:
        results = [_differentiated(result, ways[1], symmetric=ways[1] == first) for result in results]
    order = f"{len(ways)}" if len(ways) > 1 else ""
    suffix = "".join(f"_d{way.name}" for way in ways)
    plain = [output.name for output in outputs_of(equations, function)]
    return [Output(f"d{order}{name}{suffix}", r.shape, r.entries) for name, r in zip(plain, results, strict=True)]


def _differentiated(output: Output, by: Variables, symmetric: bool = False) -> Output:
    """d output / d variables; `symmetric` when the last dimension of the output stems from the same variables."""
    rows = dense_jacobian(list(output.entries), by.nodes)
    n = len(by.nodes)
    if symmetric:
        # Both halves are equal but computed differently; one of them is enough.
        rows = [[rows[k - k % n + max(k % n, j)][min(k % n, j)] for j in range(n)] for k in range(len(rows))]
    return Output(output.name, (*output.shape, *by.shape), tuple(entry for row in rows for entry in row))


def _forward_dynamics(equations: Equations, by: Variables) -> Output:
    """d v' / d variables = -M⁻¹ d r / d variables at v', where the residual r of inverse dynamics vanishes.

    Cheaper than differentiating the solution: a fifth fewer operations for a six-axis arm.
    """
    layout = equations.layout
    (vdot,), (tau,) = outputs_of(equations, "forward_dynamics"), outputs_of(equations, "inverse_dynamics")
    residual = [needed - given for needed, given in zip(tau.entries, forces_of(equations), strict=True)]
    rows = dense_jacobian(residual, by.nodes)
    found = dict(zip(layout.accelerations, vdot.entries, strict=True))
    columns = [substitute([-row[j] for row in rows], found) for j in range(len(by.nodes))]
    solved = [solve_symmetric(equations.mass_matrix, column, layout.speed_names) for column in columns]
    entries = tuple(column[i] for i in range(len(vdot)) for column in solved)
    return Output(vdot.name, (*vdot.shape, *by.shape), entries)
