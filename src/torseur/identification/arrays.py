"""Arrays of numbers as identification passes them."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Slots: TypeAlias = NDArray[np.intp]


def triangular(matrix: Array) -> Array:
    """The factor R of a QR factorisation."""
    factor: Array = np.linalg.qr(matrix, mode="r")  # type: ignore[assignment]
    return factor
