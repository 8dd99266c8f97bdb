"""Rollouts on the GPU, their device functions compiled as plain C++: the text that runs on the device, without one."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from computation.functions.test_constraint_rank import text_of
from torseur.computation.simulation.rollouts.rollout_programs import RolloutPrograms
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError


class Moved:
    """A rollout of one motion on the CPU: records of one lane."""

    def __init__(self, mechanism, method, outputs=(), sensitivities=()):
        self.move = ts.Rollouts(mechanism, method, "float64", outputs=outputs, sensitivities=sensitivities)

    def __call__(self, q, v, step, steps, every=0, changes=None, rtol=1e-6, atol=1e-9):
        q, v = (np.array(x, dtype=float)[:, None] for x in (q, v))
        options = {"step": step, "steps": steps, "every": every, "rtol": rtol, "atol": atol}
        return self.move(q, v, parameters=changes, **options)[..., 0]


START = [np.pi / 4, np.pi / 4], [0.0, 0.0]


def test_fixed_steps_have_their_order(emulated):
    """Oracle: the adaptive integrator of order 8, at a tight tolerance."""
    exact = ts.simulate(library.load("double_pendulum"), until=1.0, rtol=1e-12, samples=2).values[-1][:4]
    for method, order in (("rk4", 4), ("semi_implicit", 1)):
        move = Moved(library.load("double_pendulum"), method)
        error = [np.abs(move(*START, 1.0 / n, n)[0] - exact).max() for n in (100, 200)]
        assert 0.75 * 2**order < error[0] / error[1] < 1.25 * 2**order


def test_adaptive_steps_keep_the_tolerance(emulated):
    """Oracle: the adaptive integrator of order 8. Records stand at the times that were asked for."""
    move = Moved(library.load("double_pendulum"), "dopri5")
    exact = ts.simulate(library.load("double_pendulum"), until=4.0, rtol=1e-12, samples=5).values[1:, :4]
    loose, tight = (np.abs(move(*START, 0.1, 40, every=10, rtol=r, atol=r) - exact).max() for r in (1e-6, 1e-9))
    assert tight < 1e-6 and tight < 0.05 * loose < 1e-4


def test_a_motion_that_ends_is_not_a_number(emulated):
    text = "mechanism fall ; let ball = body mass = 1 kg end ; join earth and ball.frame as rail with prismatic(x) along [1,0,0] force = 1 N / (1 - x / 1 m) end ; init x = 0 m ;"
    move = Moved(ts.parse(text), "dopri5")
    assert np.isnan(move([0.0], [2.0], 0.1, 20, rtol=1e-9)).all()


def test_outputs_are_recorded_by_name(emulated):
    """Oracle: the motion's own energies."""
    mechanism = library.load("double_pendulum")
    move = Moved(mechanism, "rk4", ["energy", "q2", "blade.centre.position.y", "q1''"])
    found = move(*START, 1e-3, 1000)[0]
    names = ["kinetic_energy", "potential_energy", "q2", "blade.centre.position.y", "q1''"]
    motion = ts.simulate(mechanism, until=1.0, rtol=1e-11, samples=2, outputs=[n for n in names if n != "q2"])
    expected = [
        motion["kinetic_energy"][-1] + motion["potential_energy"][-1],
        *(motion[name][-1] for name in names[2:]),
    ]
    assert np.allclose(found, expected, rtol=1e-7)


@pytest.mark.slow
def test_sensitivities_go_along(emulated):
    """Oracle: the direct method on the CPU."""
    mechanism = library.load("double_pendulum")
    names = ("m2", "l2", "q1(0)")
    move = Moved(mechanism, "dopri5", ["q1", "q2"], names)
    found = move(*START, 0.1, 20, rtol=1e-10, atol=1e-12)[0]
    for k, output in enumerate(("q1", "q2")):
        exact = ts.sensitivity(mechanism, output, list(names), until=2.0, rtol=1e-11)
        for j, name in enumerate(names):
            assert found[1 + j, k] == pytest.approx(exact.derivative(output, name)[-1], rel=1e-6)


