"""States beyond mechanics beside joints, loops, quaternions and quasi-velocities, against closed forms and balances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import torseur as ts

MOTOR = """
param R = 2 ohm, L = 0.5 H, k = 0.1 N*m/A, J = 0.02 kg*m^2, c = 0.001 N*m*s/rad, U = 12 V ;
let rotor = body mass = 1 kg, centre = 0, inertia = diag(J, J, J) end ;
join earth and rotor.frame as axle with revolute(theta) about [0,0,1] torque = k*i - c*theta' end ;
state i = 0.4 A "current", i' = (U - R*i - k*theta')/L ;
"""
VALUES = {"R": 2.0, "L": 0.5, "k": 0.1, "J": 0.02, "c": 0.001, "U": 12.0}
# The energy that a state has integrated from the motor's power, against that of a loop in oblique axes; the first joint
# is reversed, and the memory of a filter acts on the coupler.
FOUR_BAR = """
param g = 9.81 m/s^2, R = 2 ohm, L = 0.05 H, k = 0.5 N*m/A, U = 12 V, T = 0.1 s, h = 0.3 N*m*s ;
gravity = [0, -g*0.8, g*0.6] ;
let crank   = body rod length = 0.2 m along [1,0,0] mass = 1 kg end ;
let coupler = body rod length = 0.5 m along [1,0,0] mass = 2 kg end ;
let rocker  = body rod length = 0.4 m along [1,0,0] mass = 1.5 kg end ;
join crank.frame to [0,0,0] ++ (-0.3 || [1,0,0]) @ earth as j1 with revolute(a) about [0,0,1] torque = k*i end ;
join [0.2,0,0] @ crank and coupler.frame as j2 with revolute(b) about [0,0,1] end ;
join [0.45,0.1*cos(0.3),-0.1*sin(0.3)] ++ (-0.3 || [1,0,0]) @ earth and rocker.frame as j3 with revolute(c) about [0,0,1] end ;
join [0.5,0,0] @ coupler and [0.4,0,0] @ rocker as j4 with revolute(d) about [0,0,1] end ;
measure turning = rotation.z of coupler.frame in coupler.frame ;
apply torque [0, 0, -h*slow] in coupler on coupler.frame ;
state i = 0.1 A, i' = (U - R*i - k*a')/L ;
state slow = 0 rad/s, slow' = (turning - slow)/T ;
state work = 0 J, work' = k*i*a' - h*slow*turning ;
init a = -60 deg, b about -20 deg, c about 100 deg, a' = 1 rad/s ;
"""


def motor_at(time, **changes):
    """theta, i, theta' by the matrix exponential of the linear system."""
    p = VALUES | changes
    a = np.zeros((4, 4))
    a[:3, :3] = [[0, 0, 1], [0, -p["R"] / p["L"], -p["k"] / p["L"]], [0, p["k"] / p["J"], -p["c"] / p["J"]]]
    a[1, 3] = p["U"] / p["L"]
    return (expm(a * time) @ [0, 0.4, 0, 1])[:3]


@pytest.mark.parametrize(
    "formalism",
    ["recursive", "newton_euler", "dalembert", "lagrange", "lagrange_multipliers", "hamilton", "kane", "gibbs_appell",
     "boltzmann_hamel", "lie_group", "inertia_tensors"],
)  # fmt: skip
def test_motor_follows_its_closed_form(formalism):
    motion = ts.simulate(ts.derive(ts.parse(MOTOR), formalism), until=2, samples=2, rtol=1e-10)
    assert np.allclose([motion[name][-1] for name in ("theta", "i", "theta'")], motor_at(2), rtol=1e-9)


