"""What identified inertias change in the moment at the shoulder: Monnet (2007), section 8.4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.limb_inertia import limb_of
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion
from torseur.analysis.biomechanics.person_model.human36 import human36
from torseur.analysis.published_studies.upper_limb import limb, person, shoulder_motions
from torseur.derivation.dynamics.recursion import link_motions


def shoulder_moment(motion: JointMotion, inertia: Array, moment: Array) -> Array:
    """Moment (frames, 3) in N m that muscles exert at the shoulder for a movement of the limb with these inertias.

    d(I ω)/dt - m c x g about the resting shoulder, in laboratory axes; the limb's mass does not enter.
    """
    body = BodyInMotion(person(), motion)
    R = body.place(person().body(limb().segments[0]).frame)[1]
    K = np.trace(inertia) / 2 * np.eye(3) - inertia
    half = R @ _rotation_tensor(body) @ K @ np.swapaxes(R, 1, 2)  # Poinsot's form: R̈ K Rᵀ, less its transpose
    skew = half - np.swapaxes(half, 1, 2)
    rate = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    return rate - np.cross(R @ moment, body.gravity)


def _rotation_tensor(body: BodyInMotion) -> Array:
    """U with R̈ = R U, in the limb's axes."""
    motions = link_motions(body.now, list(body.motion.vdot.T), body.now.gravity)
    rows = [body.per_frame(row) for row in motions[body.link(limb().segments[0])].tensor.rows]
    return np.stack(rows, axis=1)


@dataclass(frozen=True)
class MomentChange:
    """How far a shoulder moment is from the true one over a movement: root mean square and greatest (N m), percent."""

    rms: float
    greatest: float
    percent: float


def moment_changes(
    limbs: Mapping[str, tuple[Array, Array]], frequency: float = 0.75, movement: str = "flexion"
) -> dict[str, MomentChange]:
    """Effect of other inertias on the moment at the shoulder; percent of the greatest true moment."""
    motion = shoulder_motions(100.0, frequency)[movement]
    truth = shoulder_moment(motion, *limb().inertia)
    changes = {}
    for name, other in limbs.items():
        gap = np.linalg.norm(shoulder_moment(motion, *other) - truth, axis=1)
        peak = float(np.max(np.linalg.norm(truth, axis=1)))
        changes[name] = MomentChange(float(np.sqrt(np.mean(gap**2))), float(gap.max()), 100 * float(gap.max()) / peak)
    return changes


def tabulated_limb(table: str) -> tuple[Array, Array]:
    """Inertia at the shoulder and first moment of the same person's limb by another table."""
    return limb_of(human36(table=table)).inertia
