"""Groups of motions that the screws of joints generate, with their names.

A group of rigid motions is known by its Lie algebra, a space of screws closed under brackets. There are twelve kinds
(Hervé 1978); a chain of joints stays in the smallest group that contains the motions of its joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial.rotation_arrays import cross
from torseur.derivation.loops.closure.directions import direction_name

_SAME_SCREW = 1e-7
_ZERO = 1e-6


def generated_algebra(screws: Array) -> Array:
    """A basis (d, 6) of the Lie algebra that screws (k, 6) generate: brackets are added until nothing new comes."""
    basis = screw_basis(screws)
    while 1 < len(basis) < 6:
        first, second = np.triu_indices(len(basis), 1)
        # Brackets of a basis are enough: the bracket is bilinear.
        larger = screw_basis(np.vstack([basis, _brackets(basis[first], basis[second])]))
        if len(larger) == len(basis):
            break
        basis = larger
    return basis


def screw_basis(screws: Array) -> Array:
    """An orthonormal basis of the space that screws span."""
    if not len(screws):
        return np.zeros((0, 6))
    _, values, right = np.linalg.svd(screws, full_matrices=False)
    return right[values > _SAME_SCREW * max(float(np.max(values, initial=0.0)), 1e-300)]


def _brackets(a: Array, b: Array) -> Array:
    """[a, b] = (w_a x w_b, w_a x v_b + v_a x w_b)."""
    linear = cross(a[:, :3], b[:, 3:]) + cross(a[:, 3:], b[:, :3])
    return np.concatenate([cross(a[:, :3], b[:, :3]), linear], axis=1)


def common_screws(spaces: Sequence[Array]) -> Array:
    """A basis of the screws that all spaces (rows) contain."""
    # What lies in every space is orthogonal to every orthogonal complement.
    outside = np.vstack([np.linalg.svd(space)[2][len(space) :] for space in spaces])
    if not len(outside):
        return np.eye(6)
    _, values, right = np.linalg.svd(outside)
    rank = int(np.sum(values > _ZERO))
    return right[rank:]


@dataclass(frozen=True)
class MotionGroup:
    """A group of motions: its kind, its dimension, and what its joints do in words."""

    kind: str
    dimension: int
    text: str


def motion_group(algebra: Array) -> MotionGroup:
    """The kind of group that a Lie algebra (d, 6) belongs to."""
    dimension = len(algebra)
    turning = _space(algebra[:, :3])
    sliding = _translations(algebra)
    if not dimension:
        return MotionGroup("rigid", 0, "nothing")
    if not len(turning):
        return _translational(sliding)
    # An algebra that turns about three axes and slides along one slides along all: the rotations carry the direction
    # round.
    if len(turning) == 3:
        return _MOST if dimension == 6 else MotionGroup("spherical", 3, "rotations about one point")
    along = _name(turning[0])
    if len(sliding) == 3:
        return MotionGroup("Schönflies", 4, f"translations and rotations about {along} (Schönflies motions)")
    pitch = _pitch(algebra, turning[0])
    if len(sliding) == 2:
        screw = f", rising along {along} with the angle" if abs(pitch) > _ZERO else ""
        kind = "planar" if not screw else "planar helical"
        return MotionGroup(kind, 3, f"motions in the plane normal to {along}{screw}")
    if len(sliding) == 1:
        return MotionGroup("cylindrical", 2, f"rotations about one axis and translations along it ({along})")
    kind = "helical" if abs(pitch) > _ZERO else "rotational"
    return MotionGroup(kind, 1, f"{'screws' if kind == 'helical' else 'rotations'} about one axis ({along})")


_MOST = MotionGroup("all", 6, "any motion")


def _translational(sliding: Array) -> MotionGroup:
    if len(sliding) == 3:
        return MotionGroup("translational", 3, "translations in all directions")
    if len(sliding) == 2:
        normal = np.cross(sliding[0], sliding[1])
        return MotionGroup("translational", 2, f"translations in the plane normal to {_name(normal)}")
    return MotionGroup("translational", 1, f"translations along {_name(sliding[0])}")


def _space(vectors: Array) -> Array:
    _, values, right = np.linalg.svd(vectors)
    return right[: int(np.sum(values > _ZERO))]


def _translations(algebra: Array) -> Array:
    """Directions (k, 3) of the pure translations in a space of screws."""
    # left[:, rank:] combines screws whose rotations cancel: what is left of them slides.
    left, values, _ = np.linalg.svd(algebra[:, :3])
    rank = int(np.sum(values > _ZERO))
    return _space(left[:, rank:].T @ algebra[:, 3:]) if rank < len(algebra) else np.zeros((0, 3))


def _pitch(algebra: Array, axis: Array) -> float:
    """The translation along the axis per rotation about it, of the screw in the algebra that turns by 1."""
    weights = np.linalg.lstsq(algebra[:, :3].T, axis, rcond=None)[0]
    return float(weights @ algebra[:, 3:] @ axis)


def direction_words(screw: Array) -> str:
    """The direction that a screw turns about or, where it does not turn, slides along."""
    return _name(screw[:3] if np.linalg.norm(screw[:3]) > _ZERO else screw[3:] / np.linalg.norm(screw[3:]))


def _name(direction: Array) -> str:
    cleaned = np.where(np.abs(direction) < _ZERO, 0.0, direction)
    sign = 1.0 if cleaned[int(np.argmax(np.abs(cleaned)))] > 0 else -1.0
    return direction_name([float(c) + 0.0 for c in np.round(sign * cleaned, 4)])
