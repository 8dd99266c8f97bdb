"""The computed walk: feet that do not slip, legs that reach, forces like those of walking."""

from __future__ import annotations

import numpy as np
import pytest

from torseur.analysis.biomechanics.forces.foot_loads import human_footing
from torseur.analysis.biomechanics.forces.ground_reaction import ground_reaction
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.person_model.human36 import human36, joint_limits
from torseur.analysis.biomechanics.simulated_trials import OFF, FootSize, foot_path, simulated_trial, walking

PERSON = human36(1.78, 74.0, "de_leva_male")
MOTION = walking(PERSON, 2.4)


@pytest.fixture(scope="module")
def body():
    return BodyInMotion(PERSON, MOTION)


def test_foot_rolls_without_slipping():
    """Oracle: while it stands, the heel or the toes stay where they are; the path is twice differentiable."""
    size = FootSize(0.07, 0.06, 0.19)
    phase = np.linspace(0, 0.999, 2000)
    x, y, angle = foot_path(phase, np.zeros(2000), 1.2, size)
    pivot = np.where(angle > 0, -size.heel, size.toe)
    reach = np.stack([pivot * np.cos(angle) + size.height * np.sin(angle),
                      pivot * np.sin(angle) - size.height * np.cos(angle)])  # fmt: skip
    stance = phase < OFF
    assert np.abs((y + reach[1])[stance]).max() < 1e-12
    assert np.abs(((x + reach[0]) - pivot)[stance]).max() < 1e-12
    for values in (x, y, angle):
        bends = np.diff(values, 2) / np.diff(phase)[0] ** 2
        assert np.abs(np.diff(bends)).max() < 0.05 * np.abs(bends).max()


def test_walk_stays_on_the_floor_and_inside_the_ranges(body):
    feet = human_footing(body)
    assert feet.floor == pytest.approx(0, abs=1e-6)
    assert all(0.55 < flags.mean() < 0.75 for flags in feet.contact.values())
    for name, (low, high) in joint_limits().items():
        assert low < MOTION.of(name).min() and MOTION.of(name).max() < high, name


def test_forces_are_those_of_walking(body):
    """Published: 0.7 to 1.3 body weights upward, braking and driving by about a fifth; over a cycle they balance."""
    force = ground_reaction(body).force / (74 * 9.81)
    assert 0.6 < force[:, 1].min() < 0.85 and 1.05 < force[:, 1].max() < 1.35
    assert -0.3 < force[:, 0].min() < -0.1 and 0.1 < force[:, 0].max() < 0.3
    whole = force[60:180].mean(axis=0)
    assert whole == pytest.approx([0, 1, 0], abs=0.01)


def test_trial_has_a_plate_under_every_step():
    trial = simulated_trial(PERSON, MOTION)
    total = sum(plate.force for plate in trial.plates)
    assert np.abs(total - ground_reaction(BodyInMotion(PERSON, MOTION)).force).max() < 1e-9
    assert len(trial.plates) >= 4 and len(trial.markers.labels) == 60
