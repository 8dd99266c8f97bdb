"""Human36 on a rigid floor: reactions of its contacts by weight, momentum, inverse dynamics and force plates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur import biomechanics
from torseur.errors import MechanismError, RecordingError

WEIGHT, STEP, UP = 63.0 * 9.81, 1e-3, np.array([0.0, 1.0, 0.0])


def held_by_springs() -> ts.Mechanism:
    """A person with four-point feet whose joints springs and dampers hold upright."""
    person = biomechanics.with_feet(ts.human36(1.74, 63.0))
    springs = []
    for joint in person.joints[1:]:
        k = 100.0 if any(part in joint.name for part in ("neck", "shoulder", "elbow", "wrist")) else 800.0
        springs += [
            ts.coordinate_spring(f"hold_{q.name}", joint.name, q.name, stiffness=k, damping=0.1 * k)
            for q in joint.coordinates
        ]
    return replace(person, loads=tuple(springs))


@pytest.mark.slow
def test_a_person_lands_and_stands():
    """Oracles: Newton's and Euler's laws in sums over the steps, the weight, and the springs of the joints."""
    person = held_by_springs()
    start = {"pelvis_y": 0.98, "pelvis_x'": 0.3}  # 5 cm above the floor
    outputs = biomechanics.floor_outputs(person)
    landing = ts.simulate(
        person, until=0.4, samples=401, method="time_stepping", max_step=STEP, initial=start, outputs=outputs
    )
    motion = biomechanics.floor_motion(person, landing)
    body, feet = biomechanics.BodyInMotion(person, motion), biomechanics.floor_reactions(person, landing)
    total = feet["r_foot"] + feet["l_foot"]

    # d/dt of momentum = contact forces - weight, in sums over the steps: each force is the mean over its step.
    linear, angular = body.momentum
    given = STEP * np.cumsum(total.force[1:] - WEIGHT * UP, axis=0)
    assert given == pytest.approx((linear - linear[0])[1:], abs=2e-4 * 63.0)
    turned = STEP * np.cumsum(total.about(body.mass_centre)[1:], axis=0)
    assert turned == pytest.approx((angular - angular[0])[1:], abs=0.05)
    # The reaction from the motion alone is the same in each step.
    alone = biomechanics.ground_reaction(body)
    assert alone.force[1:] == pytest.approx(total.force[1:], abs=1e-4 * np.abs(total.force).max())
    # It lands both feet at once and comes to stand on them, its mass centre over the centre of pressure.
    assert total.force[50, 1] == 0.0 and total.force[-1, 1] == pytest.approx(WEIGHT, rel=0.05)

    # What plates under the feet record gives back the moments of the springs.
    trial = biomechanics.simulated_trial(person, motion.frames(slice(200, None)), reactions={
        foot: biomechanics.Reaction(one.force[200:], one.moment[200:]) for foot, one in feet.items()
    })  # fmt: skip
    assert sum(plate.force[-1, 1] for plate in trial.plates) == pytest.approx(total.force[-1, 1])
    moments = ts.trial_dynamics(person, motion, feet)
    for name in ("r_knee_flexion", "l_ankle_flexion", "r_hip_adduction"):
        spring = -800.0 * motion.of(name) - 80.0 * landing[f"{name}'"]
        assert moments.moment(name)[200:] == pytest.approx(spring[200:], abs=0.5), name


def test_feet_are_refused_by_name():
    pendulum = ts.load("library:pendulum")
    with pytest.raises(MechanismError, match="no Human36: expected a body 'r_foot'"):
        biomechanics.with_feet(pendulum)
    person = ts.human36()
    with pytest.raises(MechanismError, match=r"no contact 'r_foot_heel'. Give it feet first"):
        biomechanics.floor_outputs(person)
    ball = ts.simulate(pendulum, until=0.1, samples=2)
    with pytest.raises(RecordingError, match="no column 'pelvis_x'.*floor_outputs"):
        biomechanics.floor_motion(person, ball)
