"""Singular configurations passed again and again, by long and by short steps, explicit and implicit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torseur as ts
from computation.simulation.linkages import bar, parallelogram


def chain_of_four_bars(count: int) -> ts.Mechanism:
    """IFToMM A02: uprights and horizontal bars of 1 m and 1 kg in a row; the first joint above starts at 1 m/s."""
    uprights, beams = (
        [bar(f"up{k}", 1.0, 1.0) for k in range(count + 1)],
        [bar(f"h{k}", 1.0, 1.0) for k in range(count)],
    )
    joints = [ts.revolute(f"A{k}", ts.EARTH.at((k, 0, 0)), part, f"a{k}") for k, part in enumerate(uprights)]
    for k, beam in enumerate(beams):
        joints.append(ts.revolute(f"B{k}", uprights[k].at((1, 0, 0)), beam, f"b{k}"))
        joints.append(ts.revolute(f"C{k}", beam.at((1, 0, 0)), uprights[k + 1].at((1, 0, 0)), f"c{k}"))
    initial = {f"a{k}": math.pi / 2 for k in range(count + 1)} | {f"b{k}": -math.pi / 2 for k in range(count)}
    return ts.Mechanism("chain", bodies=[*uprights, *beams], joints=joints, gravity=(0, -9.81, 0),
                        initial=initial | {"a0'": -1.0})  # fmt: skip


def angle_of_chain(count: int, times: np.ndarray) -> np.ndarray:
    """Oracle: all uprights turn together, as one pendulum of one coordinate; by SciPy."""
    inertia, weight = (count + 1) / 3 + count, 9.81 * ((count + 1) / 2 + count)
    found = solve_ivp(lambda t, y: [y[1], -weight * np.cos(y[0]) / inertia], (0, times[-1]), [math.pi / 2, -1.0],
                      "DOP853", times, rtol=1e-13, atol=1e-13)  # fmt: skip
    return found.y[0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("method", ["explicit", "radau5", "radau9"])
def test_chain_of_four_bars(count, method):
    """Every loop is flat at the same times, some eight of them in 10 s."""
    motion = ts.simulate(chain_of_four_bars(count), until=10, samples=101, rtol=1e-9, method=method, outputs=["energy"])
    assert np.abs(motion["a0"] - angle_of_chain(count, motion.time)).max() < 1e-6
    assert np.ptp(motion["energy"]) < 1e-6
    assert max(np.abs(np.sin(motion[f"a{k}"] - motion["a0"])).max() for k in range(count + 1)) < 1e-12


@pytest.mark.slow
def test_chain_of_forty_four_bars():
    motion = ts.simulate(chain_of_four_bars(40), until=10, samples=101, rtol=1e-8, outputs=["energy"])
    assert np.abs(motion["a0"] - angle_of_chain(40, motion.time)).max() < 1e-5
    assert np.ptp(motion["energy"]) < 1e-3


@pytest.mark.parametrize("method", ["explicit", "radau5", "radau9"])
@pytest.mark.parametrize("max_step", [1e-2, 1e-3])
def test_short_steps_do_not_get_stuck(method, max_step):
    """Some steps begin and end right beside the flat position."""
    motion = ts.simulate(chain_of_four_bars(1), until=2, samples=21, method=method, max_step=max_step,
                         outputs=["energy"])  # fmt: skip
    assert np.abs(motion["a0"] - angle_of_chain(1, motion.time)).max() < 1e-9
    assert np.ptp(motion["energy"]) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
def test_fast_parts_beside_a_slow_passage(formulation):
    """A rotor of 300 rad/s dictates steps of a few hundredths of a degree of the bars that pass."""
    mechanism = parallelogram(rate=6.0)
    rotor = ts.body("rotor", mass=0.1, centre=(0.1, 0, 0), inertia=ts.inertia(1e-3, 1e-3, 1e-3))
    mechanism = replace(
        mechanism, bodies=(*mechanism.bodies, rotor),
        joints=(*mechanism.joints, ts.revolute("R", mechanism.bodies[0].at((0.5, 0, 0)), rotor, "r")),
        initial=(*mechanism.initial, ("r'", 300.0)),
    )  # fmt: skip
    motion = ts.simulate(mechanism, until=1.0, samples=101, rtol=1e-9, formulation=formulation, outputs=["energy"])
    assert np.any(np.diff(np.sign(np.sin(motion["a0"]))) != 0), "it passes"
    assert np.abs(np.sin(motion["a0"] - motion["a1"])).max() < 1e-12
    assert np.ptp(motion["energy"]) < 1e-6 * abs(motion["energy"][0])


@pytest.mark.slow
def test_stiff_parts_beside_a_passage():
    """Oracle: the explicit method, which takes thirty times as many steps."""
    mechanism = parallelogram(rate=6.0)
    blob = ts.body("blob", mass=0.01, centre=(0, 0, 0), inertia=0)
    mechanism = replace(
        mechanism, bodies=(*mechanism.bodies, blob),
        joints=(*mechanism.joints, ts.prismatic("S", mechanism.bodies[0].at((0.5, 0, 0)), blob, "s", axis=(0, 1, 0))),
        loads=(ts.coordinate_spring("stiff", "S", "s", stiffness=1e4, damping=100.0),),
    )  # fmt: skip
    expected = ts.simulate(mechanism, until=1.0, samples=11, rtol=1e-9, method="explicit")
    motion = ts.simulate(mechanism, until=1.0, samples=11, rtol=1e-9)
    assert any("Stiff from t = " in note for note in motion.notes)
    assert np.abs(motion["a0"] - expected["a0"]).max() < 1e-7
