"""Kalman smoothing on the rotation group: rotation, angular velocity and acceleration, driven by a random jerk.

State (R, ω, α) in turned axes; over a step h, R becomes R exp(h ω + h²/2 α), ω becomes ω + h α. Errors live in the
tangent space: R = R̂ exp(δ). The filter goes forward over the frames and the smoother of Rauch, Tung and Striebel back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.algebra.spatial.rotation_arrays import exponential_and_jacobian, logarithm
from torseur.errors import RecordingError

State = tuple[Array, Array, Array]
_SEARCH = (-2.0, 14.0)  # powers of ten of the jerk's density beside the square of the noise
_ROUNDS, _SEARCHED = 10, 300
_START, _ORDER = 15, 3  # frames and order of the polynomial that gives the first state
_DOUBT = 100.0  # by which its variance is enlarged


@dataclass(frozen=True)
class KalmanNoise:
    """`rotation` is the standard deviation of a recorded rotation in rad, `jerk` the density of the jerk in rad²/s⁵."""

    rotation: float
    jerk: float

    def __post_init__(self) -> None:
        if not (self.rotation > 0 and self.jerk > 0):
            raise RecordingError("noise and jerk of a Kalman smoother are numbers above zero.")


@dataclass(frozen=True, eq=False)
class SmoothedRotation:
    """R, ω and α in laboratory axes, with the standard deviations of δ, ω and α (frames, 3 x 3 components)."""

    rotation: Array
    omega: Array
    alpha: Array
    deviation: Array
    noise: KalmanNoise

    @property
    def words(self) -> str:
        return (
            f"Kalman smoothing on the rotation group, noise {self.noise.rotation:.3g} rad, "
            f"jerk {self.noise.jerk:.3g} rad²/s⁵"
        )


@dataclass(frozen=True, eq=False)
class _Pass:
    """States after each frame, those predicted for it, their covariances, and the likelihood of the recording."""

    after: list[State]
    before: list[State]
    P_after: list[Array]
    P_before: list[Array]
    transitions: list[Array]
    misfit: float
    volume: float
    count: int


def kalman_smooth(rotation: Array, step: float, noise: KalmanNoise | None = None) -> SmoothedRotation:
    """The most likely motion behind recorded rotations (frames, 3, 3); frames that are NaN are bridged."""
    seen = _seen_frames(rotation)
    if seen.sum() < 4 or not seen[0]:
        raise RecordingError("a Kalman smoother needs at least four frames, the first among them.")
    chosen = noise or most_likely_noise(rotation, step)
    forward = _filter(rotation, seen, step, chosen.rotation, chosen.jerk)
    states, covariances = _smooth_backward(forward)
    R = np.array([state[0] for state in states])
    omega, alpha = (np.einsum("tij,tj->ti", R, np.array([state[k] for state in states])) for k in (1, 2))
    deviation = np.sqrt(np.array([np.diag(P) for P in covariances])).reshape(-1, 3, 3)
    return SmoothedRotation(R, omega, alpha, deviation, chosen)


def most_likely_noise(rotation: Array, step: float) -> KalmanNoise:
    """Noise and jerk under which a recording is most likely: a search over their ratio, the level in closed form.

    The first 300 frames tell it well enough.
    """
    rotation = rotation[:_SEARCHED]
    seen = _seen_frames(rotation)

    def fit(power: float) -> tuple[float, float]:
        forward = _filter(rotation, seen, step, 1.0, 10.0**power)
        level = forward.misfit / forward.count
        return forward.volume + forward.count * np.log(max(level, 1e-300)), level

    low, high = _SEARCH
    # With the ratio of jerk to noise fixed, the most likely level is misfit / count in closed form: one search remains.
    golden = (np.sqrt(5) - 1) / 2
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = fit(a)[0], fit(b)[0]
    for _ in range(_ROUNDS):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - golden * (high - low)
            at_a = fit(a)[0]
        else:
            low, a, at_a = a, b, at_b
            b = low + golden * (high - low)
            at_b = fit(b)[0]
    power = (low + high) / 2
    level = max(fit(power)[1], 1e-30)
    return KalmanNoise(float(np.sqrt(level)), float(level * 10.0**power))


def _seen_frames(rotation: Array) -> Mask:
    return np.asarray(np.isfinite(rotation).all(axis=(1, 2)))


def _filter(rotation: Array, seen: Mask, step: float, noise: float, jerk: float) -> _Pass:
    """Forward over the frames."""
    Q, R_noise = jerk * _jerk_covariance(step), noise**2 * np.eye(3)
    state, P = _first_state(rotation, seen, step, noise)
    after, before, P_after, P_before, transitions = [state], [state], [P], [P], [np.eye(9)]
    misfit, volume, count = 0.0, 0.0, 0
    for k in range(1, len(rotation)):
        state, F = _predict(state, step)
        P = F @ P @ F.T + Q
        before.append(state)
        P_before.append(P)
        transitions.append(F)
        if seen[k]:
            innovation, S = logarithm(state[0].T @ rotation[k]), P[:3, :3] + R_noise
            inverse = np.linalg.inv(S)
            gain = P[:, :3] @ inverse
            misfit += float(innovation @ inverse @ innovation)
            volume -= float(np.log(np.linalg.det(inverse)))
            count += 3
            # Joseph's form (1 - K H) P (1 - K H)ᵀ + K R Kᵀ: stays symmetric and positive under rounding.
            rest = np.eye(9)
            rest[:, :3] -= gain
            state, P = _move(state, gain @ innovation), rest @ P @ rest.T + noise**2 * (gain @ gain.T)
        after.append(state)
        P_after.append(P)
    return _Pass(after, before, P_after, P_before, transitions, misfit, volume, count)


def _first_state(rotation: Array, seen: Mask, step: float, noise: float) -> tuple[State, Array]:
    """Rotation, angular velocity and acceleration in the first frame by a polynomial over the first frames seen."""
    first = np.flatnonzero(seen)[:_START]
    vectors = logarithm(rotation[0].T @ rotation[first])
    powers = np.vander(step * first, min(_ORDER, len(first) - 1) + 1, increasing=True)
    weights = np.linalg.pinv(powers)[:3] * np.array([[1.0], [1.0], [2.0]])
    phi, rate, second = weights @ vectors
    covariance = np.kron(_DOUBT * noise**2 * (weights @ weights.T), np.eye(3))
    turn, J = exponential_and_jacobian(phi)
    return (rotation[0] @ turn, J @ rate, J @ second), covariance


def _smooth_backward(forward: _Pass) -> tuple[list[State], list[Array]]:
    """Backward over the frames."""
    state, P = forward.after[-1], forward.P_after[-1]
    states, covariances = [state], [P]
    for k in range(len(forward.after) - 2, -1, -1):
        # Rauch, Tung and Striebel (1965): P_k Fᵀ P⁻¹ of the prediction, here transposed for one solution.
        gain = np.linalg.solve(forward.P_before[k + 1], forward.transitions[k + 1] @ forward.P_after[k]).T
        late, early = states[-1], forward.before[k + 1]
        change = np.concatenate([logarithm(early[0].T @ late[0]), late[1] - early[1], late[2] - early[2]])
        state = _move(forward.after[k], gain @ change)
        P = forward.P_after[k] + gain @ (P - forward.P_before[k + 1]) @ gain.T
        states.append(state)
        covariances.append(P)
    return states[::-1], covariances[::-1]


def _predict(state: State, h: float) -> tuple[State, Array]:
    """The state after a step, and its errors there by errors before."""
    R, omega, alpha = state
    turn, J = exponential_and_jacobian(h * omega + h * h / 2 * alpha)
    F = np.eye(9)
    # errors (δ, ω, α):  F = [ exp(-φ̃)  h J   h²/2 J ]
    #                        [ 0        1     h      ]     φ = h ω + h²/2 α, J the right Jacobian
    #                        [ 0        0     1      ]
    F[:3, :3], F[:3, 3:6], F[:3, 6:] = turn.T, h * J, h * h / 2 * J
    F[3:6, 6:] = h * np.eye(3)
    return (R @ turn, omega + h * alpha, alpha), F


def _jerk_covariance(h: float) -> Array:
    """What white jerk of unit density adds to the covariance of (δ, ω, α) over a step."""
    # ∫₀ʰ g(s) g(s)ᵀ ds with g = (s²/2, s, 1), the response of (δ, ω, α) to a jerk s before the end of the step.
    one = np.array([[h**5 / 20, h**4 / 8, h**3 / 6], [h**4 / 8, h**3 / 3, h**2 / 2], [h**3 / 6, h**2 / 2, h]])
    return np.kron(one, np.eye(3))


def _move(state: State, change: Array) -> State:
    R, omega, alpha = state
    return R @ exponential_and_jacobian(change[:3])[0], omega + change[3:6], alpha + change[6:]
