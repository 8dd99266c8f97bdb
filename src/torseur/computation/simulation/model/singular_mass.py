"""Where the equations of a mechanism cannot be solved for the accelerations, and which motions are to blame."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torseur.algebra.graph import evaluate
from torseur.computation.simulation.model.system import System, Vector
from torseur.derivation.equations import Equations
from torseur.description.mechanism import TIME
from torseur.errors import SimulationError

SINGULAR = 1e-6  # smallest eigenvalue of the mass matrix scaled to a unit diagonal, singular value of states' rows
TAKES_PART = 0.1  # share of a speed in the motion without inertia


def explain_singular(equations: Equations, parameters: Mapping[str, float], t: float, y: Vector) -> str | None:
    """What is wrong with the mass matrix in state y at time t, in words; None when it is sound.

    Or with the matrix A of the equations A z' = f between rates of states.
    """
    if (of_states := undetermined_states(equations, parameters, t, y)) is not None or not equations.layout.speeds:
        return of_states
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


def require_determined(system: System, start: float) -> None:
    """Refuses a start in which equations between states leave their rates open.

    Where a factor of A cancels against f, as in x x' = -x, the rates have values there, and nothing else would tell.
    """
    y = np.array(system.initial)
    if system.undetermined is not None and (reason := system.undetermined(start, y)) is not None:
        raise SimulationError(f"{system.name}: the motion cannot start at t = {start:g} s. {reason}")


def undetermined_states(equations: Equations, parameters: Mapping[str, float], t: float, y: Vector) -> str | None:
    """Where the matrix A of the equations A z' = f between rates of states is singular, in words."""
    coupled = equations.coupled_states
    if coupled is None:
        return None
    layout, n = equations.layout, len(coupled.states)
    symbols = (*layout.coordinates, *layout.speeds, *layout.parameters, TIME)
    values = dict(zip(symbols, [*y.tolist(), *parameters.values(), t], strict=True))
    try:
        flat = [float(x) for x in evaluate([entry for row in coupled.matrix for entry in row], values)]
    except (ArithmeticError, ValueError):
        return "The matrix of the equations of states is not finite there."
    matrix = np.array(flat).reshape(n, n)
    sizes = np.linalg.norm(matrix, axis=1)
    least = np.linalg.svd(matrix / np.where(sizes > 0.0, sizes, 1.0)[:, None], compute_uv=False)[-1]
    if least > SINGULAR:
        return None
    names = ", ".join(f"{state.name}'" for state in coupled.states)
    return (
        f"The equations of states do not determine {names} there: their matrix loses rank (smallest singular value "
        f"{least:.1e} with rows of length 1)."
    )


def mass_matrix_at(equations: Equations, parameters: Mapping[str, float], t: float, y: Vector) -> Vector:
    """The mass matrix as numbers."""
    layout = equations.layout
    symbols = (*layout.coordinates, *layout.speeds, *layout.parameters, TIME)
    values = dict(zip(symbols, [*y.tolist(), *parameters.values(), t], strict=True))
    n = len(layout.speeds)
    flat = evaluate([entry for row in equations.mass_matrix for entry in row], values)
    return np.array([float(entry) for entry in flat]).reshape(n, n)
