"""The oracle itself, against closed forms: it must be right before anything is compared with it."""

import json
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import torseur as ts
from truth.oracle import (
    Model,
    dynamics,
    kinetic_energy,
    measured,
    motion,
    motion_derivatives,
    reaction,
    second_rates,
    start_state,
)
from truth.oracle.dynamics import SingularState

PUBLISHED = Path(__file__).parents[1] / "oracles"

PENDULUM = """
param g = 9.81 m/s^2, L = 0.7 m, m = 3 kg ;
gravity = [0, -g, 0] ;
let bob = body mass = m, centre = 0, inertia = 0 end ;
join earth and [0, L, 0] @ bob as pivot with revolute(q) about [0,0,1] end ;
init q = 1.2 ;
"""


def at(text, **values):
    model = Model(ts.parse(text))
    return model, start_state(model, {name.replace("_rate", "'"): value for name, value in values.items()})


def rate_of(text, name, **values):
    model, state = at(text, **values)
    return second_rates(model, state, [name])[name]


@pytest.mark.slow
def test_pendulum_swings_as_the_elliptic_sine():
    """q = 2 asin(k sn(K - ω t)) with k = sin(q0/2), started at rest."""
    model, state = at(PENDULUM)
    k, omega = np.sin(0.6), np.sqrt(9.81 / 0.7)
    times = [0.3, 0.8, 1.5]
    moved = motion(model, state, times, step=0.1)
    sn = ellipj(ellipk(k * k) - omega * np.array(times), k * k)[0]
    assert [float(s.coordinates["q"]) for s in moved.states] == pytest.approx(2 * np.arcsin(k * sn), abs=1e-11)
    assert moved.violation < 1e-10


def test_pendulum_pulls_at_its_pivot():
    """Along the string: m (g cos q + L q'²); across: nothing, because all mass is in the bob."""
    model, state = at(PENDULUM, q_rate=2.0)
    force = reaction(model, state, "pivot")
    assert force[:3] == pytest.approx([0, 3 * (9.81 * np.cos(1.2) + 0.7 * 4), 0], abs=1e-11)
    assert kinetic_energy(model, state) == pytest.approx(3 * (0.7 * 2) ** 2 / 2)


@pytest.mark.slow
def test_precise_numbers_have_fifty_digits():
    with mpmath.workdps(50):
        model = Model(
            ts.parse(PENDULUM.replace("9.81 m", "9810 mm").replace("0.7 m", "700 mm").replace("1.2", "6/5")),
            precise=True,
        )
        found = second_rates(model, start_state(model), ["q'"])["q'"]
        exact = -mpmath.mpf(981) / 70 * mpmath.sin(mpmath.mpf(6) / 5)
        assert abs(found - exact) < mpmath.mpf(10) ** -45


@pytest.mark.slow
def test_derivative_of_an_oscillation_by_its_stiffness():
    """x = x0 cos(ω t), ω² = k/m: ∂x/∂k = -x0 t sin(ω t) / (2 m ω); reversed joints have the same coordinate."""
    for sides in ("earth to b.frame", "b.frame to earth"):
        text = f"""param k = 30 N/m ; let b = body mass = 2 kg, centre = [1, 2, 3] m, inertia = diag(1, 2, 2.5) end ;
        join {sides} as rail with prismatic(x) along [0, 0.6, 0.8] stiffness = k end ; init x = 0.2 m ;"""
        w = np.sqrt(15)
        found = motion_derivatives(ts.parse(text), "k", ["x"], [0.4, 0.9], step=0.1)[:, 0]
        assert found == pytest.approx([-0.2 * t * np.sin(w * t) / (4 * w) for t in (0.4, 0.9)], abs=1e-12)


def test_planar_vehicle_in_its_own_axes():
    """m (Vx' - Vy r) - m l r² = 0, m (Vy' + Vx r) + m l r' = 0, C r' + m l (Vy' + Vx r) = 0."""
    text = """param m = 1200 kg, l = 0.3 m, C = 1800 kg*m^2 ;
    let c = body mass = m, centre = [l, 0, 0], inertia = diag(0, 0, C) about frame end ;
    join earth and c.frame as ground with planar(x, y, psi) speeds Vx, Vy = velocity in c, r = psi' end ;
    init psi = 0.4, Vx = 10 m/s, Vy = 1 m/s, r = 0.5 rad/s ;"""
    model, state = at(text)
    rates = second_rates(model, state, ["Vx", "Vy", "r"])
    assert [rates[n] for n in ("Vx", "Vy", "r")] == pytest.approx([1 * 0.5 + 0.3 * 0.25, -10 * 0.5, 0], abs=1e-11)


def test_conical_pendulum_on_a_string():
    """A distance constraint: θ stays if ω² = g / (L cos θ)."""
    text = """param L = 0.5 m ; gravity = [0, 0, -9.81] ; let b = body mass = 2 kg, centre = 0, inertia = 0 end ;
    join earth and b.frame with link(x, y, z) dof = [x, y, z] end ; constrain distance earth to b = L as string ;
    init x = 0.3 m, y = 0, z = -0.4 m, y' = 0.3 m * sqrt(9.81 1/s^2/0.4) ;"""
    model, state = at(text)
    (later,) = motion(model, state, [0.5], step=0.1).states
    w = np.sqrt(9.81 / 0.4) * 0.5
    assert [later.coordinates[n] for n in "xyz"] == pytest.approx([0.3 * np.cos(w), 0.3 * np.sin(w), -0.4], abs=1e-11)


