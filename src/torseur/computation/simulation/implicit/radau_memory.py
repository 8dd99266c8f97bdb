"""Working memory of the implicit method: what it keeps between steps, its stages, and its matrices.

All of it starts at zero, which means that there is nothing yet.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from torseur.computation.codegen.routine import Array, IntArray, Record, Static
from torseur.computation.simulation.explicit.runge_kutta import N

NS: int = Static("NS")  # stages of the implicit method: 3 or 5; 0 when the method is explicit
NE: int = Static("NE")  # number of equations that are solved at once
NJ: int = Static("NJ")  # states whose Jacobian is taken

Square: TypeAlias = Annotated[Array, NE, NE]
Pivots: TypeAlias = Annotated[IntArray, NE]
Jacobian: TypeAlias = Annotated[Array, ..., NJ]


class RealFactors(Record):
    """Factors of a real matrix; `pivots` is the order of its rows."""

    a: Square
    pivots: Pivots


class ComplexFactors(Record):
    """Factors of a complex matrix, its two parts apart."""

    re: Square
    im: Square
    pivots: Pivots


class Newton(Record):
    """A simplified Newton iteration for the stages: they, their transforms, and one matrix per eigenvalue."""

    factored_step: float  # signed length of the step that the factors are for
    last_step: float  # length of the last accepted step
    last_error: float  # its error, in units of the tolerance
    last_size: float  # of the last Newton correction, in units of the tolerance
    iterations: int  # of the last solved step
    has_jacobian: bool
    is_fresh: bool  # the Jacobian is that of the present state
    has_piece: bool  # the last step is there to start the next one from

    z: Annotated[Array, NS, N]  # stages, relative to the state at the start
    w: Annotated[Array, NS, N]  # T⁻¹ z
    correction: Annotated[Array, NS, N]  # derivatives of the stages, then of w; after a step, row 0 its error estimate
    y_stage: Annotated[Array, N]
    jacobian: Annotated[Array, NE, NJ]
    real: RealFactors
    pairs: Annotated[list[ComplexFactors], max(NS - 1, 0) // 2]  # one of each pair of conjugate eigenvalues
