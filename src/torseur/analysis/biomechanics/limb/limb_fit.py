"""A limb's motion and inertia in one fit: every marker, the joint, the axes, the plates and their delay have errors.

Rates found from the markers alone, before the inertia is fitted to them, have errors that draw the inertia to one side.
Here the motion is an unknown as well. Unknowns of a trial are the rotation R(t), the joint c, the plates' readings of
what rests, and their delay; unknowns of all trials are the places s of the markers, the first moment h and the inertia
I at the joint, in the limb's axes. They are to explain, each within a noise that the fit finds,

    markers   p = c + R s
    force     F = F₀ + R u                                     u = α x h + ω x (ω x h)
    moment    M = M₀ + c x R u + R (I α + ω x I ω) - R h x g    about the laboratory's origin

Rotations are splines; least squares by Gauss and Newton, weighted by the noise; noise that lasts is whitened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial.rotation_arrays import skew
from torseur.analysis.biomechanics.limb.limb_equations import (
    OWN,
    SYMMETRIC,
    LimbRecording,
    LimbState,
    NormalPart,
    force_rows,
    marker_rows,
    moment_rows,
    normal_part,
)
from torseur.analysis.biomechanics.smoothing.rotation_splines import RotationSpline, spline_basis, spline_rotation
from torseur.analysis.identification.data.differentiation import even_step
from torseur.errors import RecordingError

KNOTS, _FRAMES = 0.06, 2.5  # s, and frames at least, from one knot to the next
DELAY = 0.005  # s: standard deviation of what is known beforehand of plates' delay
_ROUNDS, _FIRST, _FAR, _CLOSE, _SETTLED = 60, 3, 0.8, 3e-2, 0.03
_NOISE = (3e-3, 1.0, 0.3)  # of markers (m), force (N) and moment (N m), to begin with
# Readings are not known better: markers (m), and plates by part of what varies in them. No spline follows a person more
# closely, and with exact plates the noise would be sought below its own errors, where the fit no longer is linear.
_LEAST_MARKER, _LEAST_PART = 1e-6, 1e-3
_MOST_RELATED = 0.97
_LENGTH = 0.01  # of quaternions, beside 1
_SURE = 1e-6  # m: of a joint that is known


@dataclass(frozen=True, eq=False)
class LimbFit:
    """Inertia (xx, yy, zz, xy, xz, yz) and first moment, their covariance, and the motions they go with."""

    values: Array
    covariance: Array
    shape: Array
    motions: tuple[RotationSpline, ...]
    joints: tuple[Array, ...]
    delays: tuple[float, ...]
    noise: tuple[float, float, float]
    likeness: tuple[float, float, float]
    converged: bool

    @property
    def inertia(self) -> Array:
        return np.tensordot(self.values[:6], SYMMETRIC, 1)

    @property
    def moment(self) -> Array:
        return self.values[6:]

    @property
    def words(self) -> str:
        """Noise and delays as the fit found them."""
        marker, force, moment = self.noise
        late = ", ".join(f"{1e3 * x:.1f}" for x in self.delays)
        return (
            f"noise {1e3 * marker:.2g} mm of markers, {force:.2g} N and {moment:.2g} N m of plates; neighbouring "
            f"frames alike by {', '.join(f'{x:.2f}' for x in self.likeness)}; plates late by {late} ms"
        )


@dataclass(frozen=True, eq=False)
class _Shared:
    """Unknowns of all trials: places of markers, I and h; noise and likeness of neighbours by kind of reading."""

    places: Array
    values: Array
    noise: Array
    likeness: Array
    least: Array  # noise, below which none is believed


def fit_limb(recordings: Sequence[LimbRecording], shape: Array, gravity: Array, knots: float = KNOTS) -> LimbFit:
    """Motion and inertia together; `shape` are the places of the markers that define the limb's axes (markers, 3).

    `knots` is the time between knots of the splines (s): motions faster than half their rate are taken as noise.
    """
    trials, shared = _start(recordings, shape, gravity, knots)
    converged, covariance = False, np.zeros((9, 9))
    for k in range(_ROUNDS):
        parts = [_readings(trial, shared, gravity) for trial in trials]
        step = _solve(trials, parts, shared, shape)
        noise, likeness = _noise(parts, shared, step)
        if not (np.isfinite(noise).all() and np.isfinite(step.shared).all()):
            break  # with the last state that can be used, and not converged
        settled = bool(np.all(np.abs(np.log(noise / shared.noise)) < _SETTLED))
        # Noise that is much less than was thought is approached slowly: the ratio of its steps is carried on.
        # Fixed-point iterations for a noise far below its start converge linearly, with this ratio: its square skips a
        # step.
        ratio = noise / shared.noise
        carried = noise * np.where(ratio < _FAR, np.maximum(ratio, 0.2) ** 2, 1.0) if k >= _FIRST else noise
        trials = [_stepped(trial, change) for trial, change in zip(trials, step.trials, strict=True)]
        places, values = shared.places + step.shared[:-9].reshape(shape.shape), shared.values + step.shared[-9:]
        carried = np.maximum(carried, shared.least)
        shared = replace(
            shared, places=places, values=values, noise=carried, likeness=likeness if k >= _FIRST else shared.likeness
        )
        covariance = step.covariance[-9:, -9:]
        if k > _FIRST and settled and np.all(np.abs(step.shared[-9:]) < _CLOSE * np.sqrt(np.diag(covariance))):
            converged = True
            break
    return LimbFit(
        shared.values, covariance, shared.places, tuple(trial.turning for trial in trials),
        tuple(trial.joint for trial in trials), tuple(trial.delay for trial in trials), _three(shared.noise),
        _three(shared.likeness), converged,
    )  # fmt: skip


def _three(values: Array) -> tuple[float, float, float]:
    a, b, c = values.tolist()
    return a, b, c


def _start(
    recordings: Sequence[LimbRecording], shape: Array, gravity: Array, knots: float
) -> tuple[list[LimbState], _Shared]:
    """Rotations as recorded, splines through them; joints and places of markers, then inertias, by linear equations."""
    trials = []
    for one in recordings:
        basis = spline_basis(one.time, max(knots, _FRAMES * even_step(one.time)))
        joint = np.zeros(3) if one.joint is None else one.joint
        turning = spline_rotation(basis, one.rotation)
        trials.append(LimbState(one, turning, joint, np.zeros(3), np.zeros(3), 0.0))
    places = _joints_and_places(trials, shape)
    values = _first_inertia(trials, gravity)
    return trials, _Shared(places, values, np.array(_NOISE), np.zeros(3), _least_noise(recordings))


def _least_noise(recordings: Sequence[LimbRecording]) -> Array:
    """The noise of markers, force and moment below which none is believed."""
    varying = [
        float(np.sqrt(np.mean(np.concatenate([np.var(getattr(one, kind), axis=0) for one in recordings]))))
        for kind in ("force", "moment")
    ]
    return np.array([_LEAST_MARKER, *(max(_LEAST_PART * size, 1e-6) for size in varying)])


def _joints_and_places(trials: list[LimbState], shape: Array) -> Array:
    """p = c + R s: joints c of the trials, put into them, and the places s of the markers."""
    count, width = len(trials), 3 * len(trials)
    size = width + shape.size
    normal, right = np.zeros((size, size)), np.zeros(size)
    eye = np.eye(3)
    for k, trial in enumerate(trials):
        at = slice(3 * k, 3 * k + 3)
        R, points = trial.turning.rotation, trial.seen.points
        for m in range(len(shape)):
            seen = np.isfinite(points[:, m]).all(axis=1)
            place = slice(width + 3 * m, width + 3 * m + 3)
            total = R[seen].sum(axis=0)
            #     | n 1    Σ R | | c |   | Σ p    |
            #     | Σ Rᵀ   n 1 | | s | = | Σ Rᵀ p |      for every trial and every marker
            normal[at, at] += seen.sum() * eye
            normal[place, place] += seen.sum() * eye
            normal[at, place] += total
            normal[place, at] += total.T
            right[at] += points[seen, m].sum(axis=0)
            right[place] += np.einsum("tij,ti->j", R[seen], points[seen, m])
        if trial.seen.joint is not None:
            normal[at, at] += _SURE**-2 * eye
            right[at] += _SURE**-2 * trial.seen.joint
    if (np.linalg.cond(normal) > 1e14 and trials[0].seen.joint is None) or not np.isfinite(right).all():
        raise RecordingError(
            "the limb turns about one axis only, or not at all: its joint is not determined. Record movements about "
            "several axes, or take the joint where the model has it (--centre model)."
        )
    change = np.linalg.solve(normal, right)
    for k in range(count):
        trials[k] = replace(trials[k], joint=np.asarray(change[3 * k : 3 * k + 3], dtype=float))
    return np.asarray(change[width:].reshape(shape.shape))


def _first_inertia(trials: list[LimbState], gravity: Array) -> Array:
    """I and h by least squares with the motions as they are; the readings of what rests are put into the trials."""
    nothing = np.zeros(9)
    blocks, rights = [], []
    for k, trial in enumerate(trials):
        for rows in (force_rows(trial, nothing, 0), moment_rows(trial, nothing, gravity, 0)):
            own = np.zeros((*rows.own.shape[:2], 6 * len(trials)))
            own[:, :, 6 * k : 6 * k + 6] = rows.own[:, :, 3:9]
            blocks.append(np.concatenate([own, rows.shared], axis=2).reshape(-1, own.shape[2] + 9))
            rights.append(rows.residual.reshape(-1))
    change = np.linalg.lstsq(np.vstack(blocks), np.concatenate(rights), rcond=None)[0]
    for k, trial in enumerate(trials):
        trials[k] = replace(trial, force=change[6 * k : 6 * k + 3], moment=change[6 * k + 3 : 6 * k + 6])
    return np.asarray(change[-9:])


@dataclass(frozen=True, eq=False)
class _Step:
    """Changes of the unknowns, the covariance of the shared ones, and per trial D⁻¹ and D⁻¹ E."""

    trials: list[Array]
    shared: Array
    covariance: Array
    inverses: list[tuple[Array, Array]]


def _readings(trial: LimbState, shared: _Shared, gravity: Array) -> list[NormalPart]:
    """Normal equations of markers, force and moment."""
    markers, turning = len(shared.places), trial.turning
    rows = [marker_rows(trial, shared.places), force_rows(trial, shared.values, markers),
            moment_rows(trial, shared.values, gravity, markers)]  # fmt: skip
    return [normal_part(one, turning, float(rho)) for one, rho in zip(rows, shared.likeness, strict=True)]


def _solve(trials: Sequence[LimbState], parts: Sequence[list[NormalPart]], shared: _Shared, shape: Array) -> _Step:
    """One step of Gauss and Newton: unknowns of single trials are eliminated first."""
    weights = 1 / shared.noise**2
    S, right = _gauge(shared.places, shape)
    eliminated = []
    for trial, kinds in zip(trials, parts, strict=True):
        D, product = _prior_normal_equations(trial)
        E = np.zeros((len(D), len(S)))
        for weight, part in zip(weights, kinds, strict=True):
            D, E, S = D + weight * part.D, E + weight * part.E, S + weight * part.S
            product, right = product + weight * part.right, right + weight * part.right_shared
        inverse = np.asarray(np.linalg.inv(D), dtype=float)
        # Schur complement:  S - Eᵀ D⁻¹ E  over the shared unknowns. Trials do not know each other, so D is eliminated
        # one by one.
        reach = inverse @ E
        S, right = S - E.T @ reach, right - reach.T @ product
        eliminated.append((inverse, reach, product))
    covariance = np.asarray(np.linalg.inv(S), dtype=float)
    change = covariance @ right
    steps = [inverse @ product - reach @ change for inverse, reach, product in eliminated]
    return _Step(steps, change, covariance, [(inverse, reach) for inverse, reach, _ in eliminated])


def _noise(parts: Sequence[list[NormalPart]], shared: _Shared, step: _Step) -> tuple[Array, Array]:
    """What is left after the step over the readings less the unknowns that they have paid for, tr(N⁻¹ Q) / σ²."""
    squares, free, alike = np.zeros(3), np.zeros(3), np.zeros((3, 2))
    for kinds, own, (inverse, reach) in zip(parts, step.trials, step.inverses, strict=True):
        change = np.concatenate([own, step.shared])
        for k, part in enumerate(kinds):
            Q = np.block([[part.D, part.E], [part.E.T, part.S]])
            right = np.concatenate([part.right, part.right_shared])
            # |e - N x|² of each kind from its sums: e·e - 2 x·Nᵀe + x·NᵀN x. No residual is computed twice.
            squares[k] += part.square - 2 * change @ right + change @ Q @ change
            # N⁻¹ by blocks: D⁻¹ + D⁻¹E C EᵀD⁻¹ above, -D⁻¹E C beside, C below.
            seen = reach.T @ part.D @ reach - reach.T @ part.E - part.E.T @ reach + part.S
            paid = float(np.sum(inverse * part.D) + np.sum(step.covariance * seen))
            free[k] += part.count - paid / shared.noise[k] ** 2
            alike[k] += part.related
    noise = np.maximum(np.sqrt(np.maximum(squares, 0.0) / np.maximum(free, 1.0)), shared.least)
    return noise, np.clip(alike[:, 0] / np.maximum(alike[:, 1], 1e-300), 0.0, _MOST_RELATED)


def _gauge(places: Array, shape: Array) -> tuple[Array, Array]:
    """The limb's axes: its markers are turned as little as can be from where `shape` has them, Σ s₀ x (s - s₀) = 0."""
    size, about = shape.size + 9, shape - shape.mean(axis=0)
    rows = np.zeros((3, size))
    # Rotations of all markers together change nothing but the axes: three conditions fix these.
    rows[:, : shape.size] = np.concatenate(list(skew(about)), axis=1)
    left = -rows[:, : shape.size] @ (places - shape).reshape(-1)
    tight = _SURE * float(np.sqrt(np.sum(about**2)))
    return rows.T @ rows / tight**2, rows.T @ left / tight**2


