"""One step of an explicit Runge-Kutta method, whatever its tableau.

A step from y over h has the stages (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.1)

    Y[s] = y + h Σ_j A[s][j] k[j],   k[s] = f(t + C[s] h, Y[s]),   y_end = y + h Σ_s B[s] k[s]

LANES motions are moved at once, each by a step of its own length. Number i of all of them stands together, so that the
loop over lanes is innermost, reads consecutive numbers and becomes vector operations:

    y = [ y_0 of lane 0, y_0 of lane 1, … | y_1 of lane 0, … | … ]

With one lane that loop disappears at translation, and what is left is the method as it is written in the book. On a GPU
every thread is a motion of its own, with one lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from torseur.computation.codegen.routine import Array, External, Routine, Static, routine, static_range, zeros

N: int = Static("N")  # number of states
LANES: int = Static("LANES", 1)  # motions that are moved at once

State: TypeAlias = Annotated[Array, N * LANES]
Lanes: TypeAlias = Annotated[Array, LANES]
Derivatives: TypeAlias = Annotated[Array, ..., N * LANES]

rhs = External("rhs", "t: float, y: Array, p: Array, dy: Array")
rhs_lanes = External("rhs_lanes", "t: Array, y: Array, p: Array, dy: Array")


@dataclass(frozen=True)
class ExplicitMethod:
    """Routines of one method: the derivatives of its stages, and its solution at the end of the step."""

    evaluate_stages: Routine
    solution: Routine


def explicit_method(a: tuple[Any, ...], b: tuple[float, ...], c: tuple[float, ...]) -> ExplicitMethod:
    """The method of a tableau. Loops over it are unrolled and its zeros dropped when a routine is translated."""
    stages = len(b)

    @routine
    def evaluate_stages(t: Lanes, h: Lanes, y: State, p: Array, k: Derivatives, y_stage: State) -> None:
        """Derivatives of the stages but for the first, which is given. y_stage ends as the state of the last."""
        t_stage = zeros(LANES)
        h_one = h[0]  # a single length stays in a register, whatever is written in between
        for s in static_range(1, stages):
            for i in range(N):
                for lane in range(LANES):
                    at = i * LANES + lane
                    total = a[s][0] * k[0, at]
                    for j in static_range(1, s):
                        if a[s][j] != 0.0:
                            total += a[s][j] * k[j, at]
                    y_stage[at] = y[at] + (h_one if LANES == 1 else h[lane]) * total
            if LANES == 1:
                rhs(t[0] + c[s] * h_one, y_stage, p, k[s])
            else:
                for lane in range(LANES):
                    t_stage[lane] = t[lane] + c[s] * h[lane]
                rhs_lanes(t_stage, y_stage, p, k[s])

    @routine
    def solution(h: Lanes, y: State, k: Derivatives, y_end: State) -> None:
        """State at the end of the step."""
        h_one = h[0]
        for i in range(N):
            for lane in range(LANES):
                at = i * LANES + lane
                total = b[0] * k[0, at]
                for j in static_range(1, stages):
                    if b[j] != 0.0:
                        total += b[j] * k[j, at]
                y_end[at] = y[at] + (h_one if LANES == 1 else h[lane]) * total

    return ExplicitMethod(evaluate_stages, solution)
