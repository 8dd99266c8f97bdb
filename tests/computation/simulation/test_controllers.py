"""Controllers at a sampling period against exact solutions of sampled systems."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.errors import SimulationError, TorseurError, UnsupportedError


def cart(mass=2.0):
    """A mass on a rail, x'' = tau/m, which a hold moves along parabolas."""
    made = ts.body("cart", mass=mass, centre=(0, 0, 0), inertia=0)
    rail = ts.prismatic("rail", ts.EARTH, made, "x")
    return ts.with_motors(ts.Mechanism("sampled", bodies=[made], joints=[rail]))


def exact(law, period, count, delay_periods=0, x=1.0, v=0.0, mass=2.0):
    """States at the samples: x += v T + u T²/2m, v += u T/m, with u of so many samples ago (zero before)."""
    held, states = [0.0] * delay_periods, [(x, v)]
    for k in range(count):
        held.append(law(k * period, x, v))
        u = held.pop(0)
        x, v = x + v * period + u * period**2 / (2 * mass), v + u * period / mass
        states.append((x, v))
    return np.array(states)


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_a_held_value_acts_until_the_next(delay):
    """PD with zero-order hold and a delay of whole periods: the recursion of the sampled system, to rounding."""
    period, law = 0.1, lambda t, x, v: -3.0 * x - 2.0 * v + np.sin(t)
    controller = ts.Controller(lambda t, y: [law(t, *y)], period, ["tau_x"], delay=delay * period)
    mechanism = cart()
    force = ts.Output("force", mechanism.parameter("tau_x").symbol)
    start = {"x": 1.0, "x'": 0.0}
    motion = ts.simulate(mechanism, 3.0, samples=61, initial=start, controllers=[controller], outputs=[force])
    states = exact(law, period, 30, delay)
    assert motion["x"][::2] == pytest.approx(states[:, 0], abs=1e-9)
    assert motion["x'"][::2] == pytest.approx(states[:, 1], abs=1e-9)
    forces = [law(0.1 * k, *state) for k, state in enumerate(states)]
    assert motion["force"][1::2] == pytest.approx([0.0] * delay + forces[: 30 - delay], abs=1e-8)  # between samples


def test_memory_begins_anew_with_every_motion():
    """An integrator: u = -x - sum of x T."""
    period = 0.05

    def function(t, y, total):
        total = total + y[0] * period
        return {"tau_x": -y[0] - 2.0 * y[1] - total}, total

    controller = ts.Controller(function, period, ["tau_x"], memory=0.0)
    total = 0.0

    def law(t, x, v):
        nonlocal total
        total += x * period
        return -x - 2.0 * v - total

    states = exact(law, period, 40)
    for _ in range(2):
        motion = ts.simulate(cart(), 2.0, samples=41, initial={"x": 1.0}, controllers=[controller])
        assert motion["x"] == pytest.approx(states[:, 0], abs=1e-9)


def test_two_controllers_of_different_periods():
    """One sets a force every 0.3 s, the other a wind every 0.2 s; samples at 0.6 s fall together."""
    made = ts.body("cart", mass=1, centre=(0, 0, 0), inertia=0)
    wind = ts.parameter("wind", 0, "N")
    rail = ts.prismatic("rail", ts.EARTH, made, "x")
    load = ts.motor("push", "rail", "x", wind.symbol)
    mechanism = ts.with_motors(ts.Mechanism("m", bodies=[made], joints=[rail], loads=[load], parameters=[wind]))
    slow = ts.Controller(lambda t, y: t, 0.3, ["tau_x"], name="slow")
    fast = ts.Controller(lambda t, y: -2 * t, 0.2, ["wind"], name="fast")
    motion = ts.simulate(mechanism, 1.2, samples=[0.0, 1.2], controllers=[slow, fast])
    times = np.arange(0, 1.2, 0.1) + 0.05  # the force is constant within each tenth
    force = [np.floor(t / 0.3 + 1e-9) * 0.3 - 2 * np.floor(t / 0.2 + 1e-9) * 0.2 for t in times]
    assert motion["x'"][-1] == pytest.approx(0.1 * sum(force), abs=1e-12)


def test_computed_torque_of_an_arm_follows_its_path(tmp_path):
    """Errors of exactly inverted dynamics obey e'' + 2 k e' + k² e = 0, up to the hold of a millisecond."""
    link = '<link name="{}"><inertial><origin xyz="0.2 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{} 0 0"/><axis xyz="0 1 0"/></joint>'
    path = tmp_path / "arm.urdf"
    path.write_text(
        '<robot name="arm"><link name="base"/>' + link.format("a") + link.format("b") + joint.format("j1", "base", "a", 0)
        + joint.format("j2", "a", "b", 0.4) + "</robot>", encoding="utf-8",
    )  # fmt: skip
    robot, k = ts.Robot(path), 10.0

    def torque(t, y):
        q, v = y[:2], y[2:]
        wanted, rate, bend = np.array([np.sin(t), t**2]), np.array([np.cos(t), 2 * t]), np.array([-np.sin(t), 2.0])
        return robot.rnea(q, v, bend + 2 * k * (rate - v) + k**2 * (wanted - q))

    controller = ts.Controller(torque, 0.001, ["tau_j1", "tau_j2"], name="computed torque")
    arm = ts.with_motors(robot.mechanism)
    start = {"j1": 0.2, "j2": 0.0, "j1'": 1.0, "j2'": 0.0}
    motion = ts.simulate(arm, 0.5, samples=6, initial=start, controllers=[controller])
    t = motion.time
    assert motion["j1"] - np.sin(t) == pytest.approx(0.2 * (1 + k * t) * np.exp(-k * t), abs=2e-3)
    assert motion["j2"] == pytest.approx(t**2, abs=2e-3)


