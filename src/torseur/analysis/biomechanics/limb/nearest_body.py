"""The body nearest to an inertia matrix that noise has made that of no body."""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.limb.limb_fit import LimbFit
from torseur.analysis.identification.estimators.consistent_fit import (
    Cone,
    ConsistentProblem,
    Family,
    LinearLimits,
    fit_consistent,
)

# K = ½ tr(I) 1 - I on the entries xx, yy, zz, xy, xz, yz
TO_SECOND_MOMENTS = np.diag([-0.5, -0.5, -0.5, -1.0, -1.0, -1.0])
TO_SECOND_MOMENTS[:3, :3] += 0.5 * (1 - np.eye(3))


def nearest_body(fit: LimbFit) -> Array:
    """Inertia and first moment with K ⪰ 0 nearest to the fit's, in units of its covariance."""
    inertia, C = fit.values[:6], fit.covariance
    R = np.linalg.cholesky(np.linalg.inv(C[:6, :6])).T
    # A thin limb has hardly any inertia about its own axis: the solver sees all three at the size of one.
    size = 1 / np.sqrt(np.maximum(np.diag(fit.inertia), 1e-3 * np.trace(fit.inertia)))
    derivatives = np.array([symmetric(column) * np.outer(size, size) for column in TO_SECOND_MOMENTS.T])
    cone, none = Cone("K", np.zeros((3, 3)), derivatives, slice(0, 6)), LinearLimits.none(6)
    family = Family(np.eye(6), inertia, np.eye(6))
    nothing = (np.zeros((0, 6)), np.zeros(0))
    nearest = fit_consistent(ConsistentProblem(R, R @ inertia, family, (cone,), none, none, nothing)).parameters
    # The first moment goes along, as far as its errors are related to those of the inertia.
    return np.concatenate([nearest, fit.moment + C[6:, :6] @ np.linalg.solve(C[:6, :6], nearest - inertia)])


def symmetric(entries: Array) -> Array:
    """A symmetric matrix of its entries xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
