"""Inverse dynamics of whole trials against Newton's law, Pinocchio, energy, and sums over bodies."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.biomechanics.bodies import waving
from torseur.analysis.biomechanics.forces.foot_loads import human_footing, plate_reactions, soles
from torseur.analysis.biomechanics.forces.ground_reaction import Reaction, footing, ground_reaction, share_between_feet
from torseur.analysis.biomechanics.forces.trial_dynamics import trial_dynamics
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, coordinate_names, joint_motion
from torseur.analysis.biomechanics.person_model.human36 import human36
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.errors import RecordingError

PERSON = human36(1.8, 75.0, "de_leva_male")
MOTION = waving(PERSON)
UP = np.array([0.0, 1.0, 0.0])


@pytest.fixture(scope="module")
def body():
    return BodyInMotion(PERSON, MOTION)


def test_ground_reaction_is_newtons_law(body):
    """Oracle: m (a - g), the acceleration of the mass centre by differences of its places."""
    step = MOTION.time[1]
    c = body.mass_centre
    acceleration = (-c[4:] + 16 * c[3:-1] - 30 * c[2:-2] + 16 * c[1:-3] - c[:-4]) / (12 * step**2)
    wanted = body.mass * (acceleration - body.gravity)
    assert np.abs(ground_reaction(body).force[2:-2] - wanted).max() < 1e-4 * np.abs(wanted).max()
    assert body.mass == pytest.approx(75.0)


def test_moment_is_the_rate_of_angular_momentum(body):
    """Oracle: dH/dt about the mass centre by differences."""
    _, H = body.momentum
    rate = (H[:-4] - 8 * H[1:-3] + 8 * H[3:-1] - H[4:]) / (12 * MOTION.time[1])
    wanted = ground_reaction(body).about(body.mass_centre)[2:-2]
    assert np.abs(rate - wanted).max() < 1e-4 * np.abs(wanted).max()


def test_angular_momentum_is_the_sum_over_the_segments(body):
    """Oracle: Σ R I Rᵀ ω + m (c - C) x ċ, with velocities by differences of the places of the segments."""
    step, frame = MOTION.time[1], 60
    total = np.zeros(3)
    for link, name in enumerate(one.name for one in body.tree.links):
        inertia = body.now.links[link].inertia
        m = float(inertia.mass)
        if m == 0:
            continue
        centre = np.array([float(x) for x in inertia.moment]) / m
        matrix = np.array([[float(x) for x in row] for row in inertia.matrix.rows])
        matrix -= m * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        origin, R = body.place(PERSON.body(name).frame)
        c = origin + R @ centre
        rate = (c[frame + 1] - c[frame - 1]) / (2 * step)
        spin = (R[frame + 1] - R[frame - 1]) / (2 * step) @ R[frame].T
        omega = np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]) / 2
        total += R[frame] @ matrix @ R[frame].T @ omega + m * np.cross(c[frame] - body.mass_centre[frame], rate)
    assert body.momentum[1][frame] == pytest.approx(total, abs=2e-3 * np.linalg.norm(total))


def test_moments_are_pinocchios(tmp_path):
    """Oracle: Pinocchio's recursive Newton-Euler on the model written as URDF, with loads on the feet."""
    pin = pytest.importorskip("pinocchio")
    from torseur.description.readers import write_robot

    write_robot(PERSON, tmp_path / "person.urdf", partial=True)
    model = pin.buildModelFromUrdf(str(tmp_path / "person.urdf"))
    model.gravity = pin.Motion(np.array([0, -9.81, 0]), np.zeros(3))
    data = model.createData()
    names = list(model.names)[1:]
    order = [MOTION.names.index(name) for name in names]
    load = Reaction(np.tile([20.0, 400.0, -10.0], (len(MOTION), 1)), np.tile([5.0, -3.0, 60.0], (len(MOTION), 1)))
    found = trial_dynamics(PERSON, MOTION, {"r_foot": load})
    for k in (0, 50, 119):
        parts = [[x] if model.joints[j + 1].nq == 1 else [np.cos(x), np.sin(x)]
                 for j, x in enumerate(MOTION.q[k, order])]  # fmt: skip
        q = np.concatenate(parts)
        pin.forwardKinematics(model, data, q)
        outer = pin.StdVec_Force()
        for j in range(model.njoints):
            on_foot = model.names[j] == "r_ankle_inversion"
            wrench = pin.Force(load.force[k], load.moment[k]) if on_foot else pin.Force.Zero()
            outer.append(data.oMi[j].actInv(wrench))
        tau = pin.rnea(model, data, q, MOTION.v[k, order], MOTION.vdot[k, order], outer)
        assert np.abs(tau - found.moments[k, order]).max() < 1e-9


