"""Events: found, landed on, in order, and never twice."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from computation.simulation.systems import T, ball, double_pendulum, oscillator
from torseur.algebra.graph.scalar import sin
from torseur.computation.simulation import Event, simulate
from torseur.computation.simulation.events.landing import Landing, has_landed
from torseur.errors import SimulationError, TorseurError


def times(motion, name=None):
    return [event.time for event in motion.events if name in (None, event.name)]


def position(system):
    return system.rhs.input("y").nodes[0]


def test_falling_ball_reaches_the_ground(backend):
    """Closed form: t = sqrt(2 h / g)."""
    motion = simulate(ball(height=3.0), 10.0, events=[Event("z", direction=-1, stop=True)], rtol=1e-12, backend=backend)
    (hit,) = motion.events
    assert hit.time == pytest.approx(math.sqrt(6.0 / 9.81), abs=1e-12)
    assert motion.time[-1] == hit.time
    assert abs(hit.state["z"]) < 1e-14
    assert hit.state["v"] == pytest.approx(-math.sqrt(6.0 * 9.81), abs=1e-11)


def test_bouncing_ball():
    """Restitution by restarting at the event: bounce k lasts e^k times the first flight."""
    e, g, height = 0.8, 9.81, 1.0
    start, state = 0.0, {"z": height, "v": 0.0}
    first = math.sqrt(2 * height / g)
    expected = first
    for bounce in range(1, 8):
        ground = Event("z", direction=-1, stop=True)
        motion = simulate(ball(), 20.0, start=start, initial=state, rtol=1e-13, events=[ground])
        (hit,) = motion.events
        assert hit.time == pytest.approx(expected, abs=1e-12)
        start, state = hit.time, {"z": 0.0, "v": -e * hit.state["v"]}
        expected += 2 * first * e**bounce


def test_all_crossings_of_an_oscillation(backend):
    motion = simulate(oscillator(), 20.0, events=[Event("x")], rtol=1e-12, backend=backend)
    expected = [(k + 0.5) * math.pi for k in range(6)]
    assert np.allclose(times(motion), expected, rtol=0.0, atol=1e-11)
    assert motion.time[-1] == 20.0


@pytest.mark.parametrize(("direction", "first"), [(-1, 0.5 * math.pi), (1, 1.5 * math.pi)])
def test_directions(direction, first):
    motion = simulate(oscillator(), 20.0, events=[Event("x", direction=direction)], rtol=1e-12)
    assert np.allclose(times(motion), first + 2 * math.pi * np.arange(3), rtol=0.0, atol=1e-11)


def test_stop_at_the_third_occurrence():
    motion = simulate(oscillator(), 100.0, events=[Event("x", stop=3)], rtol=1e-12)
    assert len(motion.events) == 3
    assert motion.time[-1] == pytest.approx(2.5 * math.pi, abs=1e-11)


@pytest.mark.parametrize("depth", [1e-3, 1e-5, 1e-8])
def test_two_roots_within_one_step(depth):
    """x = cos t passes below -1 + depth near t = pi for a time much shorter than a step."""
    system = oscillator()
    level = position(system) + 1 - depth
    motion = simulate(system, 6.0, events=[Event("low", level)], rtol=1e-12)
    half = math.acos(1 - depth)
    assert np.allclose(times(motion), [math.pi - half, math.pi + half], rtol=0.0, atol=1e-9 / math.sqrt(depth) ** 0.5)


@pytest.mark.parametrize("direction", [-1, 1])
def test_one_direction_of_two_close_roots(direction):
    system = oscillator()
    level = position(system) + 1 - 1e-5
    motion = simulate(system, 6.0, events=[Event("low", level, direction=direction)], rtol=1e-12)
    assert np.allclose(times(motion), [math.pi + direction * math.acos(1 - 1e-5)], rtol=0.0, atol=1e-8)


def test_a_touch_is_no_event():
    """x + 1.001 comes near zero and turns back; so does (t - 2)^2, which reaches it."""
    system = oscillator()
    events = [Event("near", position(system) + 1.001), Event("touch", (T - 2.0) ** 2 + 1e-12)]
    assert simulate(system, 12.0, events=events).events == ()


def test_an_event_at_the_start_is_not_reported():
    """The ball leaves the ground at t = 0 and comes back."""
    motion = simulate(ball(height=0.0, speed=5.0), 3.0, events=[Event("z", stop=True)], rtol=1e-12)
    assert times(motion) == pytest.approx([2 * 5.0 / 9.81], abs=1e-12)


def test_short_hop_from_the_start():
    """A hop much shorter than a later step is seen although its function starts at zero."""
    motion = simulate(ball(height=0.0, speed=1e-3), 3.0, events=[Event("z")], rtol=1e-12)
    assert times(motion) == pytest.approx([2e-3 / 9.81], abs=1e-13)


def test_simultaneous_events():
    """Two functions of one root: both are reported, at the same time."""
    system = oscillator()
    x = position(system)
    motion = simulate(system, 2.0, events=[Event("a", x), Event("b", 3 * x), Event("c", x**3 + x)], rtol=1e-12)
    assert sorted(event.name for event in motion.events) == ["a", "b", "c"]
    assert times(motion) == pytest.approx([math.pi / 2] * 3, abs=1e-12)


def test_events_in_order_of_time():
    system = oscillator()
    x, v = system.rhs.input("y").nodes
    events = [Event("low", x + 0.5), Event("high", x - 0.5), Event("turn", v)]
    motion = simulate(system, 10.0, events=events, rtol=1e-12)
    exact = sorted(
        [(t, "high") for k in range(2) for t in (math.pi / 3 + 2 * k * math.pi, 5 * math.pi / 3 + 2 * k * math.pi)]
        + [(t, "low") for k in range(2) for t in (2 * math.pi / 3 + 2 * k * math.pi, 4 * math.pi / 3 + 2 * k * math.pi)]
        + [(k * math.pi, "turn") for k in (1, 2, 3)]
    )
    exact = [entry for entry in exact if entry[0] <= 10.0]
    assert [event.name for event in motion.events] == [name for _, name in exact]
    assert np.allclose(times(motion), [t for t, _ in exact], rtol=0.0, atol=1e-11)


def test_backward_in_time():
    motion = simulate(oscillator(), -5.0, events=[Event("x")], rtol=1e-12)
    assert np.allclose(times(motion), [-math.pi / 2, -1.5 * math.pi], rtol=0.0, atol=1e-11)


def test_samples_stop_with_the_motion():
    motion = simulate(ball(), 1.0, samples=101, events=[Event("z", stop=True)])
    assert motion.time[-1] <= motion.events[0].time < motion.time[-1] + 0.01
    assert np.allclose(motion["z"], 1.0 - 9.81 / 2 * motion.time**2, rtol=0.0, atol=1e-12)


def test_samples_around_an_event_come_from_its_own_steps():
    """Samples on both sides of an event are as good as without it."""
    grid = np.linspace(0.0, 6.0, 200)
    motion = simulate(oscillator(), 6.0, samples=grid, events=[Event("x")], rtol=1e-11, dense=True)
    assert np.allclose(motion["x"], np.cos(grid), rtol=0.0, atol=1e-9)
    assert np.allclose(motion.state_at(grid)[:, 0], np.cos(grid), rtol=0.0, atol=1e-9)


def test_python_functions_beside_formulas(backend):
    system = oscillator()
    events = [Event("python", lambda t, y: y[0] - 0.5), Event("formula", position(system) + 0.5)]
    motion = simulate(system, 3.0, events=events, rtol=1e-12, backend=backend)
    assert times(motion, "python") == pytest.approx([math.pi / 3], abs=1e-11)
    assert times(motion, "formula") == pytest.approx([2 * math.pi / 3], abs=1e-11)


def test_events_in_time_alone():
    """A clock that ticks at given times is met exactly, whatever the steps."""
    motion = simulate(double_pendulum(), 3.0, events=[Event("tick", T - 1.25), Event("tock", T - 2.5)])
    assert times(motion) == pytest.approx([1.25, 2.5], abs=1e-15)


@pytest.mark.slow
def test_more_events_than_the_first_buffer_holds():
    motion = simulate(oscillator(), 2000.0, events=[Event("x"), Event("v")], rtol=1e-10)
    assert len(times(motion, "x")) == int(2000.0 / math.pi + 0.5)
    assert np.allclose(np.diff(times(motion, "x")), math.pi, rtol=0.0, atol=1e-7)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(level=st.floats(-0.999, 0.999), rtol=st.sampled_from([1e-6, 1e-9, 1e-12]))
def test_every_level_is_crossed_the_right_number_of_times(level, rtol):
    """Property: in four periods cos t meets each level eight times."""
    system = oscillator()
    met = Event("level", lambda t, y: y[0] - level)
    motion = simulate(system, 8 * math.pi, rtol=rtol, events=[met], backend="python")
    angle = math.acos(level)
    exact = sorted(s * angle + 2 * math.pi * k for k in range(5) for s in (-1, 1))
    exact = [t for t in exact if 0.0 < t < 8 * math.pi]
    assert len(motion.events) == len(exact)
    assert np.allclose(times(motion), exact, rtol=0.0, atol=1e3 * rtol / math.sin(angle))


@pytest.mark.parametrize("method", ["explicit", "radau5"])
@pytest.mark.parametrize(("frequency", "direction"), [(1e4, 0), (3e4, 1)])
def test_functions_faster_than_the_steps_are_followed(method, frequency, direction):
    """sin ωt changes its sign at every kπ/ω, although steps are a thousand radians long."""
    fast = Event("fast", sin(frequency * T), direction=direction)
    motion = simulate(oscillator(), 0.5, events=[fast], samples=2, method=method)
    each = 1 if direction == 0 else 2
    exact = np.arange(each, 0.5 * frequency / math.pi, each) * math.pi / frequency
    assert motion.statistics.steps <= len(exact) + 60 and motion.notes == ()
    assert len(motion.events) == len(exact)
    assert np.allclose(times(motion), exact, rtol=0.0, atol=1e-14)


@pytest.mark.slow
def test_ripples_on_a_slow_function_are_followed():
    """t - 0.3 + 5e-3 sin 3000 t changes its sign several times about t = 0.3. Oracle: signs on a fine grid."""
    ripple = T - 0.3 + 5e-3 * sin(3000.0 * T)
    grid = np.linspace(0.0, 1.0, 2_000_001)
    signs = grid - 0.3 + 5e-3 * np.sin(3000.0 * grid) >= 0.0
    exact = grid[1:][signs[1:] != signs[:-1]]
    motion = simulate(oscillator(), 1.0, events=[Event("ripple", ripple)], samples=2)
    assert len(exact) > 1 and np.allclose(times(motion), exact, rtol=0.0, atol=1e-6)


@pytest.mark.slow
def test_what_cannot_be_followed_is_said():
    """A function with a million periods in a step has a note; one that jumps, or has a kink, needs none."""
    fast = Event("buzz", lambda t, y: math.sin(1e9 * t) - 100.0 + 200.0 * (t > 0.5))
    motion = simulate(oscillator(), 1.0, events=[Event("noise", lambda t, y: math.sin(1e9 * t))], samples=2)
    assert len(motion.events) < 1e9 / math.pi
    assert "The function of event 'noise' changes faster than the steps" in motion.notes[0]
    motion = simulate(oscillator(), 1.0, events=[fast], samples=2)
    assert times(motion) == pytest.approx([0.5], abs=1e-14) and motion.notes == ()
    jump = Event("jump", lambda t, y: 1.0 if t < 0.3123 else -1.0)
    kink = Event("kink", lambda t, y: abs(t - 0.5) - 1e-5)
    motion = simulate(oscillator(), 1.0, events=[jump, kink], samples=2)
    assert times(motion) == pytest.approx([0.3123, 0.49999, 0.50001], abs=1e-14) and motion.notes == ()


def test_noise_does_not_hang():
    """A function without any sense is given up after max_steps, like any other motion that leads nowhere."""
    noise = np.random.default_rng(0)
    with pytest.raises(SimulationError, match="after 300 steps"):
        simulate(oscillator(), 1e3, events=[Event("noise", lambda t, y: noise.normal())], max_steps=300)


def test_mistakes():
    with pytest.raises(TorseurError, match="direction is 2"):
        Event("x", direction=2)
    with pytest.raises(TorseurError, match="stop is -1"):
        Event("x", stop=-1)
    with pytest.raises(TorseurError, match="unknown quantity 'zz'"):
        simulate(ball(), 1.0, events=["zz"])


def test_a_dip_of_the_dense_output_alone_is_no_event():
    """A gap that has just opened is rounding at first: no step is cut at it, and none is bisected to its end."""
    landing = Landing()
    landing.reach = landing.first = 1e-6
    landing.after, landing.rate, landing.armed, landing.reached = 0.02, -1e-7, True, False
    tried = []
    while not landing.past and len(tried) < 64:
        h = landing.reach
        tried.append(h)
        assert not has_landed(landing, h, 1e-12 + 0.5 * h * h, -1, 1e-16)
    assert landing.reach == 1e-6 and len(tried) < 8
    assert has_landed(landing, landing.reach, 1e-12, -1, 1e-16)
