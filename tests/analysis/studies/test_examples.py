"""The studies of the library: a four-bar that follows a curve, a suspension tuned, least effort of an arm, a vehicle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov
from scipy.optimize import minimize

from torseur.analysis.studies import optimise, read_study, sweep
from torseur.errors import TorseurError


@pytest.mark.slow
def test_a_four_bar_follows_a_curve(tmp_path):
    """Oracle: the curve was computed in closed form with these lengths and printed with six digits."""
    found = optimise("library:curve_four_bar", tmp_path / "log.jsonl")
    known = {"a": 0.25, "b": 0.8, "c": 0.7, "px": 0.5, "py": 0.35}
    assert found.point == pytest.approx(known, abs=2e-4) and found.objective < 1e-10


def road_step(k, c, ms, mu=40.0, kt=180e3, h=0.02):
    """∫ a² dt, ∫ s² dt and ∫ F² dt of the quarter car after a step, from Lyapunov's equation."""
    matrix = np.array(
        [
            [0, 0, 1, 0],
            [0, 0, 0, 1],
            [-kt / mu, k / mu, 0, c / mu],
            [kt / mu, -k / mu - k / ms, 0, -c / mu - c / ms],
        ]
    )
    start = np.array([-h, 0, 0, 0])
    rows = ([0, k / ms, 0, c / ms], [0, 1, 0, 0], [kt, 0, 0, 0])
    return [start @ solve_continuous_lyapunov(matrix.T, -np.outer(row, row)) @ start for row in rows]


def test_a_suspension_is_tuned(tmp_path):
    """Oracle: the same problem on integrals over all time, which satisfy Lyapunov's equation."""
    found = optimise("library:suspension", tmp_path / "log.jsonl")
    both = lambda x, which: np.array([road_step(1e4 * x[0], 1e3 * x[1], ms)[which] for ms in (250.0, 400.0)])  # noqa: E731
    limits = [
        {"type": "ineq", "fun": lambda x: 1 - both(x, 1) / 8e-5},
        {"type": "ineq", "fun": lambda x: 1 - both(x, 2) / 225e3},
    ]
    bounds = [(0.8, 4.0), (0.5, 4.0)]
    best = minimize(lambda x: both(x, 0).mean(), [2.0, 2.0], bounds=bounds, constraints=limits, options={"ftol": 1e-12})
    assert found.feasible and found.objective == pytest.approx(best.fun, rel=1e-5)
    assert found.point["k"] == pytest.approx(1e4 * best.x[0], rel=5e-3)
    assert found.point["c"] == pytest.approx(1e3 * best.x[1], rel=5e-3)


ARM = """
mechanism = "turntable.lsd"
until = "2 s"
rtol = 1e-9
objective = "effort"
[vary]
a0 = { from = "-10 N*m", to = "20 N*m" }
a1 = { from = "-30 N*m", to = "20 N*m" }
a2 = { from = "-15 N*m", to = "20 N*m" }
[criteria]
effort = { integral = "(a0 + a1*t/T + a2*(t/T)^2)^2" }
angle = "q"
rate = "q'"
[constraints]
angle = { equal_to = "90 deg" }
rate = { equal_to = 0 }
"""


def test_least_effort_of_one_joint(tmp_path):
    """Closed form: from rest to rest over θ in T the least ∫ τ² is 12 J² θ² / T³, with a torque linear in time."""
    (tmp_path / "turntable.lsd").write_text(
        "mechanism turntable ;\nparam J = 3 kg*m^2, T = 2 s, a0 = 0 N*m, a1 = 0 N*m, a2 = 0 N*m ;\n"
        "let table = body mass = 1 kg, centre = 0, inertia = diag(J, J, J) end ;\n"
        "join earth and table.frame as pivot with revolute(q) about [0, 0, 1] torque = a0 + a1*t/T + a2*(t/T)^2 end ;\n"
    )
    (tmp_path / "arm.toml").write_text(ARM)
    found = optimise(tmp_path / "arm.toml")
    angle, inertia, time = np.pi / 2, 3.0, 2.0
    assert found.feasible and found.objective == pytest.approx(12 * inertia**2 * angle**2 / time**3, rel=1e-6)
    assert found.point["a0"] == pytest.approx(6 * inertia * angle / time**2, rel=1e-4)
    assert found.point["a2"] == pytest.approx(0.0, abs=1e-2)


@pytest.mark.slow
def test_least_effort_of_an_arm(tmp_path):
    """The arm arrives, with less effort than the smooth motion of fifth order that inverse dynamics gives."""
    found = optimise("library:swinging_arm", tmp_path / "log.jsonl")
    assert found.feasible
    assert found.criteria["shoulder"] == pytest.approx(np.pi / 3, abs=1e-6)
    assert found.criteria["elbow_rate"] == pytest.approx(0.0, abs=1e-5)
    assert found.objective < effort_of_smooth_motion()


def effort_of_smooth_motion(l1=0.5, l2=0.4, m1=2.0, m2=1.5, m=1.0, g=9.81):
    """∫ τ² dt of q = q_end (10 s³ - 15 s⁴ + 6 s⁵), from Lagrange's equations of two rods with a load."""
    s = np.linspace(0.0, 1.0, 2001)
    q, v, a = 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 - 60 * s**3 + 30 * s**4, 60 * s - 180 * s**2 + 120 * s**3
    q1, v1, a1 = (np.pi / 3 * x for x in (q, v, a))
    q2, v2, a2 = (np.radians(40) * x for x in (q, v, a))
    inner = m1 * l1**2 / 3 + (m2 + m) * l1**2
    outer, mixed = m2 * l2**2 / 3 + m * l2**2, l1 * l2 * (m2 / 2 + m)
    weight1, weight2 = g * l1 * (m1 / 2 + m2 + m), g * l2 * (m2 / 2 + m)
    cosine, sine = np.cos(q2), np.sin(q2)
    tau2 = outer * (a1 + a2) + mixed * (cosine * a1 + sine * v1**2) + weight2 * np.sin(q1 + q2)
    tau1 = inner * a1 + outer * (a1 + a2) + mixed * (cosine * (2 * a1 + a2) - sine * v2 * (2 * v1 + v2))
    tau1 = tau1 + weight1 * np.sin(q1) + weight2 * np.sin(q1 + q2)
    return np.trapezoid(tau1**2 + tau2**2, s)


@pytest.mark.slow
def test_the_vehicle_at_a_hundred_operating_points(tmp_path):
    """Oracle: the sensitivity study of the library, point by point."""
    from torseur.analysis.published_studies import vehicle

    found = sweep("library:vehicle_operating_points", tmp_path / "v.zarr")
    data = found.store.dataset()
    assert found.computed == 100 and "compiled" in found.workers
    few = vehicle.operating_points(np.array([3.0, 30.0]), np.array([0.015, 0.15]))
    corners = [0, 9, 90, 99]
    for name in vehicle.REAR:
        assert np.allclose(data[f"yaw_rate by {name}"].values[corners], few.derivatives(name).ravel(), rtol=1e-6)
    assert np.allclose(data["yaw_rate"].values[corners], few.values.ravel(), rtol=1e-8)


def test_names_of_the_library():
    with pytest.raises(TorseurError, match="Did you mean 'suspension'"):
        read_study("library:suspensions")
