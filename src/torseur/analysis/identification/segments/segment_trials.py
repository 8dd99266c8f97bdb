"""Recorded motions as the matrices A, B and T of A J Bᵀ - B J Aᵀ = T.

A = [R̈_n ... R̈_1, r̈_P - g; 0], B = [R_n ... R_1, 0; 0 ... 1], T = [M̃_P, F; -Fᵀ, 0], everything in earth axes. P is a
point of the first segment; F and M_P are the resultant and the moment at P of what the outside exerts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial import NULL, Vec3
from torseur.analysis.identification.model.linear_model import given_values
from torseur.analysis.identification.segments.poinsot import segment_chain
from torseur.derivation.dynamics import link_poses
from torseur.derivation.dynamics.recursion import link_motions
from torseur.derivation.tree import Tree, build_tree
from torseur.description.mechanism import Mechanism
from torseur.errors import IdentificationError


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
                count, wanted = len(values), len(self.A)
                raise IdentificationError(f"trial '{self.name}': {what} has {count} samples, A has {wanted}.")
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
    # A = [ R̈_n ... R̈_1  r̈_P - g ]     B = [ R_n ... R_1  0 ]     the last segment first, as in J
    #     [ 0   ... 0    0        ]         [ 0   ... 0    1 ]
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


class MechanismMotion(NamedTuple):
    """Coordinates, speeds and accelerations of a mechanism, a row per sample."""

    q: Array
    v: Array
    vdot: Array


def trial_of_mechanism(
    mechanism: Mechanism,
    motion: MechanismMotion,
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
    rotations, accelerations, point, gravity = _segment_motions(now_tree, motion, chain.order)
    return segment_trial(rotations, accelerations, point, force, moment, gravity=gravity, step=step, name=name)


def _segment_motions(
    tree: Tree, motion: MechanismMotion, order: Sequence[int]
) -> tuple[list[Array], list[Array], Array, list[float]]:
    """R, R̈ = R U of every segment, the acceleration of P, and gravity."""
    q, v, vdot = motion
    now = tree.at(list(q.T), list(v.T), np.zeros(len(q)))
    motions, poses = link_motions(now, list(vdot.T), NULL), link_poses(now)
    rotations = [_stack_matrices([list(row) for row in poses[i].rotation.matrix.rows], len(q)) for i in order]
    tensors = [_stack_matrices([list(row) for row in motions[i].tensor.rows], len(q)) for i in order]
    first = order[0]
    point = poses[first].rotation.to_parent(motions[first].a)
    gravity = [float(x) for x in now.gravity]
    bent = [R @ U for R, U in zip(rotations, tensors, strict=True)]
    return rotations, bent, _columns(point, len(q)), gravity


def _stack_matrices(rows: list[list[object]], count: int) -> Array:
    return np.stack([np.stack([np.broadcast_to(np.asarray(x, dtype=float), count) for x in row], 1) for row in rows], 1)


def _columns(vector: Vec3, count: int) -> Array:
    return np.stack([np.broadcast_to(np.asarray(x, dtype=float), count) for x in vector], axis=1)
