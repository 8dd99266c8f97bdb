"""Laws that hold for every closed chain: formulations agree, energy is kept, reactions do no work."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur as ts
from computation.simulation.linkages import closing

NAMES = ("l1", "l2", "l3", "m1", "m2", "m3", "px", "py")


@cache
def chain() -> ts.Mechanism:
    """Three bars with their masses at their ends and middles, from the origin to a pin at (px, py): one degree of freedom."""
    p = {name: ts.parameter(name, 1.0) for name in NAMES}
    bodies, joints, hook = [], [], ts.EARTH
    for k in (1, 2, 3):
        length, mass = p[f"l{k}"].symbol, p[f"m{k}"].symbol
        square = mass * length**2 / 12
        link = ts.body(f"link{k}", mass=mass, centre=(length / 2, 0, 0), inertia=ts.inertia(square, square, square))
        bodies.append(link)
        joints.append(ts.revolute(f"pin{k}", hook, link, f"q{k}"))
        hook = link.at((length, 0, 0))
    joints.append(closing(ts.revolute("pin4", hook, ts.EARTH.at((p["px"].symbol, p["py"].symbol, 0)), "q4")))
    return ts.Mechanism("chain", bodies=bodies, joints=joints, parameters=list(p.values()), gravity=(0.7, -9.81, 0))


def placed(lengths, masses, angles):
    """Parameters and coordinates of a chain that closes by construction."""
    directions = np.cumsum(angles)
    tip = sum(length * np.exp(1j * a) for length, a in zip(lengths, directions, strict=True))
    values = [*lengths, *masses, tip.real, tip.imag]
    return dict(zip(NAMES, map(float, values), strict=True)), dict(zip(("q1", "q2", "q3"), angles, strict=True))


sizes = st.lists(st.floats(0.2, 2.0), min_size=3, max_size=3)
turns = st.tuples(st.floats(-3.0, 3.0), st.floats(0.4, 2.6), st.floats(0.4, 2.6))


@pytest.mark.slow
@given(lengths=sizes, masses=sizes, angles=turns, rate=st.floats(-3.0, 3.0))
@settings(max_examples=15, deadline=None)
def test_formulations_agree(lengths, masses, angles, rate):
    parameters, initial = placed(lengths, masses, angles)
    outputs = ["q1''", "q2''", "q3''", "pin4.multiplier.x", "pin4.multiplier.y"]
    found = []
    for formulation in ("augmented", "partitioned", "projector"):
        motion = ts.simulate(chain(), until=1e-9, parameters=parameters, initial={**initial, "q2'": rate}, outputs=outputs,
                             formulation=formulation)  # fmt: skip
        found.append(motion.outputs[0])
    size = 1.0 + np.abs(found[0]).max()
    assert np.abs(found[1] - found[0]).max() < 1e-9 * size
    assert np.abs(found[2] - found[0]).max() < 1e-9 * size


@given(lengths=sizes, masses=sizes, angles=turns, rate=st.floats(-3.0, 3.0))
@settings(max_examples=10, deadline=None)
def test_energy_is_kept_and_loops_stay_closed(lengths, masses, angles, rate):
    parameters, initial = placed(lengths, masses, angles)
    motion = ts.simulate(chain(), until=0.2, samples=5, parameters=parameters, initial={**initial, "q2'": rate}, rtol=1e-11,
                         outputs=["energy"])  # fmt: skip
    scale = 9.81 * sum(masses) * sum(lengths)
    assert np.ptp(motion["energy"]) < 1e-8 * scale
    tip = sum(parameters[f"l{k}"] * np.exp(1j * sum(motion[f"q{i}"] for i in range(1, k + 1))) for k in (1, 2, 3))
    assert np.abs(tip - complex(parameters["px"], parameters["py"])).max() < 1e-11 * sum(lengths)
    assert math.isfinite(scale)
