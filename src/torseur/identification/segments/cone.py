"""The cone of positive matrices: the nearest member, with some entries held.

Higham (1988): the nearest positive matrix to a symmetric B with polar factor H is (B + H) / 2.
"""

from __future__ import annotations

import numpy as np

from torseur.identification.arrays import Array, Mask

_ROUNDS = 200
_CLOSE = 1e-13


def smallest_eigenvalue(J: Array, inside: Mask) -> float:
    """Of the part of J that is identified: the rows whose diagonal entry is."""
    part = _part(inside)
    return float(np.linalg.eigvalsh(J[np.ix_(part, part)])[0]) if len(part) else 0.0


def project(J: Array, inside: Mask) -> Array:
    """J with its identified part brought to the nearest positive matrix; entries outside `inside` stay as they are."""
    part = _part(inside)
    block = np.ix_(part, part)
    result = J.copy()
    held = ~inside[block]
    result[block] = _nearest_with_held(J[block], held) if held.any() else nearest_positive(J[block])
    return result


def nearest_positive(J: Array) -> Array:
    """The nearest matrix without negative eigenvalues."""
    B = (J + J.T) / 2
    values, vectors = np.linalg.eigh(B)
    H = (vectors * np.abs(values)) @ vectors.T
    return (B + H) / 2


def _nearest_with_held(J: Array, held: Mask) -> Array:
    """The nearest positive matrix that keeps some entries: Dykstra's alternating projections."""
    X, correction = J, np.zeros_like(J)
    for _ in range(_ROUNDS):
        positive = nearest_positive(X + correction)
        correction = X + correction - positive
        nearer = np.where(held, J, positive)
        if float(np.max(np.abs(nearer - positive))) < _CLOSE * max(1.0, float(np.max(np.abs(J)))):
            return nearer
        X = nearer
    return X


def _part(inside: Mask) -> list[int]:
    return [int(k) for k in np.flatnonzero(np.diag(inside))]
