"""Inertia matrices as people give them: three numbers or a matrix, and whether some body has them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from torseur.algebra.spatial.components import array, as_rows, as_vector, is_number, text
from torseur.algebra.spatial.vector import Scalar, Symmetric3, symmetric
from torseur.edges.arguments import ArgumentError


def central_matrix(value: Any) -> Symmetric3:
    """An inertia matrix about the mass centre; moments that are negative are refused."""
    tensor = symmetric_matrix(value)
    if all(is_number(x) for x in tensor):
        rows = array([row for row in tensor.rows])
        least, greatest = np.linalg.eigvalsh(rows)[[0, -1]]
        # A tolerance, because principal moments that are zero (a rod) come out of the eigensolver as ±1e-17.
        if least < -1e-12 * abs(greatest):
            raise ArgumentError(f"inertia matrix: its least principal moment is {least:.6g}, which no body has.")
        _warn_of_triangle(np.linalg.eigvalsh(rows))
    return tensor


def _warn_of_triangle(principal: Any) -> None:
    """I1 + I2 - I3 = 2 ∫ z² dm is never negative, whatever the density.

    A warning only: sums with other inertias may be meant, and a body that turns in a plane is told by one moment.
    """
    least, middle, largest = map(float, principal)
    one_alone = middle <= 1e-12 * largest
    if not one_alone and largest > (least + middle) * (1 + 1e-9):
        warnings.warn(
            f"inertia matrix: its principal moments {least:.6g}, {middle:.6g}, {largest:.6g} break the triangle "
            "inequality: one exceeds the sum of the others, as of no rigid body.",
            stacklevel=5,  # the caller, beyond what explains arguments
        )


def symmetric_matrix(value: Any) -> Symmetric3:
    """A symmetric matrix; three numbers are its diagonal."""
    if isinstance(value, Symmetric3):
        return value
    listed_value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(listed_value, list | tuple) and len(listed_value) == 3 and not hasattr(listed_value[0], "__len__"):
        diagonal = as_vector(listed_value, "principal moments of inertia")
        return Symmetric3(diagonal.x, diagonal.y, diagonal.z, 0, 0, 0)
    rows = [[*row] for row in as_rows(value, "inertia matrix")]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        a, b = rows[i][j], rows[j][i]
        # Matrices that were rotated numerically are symmetric to rounding only; expressions must be the same node.
        same = abs(float(a) - float(b)) <= 1e-12 * (abs(float(a)) + abs(float(b))) if _both(a, b) else a == b
        if not same:
            raise ArgumentError(
                f"inertia matrix: entries {i + 1},{j + 1} and {j + 1},{i + 1} differ, {text(a)} and {text(b)}."
            )
    return symmetric(rows)


def _both(a: Scalar, b: Scalar) -> bool:
    return all(isinstance(x, int | float) for x in (a, b))