@pytest.mark.parametrize("method", ["explicit", "radau5", "radau9"])
def test_every_method_integrates_states(method):
    motion = ts.simulate(ts.parse(MOTOR), until=2, samples=2, rtol=1e-10, method=method)
    assert np.allclose([motion[name][-1] for name in ("theta", "i", "theta'")], motor_at(2), rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_derivatives_are_those_of_the_closed_form(method):
    result = ts.sensitivity(ts.parse(MOTOR), "i", [*VALUES, "i(0)"], until=1, method=method, rtol=1e-10)
    step = 1e-5
    exact = [
        (motor_at(1, **{n: v * (1 + step)})[1] - motor_at(1, **{n: v * (1 - step)})[1]) / (2 * step * v)
        for n, v in VALUES.items()
    ]
    assert result.trusted
    assert np.allclose(result.responses[0].derivatives[0, :-1], exact, rtol=1e-6)
    assert result.responses[0].derivatives[0, -1] == pytest.approx(_decay(), rel=1e-8)


def _decay():
    """∂i(1)/∂i(0)."""
    p = VALUES
    a = [[0, 0, 1], [0, -p["R"] / p["L"], -p["k"] / p["L"]], [0, p["k"] / p["J"], -p["c"] / p["J"]]]
    return expm(np.array(a))[1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["explicit", "radau9"])
def test_energy_of_a_loop_is_what_a_state_counted(method):
    motion = ts.simulate(ts.parse(FOUR_BAR), until=1.5, samples=7, rtol=1e-10, method=method, outputs=["energy"])
    gained = motion["energy"] - motion["energy"][0]
    assert np.ptp(motion["energy"]) > 1
    assert np.allclose(gained, motion["work"], atol=1e-7)


@pytest.mark.slow
def test_loop_with_states_is_differentiated():
    """Direct and adjoint are checked by motions of their own, and agree with each other."""
    results = [
        ts.sensitivity(ts.parse(FOUR_BAR), "work", ["R", "T", "g", "i(0)"], until=0.4, method=method, rtol=1e-10)
        for method in ("direct", "adjoint")
    ]
    assert all(result.trusted for result in results)
    assert np.allclose(*(result.responses[0].derivatives for result in results), rtol=1e-6)


SATELLITE = """
param J = 2 kg*m^2, k = 3 N*m, T = 0.5 s ;
let b = body mass = 3 kg, centre = [0.1,0,0.2], inertia = diag(J, 2*J, 2.5*J) end ;
join earth and b.frame as j with free(x,y,z,w0,w1,w2,w3) angles quaternion
    speeds ux, uy, uz = velocity in b, p, q, r = rotation in b end ;
state f = 0.2 rad/s, f' = (r - f)/T ;
state s = 1, s' = (0.1*sin(t/T) - s*f*(1 s/rad))/T ;
apply torque [0, k*s, -k*f*(1 s/rad)] in b on b.frame ;
init r = 1 rad/s, p = 0.3 rad/s, ux = 0.5 m/s ;
"""


@pytest.mark.slow
def test_quaternions_and_quasi_velocities_beside_states():
    """Euler's equations about the mass centre, written by hand, for a couple that depends on states."""
    inertia = np.array([2.0, 4.0, 5.0])  # about the mass centre: the text's inertia is about it

    def rates(t, y):
        w, f, s = y[:3], y[3], y[4]
        couple = np.array([0.0, 3.0 * s, -3.0 * f])
        return [
            *(couple - np.cross(w, inertia * w)) / inertia, (w[2] - f) / 0.5, (0.1 * np.sin(t / 0.5) - s * f) / 0.5
        ]  # fmt: skip

    exact = solve_ivp(rates, (0, 2), [0.3, 0, 1, 0.2, 1], rtol=1e-12, atol=1e-12).y[:, -1]
    for formalism in ("recursive", "lagrange", "inertia_tensors"):
        motion = ts.simulate(ts.derive(ts.parse(SATELLITE), formalism), until=2, samples=2, rtol=1e-10)
        assert np.allclose([motion[name][-1] for name in ("p", "q", "r", "f", "s")], exact, atol=1e-8)


def test_states_alone_are_a_system_of_their_own():
    text = """
    param a = 2, b = 0.5 ;
    state x = 1 m, y = 0.2 m ;
    equation a*x' + sin(y/1 m)*y' = -x/1 s ;
    equation b*x' - y' = y/1 s + 0.1 m/s ;
    """

    def rates(_, y):
        return np.linalg.solve([[2, np.sin(y[1])], [0.5, -1]], [-y[0], y[1] + 0.1])

    exact = solve_ivp(rates, (0, 1), [1, 0.2], rtol=1e-12, atol=1e-12).y[:, -1]
    motion = ts.simulate(ts.parse(text), until=1, samples=2, rtol=1e-11)
    assert np.allclose([motion["x"][-1], motion["y"][-1]], exact, rtol=1e-9)


def test_many_coupled_rates_are_eliminated():
    """A chain of five rates that hold each other, beyond Cramer's rule, against numerical solutions."""
    n = 5
    matrix = np.diag(np.arange(2.0, 2 + n)) + np.diag(np.full(n - 1, 0.7), 1) + np.diag(np.full(n - 1, -0.4), -1)
    matrix[0, 4] = 0.3
    rows = [" + ".join(f"({matrix[i, j]})*x{j}'" for j in range(n) if matrix[i, j]) + f" = -x{i}/1 s" for i in range(n)]
    text = f"state {', '.join(f'x{i} = {i + 1}' for i in range(n))} ;" + "".join(f"equation {row} ;" for row in rows)
    motion = ts.simulate(ts.parse(text), until=1, samples=2, rtol=1e-11)
    exact = expm(-np.linalg.inv(matrix)) @ np.arange(1.0, n + 1)
    assert np.allclose([motion[f"x{i}"][-1] for i in range(n)], exact, rtol=1e-9)


@pytest.mark.parametrize("n", [5, 10])
def test_no_pivot_of_coupled_rates_has_to_stay(n):
    """Each entry of the diagonal passes through zero at an instant of its own, and rows have units of very different size."""
    others = np.roll(np.eye(n), 1, axis=1) * 3 + np.roll(np.eye(n), 2, axis=1)
    zeros, sizes = np.linspace(0.1, 0.9, n), 10.0 ** np.resize([-5, 0, 5], n)

    def matrix(t):
        return others + np.diag(t - zeros)

    def row(i):
        left = [f"{float(sizes[i] * others[i, j])!r}*x{j}'" for j in range(n) if others[i, j]]
        return f"equation {sizes[i]}*(t/T - {zeros[i]})*x{i}' + {' + '.join(left)} = -{sizes[i]}*x{i}/T ;"

    text = f"param T = 1 s ; state {', '.join(f'x{i} = {i + 1}' for i in range(n))} ;" + "".join(map(row, range(n)))
    exact = solve_ivp(
        lambda t, y: np.linalg.solve(matrix(t), -y), (0, 1), np.arange(1.0, n + 1), rtol=1e-12, atol=1e-12
    ).y[:, -1]
    motion = ts.simulate(ts.parse(text), until=1, samples=2, rtol=1e-11)
    assert np.allclose([motion[f"x{i}"][-1] for i in range(n)], exact, rtol=1e-8)


def test_a_matrix_of_states_that_loses_rank_is_named():
    text = "param T = 1 s ; state x = {}, y = 0.2 ; equation x*x' + y' = -x/T ; equation x' + y' = (y + 1.4)/T ;"
    with pytest.raises(ts.TorseurError, match="cannot start.*do not determine x', y' there: their matrix loses rank"):
        ts.simulate(ts.parse(text.format(1)), until=1)
    with pytest.raises(ts.TorseurError, match="ends at t = 0.05.*do not determine x', y' there"):
        ts.simulate(ts.parse(text.format(0.5)), until=1)


def test_a_factor_that_cancels_does_not_hide_that_a_rate_is_open():
    """x x' = -x is fulfilled at x = 0 by every x'; from elsewhere x' = -1, through x = 0 as well."""
    mechanism = ts.parse("param T = 1 s ; state x = 0, y = 1 ; equation x*x' = -x/T ; equation y' = -y/T ;")
    with pytest.raises(ts.TorseurError, match="cannot start at t = 0 s.*do not determine x', y' there"):
        ts.simulate(mechanism, until=1)
    with pytest.raises(ts.TorseurError, match="cannot start at t = 0 s"):
        ts.sensitivity(mechanism, "y", "T", until=1)
    assert ts.simulate(mechanism, until=2, samples=2, initial={"x": 1.0})["x"][-1] == pytest.approx(-1)


def test_coupled_rates_are_printed_as_they_were_given():
    mechanism = ts.parse("param a = 2 ; state x = 1, y = 2 ; equation a*x' = y' - x/1 s ; equation y' + x*x' = 1/1 s ;")
    for level in ("intrinsic", "recursive", "matrix", "scalar"):
        assert "0 = a*x' - y' + x " in ts.write_equations(ts.derive(mechanism), level)
    with pytest.raises(ts.TorseurError, match="has no bodies"):
        ts.write_generation(ts.derive(mechanism))


def test_generated_code_takes_states_after_the_coordinates():
    equations = ts.derive(ts.parse(MOTOR))
    kernel = ts.compile(equations, ["rates"])
    values = [VALUES[name] for name in equations.layout.parameter_names]
    given = {"q": [0.3, 0.7], "v": [2.0], "p": values, "t": [0.0]}
    known = {group.name: given[group.name] for group in kernel.program.inputs}
    (rates,) = kernel.program.evaluate(known).values()
    assert rates == pytest.approx([2.0, (12 - 2 * 0.7 - 0.1 * 2.0) / 0.5])


def test_limbs_side_by_side_leave_states_where_they_are():
    """A quadruped's legs are computed in vectors; a state that drives one of them stays behind the coordinates."""
    from dataclasses import replace

    robot = ts.library.load("quadruped")
    push = ts.State("push", "N*m")
    joint = robot.joints[-1]
    load = ts.motor("extra", joint.name, joint.coordinates[-1].name, push.symbol)
    driven = replace(robot, states=(replace(push, formula=-push.symbol),), loads=(*robot.loads, load))
    equations = ts.derive(driven)
    rng, sizes = np.random.default_rng(0), {"q": len(equations.layout.coordinates), "v": len(equations.layout.speeds)}
    given = {name: rng.uniform(-0.5, 0.5, size) for name, size in sizes.items()}
    given |= {"tau": np.zeros(sizes["v"]), "t": [0.0], "p": np.ones(len(equations.layout.parameters))}
    kernels = [ts.compile(equations, ["forward_dynamics", "rates"], backend=name) for name in ("python", "llvm")]
    answers = [k(**{group.name: given[group.name] for group in k.program.inputs}) for k in kernels]
    for name in answers[0]:
        assert np.allclose(answers[0][name], answers[1][name], rtol=1e-11, atol=1e-11)
    assert np.ravel(list(answers[0].values())[-1])[-1] == pytest.approx(-given["q"][-1])