def test_gear_carries_inertia_by_the_square_of_its_ratio():
    text = """let a = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 2) end ; let b = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 3) end ;
    join earth and a.frame with revolute(p) torque = 7 N*m end ; join b.frame to [1, 0, 0] m @ earth with revolute(q) end ;
    constrain 0 = q - 3*p as teeth ;"""
    assert rate_of(text, "p'") == pytest.approx(7 / (2 + 9 * 3))


def test_driver_gives_its_law():
    text = """let a = body mass = 1 kg, centre = 0, inertia = 0 end ; join earth and a.frame as rail with prismatic(x) end ;
    constrain x = 0.3 m * sin(2 rad/s * t) as motor ;"""
    model, state = at(text)
    (later,) = motion(model, state, [0.5], step=0.1).states
    assert later.coordinates["x"] == pytest.approx(0.3 * np.sin(1), abs=1e-12)
    assert dynamics(model, state).accelerations[0] == pytest.approx(0)


@pytest.mark.parametrize("tyre", [0.0, 0.1])
def test_wheel_rolls_down_a_slope(tyre):
    """a = g sin β / (1 + J/(m R²)), where R is rim and tyre together."""
    text = f"""gravity = [9.81*sin(0.2), 0, -9.81*cos(0.2)] ; let w = body mass = 2 kg, centre = 0, inertia = diag(0.1, 0.1, 0.17) end ;
    join earth and w.frame with free(x, y, z, psi, theta, phi) angles zxz end ;
    constrain rolling w.frame radius 0.4 m tyre {tyre} m on earth normal [0,0,1] ;
    init z = {0.4 + tyre} m, theta = 90 deg, psi = 0 ;"""
    radius = 0.4 + tyre
    assert rate_of(text, "x'") == pytest.approx(9.81 * np.sin(0.2) / (1 + 0.17 / (2 * radius**2)), abs=1e-10)


def test_disc_rolls_in_a_circle():
    """A steady turn of a thin disc, tilted by θ from the vertical axle's horizontal: closed form of `classics.json`'s kind.

    With ψ' = Ω, φ' = σ (zxz), centre at rest on the circle: (C + m r²) σ Ω sinθ + (C + m r² - A) Ω² sinθ cosθ + m g r cosθ = 0.
    """
    m, r, A, C, g, theta, turn = 1.3, 0.4, 0.05, 0.11, 9.81, 1.1, 0.9
    spin = -(m * g * r * np.cos(theta) + (C + m * r * r - A) * turn**2 * np.sin(theta) * np.cos(theta)) / (
        (C + m * r * r) * turn * np.sin(theta)
    )
    text = f"""gravity = [0, 0, -9.81] ; let w = body mass = {m} kg, centre = 0, inertia = diag({A}, {A}, {C}) end ;
    join earth and w.frame with free(x, y, z, psi, theta, phi) angles zxz end ;
    constrain rolling w.frame radius {r} m on earth normal [0,0,1] ; init z = {r * np.sin(theta):.17g} m, theta = {theta}, psi' = {turn} rad/s, phi' = {spin:.17g} rad/s, theta' = 0 ;"""
    model, state = at(text)
    rates = second_rates(model, state, ["theta'", "psi'", "phi'"])
    assert list(rates.values()) == pytest.approx([0, 0, 0], abs=1e-11)


def test_redundant_hinges_share_what_nobody_knows():
    """A door on two hinges: its motion and the sum of the forces are determined, the forces along the axis are not."""
    text = """gravity = [0, 0, -9.81] ; let d = body mass = 4 kg, centre = [0.5, 0, 0] m, inertia = diag(1, 1, 2) end ;
    join earth and d.frame as low with revolute(a) end ; join [0, 0, 2] m @ earth and [0, 0, 2] m @ d as high with revolute(b), role = loop end ;
    init a' = 1 rad/s ;"""
    model, state = at(text)
    assert second_rates(model, state, ["a'", "b'"]) == pytest.approx({"a'": 0, "b'": 0}, abs=1e-12)
    low, high = (reaction(model, state, name) for name in ("low", "high"))
    assert low[2] is None and high[2] is None
    assert low[0] is None or low[0] + high[0] == pytest.approx(-4 * 0.5)


@pytest.mark.slow
def test_double_pendulum_has_its_published_states():
    """Extrapolation in 80-bit arithmetic by others, 13 digits."""
    published = json.loads((PUBLISHED / "double_pendulum.json").read_text())["cases"]["pi/4"]
    model = Model(ts.library.load("double_pendulum"))
    moved = motion(model, start_state(model), [1.0, 2.0], step=0.1)
    for name in ("q1", "q2"):
        assert [measured(model, state, name) for state in moved.states] == pytest.approx(
            published[name][1:3], abs=1e-11
        )


def test_a_hinge_is_not_shut_the_wrong_way_round():
    """The axes of a hinge that are opposite to each other have sin θ = 0 as well: such a state is no state of the mechanism."""
    text = """let a = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ; join earth and a.frame as j with revolute(p) end ;
    join earth and (pi || [1, 0, 0]) @ a as back with revolute(r), role = loop end ;"""
    with pytest.raises(SingularState, match="half a turn"):
        at(text)
