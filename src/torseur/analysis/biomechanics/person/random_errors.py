"""Standard deviations of a person's angles and moments by the errors of markers and plates that the trial shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots
from torseur.analysis.biomechanics.forces.trial_dynamics import TrialDynamics, moments_kernel
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.biomechanics.tracking import FittedMotion
from torseur.analysis.identification.data.differentiation import Derivatives, even_step
from torseur.description.mechanism import Mechanism

DRAWS = 40
_STEP = 1e-6  # rad or m
_MOST_RELATED = 0.98
_BLOCK = 256  # frames whose derivatives are in memory together


@dataclass(frozen=True, eq=False)
class RandomErrors:
    """Standard deviations (frames, coordinates) of coordinates (rad, m) and of moments (N m, N).

    `marker` (m) is the standard deviation of a coordinate of a marker, `related` its correlation from frame to frame.
    What is the same in all frames is not among them: places of joints, lengths, inertias, and skin that slides slowly.
    """

    names: tuple[str, ...]
    coordinates: Array
    moments: Array
    marker: float
    related: float

    def coordinate(self, name: str) -> Array:
        return self.coordinates[:, self.names.index(name)]

    def moment(self, name: str) -> Array:
        return self.moments[:, self.names.index(name)]


@dataclass(frozen=True, eq=False)
class _LinearFit:
    """The fit about what it found: coordinates moved (frames, free, 3 markers) by errors, and what it left over.

    `left` is the weighted number of residuals less the coordinates that they have paid for.
    """

    inverse: Array
    residual: Array
    seen: Mask
    weight: Array
    left: float

    @property
    def variance(self) -> float:
        """Of a marker of weight one."""
        return float(np.sum(self.weight * self.residual**2) / max(self.left, 1.0))

    @property
    def related(self) -> float:
        """Correlation of residuals of neighbouring frames, the mean of each marker taken out."""
        mean = self.residual.sum(axis=0) / np.maximum(self.seen.sum(axis=0), 1)
        r = np.where(self.seen, self.residual - mean, 0.0)
        return float(np.clip(np.sum(r[1:] * r[:-1]) / max(float(np.sum(r[:-1] ** 2)), 1e-300), 0.0, _MOST_RELATED))


def random_errors(
    dynamics: TrialDynamics,
    fit: FittedMotion,
    markers: Markers,
    derivatives: Derivatives,
    free: tuple[str, ...],
    weights: dict[str, float] | None = None,
) -> RandomErrors:
    """How far angles and moments scatter by errors like those that the fit of the markers leaves.

    Errors with the variance and the relation in time of the residuals are drawn, and taken through the linearised
    inverse kinematics, the derivatives and the inverse dynamics.
    """
    motion, mechanism = dynamics.motion, dynamics.body.mechanism
    found = fit.q[:, [fit.coordinates.index(name) for name in motion.names]]
    chosen = np.array([name in free for name in motion.names])
    linear = _linear_fit(mechanism, motion, found, fit.labels, markers, np.flatnonzero(chosen), weights or {})
    size = np.sqrt(linear.variance / np.where(linear.weight > 0, linear.weight, np.inf))
    kernel, loads = moments_kernel(mechanism, tuple(dynamics.reactions)), _loads(dynamics)
    noise, rng = _load_noise(loads), np.random.default_rng(0)
    beyond = _beyond(motion, found, derivatives)
    inner, size = slice(beyond, beyond + len(motion)), _pad(size, beyond)
    found, inverse = _pad(found, beyond), _pad(linear.inverse, beyond)
    time = motion.time[0] + np.arange(-beyond, len(motion) + beyond) * even_step(motion.time) if beyond else motion.time
    usual = _rates(time, found, derivatives)
    squares = np.zeros((2, *motion.q.shape))
    for _ in range(DRAWS):
        errors, moved = _series(rng, size.shape, linear.related) * size, found.copy()
        moved[:, chosen] += (inverse @ errors[:, :, None])[:, :, 0]
        # Not the derivatives of the errors alone: splines smooth by what they are given.
        change = (_rates(time, moved, derivatives) - usual)[:, inner]
        disturbed = loads + noise * rng.normal(size=loads.shape)
        moments = kernel(motion.q + change[0], motion.v + change[1], motion.vdot + change[2], disturbed)
        squares += np.square([change[0], moments - dynamics.moments])
    # What smoothing takes away: as much again as it takes from the smoothed motion.
    again = _rates(motion.time, motion.q, derivatives)
    lost = np.square([again[0] - motion.q, kernel(again[0], again[1], again[2], loads) - dynamics.moments])
    if beyond:
        usually = lost[:, beyond:-beyond].mean(axis=1, keepdims=True)
        lost[:, :beyond], lost[:, -beyond:] = usually, usually
    spread = np.sqrt(squares / DRAWS + lost)
    return RandomErrors(motion.names, spread[0], spread[1], float(np.sqrt(linear.variance)), linear.related)


def _linear_fit(
    mechanism: Mechanism, motion: JointMotion, found: Array, labels: tuple[str, ...], markers: Markers,
    free: Slots, given: dict[str, float],
) -> _LinearFit:  # fmt: skip
    """Block by block of frames, all coordinates of a block moved a little in one evaluation of the body."""
    seen_at = np.concatenate([markers.of(label) for label in labels], axis=1)
    each = np.repeat([float(given.get(label, 1.0)) for label in labels], 3)
    weight = np.where(np.isfinite(seen_at), each, 0.0)
    inverse, residual, left = [], [], 0.0
    for first in range(0, len(motion), _BLOCK):
        part = slice(first, first + _BLOCK)
        here, J = _derivatives(mechanism, motion, motion.time[part], found[part], labels, free)
        w = weight[part]
        weighted = np.swapaxes(J * w[:, :, None], 1, 2)
        inverse.append(np.linalg.pinv(weighted @ J, hermitian=True) @ weighted)
        left += float(np.sum(w * (1 - np.einsum("tic,tci->ti", J, inverse[-1]))))
        residual.append(np.where(w > 0, seen_at[part] - here, 0.0))
    return _LinearFit(np.concatenate(inverse), np.concatenate(residual), weight > 0, weight, left)


def _derivatives(
    mechanism: Mechanism, motion: JointMotion, time: Array, q: Array, labels: tuple[str, ...], free: Slots
) -> tuple[Array, Array]:
    """Places (frames, 3 markers) and their derivatives (frames, 3 markers, free coordinates)."""
    frames = dict(mechanism.frames)
    rows = np.tile(q, (1 + len(free), 1, 1))
    for number, k in enumerate(free):
        rows[1 + number, :, k] += _STEP
    flat = rows.reshape(-1, q.shape[1])
    still = np.zeros_like(flat)
    body = BodyInMotion(mechanism, JointMotion(np.tile(time, len(rows)), motion.names, flat, still, still))
    places = np.concatenate([body.place(frames[label])[0] for label in labels], axis=1).reshape(*rows.shape[:2], -1)
    return places[0], np.moveaxis((places[1:] - places[0]) / _STEP, 0, 2)


def _beyond(motion: JointMotion, found: Array, how: Derivatives) -> int:
    """Frames that were followed before and after the motion, and left out of it because derivatives are poor there."""
    if how.method != "savitzky_golay" or len(motion) <= 2 * how.window:
        return 0
    whole = np.allclose(_rates(motion.time, found, how)[2], motion.vdot)
    return 0 if whole else how.window // 2


def _pad(values: Array, beyond: int) -> Array:
    """The first and the last row again, for the frames beyond."""
    return np.pad(values, [(beyond, beyond)] + [(0, 0)] * (values.ndim - 1), mode="edge")


def _rates(time: Array, q: Array, how: Derivatives) -> Array:
    """Coordinates as the derivatives have them, speeds and accelerations (3, frames, coordinates)."""
    if how.method != "savitzky_golay":
        pairs = [how.of(time, column) for column in q.T]
        return np.stack([q, *(np.stack([pair[k] for pair in pairs], axis=1) for k in range(2))])
    from scipy.signal import savgol_filter

    rows = np.ascontiguousarray(q.T)  # all columns in one call
    return np.stack([savgol_filter(rows, how.window, how.order, mode="interp").T, *(x.T for x in how.of(time, rows))])


def _series(rng: np.random.Generator, shape: tuple[int, ...], related: float) -> Array:
    from scipy.signal import lfilter

    fresh = rng.normal(size=shape)
    fresh[1:] *= np.sqrt(1 - related**2)
    return np.asarray(lfilter([1.0], [1.0, -related], fresh, axis=0))


def _loads(dynamics: TrialDynamics) -> Array:
    parts = [part for reaction in dynamics.reactions.values() for part in (reaction.moment, reaction.force)]
    return np.concatenate(parts, axis=1) if parts else np.zeros((len(dynamics.motion), 0))


def _load_noise(loads: Array) -> Array:
    """Standard deviation of the plates' noise by column: what third differences leave of a smooth load."""
    if len(loads) < 8 or not loads.shape[1]:
        return np.zeros(loads.shape[1])
    # A third difference of white noise has 20 times its variance; the median is not moved by steps at heel strike.
    rough = np.diff(loads, 3, axis=0)
    return np.asarray(np.median(np.abs(rough), axis=0) / 0.6745 / np.sqrt(20))