def _prior_normal_equations(trial: LimbState) -> tuple[Array, Array]:
    """What is known without the readings: quaternions are of length 1, the delay is short, the joint may be known."""
    width, table = 4 * trial.turning.basis.count, trial.turning.basis.tables[0]
    D, right = np.zeros((width + OWN,) * 2), np.zeros(width + OWN)
    q = trial.turning.quaternions[0]
    # |q|² = 1: lengths do not turn anything, and are only to be held.
    rows = (2 * table[:, :, None] * q[:, None, :]).reshape(len(q), width) / _LENGTH
    D[:width, :width], right[:width] = rows.T @ rows, rows.T @ ((1 - np.sum(q * q, axis=1)) / _LENGTH)
    D[-1, -1], right[-1] = DELAY**-2, -trial.delay * DELAY**-2
    if trial.seen.joint is not None:
        at = slice(width, width + 3)
        D[at, at], right[at] = _SURE**-2 * np.eye(3), _SURE**-2 * (trial.seen.joint - trial.joint)
    return D, right


def _stepped(trial: LimbState, change: Array) -> LimbState:
    own = change[-OWN:]
    return replace(
        trial, turning=trial.turning.moved(change[:-OWN]), joint=trial.joint + own[:3], force=trial.force + own[3:6],
        moment=trial.moment + own[6:9], delay=trial.delay + float(own[9]),
    )  # fmt: skip
