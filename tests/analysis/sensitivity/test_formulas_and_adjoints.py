"""λ(t), Q_f(t), surfaces over time and literal steady states. Oracles: matrix exponentials, the direct method, textbooks."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy.linalg import expm

import torseur as ts
from torseur import library
from torseur.errors import TorseurError, UnsupportedError

CAR = """mechanism planar_car "planar vehicle at constant speed" ;
param m = 1300 kg, C = 2100 kg*m^2, a = 1.1 m, b = 1.5 m, D1 = 110 kN, D2 = 100 kN, V = 25 m/s, delta = 0.05 ;
state vy = 0 m/s, r = 0 rad/s ;
equation m*(vy' + V*r) = D1*(delta - (vy + a*r)/V) - D2*(vy - b*r)/V ;
equation C*r' = a*D1*(delta - (vy + a*r)/V) + b*D2*(vy - b*r)/V ;"""


BODY_CAR = """mechanism car_of_bodies ;
param m = 1300 kg, C = 2100 kg*m^2, a = 1.1 m, b = 1.5 m, D1 = 110 kN, D2 = 100 kN, V = 25 m/s, delta = 0.05, F = 0 N ;
let chassis = body mass = m, centre = 0, inertia = diag(C, C, C) end ;
join earth and chassis.frame as plane with planar(x, y, psi)
    speeds vx = x'*cos(psi) + y'*sin(psi), vy = y'*cos(psi) - x'*sin(psi), r = psi' end ;
apply force [F, D1*(delta - (vy + a*r)/vx), 0] in chassis on [a, 0, 0] @ chassis as front ;
apply force [0, -D2*(vy - b*r)/vx, 0] in chassis on [-b, 0, 0] @ chassis as rear ;
init vx = V ;"""


def test_adjoints_of_an_oscillator_are_matrix_exponentials() -> None:
    """Aᵀ λ' + Jᵀ λ = 0 with constant A and J, from Aᵀ λ = -(1, 0) at the end."""
    values = {"m": 2.5, "k": 40.0, "c": 0.5}
    solution = ts.adjoint_solution(library.load("mass_spring_damper"), "x", until=1.0, samples=6, values=values)
    A, J = np.diag([1.0, 2.5]), np.array([[0, 1], [-40.0, -0.5]])
    assert solution.basis is not None and solution.conditions is not None
    for t, value, basis in zip(solution.time, solution.values, solution.basis, strict=True):
        exact = expm(-np.linalg.inv(A.T) @ J.T * (t - 1.0))
        np.testing.assert_allclose(basis, exact, atol=1e-7)
        np.testing.assert_allclose(value, exact @ np.linalg.solve(A.T, [-1.0, 0.0]), atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("integral", [False, True])
def test_adjoints_at_the_start_are_derivatives_by_the_initial_state(integral: bool) -> None:
    """dg/dy(0) = -λ(0)ᵀ A(0), from the direct method."""
    pendulum = library.load("double_pendulum")
    solution = ts.adjoint_solution(pendulum, "q1'", until=0.7, samples=3, integral=integral)
    names = ["q1(0)", "q2(0)", "q1'(0)", "q2'(0)"]
    direct = ts.sensitivity(pendulum, "q1'", names, until=0.7, method="direct", integral=integral, verify=False)
    start = ts.simulate(pendulum, until=0.0, samples=2)
    kernel = ts.compile(ts.derive(pendulum), ["mass_matrix"])
    parameters = np.array([float(p.value) for p in pendulum.parameters])
    A = np.eye(4)
    A[2:, 2:] = kernel(q=start.q[0], p=parameters)["mass_matrix"]
    np.testing.assert_allclose(-solution.values[0] @ A, direct.responses[0].gradient, rtol=1e-6)


def test_adjoints_of_a_loop_keep_its_constraints() -> None:
    """C λ_v = 0 along the motion; there is no basis that is one at the end."""
    solution = ts.adjoint_solution(library.load("four_bar"), "gamma", until=0.2, samples=3)
    equations = ts.derive(library.load("four_bar"))
    kernel = ts.compile(equations, ["constraint_jacobian"])
    motion = ts.simulate(equations, until=0.2, samples=3)
    parameters = np.array([float(p.value) for p in equations.mechanism.parameters])
    for q, value in zip(motion.q, solution.values, strict=True):
        rows = np.asarray(kernel(q=q, p=parameters)["constraint_jacobian"])
        np.testing.assert_allclose(rows @ value[3:6], 0, atol=1e-7)
    assert solution.basis is None
    with pytest.raises(UnsupportedError, match="basis"):
        solution.plot("never.png", of_basis=True)


@pytest.mark.slow
def test_understeer_gradient_is_the_textbooks() -> None:
    """K = m (b D2 - a D1) / (L D1 D2), its derivatives by hand, and against numbers of steady states."""
    formulas = ts.steady_formulas(ts.parse(CAR), "vy,r", "(delta/r - (a + b)/V)/V", "m,D1,D2,a")
    m, a, b, d1, d2 = sympy.symbols("m a b D1 D2", real=True)
    gradient = m * (b * d2 - a * d1) / ((a + b) * d1 * d2)
    assert sympy.simplify(formulas.criterion - gradient) == 0
    for name, x in (("m", m), ("D1", d1), ("D2", d2), ("a", a)):
        assert sympy.simplify(formulas.derivatives[name] - sympy.diff(gradient, x)) == 0
    turning = ts.steady_sensitivity(ts.parse(CAR), "r", "m")["r"]
    numbers = {str(p.symbol.name): float(p.value) for p in ts.parse(CAR).parameters}
    rate = formulas.states["r"].subs({sympy.Symbol(k, real=True): v for k, v in numbers.items()})
    assert float(rate) == pytest.approx(turning.value, rel=1e-9)


@pytest.mark.slow
def test_a_car_of_bodies_has_the_gradient_of_the_car_of_states() -> None:
    """Its speed is kept by a force that is solved for: K = m (b D2 - a D1)/((a + b) D1 D2)."""
    car = ts.parse(BODY_CAR)
    turning = ts.steady_formulas(car, "vy,r,F", "(delta/r - (a + b)/vx)/vx", "m,D1")
    m, a, b, d1, d2 = (sympy.Symbol(name, real=True) for name in ("m", "a", "b", "D1", "D2"))
    gradient = m * (b * d2 - a * d1) / ((a + b) * d1 * d2)
    assert sympy.simplify(turning.criterion - gradient) == 0
    assert sympy.simplify(turning.derivatives["D1"] - sympy.diff(gradient, d1)) == 0
    with pytest.raises(TorseurError, match="'F' is solved for"):
        ts.steady_formulas(car, "vy,r,F", "r", "F")


def test_wrong_steady_questions_are_refused() -> None:
    with pytest.raises(TorseurError, match="vz"):
        ts.steady_formulas(ts.parse(CAR), "vz", "r", "m")
    with pytest.raises(TorseurError, match="2 equations for 1 unknowns"):
        ts.steady_formulas(library.load("double_pendulum"), "q1", "q1", "m1")
    with pytest.raises(UnsupportedError, match="constrained"):
        ts.steady_formulas(library.load("four_bar"), "alpha", "alpha", "a")


@pytest.mark.slow
def test_surface_over_a_parameter_and_time(tmp_path) -> None:
    """Its rows are the curves of single studies, its overshoots those of their derivatives."""
    oscillator = library.load("mass_spring_damper")
    surface = ts.sensitivity_surface(oscillator, "x", "c", {"k": [30.0, 40.0]}, until=1.0, samples=5, verify=False)
    single = ts.sensitivity(oscillator, "x", "c", until=1.0, samples=5, values={"k": 40.0}, verify=False)
    np.testing.assert_allclose(surface.derivatives_over_time("c")[1], single.derivative("x", "c"), rtol=1e-9)
    assert surface.overshoots("c")[1] == pytest.approx(single.overshoot("x", "c"))
    pytest.importorskip("matplotlib")
    assert surface.plot_over_time(tmp_path / "over_time.png").stat().st_size > 1000
    assert surface.plot_over_time(tmp_path / "motion.png", "x").stat().st_size > 1000
    np.testing.assert_allclose(surface.values_over_time[1], single["x"].values, rtol=1e-9)
    solution = ts.adjoint_solution(oscillator, "x", until=1.0, samples=6)
    assert solution.plot(tmp_path / "adjoints.png", of_basis=True).stat().st_size > 1000
