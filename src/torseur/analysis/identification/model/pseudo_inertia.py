"""The pseudo-inertia of a body: J = ∫ (r, 1) (r, 1)ᵀ dm, positive definite for every body of positive density.

Linear in the ten parameters; J = [Σ, h; hᵀ, m] with Σ = ½ tr(I) 1 - I (Wensing, Kim and Slotine 2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.errors import IdentificationError

# Slots of the inertia matrix in the order of the regressor: Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def _basis() -> Array:
    """The ten matrices that the parameters multiply, (10, 4, 4)."""
    # J = [ ½ tr(I) 1 - I   h ]
    #     [ hᵀ              m ]:  mass, then h, then the six entries of I.
    basis = np.zeros((10, 4, 4))
    basis[0, 3, 3] = 1.0
    for k in range(3):
        basis[1 + k, k, 3] = basis[1 + k, 3, k] = 1.0
    for slot, (i, j) in enumerate(_ENTRIES):
        if i == j:
            basis[4 + slot, :3, :3] = np.eye(3) / 2
        basis[4 + slot, i, j] -= 1.0
        if i != j:
            basis[4 + slot, j, i] -= 1.0
    return basis


BASIS = _basis()


def pseudo_inertia(parameters: Array) -> Array:
    """J of ten parameters."""
    return np.tensordot(parameters, BASIS, axes=1)


def parameters_of_pseudo_inertia(J: Array) -> Array:
    """The ten parameters of J."""
    S = J[:3, :3]
    # tr S = ½ tr I, so that S = ½ tr(I) 1 - I turns back into I = tr(S) 1 - S.
    I = np.trace(S) * np.eye(3) - S
    return np.array([J[3, 3], *J[:3, 3], *(I[i, j] for i, j in _ENTRIES)])


def is_consistent(parameters: Array, tolerance: float = 1e-10) -> bool:
    """Whether some body of positive mass has these parameters."""
    return smallest(parameters) > -tolerance * max(1e-300, float(np.trace(pseudo_inertia(parameters))))


def smallest(parameters: Array) -> float:
    """The smallest eigenvalue of the pseudo-inertia."""
    return float(np.linalg.eigvalsh(pseudo_inertia(parameters))[0])


@dataclass(frozen=True)
class Limits:
    """What is known about a body beforehand; None means nothing is.

    mass       least and greatest mass (kg)
    centre, semi_axes, axes
               an ellipsoid that contains it: centre (m) and half lengths along `axes` (columns), in the link's frame
    density    greatest density (kg/m³) inside that ellipsoid
    """

    mass: tuple[float, float] | None = None
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    semi_axes: tuple[float, float, float] | None = None
    axes: tuple[tuple[float, float, float], ...] | None = None
    density: float | None = None

    def __post_init__(self) -> None:
        if self.semi_axes is not None and min(self.semi_axes) <= 0:
            raise IdentificationError("the half lengths of a bounding ellipsoid must be positive.")
        if self.mass is not None and self.mass[0] < 0:
            raise IdentificationError("a body's least mass cannot be negative.")
        if self.density is not None and self.density <= 0:
            raise IdentificationError("a greatest density must be positive.")
        if self.axes is not None and not np.allclose(self._axes.T @ self._axes, np.eye(3), atol=1e-6):
            raise IdentificationError("the axes of a bounding ellipsoid are three orthogonal unit vectors.")
        if self.density is not None and self.semi_axes is None:
            raise IdentificationError("a greatest density needs the ellipsoid that it fills: give its semi_axes.")

    @property
    def quadric(self) -> Array | None:
        """Q with (r, 1)ᵀ Q (r, 1) ≥ 0 inside the ellipsoid: then tr(J Q) ≥ 0."""
        if self.semi_axes is None:
            return None
        R, c = self._axes, np.array(self.centre)
        # 1 - (r - c)ᵀ A (r - c) ≥ 0 inside, expanded in (r, 1); its mean over the mass is tr(J Q).
        A = R @ np.diag(1 / np.array(self.semi_axes) ** 2) @ R.T
        Q = np.empty((4, 4))
        Q[:3, :3], Q[:3, 3], Q[3, :3], Q[3, 3] = -A, A @ c, A @ c, 1 - c @ A @ c
        return Q

    @property
    def fullest(self) -> Array | None:
        """J of the ellipsoid filled at the greatest density: J of the body stays below."""
        if self.density is None or self.semi_axes is None:
            return None
        R, c, s = self._axes, np.array(self.centre), np.array(self.semi_axes)
        mass = self.density * 4 / 3 * np.pi * float(np.prod(s))
        J = np.empty((4, 4))
        # A homogeneous ellipsoid: ∫ r rᵀ dm = m diag(s²) / 5 about its centre, moved to the origin.
        J[:3, :3] = mass * (R @ np.diag(s**2 / 5) @ R.T + np.outer(c, c))
        J[:3, 3] = J[3, :3] = mass * c
        J[3, 3] = mass
        return J

    @property
    def _axes(self) -> Array:
        return np.eye(3) if self.axes is None else np.array(self.axes, dtype=float)
