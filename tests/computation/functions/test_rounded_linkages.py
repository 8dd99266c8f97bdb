"""Generated code of linkages with rounded dimensions: what it says is that of the exact ones, to the rounding."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

import torseur as ts

LENGTHS = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8, "ground": 1.2}
AXIS, FIRST = np.array([0.0, 0.6, 0.8]), np.array([1.0, 0.0, 0.0])
GRAVITY, INERTIA = np.array([0.5, -9.81, 1.0]), np.array([0.01, 0.1, 0.15])
JOINTS = [  # name, first body and where along it, second body and where, coordinate
    ("A", "earth", 0.0, "crank", 0.0, "alpha"),
    ("B", "crank", 0.4, "coupler", 0.0, "beta"),
    ("D", "earth", 1.2, "rocker", 0.0, "gamma"),
    ("C", "coupler", 1.0, "rocker", 0.8, "delta"),
]


def orientations(seed):
    """Of each body's own frame, and of each joint's, against the earth where all angles are zero."""
    drawn = Rotation.from_quat(np.random.default_rng(seed).standard_normal((7, 4)))
    bodies = {"earth": Rotation.identity()} | dict(zip(("crank", "coupler", "rocker"), drawn[:3], strict=True))
    return bodies, list(drawn[3:])


def four_bar(digits, seed):
    """A planar four-bar whose frames are all turned by rotations of their own: no axis is that of another frame.

    Axes, angles and positions are rounded to some decimals.
    """
    poses, frames = orientations(seed)
    bodies = {"earth": ts.EARTH}
    for name in ("crank", "coupler", "rocker"):
        centre = poses[name].inv().apply(FIRST * LENGTHS[name] / 2)
        bodies[name] = ts.body(name, mass=2 * LENGTHS[name], centre=tuple(centre), inertia=ts.inertia(*INERTIA))

    def rounded(vector):
        return tuple(float(x) for x in np.round(vector, digits))

    def placed(name, along, frame):
        turned = (poses[name].inv() * frame).as_rotvec()
        angle = np.linalg.norm(turned)
        place = poses[name].inv().apply(FIRST * along)
        return bodies[name].at(rounded(place), ts.turn(float(np.round(angle, digits)), rounded(turned / angle)))

    joints = [
        ts.revolute(name, placed(first, a, frame), placed(second, b, frame), angle,
                    axis=rounded(frame.inv().apply(AXIS)))
        for (name, first, a, second, b, angle), frame in zip(JOINTS, frames, strict=True)
    ]  # fmt: skip
    links = [bodies[name] for name in ("crank", "coupler", "rocker")]
    return ts.Mechanism("rounded", bodies=links, joints=joints, gravity=tuple(GRAVITY), initial={"alpha": 1.0})


def unit(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def across(angle):
    return np.array([-np.sin(angle), np.cos(angle)])


def planar_motion(crank, speed, seed):
    """Angles, speeds and accelerations (alpha, beta, gamma) by Newton and Euler in the plane of the linkage."""
    a, b, c, d = (LENGTHS[name] for name in ("crank", "coupler", "rocker", "ground"))

    def gap(x):
        return a * unit(crank) + b * unit(x[0]) - c * unit(x[1]) - d * unit(0.0)

    coupler, rocker = fsolve(gap, [crank - 0.6, crank + 0.6], xtol=1e-12)
    angles = np.array([crank, coupler, rocker])
    rows = np.column_stack([a * across(crank), b * across(coupler), -c * across(rocker)])
    speeds = np.array([speed, *np.linalg.solve(rows[:, 1:], -rows[:, 0] * speed)])
    poses, _ = orientations(seed)
    own = [poses[n].inv().apply(AXIS) @ (INERTIA * poses[n].inv().apply(AXIS)) for n in ("crank", "coupler", "rocker")]
    m, half = 2 * np.array([a, b, c]), np.array([a, b, c]) / 2
    tie = m[1] * a * half[1]
    mass = np.diag(own + m * half**2 + [m[1] * a**2, 0.0, 0.0])
    mass[0, 1] = mass[1, 0] = tie * np.cos(crank - coupler)
    weight = np.array([GRAVITY @ FIRST, GRAVITY @ np.cross(AXIS, FIRST)])
    arms = [m[0] * half[0] + m[1] * a, m[1] * half[1], m[2] * half[2]]
    force = np.array([arm * (weight @ across(angle)) for arm, angle in zip(arms, angles, strict=True)])
    force += tie * np.sin(crank - coupler) * np.array([-(speeds[1] ** 2), speeds[0] ** 2, 0.0])
    turning = [a * unit(crank), b * unit(coupler), -c * unit(rocker)]
    right = sum(s**2 * vector for s, vector in zip(speeds, turning, strict=True))
    whole = np.block([[mass, rows.T], [rows, np.zeros((2, 2))]])
    absolute = np.linalg.solve(whole, [*force, *right])[:3]
    relative = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return relative @ angles, relative @ speeds, relative @ absolute


@pytest.mark.parametrize("backend", ["python", "c", "llvm"])
@pytest.mark.parametrize("digits", [17, 9, 8, 7, 6])
def test_accelerations_are_those_of_the_exact_linkage(backend, digits):
    """Rows of rotations across the axis hold nothing but rounding: taken for constraints they would stop the linkage."""
    seed = digits
    kernel = ts.compile(ts.derive(four_bar(digits, seed)), ["constrained_forward_dynamics"], backend=backend)
    for crank in (0.7, 2.0, 4.0):
        q, v, truth = planar_motion(crank, 1.5, seed)
        inputs = {"q": q, "v": v, "tau": np.zeros(3), "t": [0.0], "p": []}
        computed = kernel(*(inputs[group.name] for group in kernel.program.inputs))["vdot"]
        assert np.abs(computed - truth).max() < (100 * 10.0**-digits + 1e-9) * max(1.0, np.abs(truth).max())


@pytest.mark.parametrize("digits", [9, 7])
def test_corrections_lead_to_the_exact_linkage(digits):
    """A state beside the constraints goes back to them, and no further than it was beside them."""
    kernel = ts.compile(ts.derive(four_bar(digits, 4)), ["constraint_corrections"], backend="python")
    q, v, _ = planar_motion(0.7, 1.5, 4)
    inputs = {"q": q + np.array([1e-4, -2e-4, 1e-4]), "v": v, "t": [0.0], "p": []}
    outputs = list(kernel(*(inputs[group.name] for group in kernel.program.inputs)).values())
    assert all(np.abs(change).max() < 2e-2 for change in outputs)
    assert np.abs(outputs[0]).max() < 5e-4
