"""Recordings of a simulated person with the markers of any laboratory: the person's truth is known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torseur.analysis.biomechanics import Axes, Markers, MotionTrial, human36
from torseur.analysis.biomechanics.forces.foot_loads import human_footing
from torseur.analysis.biomechanics.forces.ground_reaction import ground_reaction, share_between_feet
from torseur.analysis.biomechanics.forces.trial_dynamics import trial_dynamics
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion
from torseur.analysis.biomechanics.person_model.human36 import dimensions
from torseur.analysis.biomechanics.person_model.landmarks import landmark_place
from torseur.analysis.biomechanics.person_model.marker_sets import marker_set
from torseur.analysis.biomechanics.simulated_trials import simulated_trial, walking
from torseur.description.mechanism import Frame, placement

HEIGHT, MASS = 1.78, 74.0
# Of a person with other legs and hips than the table's: nobody is the mean.
OWN = {
    "r_thigh_length": 0.405, "l_thigh_length": 0.407, "r_shank_length": 0.415, "l_shank_length": 0.414,
    "hip_half_width": 0.085, "shoulder_half_width": 0.187, "r_upper_arm_length": 0.315, "l_upper_arm_length": 0.305,
}  # fmt: skip
UP = np.array([0.0, 1.0, 0.0])
Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # x forward, y left, z up


@dataclass(frozen=True)
class Laboratory:
    """A set of markers and how its files are written."""

    name: str
    prefix: str = ""
    noise: float = 0.0005
    soft: float = 0.0  # m: by which skin slides on thighs and shanks, with the cycle
    left_out: tuple[str, ...] = ()


def person():
    return human36(HEIGHT, MASS, "de_leva_male", values=OWN)


def places(laboratory: Laboratory, seed: int = 1):
    """Where the markers of a set are stuck on this person: near the landmarks, anywhere on a segment."""
    rng, chosen, size = np.random.default_rng(seed), marker_set(laboratory.name), dimensions(person())
    stuck = {}
    for label in chosen.labels:
        if label in laboratory.left_out:
            continue
        segment = chosen.segment(label)
        if label in chosen.landmarks:
            place = np.array(landmark_place(chosen.landmarks[label], size)) + rng.uniform(-0.004, 0.004, 3)
            if "asis" in chosen.landmarks[label]:
                # The pelvis of which Harrington's formula gives these hips.
                width = (size["hip_half_width"] - 0.0073) / 0.33
                place = np.array([0.24 * 0.16 + 0.0099, 0.3 * width + 0.0109, np.sign(place[2]) * width / 2])
            elif "psis" in chosen.landmarks[label] or chosen.landmarks[label] == "sacrum":
                width = (size["hip_half_width"] - 0.0073) / 0.33
                place[:2] = 0.24 * 0.16 + 0.0099 - 0.16, 0.3 * width + 0.0109
        else:
            side = -1.0 if segment.startswith("l_") else 1.0
            length = size[f"{segment}_length"]
            spot = [0.0, -rng.uniform(0.4, 0.6) * length, side * 0.075]
            if label not in chosen.wands:
                spot = [rng.uniform(-0.05, 0.06), -rng.uniform(0.3, 0.7) * length, side * rng.uniform(0.03, 0.07)]
            place = np.array(spot)
        stuck[label] = Frame(segment, placement([float(x) for x in place]))
    return stuck


def recording(laboratory: Laboratory, motion: JointMotion, name: str = "walk", seed: int = 2) -> MotionTrial:
    """Markers and plates of the person in motion, along the laboratory's axes."""
    body = replace(person(), frames=tuple(places(laboratory).items()))
    made = simulated_trial(body, motion, noise=laboratory.noise, seed=seed, name=name)
    R, axes = Z_UP, Axes(z="up")
    points = made.markers.positions + _skin(made.markers, laboratory)
    labels = tuple(laboratory.prefix + label for label in made.markers.labels)
    markers = Markers(made.markers.time, labels, points @ R.T, axes, name)
    plates = tuple(
        replace(plate, force=plate.force @ R.T, moment_about_origin=plate.moment_about_origin @ R.T,
                centre_of_pressure=plate.centre_of_pressure @ R.T, corners=plate.corners @ R.T, axes=axes)
        for plate in made.plates
    )  # fmt: skip
    return MotionTrial(markers, plates)


def _skin(markers: Markers, laboratory: Laboratory):
    """Slow waves of every marker of its own, as skin slides over bone."""
    rng = np.random.default_rng(9)
    phase, way = rng.uniform(0, 6, len(markers.labels)), rng.normal(size=(len(markers.labels), 3))
    wave = np.sin(2 * np.pi * markers.time[:, None] / 1.2 + phase)
    return laboratory.soft * wave[:, :, None] * way / np.linalg.norm(way, axis=1)[:, None]


def standing(laboratory: Laboratory) -> Markers:
    """The person standing still, arms a little away from the trunk."""
    names = walking(person(), 0.5).names
    q = np.zeros((20, len(names)))
    q[:, names.index("pelvis_y")] = dimensions(person())["hip_height"]
    for side in "rl":
        q[:, names.index(f"{side}_shoulder_adduction")] = -0.15
    still = JointMotion(np.arange(20) / 100, names, q, 0 * q, 0 * q)
    return replace(recording(laboratory, still, "standing"), plates=()).markers


def truth(motion: JointMotion):
    body = BodyInMotion(person(), motion)
    return trial_dynamics(person(), motion, share_between_feet(ground_reaction(body), human_footing(body), UP))
