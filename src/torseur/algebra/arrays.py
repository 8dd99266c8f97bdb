"""Arrays of numbers: their types, and the triangular factor of tall ones."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Slots: TypeAlias = NDArray[np.intp]

# Entries of a piece that is factored at a time. Larger ones make linear algebra libraries share the work between cores
# at every column, which on a busy machine is slower by orders of magnitude. Wide matrices have no small pieces.
_PIECE, _WIDE = 6000, 77


def triangular_factor(matrix: Array) -> Array:
    """The factor R of a QR factorisation, of tall matrices piece by piece."""
    rows, columns = matrix.shape
    height = 4 * columns if columns > _WIDE else max(_PIECE // max(columns, 1), columns + columns // 2 + 1)
    while (count := -(-rows // height)) * columns < rows:
        padded = np.zeros((count * height, columns))
        padded[:rows] = matrix
        pieces: Array = np.linalg.qr(padded.reshape(count, height, columns), mode="r")  # type: ignore[assignment]
        matrix, rows = pieces.reshape(-1, columns), count * columns
    factor: Array = np.linalg.qr(matrix, mode="r")  # type: ignore[assignment]
    return factor