def test_power_is_the_rate_of_energy(body):
    """Oracle: d(T + V)/dt by differences equals the power of all coordinates, in flight."""
    from torseur.derivation.dynamics import gravity_energy, kinetic_energy

    tree = body.tree
    energy = kinetic_energy(tree, list(MOTION.q.T), list(MOTION.v.T)) + gravity_energy(tree, list(MOTION.q.T))
    rate = (energy[:-4] - 8 * energy[1:-3] + 8 * energy[3:-1] - energy[4:]) / (12 * MOTION.time[1])
    found = trial_dynamics(PERSON, MOTION)
    powers = found.powers.sum(axis=1)[2:-2]
    assert np.abs(rate - powers).max() < 1e-4 * np.abs(powers).max()
    joints = sum(found.joint_power(joint.name) for joint in PERSON.joints)
    assert joints == pytest.approx(found.powers.sum(axis=1))


@pytest.mark.slow
def test_nothing_is_left_over_when_the_ground_gives_what_the_motion_takes(body):
    feet = human_footing(body)
    parts = share_between_feet(ground_reaction(body), feet, UP)
    found = trial_dynamics(PERSON, MOTION, parts)
    assert np.abs(found.residual.force).max() < 1e-9 and np.abs(found.residual.moment).max() < 1e-9
    assert np.abs(found.moments[:, :6]).max() < 1e-9
    assert np.abs(trial_dynamics(PERSON, MOTION).moments[:, :3] - ground_reaction(body).force).max() < 1e-9


def test_joint_forces_carry_what_is_beyond_them(body):
    """Oracle: the wrist carries m (a - g) of the hand alone."""
    found = trial_dynamics(PERSON, MOTION)
    hand = body.now.links[body.link("r_hand")].inertia
    origin, R = body.place(PERSON.body("r_hand").frame)
    c = origin + R @ (np.array([float(x) for x in hand.moment]) / float(hand.mass))
    step = MOTION.time[1]
    wanted = float(hand.mass) * ((c[2:] - 2 * c[1:-1] + c[:-2]) / step**2 - body.gravity)
    assert np.abs(found.joint_forces["r_wrist"][1:-1] - wanted).max() < 1e-2


def standing(count=60):
    """Upright and still but for the arms: both feet flat on the ground."""
    names = coordinate_names(PERSON)
    time = np.arange(count) * 0.01
    q, v, a = (np.zeros((count, 36)) for _ in range(3))
    slot = names.index("l_shoulder_flexion")
    q[:, slot], v[:, slot], a[:, slot] = 0.5 * np.sin(4 * time), 2 * np.cos(4 * time), -8 * np.sin(4 * time)
    return JointMotion(time, names, q, v, a)


def test_standing_person_weighs_what_it_weighs():
    motion = standing()
    still = JointMotion(motion.time, motion.names, 0 * motion.q, 0 * motion.q, 0 * motion.q)
    body = BodyInMotion(PERSON, still)
    total = ground_reaction(body)
    assert total.force[0] == pytest.approx([0, 75.0 * 9.81, 0])
    centre = total.centre_of_pressure(UP)[0]
    assert centre == pytest.approx([body.mass_centre[0, 0], 0, body.mass_centre[0, 2]], abs=1e-12)
    assert total.free_moment(UP) == pytest.approx(0, abs=1e-12)
    feet = human_footing(body)
    assert feet.contact["r_foot"].all() and feet.contact["l_foot"].all()
    parts = share_between_feet(total, feet, UP)
    assert parts["r_foot"].force[0] == pytest.approx(parts["l_foot"].force[0])


