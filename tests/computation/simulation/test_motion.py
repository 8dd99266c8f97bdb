"""Motions against closed forms and reference numbers."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from computation.simulation.systems import ball, double_pendulum, kepler, oscillator
from torseur.computation.simulation import Output, simulate
from torseur.errors import TorseurError

REFERENCE = json.loads((Path(__file__).parents[2] / "oracles" / "double_pendulum.json").read_text())["cases"]["pi/4"]


def test_oscillator(backend):
    motion = simulate(oscillator(), 20.0, samples=101, backend=backend)
    assert np.allclose(motion["x"], np.cos(motion.time), rtol=0.0, atol=2e-8)
    assert np.allclose(motion["v"], -np.sin(motion.time), rtol=0.0, atol=2e-8)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
def test_error_follows_the_tolerance(rtol):
    motion = simulate(oscillator(), 10.0, rtol=rtol)
    assert np.abs(motion["x"] - np.cos(motion.time)).max() < 30 * rtol


def test_kepler_orbit_closes(backend):
    """After ten periods the planet is back at its perihelion; energy and momentum have not changed."""
    system = kepler()
    motion = simulate(system, 20 * math.pi, rtol=1e-12, outputs=["energy", "momentum"], backend=backend)
    assert np.allclose(motion.values[-1, :4], system.initial, rtol=0.0, atol=1e-8)
    assert np.ptp(motion["energy"]) < 1e-10
    assert np.ptp(motion["momentum"]) < 1e-10


def test_double_pendulum_reference(backend):
    """Oracle: extended precision extrapolation, 13 digits."""
    outputs = ["kinetic_energy"]
    motion = simulate(double_pendulum(), 5.0, samples=REFERENCE["t"], rtol=1e-11, outputs=outputs, backend=backend)
    for name, key in (("q1", "q1"), ("q2", "q2"), ("w1", "q1d"), ("w2", "q2d")):
        assert np.allclose(motion[name], REFERENCE[key], rtol=0.0, atol=1e-9)
    assert np.allclose(motion["kinetic_energy"], REFERENCE["T"], rtol=0.0, atol=1e-8)


def test_energy_is_conserved():
    motion = simulate(double_pendulum(), 30.0, rtol=1e-12, outputs=["energy"])
    assert np.ptp(motion["energy"]) < 1e-9 * abs(motion["energy"][0])


def test_backward_returns_to_the_start(backend):
    there = simulate(double_pendulum(), 3.0, rtol=1e-11, backend=backend)
    last = {name: float(there[name][-1]) for name in ("q1", "q2", "w1", "w2")}
    back = simulate(double_pendulum(), 0.0, start=3.0, initial=last, rtol=1e-11, backend=backend)
    assert back.time[0] == 3.0 and back.time[-1] == 0.0
    assert np.allclose(back.values[-1], there.values[0], rtol=0.0, atol=1e-9)


def test_samples_backward():
    motion = simulate(oscillator(), -5.0, samples=[0.0, -1.0, -2.5, -5.0])
    assert np.allclose(motion["x"], np.cos(motion.time), rtol=0.0, atol=1e-8)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.0, 7.0), min_size=1, max_size=40))
def test_samples_at_any_times(times):
    """Repeated, clustered or few: each asked time comes back once, in order, with its state."""
    motion = simulate(oscillator(), 7.0, samples=sorted(times), rtol=1e-10)
    assert motion.time.tolist() == sorted(times)
    assert np.allclose(motion["x"], np.cos(motion.time), rtol=0.0, atol=1e-8)


def test_samples_do_not_change_the_motion():
    alone = simulate(double_pendulum(), 4.0)
    sampled = simulate(double_pendulum(), 4.0, samples=301, dense=True)
    assert np.array_equal(alone.values[-1], sampled.values[-1])
    assert alone.statistics.steps == sampled.statistics.steps


def test_dense_output_knows_any_time():
    motion = simulate(oscillator(), 9.0, dense=True, rtol=1e-11)
    times = np.linspace(0.0, 9.0, 1234)
    assert np.allclose(motion.state_at(times)[:, 0], np.cos(times), rtol=0.0, atol=1e-9)
    assert motion.state_at(4.2) == pytest.approx([math.cos(4.2), -math.sin(4.2)], abs=1e-9)
    with pytest.raises(TorseurError, match=r"t = 9\.5 s lies outside the motion"):
        motion.state_at(9.5)


def test_dense_output_backward():
    motion = simulate(oscillator(), -9.0, dense=True, rtol=1e-11)
    times = -np.linspace(0.0, 9.0, 77)
    assert np.allclose(motion.state_at(times)[:, 0], np.cos(times), rtol=0.0, atol=1e-9)


def test_many_steps_overflow_the_first_buffer():
    """More steps than the buffers first hold: the loop pauses and goes on without a trace."""
    motion = simulate(oscillator(), 900.0, rtol=1e-11, max_step=0.5)
    assert motion.statistics.steps > 1500 and len(motion) == motion.statistics.steps + 1
    assert np.all(np.diff(motion.time) > 0.0)
    assert np.abs(motion["x"] - np.cos(motion.time)).max() < 1e-7


def test_pauses_leave_no_trace(monkeypatch):
    """The loop left and entered again every seven attempts gives the same motion, bit for bit."""
    whole = simulate(double_pendulum(), 5.0, samples=50, events=["q1"], dense=True)
    done = []
    monkeypatch.setattr("torseur.computation.simulation.loop.integrator.ATTEMPTS_PER_CALL", 7)
    monkeypatch.setattr("torseur.computation.simulation.loop.integrator.FIRST_ROOM", 3)
    parts = simulate(double_pendulum(), 5.0, samples=50, events=["q1"], dense=True, progress=done.append)
    assert np.array_equal(whole.values, parts.values)
    assert [e.time for e in whole.events] == [e.time for e in parts.events]
    assert np.array_equal(whole.dense.pieces, parts.dense.pieces)
    assert len(done) > 3 and done == sorted(done) and done[-1] == 1.0


def test_start_at_rest_in_equilibrium():
    motion = simulate(oscillator(x=0.0), 100.0)
    assert np.all(motion.values == 0.0)
    assert motion.statistics.steps < 50


def test_start_at_rest_from_the_origin():
    """Nothing to compare at the start: position, speed and scale all vanish."""
    motion = simulate(ball(height=0.0), 3.0)
    assert np.allclose(motion["z"], -9.81 / 2 * motion.time**2, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e8])
def test_accuracy_does_not_depend_on_the_unit_of_length(size):
    motion = simulate(oscillator(x=size, v=0.0), 10.0)
    assert np.abs(motion["x"] / size - np.cos(motion.time)).max() < 1e-7


def test_parameters_and_initial_values_by_name():
    motion = simulate(oscillator(), 4.0, parameters={"k": 4.0}, initial={"x": 0.5, "v": 1.0})
    exact = 0.5 * np.cos(2 * motion.time) + 0.5 * np.sin(2 * motion.time)
    assert np.allclose(motion["x"], exact, rtol=0.0, atol=1e-8)


def test_python_outputs_beside_formulas():
    system = oscillator()
    square = system.rhs.input("y").nodes[0] ** 2
    outputs = ["energy", Output("twice", lambda t, y: 2 * y[0], "m"), Output("square", square)]
    motion = simulate(system, 1.0, outputs=outputs)
    assert [column.name for column in motion.columns] == ["x", "v", "energy", "twice", "square"]
    assert np.allclose(motion["square"], motion["x"] ** 2)
    assert np.allclose(motion["twice"], 2 * motion["x"])
    assert np.allclose(motion["energy"], 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"until": math.inf}, "until is inf"),
        ({"until": 1.0, "rtol": 1e-17}, "cannot be met in double precision"),
        ({"until": 1.0, "atol": -1.0}, "negative"),
        ({"until": 1.0, "atol": {"y": 1.0}}, "unknown state 'y'"),
        ({"until": 1.0, "samples": 1}, "at least 2"),
        ({"until": 1.0, "samples": [0.5, 0.2]}, "must follow each other"),
        ({"until": 1.0, "samples": [0.5, 2.0]}, r"t = 2 s is not between"),
        ({"until": 1.0, "initial": {"z": 0.0}}, "unknown state 'z'"),
        ({"until": 1.0, "initial": {"x": math.nan}}, "initial value of 'x' is nan"),
        ({"until": 1.0, "parameters": {"kk": 0.0}}, "Did you mean 'k'"),
        ({"until": 1.0, "outputs": ["enrgy"]}, "Did you mean 'energy'"),
        ({"until": 1.0, "outputs": ["energy", "energy"]}, "two columns are named 'energy'"),
        ({"until": 1.0, "laws": {"f": abs}}, "unknown law 'f'"),
        ({"until": 1.0, "max_step": 0.0}, "positive time"),
        ({"until": 1.0, "max_steps": 0}, "max_steps"),
        ({"until": 1.0, "backend": "fortran"}, "fortran"),
    ],
)
def test_mistakes_have_clear_errors(arguments, message):
    with pytest.raises(TorseurError, match=message):
        simulate(oscillator(), **arguments)


def test_no_time_at_all():
    motion = simulate(oscillator(), 0.0)
    assert motion.time.tolist() == [0.0] and motion.values.tolist() == [[1.0, 0.0]]
