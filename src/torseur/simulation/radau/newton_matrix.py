"""The linear systems (c - J) x = b of the Newton iteration, c real or complex.

Where the rates of the coordinates are the speeds, J = [0 1; A B] and the system shrinks to its second half:

    (c - B - A/c) x_v = b_v + A b_q / c,    x_q = (b_q + x_v) / c

Otherwise it is solved whole. `jacobian` holds [A B], or J.

Further states may ride behind those whose Jacobian is taken, such as changes of the states with parameters: the same
factors solve for them, and what couples them is left to the iteration.
"""

from __future__ import annotations

from torseur.codegen.routine import Array, External, Static, routine
from torseur.simulation.radau.elimination import NE, eliminate, eliminate_complex, substitute, substitute_complex

HALF: int = Static("HALF")  # 1 when the rates of the coordinates are the speeds, in order
NJ: int = Static("NJ")  # states whose Jacobian is taken
RIDES: int = Static("RIDES")  # 1 when other states ride behind them

riders_real = External("riders_real", "c: float, jacobian: Array, a: Array, pivots: Array, b: Array")
riders_complex = External(
    "riders_complex",
    "c_re: float, c_im: float, jacobian: Array, re: Array, im: Array, pivots: Array, b_re: Array, b_im: Array",
)


@routine
def factor_real(c: float, jacobian: Array, a: Array, pivots: Array) -> None:
    """Factors of the matrix for a real c."""
    for i in range(NE):
        row = jacobian[i * NJ :]
        for j in range(NE):
            if HALF:
                a[i * NE + j] = -row[NE + j] - row[j] / c
            else:
                a[i * NE + j] = -row[j]
        a[i * NE + i] += c
    eliminate(a, pivots)


@routine
def solve_real(c: float, jacobian: Array, a: Array, pivots: Array, b: Array) -> None:
    """b becomes the solution, for all states."""
    solve_own_real(c, jacobian, a, pivots, b)
    if RIDES != 0:
        riders_real(c, jacobian, a, pivots, b)


@routine
def solve_own_real(c: float, jacobian: Array, a: Array, pivots: Array, b: Array) -> None:
    """b becomes the solution, for the states whose Jacobian is taken."""
    if HALF:
        lower = b[NE:]
        for i in range(NE):
            row = jacobian[i * NJ :]
            total = 0.0
            for j in range(NE):
                total += row[j] * b[j]
            lower[i] += total / c
        substitute(a, pivots, lower)
        for i in range(NE):
            b[i] = (b[i] + lower[i]) / c
    else:
        substitute(a, pivots, b)


@routine
def factor_complex(c_re: float, c_im: float, jacobian: Array, re: Array, im: Array, pivots: Array) -> None:
    """Factors of the matrix for a complex c."""
    square = c_re * c_re + c_im * c_im
    for i in range(NE):
        row = jacobian[i * NJ :]
        for j in range(NE):
            if HALF:
                re[i * NE + j] = -row[NE + j] - row[j] * (c_re / square)
                im[i * NE + j] = row[j] * (c_im / square)
            else:
                re[i * NE + j] = -row[j]
                im[i * NE + j] = 0.0
        re[i * NE + i] += c_re
        im[i * NE + i] += c_im
    eliminate_complex(re, im, pivots)


@routine
def solve_complex(
    c_re: float, c_im: float, jacobian: Array, re: Array, im: Array, pivots: Array, b_re: Array, b_im: Array
) -> None:
    """b becomes the solution, for all states."""
    solve_own_complex(c_re, c_im, jacobian, re, im, pivots, b_re, b_im)
    if RIDES != 0:
        riders_complex(c_re, c_im, jacobian, re, im, pivots, b_re, b_im)


@routine
def solve_own_complex(
    c_re: float, c_im: float, jacobian: Array, re: Array, im: Array, pivots: Array, b_re: Array, b_im: Array
) -> None:
    """b becomes the solution, for the states whose Jacobian is taken."""
    if HALF:
        inverse_re = c_re / (c_re * c_re + c_im * c_im)
        inverse_im = -c_im / (c_re * c_re + c_im * c_im)
        lower_re = b_re[NE:]
        lower_im = b_im[NE:]
        for i in range(NE):
            row = jacobian[i * NJ :]
            total_re = 0.0
            total_im = 0.0
            for j in range(NE):
                total_re += row[j] * b_re[j]
                total_im += row[j] * b_im[j]
            lower_re[i] += total_re * inverse_re - total_im * inverse_im
            lower_im[i] += total_re * inverse_im + total_im * inverse_re
        substitute_complex(re, im, pivots, lower_re, lower_im)
        for i in range(NE):
            sum_re = b_re[i] + lower_re[i]
            sum_im = b_im[i] + lower_im[i]
            b_re[i] = sum_re * inverse_re - sum_im * inverse_im
            b_im[i] = sum_re * inverse_im + sum_im * inverse_re
    else:
        substitute_complex(re, im, pivots, b_re, b_im)