def plate(body, reaction, lateral, name):
    """A plate of 0.4 by 0.6 m under one foot that gives a reaction."""
    floor = human_footing(body).floor
    x, z = np.array([-0.2, 0.4, 0.4, -0.2]), lateral + np.array([-0.2, -0.2, 0.2, 0.2])
    corners = np.stack([x, np.full(4, floor), z], axis=1)
    centre = reaction.centre_of_pressure(UP, floor)
    return PlateRecord(body.motion.time, reaction.force, reaction.moment, centre, corners, name)


def test_plates_go_to_the_feet_that_stand_on_them():
    """Oracle: the shares that were measured come back, and leave nothing over."""
    body = BodyInMotion(PERSON, standing())
    feet = human_footing(body)
    parts = share_between_feet(ground_reaction(body), feet, UP)
    plates = [plate(body, parts["r_foot"], 0.2, "A"), plate(body, parts["l_foot"], -0.2, "B")]
    found, notes = plate_reactions(body, plates, feet)
    assert not notes
    for foot, wanted in parts.items():
        assert np.abs(found[foot].force - wanted.force).max() < 1e-9
        assert np.abs(found[foot].moment - wanted.moment).max() < 1e-9


def test_one_plate_under_both_feet_is_shared_and_said():
    body = BodyInMotion(PERSON, standing())
    feet = human_footing(body)
    total = ground_reaction(body)
    found, notes = plate_reactions(body, [plate(body, total, 0.0, "A")], feet)
    assert "both feet stand on it" in notes[0]
    together = found["r_foot"] + found["l_foot"]
    assert np.abs(together.force - total.force).max() < 1e-9 and np.abs(together.moment - total.moment).max() < 1e-9


def test_plates_far_from_the_feet_are_refused():
    body = BodyInMotion(PERSON, standing())
    total = ground_reaction(body)
    away = Reaction(total.force, total.moment + np.cross([3.0, 0, 0], total.force))
    with pytest.raises(RecordingError, match="plate of another person"):
        plate_reactions(body, [plate(body, away, 0.0, "far")], human_footing(body))


def test_coordinates_alone_give_the_motion():
    """Oracle: the exact speeds and accelerations of the waving person, by quintic splines."""
    exact = waving(PERSON, 200)
    found = joint_motion(PERSON, exact.time, exact.q[:, ::-1], Derivatives("spline"), exact.names[::-1])
    inner = slice(20, -20)
    assert np.abs(found.v - exact.v)[inner].max() < 1e-5 and np.abs(found.vdot - exact.vdot)[inner].max() < 1e-3


def test_bad_motions_are_refused():
    q = MOTION.q.copy()
    q[7, 3] = np.nan
    with pytest.raises(RecordingError, match="'pelvis_tilt' is not a number in frame 7"):
        JointMotion(MOTION.time, MOTION.names, q, MOTION.v, MOTION.vdot)
    with pytest.raises(RecordingError, match="no column for coordinate 'pelvis_x'"):
        joint_motion(PERSON, MOTION.time, MOTION.q[:, 1:], names=MOTION.names[1:])
    with pytest.raises(RecordingError, match="not those of the model"):
        BodyInMotion(PERSON, JointMotion(MOTION.time, MOTION.names[::-1], MOTION.q, MOTION.v, MOTION.vdot))
    with pytest.raises(RecordingError, match="must be numbers of the shape"):
        trial_dynamics(PERSON, MOTION, {"r_foot": Reaction(np.zeros((3, 3)), np.zeros((3, 3)))})
    assert set(soles(PERSON)) == {"r_foot", "l_foot"} and callable(footing)
