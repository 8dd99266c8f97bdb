"""Recorded motions as the matrices A, B and T of A J Bᵀ - B J Aᵀ = T.

A = [R̈_n ... R̈_1, r̈_P - g; 0], B = [R_n ... R_1, 0; 0 ... 1], T = [M̃_P, F; -Fᵀ, 0], everything in earth axes. P is a
point of the first segment; F and M_P are the resultant and the moment at P of what the outside exerts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.dynamics import link_poses
from torseur.dynamics.recursion import link_motions
from torseur.errors import IdentificationError
from torseur.identification.arrays import Array
from torseur.identification.segments.poinsot import segment_chain
from torseur.identification.values import given_values
from torseur.mechanism import Mechanism
from torseur.spatial import NULL, Vec3
from torseur.tree import Tree, build_tree


@dataclass(frozen=True, eq=False)
class SegmentTrial:
    """One recording: A and B (samples, 4, 3n+1), T (samples, 4, 4), and the weight of each sample in the integral."""

    A: Array
    B: Array
    T: Array
    weights: Array
    name: str = "trial"

    def __post_init__(self) -> None:
        for what, values in (("A", self.A), ("B", self.B), ("T", self.T), ("weights", self.weights)):
            if len(values) != len(self.A):
                found, wanted = len(values), len(self.A)
                raise IdentificationError(f"trial '{self.name}': {what} has {found} samples, A has {wanted}.")
            bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
            if len(bad):
                raise IdentificationError(
                    f"trial '{self.name}': {what} is not a number at sample {bad[0]} ({len(bad)} samples in all). "
                    "Leave these samples out of the recording first."
                )

    @property
    def size(self) -> int:
        return int(self.A.shape[2])

    def residual(self, J: Array) -> Array:
        """A J Bᵀ - B J Aᵀ - T at every sample."""
        half = self.A @ J @ np.swapaxes(self.B, 1, 2)
        return half - np.swapaxes(half, 1, 2) - self.T


def segment_trial(
    rotations: Sequence[Array],
    rotation_accelerations: Sequence[Array],
    point_acceleration: Array,
    force: Array,
    moment: Array,
    *,
    gravity: Sequence[float],
    step: float = 1.0,
    name: str = "trial",
) -> SegmentTrial:
    """A trial from R_i and R̈_i of the segments (first segment first), r̈_P, F and M_P at every sample.

    `step` is the time between samples, by which every sample counts in the integral; 1 makes it a plain sum.
    """
    count = len(point_acceleration)
    zero = np.zeros((count, 1, 3))
    felt = (point_acceleration - np.array(gravity))[:, :, None]
    ahead = np.concatenate([*rotation_accelerations[::-1], felt], axis=2)
    placed = np.concatenate([*rotations[::-1], np.zeros((count, 3, 1))], axis=2)
    below = np.concatenate([zero] * len(rotations) + [np.zeros((count, 1, 1))], axis=2)
    last = below.copy()
    last[:, 0, -1] = 1.0
    return SegmentTrial(
        np.concatenate([ahead, below], axis=1),
        np.concatenate([placed, last], axis=1),
        _external(force, moment),
        np.full(count, step),
        name,
    )


def _external(force: Array, moment: Array) -> Array:
    """T at every sample; M̃ is the antisymmetric matrix f ⊗ r - r ⊗ f of a force f at r."""
    T = np.zeros((len(force), 4, 4))
    x, y, z = moment.T
    T[:, 0, 1], T[:, 0, 2], T[:, 1, 2] = -z, y, -x
    T[:, :3, 3] = force
    return T - np.swapaxes(T, 1, 2)


def second_difference(values: Array, step: float, stride: int = 1) -> Array:
    """(x(t + kΔt) - 2 x(t) + x(t - kΔt)) / (kΔt)², shorter by k samples at each end. The source uses k = 2."""
    if len(values) < 2 * stride + 1:
        raise IdentificationError(f"a second difference over ±{stride} samples needs at least {2 * stride + 1}.")
    return (values[2 * stride :] - 2 * values[stride:-stride] + values[: -2 * stride]) / (stride * step) ** 2


def rotations_from_markers(points: Array, reference: Array) -> Array:
    """The rotation at every sample that takes reference positions of markers (count, 3) to recorded ones.

    Maximises tr(Rᵀ F), F = Σ b_i c_iᵀ with both clouds about their means: the eigenvector of the greatest eigenvalue of
    a symmetric 4x4 matrix is the quaternion.
    """
    if reference.shape[0] < 3 or points.shape[1:] != reference.shape:
        raise IdentificationError("a rotation needs at least three markers, each with its place in the body.")
    seen = points - points.mean(axis=1, keepdims=True)
    return best_rotations(np.einsum("tki,kj->tij", seen, reference - reference.mean(axis=0)))


def best_rotations(F: Array) -> Array:
    """The rotation R that maximises tr(Rᵀ F), for every F of (count, 3, 3)."""
    w, x, y, z = np.linalg.eigh(rotation_form(F))[1][:, :, -1].T
    return rotation_of_quaternion(w, x, y, z)


def rotation_form(F: Array) -> Array:
    """The symmetric 4x4 matrix Q with tr(Rᵀ F) = Xᵀ Q X for the unit quaternion X of R, scalar first."""
    Q = np.empty((len(F), 4, 4))
    trace = np.trace(F, axis1=1, axis2=2)
    skew = np.stack([F[:, 2, 1] - F[:, 1, 2], F[:, 0, 2] - F[:, 2, 0], F[:, 1, 0] - F[:, 0, 1]], axis=1)
    Q[:, 0, 0], Q[:, 0, 1:], Q[:, 1:, 0] = trace, skew, skew
    Q[:, 1:, 1:] = F + np.swapaxes(F, 1, 2) - trace[:, None, None] * np.eye(3)
    return Q


def rotation_of_quaternion(w: Array, x: Array, y: Array, z: Array) -> Array:
    """Rotation matrices (count, 3, 3) of unit quaternions."""
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def trial_of_mechanism(
    mechanism: Mechanism,
    q: Array,
    v: Array,
    vdot: Array,
    force: Array,
    moment: Array,
    *,
    parameters: Mapping[str, float] | None = None,
    step: float = 1.0,
    name: str = "trial",
) -> SegmentTrial:
    """A trial of a mechanism's segments from its recorded coordinates and what the outside exerts at P.

    P is the origin of the first segment's frame; F and M_P are in earth axes.
    """
    tree = build_tree(mechanism)
    chain = segment_chain(tree)
    now_tree = tree.with_parameters(given_values(tree, parameters))
    rotations, accelerations, point, gravity = _segment_motions(now_tree, q, v, vdot, chain.order)
    return segment_trial(rotations, accelerations, point, force, moment, gravity=gravity, step=step, name=name)


def _segment_motions(
    tree: Tree, q: Array, v: Array, vdot: Array, order: Sequence[int]
) -> tuple[list[Array], list[Array], Array, list[float]]:
    """R, R̈ = R U of every segment, the acceleration of P, and gravity."""
    now = tree.at(list(q.T), list(v.T), np.zeros(len(q)))
    motions, poses = link_motions(now, list(vdot.T), NULL), link_poses(now)
    rotations = [_stacked([list(row) for row in poses[i].rotation.matrix.rows], len(q)) for i in order]
    tensors = [_stacked([list(row) for row in motions[i].tensor.rows], len(q)) for i in order]
    first = order[0]
    point = poses[first].rotation.to_parent(motions[first].a)
    gravity = [float(x) for x in now.gravity]
    bent = [R @ U for R, U in zip(rotations, tensors, strict=True)]
    return rotations, bent, _columns(point, len(q)), gravity


def _stacked(rows: list[list[object]], count: int) -> Array:
    return np.stack([np.stack([np.broadcast_to(np.asarray(x, dtype=float), count) for x in row], 1) for row in rows], 1)


def _columns(vector: Vec3, count: int) -> Array:
    return np.stack([np.broadcast_to(np.asarray(x, dtype=float), count) for x in vector], axis=1)
