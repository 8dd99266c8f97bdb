"""The studies of the source, against its printed tables and closed forms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import evaluate
from torseur.analysis.published_studies import double_pendulum, oscillator, suspension, vehicle

REFERENCE = json.loads((Path(__file__).parents[2] / "oracles" / "vehicle_roll_yaw.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("speed", [3, 12, 30])
def test_vehicle_in_a_steady_turn(speed):
    """Closed forms, per rad of steering and per 1 % of each parameter."""
    found, expected = vehicle.steady(float(speed), 1.0), REFERENCE["steady_per_rad"][str(speed)]
    for criterion in ("alpha", "r", "phi"):
        assert found[criterion].value == pytest.approx(float(expected[criterion]), rel=1e-12)
        for name in vehicle.REAR:
            derivative = found.derivative(criterion, name, "per_percent")[-1]
            assert derivative == pytest.approx(float(expected[f"u_{name}"][criterion]), rel=1e-10)
    lateral = found.derivative("lateral_acceleration", "D2", "per_percent")[-1]
    assert lateral == pytest.approx(float(expected["u_D2"]["J=V*r"]), rel=1e-10)


@pytest.mark.slow
def test_vehicle_after_a_step():
    found = vehicle.transient(30.0, 1.0, until=10.0, rtol=1e-11)
    names = {"alpha": "alpha", "r": "r", "phi": "phi", "heading": "heading", "lateral_acceleration": "J"}
    for parameter in vehicle.REAR:
        for t in ("1", "5", "10"):
            row, place = REFERENCE["transient_V30_per_rad"][parameter][t], round(float(t) / 0.04)
            for criterion, key in names.items():
                derivative = found.derivative(criterion, parameter, "per_percent")[place]
                assert derivative == pytest.approx(float(row[f"u_{key}"]), abs=1e-10)


@pytest.mark.slow
def test_vehicle_tables_of_the_source():
    """Magnitudes to the digits printed; the sign of D2' is reversed in print, as the reference explains."""
    for rows in vehicle.tables().values():
        for row in rows:
            assert abs(row.computed) == pytest.approx(abs(row.printed), rel=0.3)
    yaw = {row.parameter: row for row in vehicle.tables()["yaw rate"]}
    assert round(yaw["C2"].computed, 5) == yaw["C2"].printed
    assert round(yaw["D2"].computed, 3) == yaw["D2"].printed


@pytest.mark.slow
def test_vehicle_operating_points():
    """Linear in the steering angle; the tyre's stiffness matters most at every point."""
    surface = vehicle.operating_points(np.array([5.0, 30.0]), np.array([0.05, 0.1]), until=8.0)
    derivatives = {name: surface.derivatives(name, "per_percent") for name in vehicle.REAR}
    assert derivatives["C2"][:, 1] == pytest.approx(2 * derivatives["C2"][:, 0], rel=1e-9)
    assert np.all(np.abs(derivatives["D2"]) > np.abs(derivatives["D2p"]))
    assert np.all(np.abs(derivatives["D2p"]) > np.abs(derivatives["C2"]))


@pytest.mark.parametrize("damping", [1.0, 3.0])
def test_oscillator_formally_and_numerically(damping):
    formal = oscillator.closed_form().at(2.0, 1.0, damping)
    found = oscillator.numeric(2.0, 1.0, damping)["x"]
    assert [found.value, *found.gradient] == pytest.approx(formal, abs=1e-10)


@pytest.mark.slow
def test_oscillator_map_changes_sign():
    """Which of stiffness and damping matters more depends on where one stands."""
    table = oscillator.influence_map(2.0, np.array([0.5, 6.0]), np.array([0.5, 3.0]))
    assert table.shape == (2, 2)
    assert table.min() < 0 < table.max()


