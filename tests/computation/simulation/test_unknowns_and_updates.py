"""Algebraic unknowns with their equations, and states that jump at a sampling period or at an event."""

import numpy as np
import pytest

import torseur as ts

MOTOR = """
mechanism motor ; param R = 2 ohm, k = 0.1 N*m/A, U = 12 V, J = 0.02 kg*m^2 ;
let rotor = body mass = 1 kg, centre = 0, inertia = diag(J, J, J) end ;
join earth and rotor.frame as axle with revolute(theta) about [0,0,1] torque = k*i end ;
unknown i = 0 A "current without inductance", U = R*i + k*theta' ;
"""
PISTON = """
mechanism piston ; param A = 1e-3 m^2, C = 2e-9 m^3/s/Pa, D = 1e-20 m^3/s/Pa^3, F = 500 N ;
let piston = body mass = 2 kg, centre = 0, inertia = 0 end ;
join earth and piston.frame as bore with prismatic(x) along [1,0,0] force = F - A*p end ;
unknown p = 1 bar "pressure", C*p + D*p^3 = A*x' ;
"""


@pytest.mark.parametrize("formalism", ["recursive", "lagrange"])
def test_a_linear_unknown_is_solved_for(formalism):
    """Oracle: J w' = k (U - k w)/R, an exponential."""
    motion = ts.simulate(ts.derive(ts.parse(MOTOR), formalism), 2, samples=5, outputs=["i"])
    w = 120 * (1 - np.exp(-(0.1**2) / (2 * 0.02) * motion.time))
    assert np.allclose(motion["theta'"], w, atol=1e-7)
    assert np.allclose(motion["i"], (12 - 0.1 * w) / 2, atol=1e-8)


def test_unknowns_go_where_formulas_go():
    """Oracle: the current of the closed form, differentiated by hand; a root of the linear system."""
    motor = ts.parse(MOTOR)
    slope = ts.sensitivity(motor, "i", ["R"], until=2)["i"].derivatives[0, 0]
    rate = 0.1**2 / (2 * 0.02)  # 1/T, with i = U/R exp(-t/T)
    assert slope == pytest.approx(np.exp(-rate * 2) * (-12 / 4 + 6 * 2 * rate / 2), rel=1e-6)
    found = np.linalg.eigvals(ts.linearise(motor).state_matrix)
    assert min(found.real) == pytest.approx(-rate, rel=1e-9)
    assert "0 = U - R*i - k*theta'" in ts.write_equations(ts.derive(motor), "scalar")


def test_a_nonlinear_unknown_is_found_at_every_instant():
    """Oracle: its equation; at the end p = F/A, and x' follows."""
    motion = ts.simulate(ts.parse(PISTON), 1, samples=20, outputs=["p"])
    p, v = motion["p"], motion["x'"]
    assert np.allclose(2e-9 * p + 1e-20 * p**3, 1e-3 * v, rtol=1e-12, atol=1e-15)
    assert p[-1] == pytest.approx(5e5, rel=1e-6) and v[-1] == pytest.approx(2.25, rel=1e-6)


def test_inverses_and_coupled_unknowns():
    """Oracle: the solutions by hand; a root is taken on the side of the value that is given."""
    text = """mechanism m ;
    state s = 0.5, s' = -s/(1 s) ;
    unknown a = 1, exp(2*a) = 3 + s ;
    unknown b = -1, b^2 = 4*s ;
    unknown c = 1, sqrt(c) + s = 2 ;
    unknown d = 2, d*e = 2 + s ;
    unknown e = 1, d - e = 1 ;
    """
    motion = ts.simulate(ts.parse(text), 1, samples=5, outputs=["a", "b", "c", "d", "e"])
    s = motion["s"]
    assert np.allclose(motion["a"], np.log(3 + s) / 2, rtol=1e-14)
    assert np.allclose(motion["b"], -2 * np.sqrt(s), rtol=1e-14)
    assert np.allclose(motion["c"], (2 - s) ** 2, rtol=1e-14)
    d = (1 + np.sqrt(1 + 4 * (2 + s))) / 2
    assert np.allclose(motion["d"], d, rtol=1e-12) and np.allclose(motion["e"], d - 1, rtol=1e-12)


def test_an_unknown_without_a_value_ends_the_motion():
    """sqrt(c) = -1 has no solution, and none is invented."""
    with pytest.raises(ts.SimulationError, match="not a finite number"):
        ts.simulate(ts.parse("mechanism m ; state s = 0, s' = c/(1 s) ; unknown c = 1, sqrt(c) + 1 = s ;"), 1)


@pytest.mark.parametrize(
    "text, words",
    [
        ("state s = 0, s' = 0/(1 s) ; unknown a = 1, s = 2 ;", "0 of them hold no rate|no equation is left"),
        ("state s = 0, s' = 0/(1 s) ; unknown a = 1, 2*a - a - a = s ;", "do not determine a"),
        ("unknown a = 1, a*a' = 2/(1 s) ; unknown b = 1, a + b = 1 ; state c = 1 ;", "without a formula"),
        ("unknown a = 1 ;", "expected"),
        ("state s = 0 m, s' = 0 m/s ; unknown a = 1 m, a = 2 kg + s ;", "cannot combine|differ"),
        ("state u = 0 ; every 0 s: u = 1 ;", "period is 0"),
        ("state u = 0 ; every 1 m: u = 1 ;", "expected a time"),
        ("state u = 0 N ; every 1 s: u = 1 m ;", "expected a force"),
        ("state u = 0 ; every 1 s: w = 1 ;", "unknown state 'w'"),
        ("state u = 0 ; every 1 s: u = 1, u = 2 ;", "two values"),
        ("state u = 0 ; every 1 s: u = 1 ; every 2 s: u = 2 ;", "sampled by"),
        ("state u = 0 ; when u: u = 1 ;", "expected a comparison"),
        ("state u = 0 ; every u*1 s: u = 1 ;", "period of sampling may depend on parameters only"),
        ("unknown a = 1, a = 2 ; every 1 s: a = 1 ;", "no state is left without a formula"),
    ],
)
def test_what_contradicts_itself_is_named(text, words):
    with pytest.raises(ts.TorseurError, match=words):
        ts.build_tree(ts.parse(f"mechanism m ; {text}"))


