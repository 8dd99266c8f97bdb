"""A figure with 36 degrees of freedom and three or four markers on each of its eleven segments."""

from __future__ import annotations

import numpy as np

import torseur as ts

# segment: (parent, joint in the parent, far end); lengths in m, x forward, y left, z up.
SEGMENTS = {
    "trunk": ("pelvis", (0, 0, 0.1), (0, 0, 0.45)),
    "head": ("trunk", (0, 0, 0.5), (0, 0, 0.25)),
    "right_arm": ("trunk", (0, -0.2, 0.42), (0, 0, -0.3)),
    "right_forearm": ("right_arm", (0, 0, -0.3), (0, 0, -0.27)),
    "left_arm": ("trunk", (0, 0.2, 0.42), (0, 0, -0.3)),
    "left_forearm": ("left_arm", (0, 0, -0.3), (0, 0, -0.27)),
    "right_thigh": ("pelvis", (0, -0.1, 0), (0, 0, -0.42)),
    "right_shank": ("right_thigh", (0, 0, -0.42), (0, 0, -0.42)),
    "left_thigh": ("pelvis", (0, 0.1, 0), (0, 0, -0.42)),
    "left_shank": ("left_thigh", (0, 0, -0.42), (0, 0, -0.42)),
}
PER_SEGMENT = 4


def humanoid(angles: str = "zxy") -> ts.Mechanism:
    """The figure with named frames as markers: pelvis1 ... left_shank4."""
    bodies = {name: ts.body(name, mass=1) for name in ("pelvis", *SEGMENTS)}
    joints = [ts.free("root", ts.EARTH, bodies["pelvis"].frame, *root_names(angles), angles=angles)]
    for name, (parent, place, _) in SEGMENTS.items():
        coordinates = [f"{name}_{k}" for k in ("zxy" if angles == "quaternion" else angles)]
        side = bodies[parent].frame.at(place)
        joints.append(
            ts.spherical(
                name, side, bodies[name].frame, *coordinates, angles="zxy" if angles == "quaternion" else angles
            )
        )
    return ts.Mechanism("humanoid", bodies=bodies.values(), joints=joints, frames=markers(bodies))


def root_names(angles: str) -> list[str]:
    turns = ["e0", "e1", "e2", "e3"] if angles == "quaternion" else [f"root_{k}" for k in angles]
    return ["x", "y", "z", *turns]


def markers(bodies: dict[str, ts.Body]) -> dict[str, ts.Frame]:
    rng = np.random.default_rng(7)
    ends = {"pelvis": (0, 0, 0.1)} | {name: end for name, (_, _, end) in SEGMENTS.items()}
    found = {}
    for name, end in ends.items():
        for k in range(PER_SEGMENT):
            place = np.array(end) * (k + 0.5) / PER_SEGMENT + 0.06 * rng.normal(size=3)
            found[f"{name}{k + 1}"] = bodies[name].frame.at([float(x) for x in place])
    return found


def smooth_motion(time: np.ndarray, count: int, seed: int = 1, size: float = 0.6) -> np.ndarray:
    """Coordinates (frames, count): three harmonics each, with slopes everywhere."""
    rng = np.random.default_rng(seed)
    waves = [np.sin(np.outer(time, 2 * np.pi * f * np.ones(count)) + rng.uniform(0, 6, count)) for f in (0.3, 0.7, 1.1)]
    return size * sum(w * rng.uniform(-1, 1, count) / (k + 1) for k, w in enumerate(waves))
