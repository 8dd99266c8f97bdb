"""The linear systems (c - J) x = b of the Newton iteration, c real or complex.

Where the rates of the coordinates are the speeds, the Jacobian is J = [0 1; A B] and the system shrinks to its second
half (NE = N / 2):

    [ c   -1   ] [x_q]   [b_q]        (c - B - A/c) x_v = b_v + A b_q / c
    [-A  c - B ] [x_v] = [b_v]   =>   x_q = (b_q + x_v) / c

Otherwise it is solved whole. `jacobian` holds [A B], or J.

Further states may ride behind those whose Jacobian is taken, such as tangents of the states by parameters: the same
factors solve for them, and what couples them is left to the iteration.
"""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, External, Static, routine
from torseur.computation.simulation.implicit.elimination import (
    eliminate,
    eliminate_complex,
    substitute,
    substitute_complex,
)
from torseur.computation.simulation.implicit.radau_memory import NE, ComplexFactors, Jacobian, RealFactors

HALF: int = Static("HALF")  # 1 when the rates of the coordinates are the speeds, in order
RIDES: int = Static("RIDES")  # 1 when other states ride behind those whose Jacobian is taken

riders_real = External("riders_real", "c: float, jacobian: Array, factors: RealFactors, b: Array", RealFactors)
riders_complex = External(
    "riders_complex",
    "c_re: float, c_im: float, jacobian: Array, factors: ComplexFactors, b_re: Array, b_im: Array",
    ComplexFactors,
)


@routine
def factor_real(c: float, jacobian: Jacobian, factors: RealFactors) -> None:
    """Factors of the matrix for a real c."""
    for i in range(NE):
        for j in range(NE):
            if HALF:
                factors.a[i, j] = -jacobian[i, NE + j] - jacobian[i, j] / c
            else:
                factors.a[i, j] = -jacobian[i, j]
        factors.a[i, i] += c
    eliminate(factors.a, factors.pivots)


@routine
def solve_real(c: float, jacobian: Jacobian, factors: RealFactors, b: Array) -> None:
    """b becomes the solution, for all states."""
    solve_own_real(c, jacobian, factors, b)
    if RIDES != 0:
        riders_real(c, jacobian, factors, b)


@routine
def solve_own_real(c: float, jacobian: Jacobian, factors: RealFactors, b: Array) -> None:
    """b becomes the solution, for the states whose Jacobian is taken."""
    if HALF:
        # In place, the lower half first: x_v needs b_q as it is, then x_q takes its place.
        lower = b[NE:]
        for i in range(NE):
            row = jacobian[i]
            total = 0.0
            for j in range(NE):
                total += row[j] * b[j]
            lower[i] += total / c
        substitute(factors.a, factors.pivots, lower)
        for i in range(NE):
            b[i] = (b[i] + lower[i]) / c
    else:
        substitute(factors.a, factors.pivots, b)


@routine
def factor_complex(c_re: float, c_im: float, jacobian: Jacobian, factors: ComplexFactors) -> None:
    """Factors of the matrix for a complex c."""
    square = c_re * c_re + c_im * c_im
    for i in range(NE):
        for j in range(NE):
            if HALF:
                # A / c with complex c is A (c_re - i c_im) / |c|².
                factors.re[i, j] = -jacobian[i, NE + j] - jacobian[i, j] * (c_re / square)
                factors.im[i, j] = jacobian[i, j] * (c_im / square)
            else:
                factors.re[i, j] = -jacobian[i, j]
                factors.im[i, j] = 0.0
        factors.re[i, i] += c_re
        factors.im[i, i] += c_im
    eliminate_complex(factors.re, factors.im, factors.pivots)


@routine
def solve_complex(
    c_re: float, c_im: float, jacobian: Jacobian, factors: ComplexFactors, b_re: Array, b_im: Array
) -> None:
    """b becomes the solution, for all states."""
    solve_own_complex(c_re, c_im, jacobian, factors, b_re, b_im)
    if RIDES != 0:
        riders_complex(c_re, c_im, jacobian, factors, b_re, b_im)


@routine
def solve_own_complex(
    c_re: float, c_im: float, jacobian: Jacobian, factors: ComplexFactors, b_re: Array, b_im: Array
) -> None:
    """b becomes the solution, for the states whose Jacobian is taken."""
    if HALF:
        inverse_re = c_re / (c_re * c_re + c_im * c_im)
        inverse_im = -c_im / (c_re * c_re + c_im * c_im)
        lower_re = b_re[NE:]
        lower_im = b_im[NE:]
        for i in range(NE):
            row = jacobian[i]
            total_re = 0.0
            total_im = 0.0
            for j in range(NE):
                total_re += row[j] * b_re[j]
                total_im += row[j] * b_im[j]
            lower_re[i] += total_re * inverse_re - total_im * inverse_im
            lower_im[i] += total_re * inverse_im + total_im * inverse_re
        substitute_complex(factors.re, factors.im, factors.pivots, lower_re, lower_im)
        for i in range(NE):
            sum_re = b_re[i] + lower_re[i]
            sum_im = b_im[i] + lower_im[i]
            b_re[i] = sum_re * inverse_re - sum_im * inverse_im
            b_im[i] = sum_re * inverse_im + sum_im * inverse_re
    else:
        substitute_complex(factors.re, factors.im, factors.pivots, b_re, b_im)
