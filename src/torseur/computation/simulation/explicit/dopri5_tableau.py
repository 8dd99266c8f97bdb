"""Dormand and Prince's method of order 5(4): J. R. Dormand and P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19-26.

The last stage stands at the end of the step and is the first of the next; only the error estimate and the dense output
use it.
"""

from __future__ import annotations

STAGES = 6

A = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
B = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
C = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)

# Solution of order 5 less that of order 4, over h.
E = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)

# The last coefficient of the dense output of order 4, over h (Hairer, Nørsett and Wanner I, II.6; L. F. Shampine).
D = (
    -12715105075 / 11282082432,
    0.0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
)
