"""Numbers packed for the page: quantised poses and single-precision curves, as base64."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.presentation.scene.scene import Array, Motion

STEPS = 32767


def pack_floats(values: Array) -> str:
    """Little-endian single precision, base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def pack_course(values: Array) -> tuple[float, str]:
    """A quantity along the motion, to be read off at an instant: 16-bit integers and their unit, half a float's room.

    The largest value is 32767 units, so that the error stays far below that of interpolating between two samples.
    """
    unit = float(np.max(np.abs(values), initial=0.0)) / STEPS or 1.0
    steps = np.ascontiguousarray(np.rint(values / unit).astype("<i2"))
    return unit, base64.b64encode(steps.tobytes()).decode("ascii")


@dataclass(frozen=True, eq=False)
class Quantised:
    """Poses as 16-bit integers, body by body, seven per sample; a body that never moves keeps one sample.

    A position is origin + scale * integer with one scale for the whole motion (extent / 65534, under a
    tenth of a millimetre on 5 m); a quaternion component is integer / 32767.
    """

    origin: list[float]
    scale: float
    still: list[bool]
    steps: NDArray[np.int16]


def pack_motion(motion: Motion) -> dict[str, object]:
    """A motion as plain data, its arrays as base64."""
    packed = quantise(motion)
    return {
        "times": pack_floats(motion.times),
        "origin": packed.origin,
        "scale": packed.scale,
        "still": packed.still,
        "poses": base64.b64encode(packed.steps.tobytes()).decode("ascii"),
    }


def quantise(motion: Motion) -> Quantised:
    """The poses of a motion in 16 bits a number."""
    origin, scale = _span(motion.positions)
    steps = np.concatenate(
        [np.rint((motion.positions - origin) / scale), np.rint(_unit(motion.quaternions) * STEPS)], axis=2
    ).astype("<i2")
    # Compared after rounding: a body that moves less than a step does not move on the page either.
    still = [bool(np.all(steps[:, body] == steps[0, body])) for body in range(steps.shape[1])]
    tracks = [steps[:1, body] if still[body] else steps[:, body] for body in range(steps.shape[1])]
    return Quantised(origin.tolist(), scale, still, np.concatenate([track.ravel() for track in tracks]))


def _span(positions: Array) -> tuple[Array, float]:
    """Centre of all positions, and metres per integer step."""
    flat = positions.reshape(-1, 3)
    low, high = flat.min(axis=0), flat.max(axis=0)
    return (low + high) / 2, float(np.max(high - low)) / (2 * STEPS) or 1.0


def _unit(quaternions: Array) -> Array:
    """Unit quaternions that never jump to their opposite between samples, to be interpolated."""
    unit = quaternions / np.linalg.norm(quaternions, axis=2, keepdims=True)
    # q and -q are the same rotation. Between neighbours of opposite sign the page would interpolate the long way round,
    # so that every sample gets the sign of the one before: the running parity of the flips.
    turns = np.sum(unit[1:] * unit[:-1], axis=2) < 0
    signs = np.where(np.cumsum(turns, axis=0) % 2 == 1, -1.0, 1.0)
    return np.concatenate([unit[:1], unit[1:] * signs[:, :, None]])
