"""Centres of joints from the motions of the two segments they join (Monnet 2007, chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.motion.segment_motion import SegmentMotion
from torseur.analysis.biomechanics.smoothing import point_rates, rotation_rates
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.analysis.identification.estimators.correlated_noise import long_run
from torseur.errors import RecordingError

LEAST_RATE = 0.25  # rad/s: slower frames place a helical axis badly
_LASTING = 2.0  # lags over which the scatter is summed, by the time in which likeness decays
_FLAT = 1e-3  # least eigenvalue beside the greatest: turning by less than some degrees about a second axis is noise


@dataclass(frozen=True, eq=False)
class JointCentre:
    """A joint's centre in the proximal and in the distal segment's frame, in m.

    `deviation` (3) is the standard deviation of its place in the proximal frame, from what the fit leaves. `residual`
    is the root mean square of what is left, in m; `used` marks the frames that counted.
    """

    method: str
    proximal: Array
    distal: Array
    deviation: Array
    residual: float
    used: Mask

    def __str__(self) -> str:
        x, y, z = (f"{1e3 * c:.2f} ± {1e3 * d:.2f}" for c, d in zip(self.proximal, self.deviation, strict=True))
        return f"{self.method}: [{x}, {y}, {z}] mm in the proximal segment, {int(self.used.sum())} frames"


def score(proximal: SegmentMotion, distal: SegmentMotion, frames: Mask | None = None) -> JointCentre:
    """The centre by SCoRE: the points u and v of the two segments that stay together best, r_S + R_S u = r_H + R_H v.

    Linear least squares on [R_H, -R_S][v; u] = r_S - r_H over all frames, or over those given (the source's SCoRE2),
    corrected for what noise of the markers does to rotations: see `_mean_turn`. In deviations,
    frames that follow each other count as related.
    """
    used = _usable(proximal, distal, frames)
    (S, a_S), (H, a_H) = (_mean_turn(segment, used) for segment in (proximal, distal))
    R_S, R_H = proximal.rotation[used] @ S, distal.rotation[used] @ H
    # Places are counted from the middle of each segment's markers, whose noise has nothing to do with the rotation's.
    apart = proximal.at(a_S)[used] - distal.at(a_H)[used]
    # Normal equations of [R_H  -R_S] (v, u) = r_S - r_H, three rows per frame (Ehrig et al. 2006):
    # [  n          -Σ R_Hᵀ R_S ] (v)   (  Σ R_Hᵀ (r_S - r_H) )
    # [ -Σ R_Sᵀ R_H  n          ] (u) = ( -Σ R_Sᵀ (r_S - r_H) )
    frames_used = len(apart)
    cross = np.swapaxes(R_H, 1, 2) @ R_S
    mean = cross.mean(axis=0)
    normal = frames_used * np.block([[np.eye(3), -mean], [-mean.T, np.eye(3)]])
    _require_determined(normal, "SCoRE", proximal, distal)
    right = np.hstack([np.einsum("tji,tj->ti", R_H, apart), -np.einsum("tji,tj->ti", R_S, apart)])
    solution = np.linalg.solve(normal, right.sum(axis=0))
    v, u = solution[:3], solution[3:]
    # What every frame still asks for; the sum vanishes.
    pulls = right - np.hstack([v - cross @ u, u - np.swapaxes(cross, 1, 2) @ v])
    inverse = np.linalg.inv(normal)
    deviation = np.sqrt(np.diag(inverse @ _scatter(pulls) @ inverse)[3:])
    u, v = u + a_S, v + a_H
    left = (proximal.at(u) - distal.at(v))[used]
    return JointCentre("SCoRE", u, v, deviation, float(np.sqrt(np.mean(np.sum(left**2, axis=1)))), used)


def _mean_turn(segment: SegmentMotion, used: Mask) -> tuple[Array, Array]:
    """E with E(R̂ E) = R, and the middle of the segment's markers.

    Noise ε of a rotation, R̂ = R exp(ε̃), shortens it on average: E(R̂) = R (1 - ½ (tr C 1 - C)) with the covariance
    C = σ² (Σ |p|² 1 - p pᵀ)⁻¹ of ε for markers at p from their middle. Least squares with R̂ in place of R would draw
    the centre towards the markers by as much: at 3 mm by more than it scatters.
    """
    places = np.array(list(segment.shape.values()))
    middle = places.mean(axis=0)
    p, count = places - middle, len(places)
    # Six of the 3 n coordinates place the segment; the others show the noise.
    # The residual is a root mean square over markers: its square times n is the sum that 3 n - 6 freedoms share.
    variance = float(np.mean(segment.residual[used] ** 2)) * count / (3 * count - 6)
    C = variance * np.linalg.inv(np.sum(p**2) * np.eye(3) - p.T @ p)
    return np.linalg.inv(np.eye(3) - (np.trace(C) * np.eye(3) - C) / 2), middle


def _scatter(pulls: Array) -> Array:
    """Covariance of a sum over frames that may be related to their neighbours, as far as those resemble each other.

    Noise of single frames needs no lag; skin that slides under markers lasts for dozens of frames, which then count as
    few: the residuals have paid for the centre with one of them for each of two frames that are not related.
    """
    likeness = float(np.sum(pulls[1:] * pulls[:-1]) / max(float(np.sum(pulls**2)), 1e-300))
    rho = min(max(likeness, 0.0), 0.97)
    independent = len(pulls) * (1 - rho) / (1 + rho)
    # Noise that ends after some frames leaves its end to be seen once what an autoregression explains is taken off.
    return long_run(pulls, round(_LASTING / (1 - rho))) * independent / max(independent - 2, independent / 4)


def mean_helical_axis(
    proximal: SegmentMotion,
    distal: SegmentMotion,
    *,
    least_rate: float = LEAST_RATE,
    derivatives: Derivatives | None = None,
    frames: Mask | None = None,
) -> JointCentre:
    """The centre as the pivot of the instantaneous helical axes of the distal segment seen from the proximal one.

    An axis passes through s = a + ω x v / |ω|² along n = ω / |ω| (the source prints |ω| for its square); the pivot is
    nearest to all of them: s_opt = (Σ Q)⁻¹ Σ Q s, Q = 1 - n nᵀ. Frames slower than `least_rate` (rad/s) do not count.
    """
    relative = distal.seen_from(proximal)
    how = derivatives or Derivatives()
    turning = rotation_rates(relative.time, relative.rotation, how)
    velocity, _ = point_rates(relative.time, relative.origin, how)
    speed = np.linalg.norm(turning.omega, axis=1)
    used = _usable(proximal, distal, frames) & (speed > least_rate)
    if used.sum() < 2:
        raise RecordingError(
            f"'{distal.name}' turns faster than {least_rate:g} rad/s about '{proximal.name}' in {used.sum()} frames: "
            "a mean helical axis needs a faster motion. SCoRE does not."
        )
    omega, v = turning.omega[used], velocity[used]
    s = relative.origin[used] + np.cross(omega, v) / (speed[used] ** 2)[:, None]
    n = omega / speed[used][:, None]
    return _pivot(relative, s, n, used, proximal, distal)


def _pivot(
    relative: SegmentMotion, s: Array, n: Array, used: Mask, proximal: SegmentMotion, distal: SegmentMotion
) -> JointCentre:
    """The point nearest to the axes through s along n."""
    # Q (s - c) is the way from c to the axis at right angles: normal equations of the sum of squared distances.
    Q = np.eye(3) - n[:, :, None] * n[:, None, :]
    normal = Q.sum(axis=0)
    _require_determined(normal, "the mean helical axis", proximal, distal)
    centre = np.linalg.solve(normal, np.einsum("tij,tj->i", Q, s))
    left = np.einsum("tij,tj->ti", Q, s - centre)
    variance = float(np.sum(left**2)) / max(2 * len(s) - 3, 1)
    deviation = np.sqrt(np.diag(np.linalg.inv(normal)) * variance)
    back = np.einsum("tji,tj->ti", relative.rotation[used], centre - relative.origin[used])
    return JointCentre(
        "mean helical axis",
        centre,
        back.mean(axis=0),
        deviation,
        float(np.sqrt(np.mean(np.sum(left**2, axis=1)))),
        used,
    )


def precision(centres: Sequence[JointCentre]) -> float:
    """Mean over the axes of the standard deviation of repeated centres in m, as the source defines precision."""
    if len(centres) < 2:
        raise RecordingError("a precision needs at least two repetitions.")
    return float(np.mean(np.std([centre.proximal for centre in centres], axis=0, ddof=1)))


def _usable(proximal: SegmentMotion, distal: SegmentMotion, frames: Mask | None) -> Mask:
    if len(proximal.time) != len(distal.time):
        raise RecordingError(
            f"'{proximal.name}' has {len(proximal.time)} frames, '{distal.name}' has {len(distal.time)}."
        )
    both = proximal.known_frames & distal.known_frames
    return both if frames is None else both & frames


def _require_determined(normal: Array, method: str, proximal: SegmentMotion, distal: SegmentMotion) -> None:
    values = np.linalg.eigvalsh(normal)
    if not values[0] > _FLAT * values[-1]:
        raise RecordingError(
            f"{method} cannot place the joint between '{proximal.name}' and '{distal.name}': they turn about one axis "
            "only, or not at all. Record a motion about several axes."
        )
