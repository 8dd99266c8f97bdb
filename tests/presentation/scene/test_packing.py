"""Packed motions: the page gets back what was put in, to the stated precision."""

from __future__ import annotations

import base64

import numpy as np

from presentation.report.samples import Array, poses, run
from torseur.presentation.scene.packing import pack_course, pack_floats, pack_motion
from torseur.presentation.scene.scene import Motion


def unpack(packed: dict[str, object]) -> tuple[Array, Array]:
    """Positions and quaternions, read as the page reads them: body by body, seven integers a sample."""
    steps = np.frombuffer(base64.b64decode(str(packed["poses"])), "<i2").astype(float)
    samples = len(base64.b64decode(str(packed["times"]))) // 4
    tracks, at = [], 0
    for still in packed["still"]:  # type: ignore[attr-defined]
        count = 7 * (1 if still else samples)
        track = steps[at : at + count].reshape(-1, 7)
        tracks.append(np.broadcast_to(track, (samples, 7)))
        at += count
    whole = np.stack(tracks, axis=1)
    return np.array(packed["origin"]) + packed["scale"] * whole[:, :, :3], whole[:, :, 3:] / 32767


def test_poses_come_back_within_their_step() -> None:
    motion = poses(run(samples=101))
    positions, quaternions = unpack(pack_motion(motion))
    extent = np.ptp(motion.positions.reshape(-1, 3), axis=0).max()
    assert np.max(np.abs(positions - motion.positions)) <= extent / 65534
    same = np.abs(np.sum(quaternions * motion.quaternions, axis=2))
    assert np.max(np.abs(same - 1)) < 1e-4


def test_a_course_comes_back_within_half_a_unit_and_takes_two_bytes_a_sample() -> None:
    values = 3e4 * np.sin(np.linspace(0.0, 9.0, 401)) - 1e4
    unit, text = pack_course(values)
    steps = np.frombuffer(base64.b64decode(text), "<i2")
    assert steps.nbytes == 2 * len(values) and abs(steps).max() == 32767
    assert np.max(np.abs(unit * steps - values)) <= np.abs(values).max() / 65533
    assert pack_course(np.zeros(2)) == (1.0, "AAAAAA==")


def test_a_fixed_body_costs_one_sample() -> None:
    motion = poses(run(samples=101))
    packed = pack_motion(motion)
    assert packed["still"] == [True, False, False]
    assert len(base64.b64decode(str(packed["poses"]))) == 2 * 7 * (1 + 2 * 101)


def test_quaternions_do_not_jump_to_their_opposite() -> None:
    angle = np.linspace(0, 12, 50)
    turn = np.zeros((50, 1, 4))
    turn[:, 0, 0], turn[:, 0, 3] = np.cos(angle / 2), np.sin(angle / 2)
    turn[::3] *= -1
    _, quaternions = unpack(pack_motion(Motion(angle, np.zeros((50, 1, 3)), turn)))
    assert np.all(np.sum(quaternions[1:] * quaternions[:-1], axis=2) > 0.9)


def test_a_motion_on_the_spot_can_be_packed() -> None:
    still = Motion(np.array([0.0, 1.0]), np.zeros((2, 1, 3)), np.tile([1.0, 0, 0, 0], (2, 1, 1)))
    positions, _ = unpack(pack_motion(still))
    assert np.all(positions == 0)


def test_floats_are_little_endian_single_precision() -> None:
    assert base64.b64decode(pack_floats(np.array([1.0, -2.5]))) == b"\x00\x00\x80?\x00\x00 \xc0"
