"""The box on a string: recorded markers and tension (oracles/box_on_string), and its motion integrated by itself.

The second way is Newton's and Euler's equations of one body on a taut string, written here without the package, so that
exact accelerations go with the recorded samples.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from torseur.analysis.identification.segments import SegmentTrial, segment_trial

FOLDER = Path(__file__).resolve().parents[2] / "oracles"
GRAVITY = np.array([0.0, 0.0, -9.81])
STEP = 0.01


@lru_cache
def reference() -> dict:
    return json.loads((FOLDER / "box_on_string.json").read_text())


@lru_cache
def recorded() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotations, positions of P1, and the force of the string, at every sample."""
    table = np.genfromtxt(FOLDER / "box_on_string.csv", delimiter=",", skip_header=1)
    p1, p2, p3, tension = table[:, 1:4], table[:, 4:7], table[:, 7:10], table[:, 10]
    x, z = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (p2 - p1, p3 - p1))
    rotation = np.stack([x, np.cross(z, x), z], axis=2)
    return rotation, p1, -tension[:, None] * p1 / np.linalg.norm(p1, axis=1, keepdims=True)


def second_difference(values: np.ndarray, step: float, stride: int) -> np.ndarray:
    """(x(t + kΔt) - 2 x(t) + x(t - kΔt)) / (kΔt)², shorter by k samples at each end. The source uses k = 2."""
    return (values[2 * stride :] - 2 * values[stride:-stride] + values[: -2 * stride]) / (stride * step) ** 2


def trial(stride: int, step: float = STEP) -> SegmentTrial:
    """Accelerations by second differences over ±stride samples."""
    rotation, point, force = recorded()
    inner = slice(stride, -stride)
    return segment_trial(
        [rotation[inner]], [second_difference(rotation, STEP, stride)], second_difference(point, STEP, stride),
        force[inner], np.zeros_like(force[inner]), gravity=GRAVITY, step=step,
    )  # fmt: skip


def skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    w, *u = quaternion
    S = skew(np.array(u))
    return np.eye(3) + 2 * w * S + 2 * S @ S


def accelerations(state: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """r̈_P1, body rate of Ω and tension, from seven linear equations: six of Newton-Euler at P1, one of the string."""
    J, I = np.array(reference()["J_exact"]), np.array(reference()["I_P1"])
    m, h = J[3, 3], J[:3, 3]
    r, v, quaternion, omega = state[:3], state[3:6], state[6:10], state[10:]
    R = rotation_of(quaternion)
    u = r / np.linalg.norm(r)
    matrix, right = np.zeros((7, 7)), np.zeros(7)
    matrix[:3, :3], matrix[:3, 3:6], matrix[:3, 6] = m * np.eye(3), -R @ skew(h), u
    right[:3] = m * GRAVITY - R @ np.cross(omega, np.cross(omega, h))
    matrix[3:6, :3], matrix[3:6, 3:6] = skew(h) @ R.T, I
    right[3:6] = skew(h) @ R.T @ GRAVITY - np.cross(omega, I @ omega)
    matrix[6, :3], right[6] = r, -v @ v
    found = np.linalg.solve(matrix, right)
    return found[:3], found[3:6], found[6]


def slope(_: float, state: np.ndarray) -> np.ndarray:
    linear, angular, _ = accelerations(state)
    w, *u = state[6:10]
    omega = state[10:]
    turning = 0.5 * np.concatenate([[-np.dot(u, omega)], w * omega + np.cross(u, omega)])
    return np.concatenate([state[3:6], linear, turning, angular])


@lru_cache
def integrated() -> np.ndarray:
    start = np.array([float(x) for x in reference()["states"]["0"]])
    times = STEP * np.arange(201)
    return solve_ivp(slope, (0, 2), start, "DOP853", times, rtol=1e-13, atol=1e-14).y.T


@lru_cache
def exact_trial(step: float = STEP) -> SegmentTrial:
    """The recorded samples with the accelerations of the equations of motion."""
    states = integrated()
    rotations, tensors, points = [], [], []
    for state in states:
        linear, angular, _ = accelerations(state)
        R, W = rotation_of(state[6:10]), skew(state[10:])
        rotations.append(R)
        tensors.append(R @ (skew(angular) + W @ W))
        points.append(linear)
    force = recorded()[2]
    return segment_trial(
        [np.array(rotations)], [np.array(tensors)], np.array(points), force, np.zeros_like(force),
        gravity=GRAVITY, step=step,
    )  # fmt: skip