def test_a_sampled_controller_is_its_difference_equation():
    """Oracle: x_{k+1} = (1 - (1 + K)(1 - e^-T)) x_k of x' = u - x with u = -K x held for T; both see the state before."""
    text = """mechanism m ; param K = 3, T = 0.25 s ;
    state x = 1, x' = (u - x)/(1 s) ; state u = 0, old = 0 ; every T: u = -K*x, old = u as control ;
    """
    model = ts.parse(text)
    assert ts.parse(ts.to_text(model)) == model
    motion = ts.simulate(model, 2, samples=np.arange(0, 2.01, 0.25))
    factor = 1 - 4 * (1 - np.exp(-0.25))
    assert np.allclose(motion["x"], factor ** np.arange(9), rtol=1e-8)
    # At an instant of sampling the row holds the values before it: u of the sample before, `old` of the one before that.
    assert np.allclose(motion["u"][1:], -3 * motion["x"][:-1], rtol=1e-8)
    assert motion["old"][-1] == pytest.approx(-3 * factor**6, rel=1e-8)


def test_python_says_the_same():
    x, u = ts.State("x"), ts.State("u")
    text = (
        "mechanism m ; state x = 1, x' = (u - x)/(1 s) ; state u = 0 ; every 0.25 s: u = -3*x ; when x < 0.1: u = 0 ;"
    )
    updates = [ts.update("update", {u: -3 * x}, every=0.25), ts.update("update_2", {u: 0}, when=0.1 - x.symbol)]
    made = ts.Mechanism("m", states={x: u - x, u: 0}, initial={"x": 1}, contacts=updates)
    one, other = (ts.simulate(m, 2, samples=9) for m in (ts.parse(text), made))
    assert np.allclose(one["x"], other["x"], rtol=1e-12)


def test_a_thermostat_switches_at_events():
    """Oracle: exponentials between both temperatures: ln((T0 - 18)/(T0 - 20)) hours cooling, and so on."""
    text = """mechanism room ;
    state T = 20, T' = (5 + 30*on - T)/(1 s) ; state on = 0 ;
    when T < 18: on = 1 as cold ; when T > 20: on = 0 as warm ;
    """
    motion = ts.simulate(ts.parse(text), 1, samples=2)
    cooling, heating = np.log(15 / 13), np.log((35 - 18) / (35 - 20))
    expected = [cooling, cooling + heating, 2 * cooling + heating, 2 * cooling + 2 * heating]
    assert [event.name for event in motion.events[:4]] == ["cold", "warm", "cold", "warm"]
    assert np.allclose([event.time for event in motion.events[:4]], expected, atol=1e-8)


@pytest.mark.slow
def test_updates_act_together_with_friction_stops_and_loops():
    """Oracle: a block that sticks until a sampled force exceeds its friction, then (u - F)/m, to a stop that holds it."""
    text = """mechanism m ; let block = body mass = 2 kg, centre = 0, inertia = 0 end ;
    join earth and block.frame as rail with prismatic(x) along [1,0,0] force = u friction = 5 N, stops to 0.5 m end ;
    state u = 0 N, hits = 0 ; every 1 s: u = u + 3 N as ramp ; when x > 0.3 m: hits = hits + 1 ;
    """
    motion = ts.simulate(ts.parse(text), 3, samples=[0.5, 1.5, 2.9], outputs=["rail.upper.multiplier"])
    assert np.allclose(motion["x"][:2], [0, 0.5 * 0.5 * 0.5**2], atol=1e-9)
    assert motion["x"][2] == pytest.approx(0.5, abs=1e-9) and motion["hits"][2] == 1
    assert motion["rail.upper.multiplier"][2] <= -4 + 1e-9
    names = [event.name for event in motion.events]
    assert names[:2] == ["rail.friction slides", "update"] and "rail.upper" in names


def test_parts_bring_unknowns_and_updates():
    text = """mechanism two ;
    part cell(K = 3) state x = 1, x' = (u - x)/(1 s) ; state u = 0 ; every 0.25 s: u = -K*y ; unknown y = 0, y = 2*x ; end ;
    use cell as a ; use cell as b(K = 1) ;
    """
    motion = ts.simulate(ts.parse(text), 0.25, samples=2)
    decay = 1 - np.exp(-0.25)
    assert np.allclose([motion["a.x"][-1], motion["b.x"][-1]], [1 - 7 * decay, 1 - 3 * decay], rtol=1e-8)


def test_one_set_of_equations_does_not_cover_updates():
    model = ts.parse("mechanism m ; state x = 1, x' = -u/(1 s) ; state u = 0 ; every 1 s: u = x ;")
    with pytest.raises(ts.UnsupportedError, match="updates of states"):
        ts.linearise(model)
    assert ts.linearise(ts.without_contacts(model)).state_matrix.shape == (2, 2)
