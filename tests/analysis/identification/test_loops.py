"""A four-bar linkage identified from the torque of its driver alone."""

from __future__ import annotations

import numpy as np
import pytest

from torseur.analysis.identification import Options, base_parameters, identify, linear_model, make_trial
from torseur.analysis.identification.model.pseudo_inertia import is_consistent
from torseur.description.library import load
from torseur.errors import IdentificationError

D, A, B, C, RHO, G = 1.2, 0.4, 1.0, 0.8, 2.0, 9.81


def driver(count: int = 400):
    """Angle, rate and acceleration of the crank, which begins where the description does."""
    t = np.linspace(0, 6, count)
    angle = np.radians(100) + 1.1 * np.sin(1.3 * t) + 0.7 * np.sin(2.9 * t) + 0.9 * t
    rate = 1.43 * np.cos(1.3 * t) + 2.03 * np.cos(2.9 * t) + 0.9
    change = -1.859 * np.sin(1.3 * t) - 5.887 * np.sin(2.9 * t)
    return t, angle, rate, change


def closed(alpha: float) -> tuple[float, float]:
    """Absolute angles of coupler and rocker by intersecting two circles, the coupler's joint above."""
    b = A * np.array([np.cos(alpha), np.sin(alpha)])
    p = np.array([D, 0.0]) - b
    length = np.linalg.norm(p)
    psi = np.arccos((B**2 + length**2 - C**2) / (2 * B * length))
    theta = np.arctan2(p[1], p[0]) + psi
    c = b + B * np.array([np.cos(theta), np.sin(theta)])
    return theta, np.arctan2(c[1], c[0] - D)


def unit(angle: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])


def torque(alpha: float, rate: float, change: float) -> float:
    """d'Alembert: τ = Σ (m a - m g) · ∂r/∂α + I θ'' ∂θ/∂α, with uniform bars; the loop by its own linear equations."""
    theta, gamma = closed(alpha)
    (ea, na), (et, nt), (eg, ng) = unit(alpha), unit(theta), unit(gamma)
    matrix = np.column_stack([B * nt, -C * ng])
    k2, k3 = np.linalg.solve(matrix, -A * na)
    w2, w3 = k2 * rate, k3 * rate
    right = -A * (na * change - ea * rate**2) + B * et * w2**2 - C * eg * w3**2
    a2, a3 = np.linalg.solve(matrix, right)
    gravity = np.array([0.0, -G])
    total = 0.0
    for length, slope, spin, start_slope, start_acc, (e, n), w in (
        (A, 1.0, change, 0 * na, 0 * na, (ea, na), rate),
        (B, k2, a2, A * na, A * (na * change - ea * rate**2), (et, nt), w2),
        (C, k3, a3, 0 * na, 0 * na, (eg, ng), w3),
    ):
        m = RHO * length
        way = start_slope + length / 2 * n * slope
        acc = start_acc + length / 2 * (n * spin - e * w**2)
        total += m * (acc - gravity) @ way + m * length**2 / 12 * spin * slope
    return total


@pytest.fixture(scope="module")
def four_bar():
    model = linear_model(load("four_bar"))
    return model, base_parameters(model)


def recording(model, noise: float = 0.0, **more):
    t, angle, rate, change = driver()
    tau = np.array([torque(*x) for x in zip(angle, rate, change, strict=True)])
    tau = tau + noise * tau.std() * np.random.default_rng(0).normal(size=len(t))
    return make_trial(model, t, {"alpha": angle, "alpha'": rate, "alpha''": change}, {"alpha": tau}, **more)


def bars() -> dict[str, np.ndarray]:
    """Mass, first moment and inertia of uniform bars at their first end."""
    found = {}
    for name, length in (("crank", A), ("coupler", B), ("rocker", C)):
        m = RHO * length
        found[name] = np.array([m, m * length / 2, 0, 0, 0, 0, m * length**2 / 3, 0, 0, m * length**2 / 3])
    return found


def test_the_loop_is_closed_from_the_driver_alone(four_bar):
    model, _ = four_bar
    trial = recording(model)
    names = model.equations.layout.coordinate_names
    for k in (0, 150, 399):
        theta, gamma = closed(trial.q[k, names.index("alpha")])
        assert np.cos(trial.q[k, names.index("gamma")] - gamma) == pytest.approx(1, abs=1e-12)
        assert np.cos(trial.q[k].sum() - gamma - trial.q[k, names.index("gamma")] + gamma - theta) == pytest.approx(
            1, abs=1e-12
        )


def test_bars_from_driver_torque_alone(four_bar):
    model, base = four_bar
    truth = base.combination @ np.concatenate([bars()[link.name] for link in model.equations.tree.links])
    found = identify(model, [recording(model)], "ordinary", Options(base=base))
    assert len(base) == len(found.values) == 8
    assert np.abs(found.values - truth).max() < 1e-8
    assert found.fits[0].equations == ("alpha",)
    assert found.fits[0].relative < 1e-10
    assert any("taken as passive" in note for note in found.notes)
    noisy = identify(model, [recording(model, 0.01)], options=Options(base=base))
    assert np.all(np.abs(noisy.values - truth) < 5 * noisy.deviation)


def test_real_bars_from_driver_torque_alone(four_bar):
    model, base = four_bar
    found = identify(model, [recording(model, 0.01)], "consistent", Options(base=base))
    for name, expected in bars().items():
        assert is_consistent(found.body(name), 1e-9)
        assert found.body(name)[0] == pytest.approx(expected[0], rel=0.5)
    assert found.fits[0].relative < 0.015


def test_states_that_do_not_close_are_refused(four_bar):
    model, _ = four_bar
    t, angle, rate, change = driver()
    zero = np.zeros(len(t))
    names = model.equations.layout.coordinate_names
    channels = {name: angle if name == "alpha" else zero for name in names}
    channels |= {f"{name}'": rate if name == "alpha" else zero for name in names}
    channels |= {f"{name}''": change if name == "alpha" else zero for name in names}
    with pytest.raises(IdentificationError, match="do not close"):
        make_trial(model, t, channels, {"alpha": zero})


def test_too_many_recorded_coordinates_are_named(four_bar):
    model, _ = four_bar
    t, angle, rate, change = (x[:20] for x in driver())
    channels = {"alpha": angle, "alpha'": rate, "alpha''": change, "beta": 0 * t, "beta'": 0 * t, "beta''": 0 * t}
    with pytest.raises(IdentificationError, match="close|leave 1 free"):
        make_trial(model, t, channels, {"alpha": 0 * t})
