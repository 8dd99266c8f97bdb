"""Parameters given by other parameters, wherever they stand in a description."""

from __future__ import annotations

import pytest

import torseur as ts


def test_a_force_at_an_offset_that_depends_on_another_parameter():
    """Oracle: a force F at 2 L from the axis of a rod is a torque 2 L F."""
    length = ts.parameter("L", 0.5, "m")
    double = ts.parameter("D", 2 * length, "m")
    rod = ts.body("rod", mass=1, centre=(0.25, 0, 0), inertia=ts.inertia(0, 0, 0.1))
    mechanism = ts.Mechanism(
        "lever",
        bodies=[rod],
        joints=[ts.revolute("pin", ts.EARTH, rod, "q")],
        parameters=[length, double],
        loads=[ts.force("push", rod.at((double, 0, 0)), (0, 3, 0), axes=rod)],
    )
    kernel = ts.compile(ts.derive(mechanism), ["loads"], backend="python")
    assert kernel.program.inputs[-1].nodes == (length.symbol,)
    assert kernel(q=[0.3], p=[0.5])["loads"][0] == pytest.approx(3.0, abs=1e-15)
    assert kernel(q=[0.3], p=[0.7])["loads"][0] == pytest.approx(4.2, abs=1e-15)
