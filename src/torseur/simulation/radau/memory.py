"""Working memory of the implicit method, behind that of every step: what it keeps between steps, and its matrices.

All of it starts at zero, which means that there is nothing yet.
"""

from __future__ import annotations

from torseur.codegen.routine import Static

NS: int = Static("NS")  # stages of the implicit method: 3 or 5; 0 when the method is explicit

# Slots of the numbers kept between steps.
FACTORED_STEP = 0  # signed length of the step that the factors are for
HAS_JACOBIAN = 1
FRESH = 2  # whether the Jacobian is that of the present state
HAS_PIECE = 3  # whether the last step is there to start the next one from
LAST_STEP = 4  # length of the last accepted step
LAST_ERROR = 5  # its error, in units of the tolerance
ITERATIONS = 6  # Newton iterations of the last solved step
LAST_SIZE = 7  # of the last Newton correction, in units of the tolerance
MATRICES = 8  # the Jacobian, then per eigenvalue the factors and the order of the rows


def newton_size(states: int, stages: int, equations: int) -> int:
    """Room for the numbers, the Jacobian and the factors."""
    pairs, square = (stages - 1) // 2, equations * equations
    return MATRICES + equations * states + square + equations + pairs * (2 * square + equations)
