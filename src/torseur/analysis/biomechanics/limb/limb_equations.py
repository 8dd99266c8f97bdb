"""What markers and plates say of a limb that turns about its joint: residuals and their derivatives, summed up.

With the rotation R(t), the joint c, places s of markers, the first moment h and the inertia I at the joint:

    markers   p = c + R s
    force     F = F₀ + R u                                     u = α x h + ω x (ω x h)
    moment    M = M₀ + c x R u + R (I α + ω x I ω) - R h x g    about the laboratory's origin
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.algebra.spatial.rotation_arrays import skew
from torseur.analysis.biomechanics.smoothing.rotation_splines import RotationSpline

OWN = 10  # unknowns of a trial beside its motion: c, F₀, M₀, delay
# I as a sum of six numbers by fixed matrices: xx, yy, zz, xy, xz, yz.
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
SYMMETRIC = np.zeros((6, 3, 3))
for _k, (_i, _j) in enumerate(PLACES):
    SYMMETRIC[_k, _i, _j] = SYMMETRIC[_k, _j, _i] = 1.0


@dataclass(frozen=True, eq=False)
class LimbRecording:
    """Markers of the limb (frames, markers, 3), force and moment about the laboratory's origin (frames, 3).

    `joint` is its place where that is known. Markers that are not seen are NaN.
    """

    time: Array
    points: Array
    force: Array
    moment: Array
    rotation: Array
    joint: Array | None = None
    name: str = "trial"


@dataclass(frozen=True, eq=False)
class LimbState:
    """One trial at the present state: its motion and its own unknowns."""

    seen: LimbRecording
    turning: RotationSpline
    joint: Array
    force: Array
    moment: Array
    delay: float


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one kind of reading of one trial: residuals (frames, d) and derivatives by spline, own and shared.

    `bend` are the factors (frames, d, 3) of φ, φ' and φ''.
    """

    residual: Array
    bend: tuple[Array, Array | None, Array | None]
    own: Array
    shared: Array
    seen: Mask


