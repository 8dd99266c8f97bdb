"""Modes of small motions: eigenvalues, frequencies, damping, shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from torseur.computation.simulation.model.system import Vector

if TYPE_CHECKING:
    from torseur.computation.linearisation.operating_point import Point

RESOLUTION = 1e-7  # of eigenvalues in units of the largest: zero ones often come in pairs, which halves their digits
ROUNDING = 50 * 2.0**-52  # of the state matrix, in units of its norm


@dataclass(frozen=True)
class Mode:
    """A motion exp(s t): its eigenvalue s (1/s), and the changes of all coordinates and speeds, largest one 1."""

    eigenvalue: complex
    shape: Mapping[str, complex]
    resolution: float = 0.0

    @property
    def growth(self) -> float:
        """Real part of the eigenvalue: negative when the motion dies out."""
        return self.eigenvalue.real

    @property
    def frequency(self) -> float:
        """Oscillations per second."""
        return abs(self.eigenvalue.imag) / (2 * np.pi)

    @property
    def damping_ratio(self) -> float:
        """-Re s / |s|: 1 and more without oscillation, negative when it grows."""
        return -self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue else 0.0


def modes_of(matrix: Vector, position_basis: Vector, speed_basis: Vector, point: Point) -> tuple[Mode, ...]:
    """The modes of z' = A z; of a conjugate pair, the one with positive imaginary part comes second."""
    values, vectors = np.linalg.eig(matrix)
    names = point.equations.layout
    reach = point.kinematics["reach"]
    floor = RESOLUTION * float(np.abs(values).max(initial=0.0))
    # An eigenvalue is known no better than rounding of A times its condition number: below that its real part says
    # nothing.
    resolutions = np.maximum(floor, ROUNDING * np.linalg.norm(matrix) * _conditions(vectors))
    order = sorted(range(len(values)), key=lambda k: (abs(values[k]), values[k].real, values[k].imag))
    modes = []
    for k in order:
        shape = np.concatenate([reach @ position_basis @ vectors[:, k], speed_basis @ vectors[:, k]])
        labels = [*names.coordinate_names, *names.speed_names]
        modes.append(Mode(complex(values[k]), _normalise_shape(labels, shape), float(resolutions[k])))
    return tuple(modes)


def _conditions(vectors: NDArray[np.complex128]) -> Vector:
    """How much an eigenvalue moves per change of the matrix: large where several come together."""
    # Rows of V⁻¹ are left eigenvectors with l · r = 1: |l| |r| is the condition number of a simple eigenvalue, and |r|
    # = 1.
    left = np.linalg.pinv(vectors, rcond=1e-15)
    return np.asarray(np.linalg.norm(left, axis=1))


def _normalise_shape(labels: list[str], shape: NDArray[np.complex128]) -> dict[str, complex]:
    largest = shape[int(np.argmax(np.abs(shape)))]
    scaled = shape / largest if largest else shape
    return dict(zip(labels, [complex(x) for x in scaled], strict=True))
