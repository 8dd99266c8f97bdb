"""Where the equations of a mechanism cannot be solved for the accelerations, and which motions are to blame."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torseur.algebra.graph import evaluate
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.equations import Equations
from torseur.description.mechanism import TIME

SINGULAR = 1e-6  # smallest eigenvalue of the mass matrix scaled to a unit diagonal
TAKES_PART = 0.1  # share of a speed in the motion without inertia


def explain_singular(equations: Equations, parameters: Mapping[str, float], t: float, y: Vector) -> str | None:
    """What is wrong with the mass matrix in state y at time t, in words; None when it is sound."""
    try:
        matrix = mass_matrix_at(equations, parameters, t, y)
    except (ArithmeticError, ValueError):
        return "The mass matrix is not finite there."
    names = equations.layout.speed_names
    if not names:  # states alone
        return None
    diagonal = np.diag(matrix)
    for name, entry in zip(names, diagonal, strict=True):
        if entry <= 0.0:
            return f"The mass matrix loses rank there: the inertia along '{name}' is {entry:.3g}."
    scale = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
    if values[0] > SINGULAR:
        return None
    motion = np.abs(vectors[:, 0])
    guilty = [f"'{name}'" for name, share in zip(names, motion, strict=True) if share > TAKES_PART]
    return (
        f"The mass matrix loses rank there (smallest eigenvalue {values[0]:.1e} of its scaled form): nothing with "
        f"inertia resists a motion of {' and '.join(guilty)} together. Angles of one joint do so where two of its "
        "axes align: describe that joint by a quaternion."
    )


def mass_matrix_at(equations: Equations, parameters: Mapping[str, float], t: float, y: Vector) -> Vector:
    """The mass matrix as numbers."""
    layout = equations.layout
    symbols = (*layout.coordinates, *layout.speeds, *layout.parameters, TIME)
    values = dict(zip(symbols, [*y.tolist(), *parameters.values(), t], strict=True))
    n = len(layout.speeds)
    flat = evaluate([entry for row in equations.mass_matrix for entry in row], values)
    return np.array([float(entry) for entry in flat]).reshape(n, n)