def test_closed_loops_stay_closed(emulated):
    """A four-bar for two seconds. Oracle: constrained motion on the CPU."""
    mechanism = library.load("four_bar")
    equations = ts.derive(mechanism)
    motion = ts.simulate(mechanism, until=2.0, rtol=1e-11, samples=3)
    layout = equations.layout
    count = len(layout.coordinates), len(layout.speeds)
    first, last = motion.values[0][: sum(count)], motion.values[-1][: sum(count)]
    move = Moved(mechanism, "rk4")
    found = move(first[: count[0]], first[count[0] :], 1e-3, 2000)[0]
    assert np.abs(found - last).max() < 1e-6 * np.abs(last).max()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("four_bar", 1), ("parallelogram", 2), ("massless_coupler", 1)])
def test_closed_loops_whose_rows_are_rounding(emulated, name, seed):
    """Linkages in an oblique plane, one with a bar too many, one with a bar without mass. Oracle: simulation."""
    mechanism = ts.parse(text_of(name, seed))
    motion = ts.simulate(mechanism, until=0.5, rtol=1e-11, samples=2).values
    n = motion.shape[1] // 2
    end = Moved(mechanism, "dopri5")(motion[0][:n], motion[0][n:], 0.01, 50, rtol=1e-9)[0]
    assert np.abs(end - motion[-1]).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "mixed"])
def test_rounding_is_told_from_constraints_in_single_precision(emulated, precision):
    """Rows of rounding are ten million times larger there. Oracle: simulation, to the digits that are left."""
    mechanism = ts.parse(text_of("four_bar", 1))
    motion = ts.simulate(mechanism, until=0.5, rtol=1e-11, samples=2).values
    move = ts.Rollouts(mechanism, "rk4", precision)
    end = move(motion[0][:3, None], motion[0][3:, None], step=0.005, steps=100)[0, :, 0]
    assert np.abs(end - motion[-1]).max() < 1e-4


def test_parameters_of_each_motion(emulated):
    mechanism = library.load("double_pendulum")
    move = Moved(mechanism, "rk4")
    changed = ts.simulate(mechanism, until=1.0, rtol=1e-11, samples=2, parameters={"m2": 5.0}).values[-1][:4]
    assert np.allclose(move(*START, 1e-3, 1000, changes={"m2": np.array([5.0])})[0], changed, rtol=1e-8)


def test_mistakes_are_named():
    equations = ts.derive(library.load("double_pendulum"))
    with pytest.raises(TorseurError, match="Did you mean 'm2'"):
        RolloutPrograms(equations, (), ("m22",))
    with pytest.raises(TorseurError, match="output 'kinetic_enrgy'.*Did you mean 'kinetic_energy'"):
        _ = RolloutPrograms(equations, ("kinetic_enrgy",), ()).observe
    with pytest.raises(UnsupportedError, match="Did you mean 'rk4'"):
        ts.Rollouts(equations, "rk5")


PULSE = """mechanism pushed ; param T = 0.4 s, w = 1 ms ; let cart = body mass = 2 kg end ;
join earth and cart.frame as rail with prismatic(x) along [1,0,0] force = where(t < T, 0 N, where(t < T + w, 1000 N, 0 N)) end ;"""


def test_pulses_are_not_passed_over(emulated):
    """Closed form: the momentum is the force times the length of the pulse, wherever it lies."""
    move = Moved(ts.parse(PULSE), "dopri5", ["x'"])
    assert move([0.0], [0.0], 0.1, 10)[0] == pytest.approx(0.5, rel=1e-3)
    for start, width in ((0.0123, 1e-3), (0.77, 2e-4)):
        found = move([0.0], [0.0], 0.1, 10, changes={"T": start, "w": np.array([width])})[0]
        assert found == pytest.approx(500.0 * width, rel=2e-2)


def test_fixed_steps_longer_than_a_pulse_are_refused(emulated):
    move = Moved(ts.parse(PULSE), "rk4")
    with pytest.raises(TorseurError, match=r"step is 0.1 s.*within 0\.001 s.*at most 0\.0005 s"):
        move([0.0], [0.0], 0.1, 10)
    assert move([0.0], [0.0], 1e-4, 10_000)[0, 1] == pytest.approx(0.5, rel=0.1)
    assert np.isfinite(move([0.0], [0.0], 0.1, 3)).all()  # over before the pulse begins