def test_motors_give_no_more_than_their_limit():
    """4 N of the 9 that are asked for, backward too: x = ±(4/2m) t²."""
    made = ts.body("cart", mass=2.0, centre=(0, 0, 0), inertia=0)
    bare = ts.Mechanism("weak", bodies=[made], joints=[ts.prismatic("rail", ts.EARTH, made, "x")])
    weak = ts.with_motors(bare, limits={"x": 4.0})
    for asked, given in ((9.0, 4.0), (-9.0, -4.0), (3.0, 3.0)):
        motion = ts.simulate(weak, 1.0, samples=2, parameters={"tau_x": asked})
        assert motion["x"][-1] == pytest.approx(given / 4)
    for limits, words in (({"y": 1.0}, "limits: unknown driven coordinate 'y'"), ({"x": -1.0}, "zero or more")):
        with pytest.raises(TorseurError, match=words):
            ts.with_motors(bare, limits=limits)


def test_mistakes_say_what_was_expected():
    good = ts.Controller(lambda t, y: [0.0], 0.1, ["tau_x"])
    with pytest.raises(TorseurError, match="'tau_y'.*with_motors"):
        ts.simulate(cart(), 1, controllers=[ts.Controller(lambda t, y: 0, 0.1, ["tau_y"])])
    with pytest.raises(TorseurError, match="both set 'tau_x'"):
        ts.simulate(cart(), 1, controllers=[good, good])
    with pytest.raises(UnsupportedError, match="forward in time"):
        ts.simulate(cart(), -1, controllers=[good])
    with pytest.raises(SimulationError, match=r"controller gives .* expected 1 finite numbers, for tau_x") as caught:
        ts.simulate(cart(), 1, controllers=[ts.Controller(lambda t, y: [np.nan if t > 0.45 else 1.0], 0.1, ["tau_x"])])
    assert caught.value.trajectory.time[-1] == pytest.approx(0.5)
    with pytest.raises(SimulationError, match="ZeroDivisionError"):
        ts.simulate(cart(), 1, controllers=[ts.Controller(lambda t, y: 1 / 0, 0.1, ["tau_x"])])
    with pytest.raises(TorseurError, match="period is 0"):
        ts.Controller(lambda t, y: 0, 0, ["tau_x"])


def test_controllers_do_not_change_bodies():
    m = ts.parameter("m", 2, "kg")
    made = ts.body("cart", mass=m.symbol, centre=(0, 0, 0), inertia=0)
    mechanism = ts.Mechanism("m", bodies=[made], joints=[ts.prismatic("rail", ts.EARTH, made, "x")], parameters=[m])
    with pytest.raises(UnsupportedError, match="'m' is part of a body"):
        ts.simulate(mechanism, 1, controllers=[ts.Controller(lambda t, y: 1, 0.1, ["m"])])
