"""Rings of joints that keep a line or a plane of symmetry, and how much more they move because of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from torseur.algebra.arrays import Array

_SAME = 1e-6


@dataclass(frozen=True)
class Symmetry:
    """A line or plane of symmetry: which joint each is exchanged with, by their places in the ring, and the freedoms
    of the joints, one of a hinge or screw and two of a cylindrical joint."""

    kind: str
    partners: tuple[int, ...]
    of_joints: tuple[int, ...]

    @property
    def freedoms(self) -> int:
        """Number of freedoms of symmetric motions before the ring is closed."""
        # Between a body and its own mirror image a cylindrical joint turns and does not slide.
        return sum(self.of_joints[k] if k < p else 1 for k, p in enumerate(self.partners) if k <= p)

    @property
    def mobility(self) -> int:
        """Mobility of the symmetric motions, by count."""
        # Half the ring ends anywhere; its image must meet it there. The motion from one cut to the other times the
        # symmetry must be a half-turn about some line (lines are a family of 4 in the 6 dimensions of motions: 2
        # conditions), or a reflection at some plane (planes are a family of 3: 3 conditions).
        return self.freedoms - (2 if self.kind == "line" else 3)


def joint_axis(screws: Array) -> Array | None:
    """The axis of a hinge, screw or cylindrical joint, as a screw; None of other joints."""
    if len(screws) == 1:
        axis: Array = screws[0]
        return axis
    if len(screws) != 2:
        return None
    _, sizes, right = np.linalg.svd(screws[:, :3].T)
    slide = right[1] @ screws  # does not turn
    turn = right[0] @ screws
    if sizes[1] > _SAME or np.max(np.abs(np.cross(turn[:3], slide[3:]))) > _SAME * np.linalg.norm(slide[3:]):
        return None
    turn[3:] -= turn[:3] * (turn[:3] @ turn[3:]) / (turn[:3] @ turn[:3])  # what it slides besides is the other's
    return turn


def symmetries(screws: Array, freedoms: tuple[int, ...]) -> list[Symmetry]:
    """Lines and planes of symmetry of a ring of joints by their axes (n, 6) and freedoms, in order around it."""
    count = len(screws)
    unit = screws / np.maximum(np.linalg.norm(screws[:, :3], axis=1, keepdims=True), 1e-300)
    if np.any(np.linalg.norm(screws[:, :3], axis=1) < _SAME):
        return []  # slides have no place, by which symmetries are told
    exchanges = [("line", tuple((k + count // 2) % count for k in range(count)))] if count % 2 == 0 else []
    exchanges += [("plane", tuple((s - k) % count for k in range(count))) for s in range(count)]
    alike = [Symmetry(kind, partners, freedoms) for kind, partners in exchanges
             if all(freedoms[k] == freedoms[p] for k, p in enumerate(partners))]  # fmt: skip
    return [s for s in alike if _is_symmetric(unit, s)]


def _is_symmetric(screws: Array, symmetry: Symmetry) -> bool:
    axes, partners = screws[:, :3], list(symmetry.partners)
    points = np.cross(axes, screws[:, 3:])
    pitches = np.sum(axes * screws[:, 3:], axis=1)
    # A reflection reverses pitches, a half-turn keeps them.
    sense = 1.0 if symmetry.kind == "line" else -1.0
    if np.max(np.abs(pitches[partners] - sense * pitches)) > _SAME:
        return False
    pairs = sorted({tuple(sorted((k, p))) for k, p in enumerate(partners)})
    for signs in product((1.0, -1.0), repeat=len(pairs) - 1):
        by_joint = np.ones(len(axes))
        for sign, pair in zip((1.0, *signs), pairs, strict=True):
            by_joint[list(pair)] = sign
        for whole in (1.0, -1.0):
            turn = _orthogonal(axes, whole * by_joint[:, None] * axes[partners], symmetry.kind)
            if turn is not None and _own_in_plane(turn, axes, partners) and _moves_points(turn, axes, points, partners):
                return True
    return False


def _own_in_plane(turn: Array, axes: Array, partners: list[int]) -> bool:
    """Whether joints that are their own images turn symmetrically: about an axis across the plane they do not."""
    own = [k for k, p in enumerate(partners) if k == p]
    return bool(np.all(np.abs(axes[own] @ turn.T - axes[own]) < _SAME))


def _orthogonal(axes: Array, images: Array, kind: str) -> Array | None:
    """The half-turn or reflection that takes axes to their images, if there is one."""
    left, _, right = np.linalg.svd(images.T @ axes)
    turn: Array = left @ right
    wanted = -1.0 if kind == "line" else 1.0  # the trace of a half-turn, of a reflection
    if np.max(np.abs(axes @ turn.T - images)) > _SAME or abs(np.trace(turn) - wanted) > _SAME:
        return None
    return turn


def _moves_points(turn: Array, axes: Array, points: Array, partners: list[int]) -> bool:
    """Whether the symmetry, somewhere, takes every axis onto its partner: (R p + t - p') x w' = 0 has a solution t."""
    # Twice the symmetry is nothing: R t + t = 0 besides.
    rows = [_cross_matrix(axes[p]) for p in partners] + [np.eye(3) + turn]
    right = [np.cross(axes[p], points[p] - turn @ points[k]) for k, p in enumerate(partners)] + [np.zeros(3)]
    matrix, vector = np.vstack(rows), np.concatenate(right)
    shift = np.linalg.lstsq(matrix, vector, rcond=None)[0]
    return bool(np.max(np.abs(matrix @ shift - vector)) < _SAME * max(1.0, float(np.max(np.abs(points)))))


def _cross_matrix(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