def test_double_pendulum_methods_agree():
    first, second = double_pendulum.methods_in_time()
    assert (first.method, second.method) == ("direct", "adjoint")
    derivatives = [timing.sensitivities["kinetic_energy"].gradient for timing in (first, second)]
    assert derivatives[0] == pytest.approx(derivatives[1], rel=1e-7)


@pytest.mark.slow
def test_suspension_by_hard_points():
    """Oracle: moving both ends of an arm up together with the mass centre's lever, by differences of equilibria."""
    from torseur.computation.linearisation import equilibrium

    found = suspension.roll_in_a_turn()
    mechanism = suspension.axle()
    for name in ("zli", "yuo"):
        value, h = float(mechanism.parameter(name).value), 1e-4
        near = [equilibrium(mechanism, parameters={name: value + k * h}).state["roll"] for k in (-1, 1)]
        assert found.derivative("roll", name)[-1] == pytest.approx((near[1] - near[0]) / (2 * h), rel=1e-6)


ROLL_YAW = """
param V = 1 m/s, beta = 0 rad, M = 1 kg, h = 1 m, Ixx = 1 kg*m^2, Izz = 1 kg*m^2, Ixz = 0 kg*m^2, a1 = 1 m, a2 = 1 m, b = 1 N*m*s, K = 1 N*m,
    g = 1 m/s^2, D1 = 1 N, D2 = 1 N, D1p = 1 N, D2p = 1 N, C1 = 1 N, C2 = 1 N, l1 = 0, l2 = 0, e1 = 0, e2 = 0 ;
gravity = [0, 0, -g] ;
let axles = body mass = 0, centre = 0, inertia = 0 end ;
let body = body mass = M, centre = [0, 0, h], inertia = [[Ixx, 0, Ixz], [0, 1 kg*m^2, 0], [Ixz, 0, Izz]] end ;
join earth and axles with planar(x, y, psi) speeds vx = x'*cos(psi) + y'*sin(psi), vy = -x'*sin(psi) + y'*cos(psi), r = psi' end ;
join axles and body with revolute(phi) about [1, 0, 0] stiffness = K, damping = b end ;
unknown F1 = 0 N, F1 = D1*(beta + e1*phi - F1/D1p - (vy + a1*r)/vx) - C1*l1*phi ;
unknown F2 = 0 N, F2 = D2*(e2*phi - F2/D2p - (vy - a2*r)/vx) - C2*l2*phi ;
apply force [0, 2*F1, 0] in axles on [a1, 0, 0] @ axles ;
apply force [0, 2*F2, 0] in axles on [-a2, 0, 0] @ axles ;
init vx = V ;
"""


def test_the_roll_yaw_vehicle_from_its_bodies():
    """Oracle: the same car as bodies, joints and tyres whose axle yields by F/D'; their equations are not typed in.

    With a product of inertia, which the source sets to zero.
    """
    system = vehicle.roll_yaw_vehicle()
    given = {name: value for name, (value, _, _) in vehicle.CONSTANTS.items()} | {"beta": 0.0, "Ixz": 120.0}
    t, y, p = system.rhs.inputs

    def rates(state: np.ndarray, steering: float) -> np.ndarray:
        numbers = [*(given | {"beta": steering}).values()]
        known = dict(zip((*t.nodes, *y.nodes, *p.nodes), (0.0, *state, *numbers), strict=True))
        return np.array(evaluate(list(system.rhs.outputs[0].entries), known), dtype=float)

    A, B = np.column_stack([rates(row, 0.0) for row in np.eye(4)]), rates(np.zeros(4), 1.0)
    omega = np.array([0.5, 5.0, 40.0])
    expected = np.array([np.linalg.solve(1j * w * np.eye(4) - A, B) for w in omega])
    motions = ts.input_motions(ts.parse(ROLL_YAW), "beta", parameters=given)
    for formula, column in {"vy/V": 0, "r": 1, "phi'": 2, "phi": 3}.items():
        np.testing.assert_allclose(motions.response(formula, omega).values, expected[:, column], rtol=1e-9)