def _marker_rows(trial: LimbState, places: Array) -> Rows:
    """p - (c + R s)."""
    R, seen = trial.turning.rotation, trial.seen.points
    frames, markers = seen.shape[:2]
    residual = (seen - trial.joint - np.einsum("tij,kj->tki", R, places)).reshape(frames, -1)
    # R exp(φ) s = R s - R s̃ φ to first order.
    bend = -np.einsum("tij,kjl->tkil", R, skew(places)).reshape(frames, -1, 3)
    own = np.zeros((frames, 3 * markers, OWN))
    own[:, :, :3] = np.tile(np.eye(3), (markers, 1))
    shared = np.zeros((frames, 3 * markers, 3 * markers))
    for k in range(markers):
        shared[:, 3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = R
    present = np.isfinite(residual)
    return Rows(np.where(present, residual, 0.0), (bend, None, None), own, shared, present)


def force_rows(trial: LimbState, values: Array, markers: int) -> Rows:
    """F - (F₀ + R u)."""
    turning, h = trial.turning, values[6:]
    R, (predicted, bend) = turning.rotation, _pull(turning, h)
    frames = len(R)
    model = trial.force + predicted
    # A delay moves readings along their own rate: F(t - τ) = F(t) - τ F'(t).
    rate = np.gradient(predicted, trial.seen.time, axis=0)
    own, shared = np.zeros((frames, 3, OWN)), np.zeros((frames, 3, 3 * markers + 9))
    own[:, :, 3:6], own[:, :, 9] = np.eye(3), -rate
    shared[:, :, -3:] = R @ turning.tensor
    return Rows(trial.seen.force - model + trial.delay * rate, bend, own, shared, np.ones((frames, 3), dtype=bool))


def _pull(turning: RotationSpline, h: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    """R u, and its derivatives by φ, φ' and φ'' where R exp(φ) is the rotation.

    δω = φ' + ω x φ and δα = φ'' + ω x φ' + α x φ.
    """
    R, w, a = turning.rotation, skew(turning.omega), skew(turning.alpha)
    h_, wh = skew(h), skew(np.cross(turning.omega, h))
    u = turning.tensor @ h
    by_rate = -(wh + w @ h_)
    by_phi = -skew(u) - h_ @ a + by_rate @ w
    return np.einsum("tij,tj->ti", R, u), (R @ by_phi, R @ (by_rate - h_ @ w), R @ np.broadcast_to(-h_, R.shape))


def moment_rows(trial: LimbState, values: Array, gravity: Array, markers: int) -> Rows:
    """M - (M₀ + c x R u + R (I α + ω x I ω) - R h x g)."""
    turning, h, I = trial.turning, values[6:], np.tensordot(values[:6], SYMMETRIC, 1)
    R, omega, alpha = turning.rotation, turning.omega, turning.alpha
    w, a, spin = skew(omega), skew(alpha), skew(omega @ I)
    pull, (pull_0, pull_1, pull_2) = _pull(turning, h)
    L = alpha @ I + np.cross(omega, omega @ I)
    g, c = skew(gravity), skew(trial.joint)
    by_rate = w @ I - spin
    bend = (
        # Columns of the derivatives by φ, φ' and φ'' of c x R u, of R (I α + ω x I ω), and of the weight's moment.
        c @ pull_0 + R @ (-skew(L) + I @ a + by_rate @ w) - g @ R @ skew(h),
        c @ pull_1 + R @ (I @ w + by_rate),
        c @ pull_2 + R @ I,
    )
    moved = np.cross(trial.joint, pull) + np.einsum("tij,tj->ti", R, L) + R @ h @ g.T
    rate = np.gradient(moved, trial.seen.time, axis=0)
    own, shared = np.zeros((len(R), 3, OWN)), np.zeros((len(R), 3, 3 * markers + 9))
    own[:, :, :3], own[:, :, 6:9], own[:, :, 9] = -skew(pull), np.eye(3), -rate
    by_inertia = np.einsum("kij,tj->tki", SYMMETRIC, alpha) + np.cross(
        omega[:, None], np.einsum("kij,tj->tki", SYMMETRIC, omega)
    )
    shared[:, :, -9:-3] = np.einsum("tij,tkj->tik", R, by_inertia)
    shared[:, :, -3:] = c @ R @ turning.tensor + g @ R
    residual = trial.seen.moment - trial.moment - moved + trial.delay * rate
    return Rows(residual, bend, own, shared, np.ones((len(R), 3), dtype=bool))


@dataclass(frozen=True, eq=False)
class NormalPart:
    """What one kind of reading of one trial adds to the normal equations, in units of its noise.

    [ D   E ]         D of the trial's spline and own unknowns,
    [ Eᵀ  S ]         S of the shared ones
    """

    D: Array
    E: Array
    S: Array
    right: Array
    right_shared: Array
    square: float
    count: int
    related: tuple[float, float]


def normal_part(rows: Rows, turning: RotationSpline, likeness: float) -> NormalPart:
    """Normal equations of whitened rows e_t - ρ e_{t-1}, or √(1 - ρ²) e_t after a frame that was not seen."""
    from scipy.sparse import csr_array, vstack

    frames, d = rows.residual.shape
    # Autoregression of first order within an unbroken run; the first reading of a run keeps its own variance.
    before = np.zeros((frames, d), dtype=bool)
    before[1:] = rows.seen[1:] & rows.seen[:-1]
    keep = np.where(rows.seen, np.where(before, 1.0, np.sqrt(1 - likeness**2)), 0.0).reshape(-1)
    less = np.where(before, -likeness, 0.0).reshape(-1)

    def white(matrix: Array) -> Array:
        result = keep[:, None] * matrix
        result[d:] += less[d:, None] * matrix[:-d]
        return result

    moved = turning.by_coefficients(rows.bend)
    spline = moved.multiply(keep[:, None]).tocsr()
    if likeness:
        shifted = vstack([csr_array((d, moved.shape[1])), moved[:-d]])
        spline = (spline + shifted.multiply(less[:, None])).tocsr()
    dense = white(np.concatenate([rows.own, rows.shared], axis=2).reshape(frames * d, -1))
    right = white(rows.residual.reshape(-1, 1))[:, 0]
    # [ spline  own | shared ]
    across, within = np.asarray(spline.T @ dense), dense.T @ dense
    D = np.block([[(spline.T @ spline).toarray(), across[:, :OWN]], [across[:, :OWN].T, within[:OWN, :OWN]]])
    E = np.concatenate([across[:, OWN:], within[:OWN, OWN:]])
    product = dense.T @ right
    pairs = rows.residual[1:] * rows.residual[:-1] * before[1:]
    return NormalPart(
        D, E, within[OWN:, OWN:], np.concatenate([spline.T @ right, product[:OWN]]), product[OWN:],
        float(right @ right), int(rows.seen.sum()),
        (float(np.sum(pairs)), float(np.sum(rows.residual[:-1] ** 2 * before[1:]))),
    )  # fmt: skip


def marker_rows(trial: LimbState, places: Array) -> Rows:
    """With columns for inertia and first moment, which markers do not feel."""
    rows = _marker_rows(trial, places)
    return replace(rows, shared=np.concatenate([rows.shared, np.zeros((*rows.shared.shape[:2], 9))], axis=2))
