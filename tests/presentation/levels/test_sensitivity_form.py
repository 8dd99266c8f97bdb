"""The printed direct and adjoint systems, integrated by SciPy as they stand, against differences of motions."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import torseur as ts
from torseur import library
from torseur.errors import TorseurError, UnsupportedError
from torseur.presentation.levels.forms.sensitivity_form import sensitivity_statements
from torseur.presentation.levels.write_equations import write_statements

TIGHT = {"rtol": 1e-10, "atol": 1e-11}


# Two coils whose mutual inductance follows the angle, on a quasi-velocity, with a resistance that the speed changes.
COILS = """mechanism coils ;
param k = 0.4 N*m/A, L = 0.5 H, Lm = 0.3 H, R = 2 ohm ;
gravity = [0, -9.81, 0] ;
let arm = body mass = 1 kg, centre = [0.5, 0, 0], inertia = diag(0, 0, 0.1) end ;
join earth and arm.frame as axle with revolute(q) about [0, 0, 1] torque = k*i - k*j speeds w = 2*q' end ;
state i = 0.1 A, j = 0.4 A ;
equation L*i' + Lm*cos(q)*j' = 3 V - R*i - k*q' ;
equation Lm*cos(q)*i' + (L + (0.01 H*s/rad)*q')*j' = -R*j ;
init q = 1 rad, w = 0.3 rad/s ;"""


@cache
def _mechanism(name: str) -> ts.Mechanism:
    return ts.parse(COILS) if name == "coils" else library.load(name)


def _values(name: str) -> dict[str, float]:
    return {str(p.symbol.name): float(p.value) for p in _mechanism(name).parameters}


def _program(name: str, method: str, level: str, parameters: str, criterion: Any, **options: Any) -> dict[str, Any]:
    """What the printed SymPy program defines."""
    system = ts.sensitivity_equations(_mechanism(name), parameters, criterion)
    text = ts.write_sensitivity_equations(system, method, level, "sympy", **options)
    defined: dict[str, Any] = {}
    exec(text, defined)
    return defined


class _Printed:
    """A study computed from the printed matrices alone, along a motion of its own."""

    def __init__(self, name: str, parameter: str, criterion: Any, until: float) -> None:
        program = _program(name, "adjoint", "matrix", parameter, criterion)
        self.until = until
        equations = ts.derive(_mechanism(name))
        numbers = {sympy.Symbol(k, real=True): v for k, v in _values(name).items()}
        self.size = program["A"].rows
        states = [x for x in program["y"] if not str(x).startswith("integral")]
        rates = list(program["y_d"])
        self.q = len(equations.rates)
        self.slots = [k for k, rate in enumerate(rates) if rate.is_Symbol and rate not in states]
        unknown = [rates[k] for k in self.slots]
        t = sympy.Symbol("t", real=True)
        self.states = len(states)

        def numeric(formula: Any) -> Any:
            entries = formula if isinstance(formula, sympy.MatrixBase) else sympy.Matrix([formula])
            return sympy.lambdify([t, states, unknown], entries.subs(numbers), "numpy")

        letter = "P" if "P_y" in program else "p" if "p_y" in program else "G" if "G_y" in program else "g"
        label = parameter.replace(".", "_")
        names = {"A": "A", "f": "f", "J": "J", "B": "B", "Ad": "A_d", "Ax": f"A_{label}", "fx": f"f_{label}"}
        names |= {"py": f"{letter}_y", "px": f"{letter}_{label}", "pz": f"{letter}_z"}
        self.of = {key: numeric(program[value]) for key, value in names.items() if value in program}

    def at(self, t: float, y: np.ndarray) -> dict[str, np.ndarray]:
        zeros = np.zeros(len(self.slots))
        A, f = (np.asarray(self.of[k](t, y, zeros), dtype=float) for k in ("A", "f"))
        z = np.linalg.solve(A, f.ravel())
        parts = {k: np.asarray(g(t, y, z[self.slots]), dtype=float) for k, g in self.of.items()}
        forcing = parts["fx"].ravel() - parts["Ax"] @ z
        homogeneous = parts["J"] - parts["B"]
        kappa = np.linalg.solve(A.T, parts["pz"].ravel()) if "pz" in parts else np.zeros(self.size)
        parts |= {"z": z, "forcing": forcing, "homogeneous": homogeneous}
        parts["gy"] = parts["py"].ravel() + kappa @ homogeneous
        parts["gx"] = float(parts["px"].ravel()[0]) + kappa @ forcing
        return parts

    def motion(self, start: np.ndarray) -> Any:
        """y, u and the integral of the criterion's derivative, one after the other."""
        n = self.states

        def rhs(t: float, x: np.ndarray) -> np.ndarray:
            parts = self.at(t, x[:n])
            u = np.zeros(self.size)
            u[:n] = x[n : 2 * n]
            w = np.linalg.solve(parts["A"], parts["homogeneous"] @ u + parts["forcing"])
            return np.concatenate([parts["z"][:n], w[:n], [parts["gx"] + parts["gy"] @ u]])

        initial = np.concatenate([start, np.zeros(n + 1)])
        return solve_ivp(rhs, (0, self.until), initial, dense_output=True, **TIGHT)

    def direct(self, start: np.ndarray, integral: bool) -> float:
        solution = self.motion(start)
        end, n = solution.y[:, -1], self.states
        parts = self.at(self.until, end[:n])
        u = np.zeros(self.size)
        u[:n] = end[n : 2 * n]
        return float(end[-1] if integral else parts["gx"] + parts["gy"] @ u)

    def adjoint(self, start: np.ndarray, integral: bool) -> float:
        dense, n = self.motion(start).sol, self.states

        def rhs(t: float, x: np.ndarray) -> np.ndarray:
            parts = self.at(t, dense(t)[:n])
            lam = x[:-1]
            right = parts["gy"] if integral else np.zeros(self.size)
            mixed = parts["Ad"].T + parts["homogeneous"].T
            rate = np.linalg.solve(parts["A"].T, right - mixed @ lam)
            own = parts["gx"] if integral else 0.0
            return np.append(rate, -(own - lam @ parts["forcing"]))

        end = self.at(self.until, dense(self.until)[:n])
        lam = np.zeros(self.size) if integral else np.linalg.solve(end["A"].T, -end["gy"])
        back = solve_ivp(rhs, (self.until, 0), np.append(lam, 0.0), **TIGHT)
        return float(back.y[-1, -1] + (0.0 if integral else end["gx"]))


def _difference(name: str, parameter: str, criterion: ts.Criterion, until: float) -> float:
    """The derivative by central differences of motions, which know nothing of derivatives."""
    value = _values(name)[parameter]

    own = criterion.formula not in {*ts.derive(_mechanism(name)).layout.coordinate_names, "q1'"}

    def result(step: float) -> float:
        motion = ts.simulate(
            _mechanism(name), until=until, samples=2001, parameters={parameter: value + step},
            outputs=[criterion.formula] if own else [], rtol=1e-12,
        )  # fmt: skip
        curve = motion[str(criterion.formula)]
        if criterion.kind != "integral":
            return float(curve[-1])
        weights = np.ones(2001)
        weights[1:-1:2], weights[2:-1:2] = 4, 2
        return float(weights @ curve * until / 2000 / 3)

    h = 1e-3 * abs(value)
    first = (result(h) - result(-h)) / (2 * h)
    second = (result(2 * h) - result(-2 * h)) / (4 * h)
    return (4 * first - second) / 3


CASES = [
    ("double_pendulum", "r2", ts.Criterion("kinetic_energy"), 0.7),
    ("double_pendulum", "m2", ts.Criterion("q1'", "integral"), 0.7),
    ("coils", "Lm", ts.Criterion("i"), 0.5),
    ("coils", "k", ts.Criterion("j", "integral"), 0.5),
    ("four_bar", "g", ts.Criterion("C.force.x"), 0.2),
    ("four_bar", "g", ts.Criterion("C.force.x", "integral"), 0.2),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameter", "criterion", "until"), CASES, ids=lambda c: getattr(c, "label", None))
def test_printed_systems_give_the_derivatives_of_motions(
    name: str, parameter: str, criterion: ts.Criterion, until: float
) -> None:
    """Both printed systems, the second of them backwards with its end conditions, agree with differences."""
    expected = _difference(name, parameter, criterion, until)
    printed = _Printed(name, parameter, criterion, until)
    motion = ts.simulate(_mechanism(name), until=0.0, samples=2)
    start = np.concatenate([motion.q[0], motion.v[0]])
    integral = criterion.kind == "integral"
    assert printed.direct(start, integral) == pytest.approx(expected, rel=2e-6)
    assert printed.adjoint(start, integral) == pytest.approx(expected, rel=2e-6)


def test_scalar_rows_vanish_on_tangents_of_motions() -> None:
    """The scalar direct rows, with u, u', u'' from differences of motions put in, are zero."""
    program = _program("double_pendulum", "direct", "scalar", "l2", None)
    values = _values("double_pendulum")

    def states(shift: float) -> np.ndarray:
        given = {"l2": values["l2"] + shift}
        motion = ts.simulate(
            _mechanism("double_pendulum"), until=0.5, samples=2, parameters=given, outputs=["q1''", "q2''"], rtol=1e-12
        )
        return np.array([motion[name][-1] for name in ("q1", "q2", "q1'", "q2'", "q1''", "q2''")])

    h = 1e-4 * values["l2"]
    tangents = (8 * (states(h) - states(-h)) - (states(2 * h) - states(-2 * h))) / (12 * h)
    names = ["q1", "q2", "q1'", "q2'", "q1''", "q2''"]
    numbers = dict(zip(names, states(0.0), strict=True)) | values
    for name, tangent in zip(names, tangents, strict=True):
        numbers[f"u_{name}"] = tangent
    bound = {sympy.Symbol(k, real=True): v for k, v in numbers.items()}
    for row in (program["R_u_q1"], program["R_u_q2"]):
        size = sum(abs(float(term.subs(bound))) for term in sympy.Add.make_args(sympy.expand(row)))
        assert abs(float(row.subs(bound))) < 1e-7 * size


@pytest.mark.slow
def test_second_order_hessian_of_printed_adjoints() -> None:
    """d²g/dk² of a mass on a spring, from the printed s and λ in closed form, against a difference of gradients."""
    name = "mass_spring_damper"
    hessian = ts.sensitivity(_mechanism(name), "x", "k", until=1.0, second_order=True)["x"].hessian
    printed = _program(name, "direct", "matrix", "k", "x", second_order=True)
    t, n = sympy.Symbol("t", real=True), 2
    numbers = {sympy.Symbol(k, real=True): v for k, v in _values(name).items()}
    states, tangents = list(printed["y"]), list(printed["u"])
    rates, tangent_rates = list(printed["y_d"])[1:], list(printed["u_d"])[1:]
    keys = ("A", "f", "J", "B", "A_k", "f_k", "s_k_k")
    of = {key: sympy.lambdify([t, states, rates, tangents, tangent_rates], printed[key].subs(numbers)) for key in keys}

    def rhs(time: float, x: np.ndarray) -> np.ndarray:
        y, u, w = x[:n], x[n : 2 * n], x[2 * n :]
        zero = np.zeros(1)
        A, f = of["A"](time, y, zero, u, zero), of["f"](time, y, zero, u, zero)
        z = np.linalg.solve(A, f).ravel()
        J, B, A_k, f_k = (np.asarray(of[k](time, y, z[1:], u, zero), float) for k in ("J", "B", "A_k", "f_k"))
        du = np.linalg.solve(A, (J - B) @ u + f_k.ravel() - A_k @ z)
        s = np.asarray(of["s_k_k"](time, y, z[1:], u, du[1:]), float).ravel()
        return np.concatenate([z, du, np.linalg.solve(A, (J - B) @ w + s)])

    motion = ts.simulate(_mechanism(name), until=0.0, samples=2)
    start = np.concatenate([motion.q[0], motion.v[0], np.zeros(4)])
    end = solve_ivp(rhs, (0, 1.0), start, **TIGHT).y[:, -1]
    assert hessian is not None
    assert end[4] == pytest.approx(hessian[0, 0], rel=1e-6)


@pytest.mark.slow
def test_second_order_in_scalars() -> None:
    """By hand for m x'' + k x = 0: m u_mk'' + k u_mk = -(u_k'' + u_m), and the Hessians of x² and of ∫ k x² dt."""
    spring = ts.parse("""mechanism spring ; param m = 2 kg, k = 30 N/m ; let b = body mass = m end ;
        join earth and b.frame as j with prismatic(x) along [1, 0, 0] stiffness = k end ; init x = 0.1 m ;""")
    both = ts.sensitivity_equations(spring, "m,k", "x^2")
    lines = ts.write_sensitivity_equations(both, "direct", "scalar", second_order=True).splitlines()
    assert "0 = m*u_x_m_k'' + k*u_x_m_k - s_m_k_2    (* along x, second derivatives by m and k *)" in lines
    assert {"s_m_k_2 = -(u_x_k'' + u_x_m)", "g_m_k = 2*u_x_k*u_x_m"} <= set(lines)
    assert "d2g/dm/dk = g_m_k + 2*x*u_x_m_k" in lines
    over = ts.sensitivity_equations(spring, "k", ts.Criterion("k*x^2", "integral"))
    lines = ts.write_sensitivity_equations(over, "adjoint", "scalar", second_order=True).splitlines()
    assert "p_k_k = 2*u_x*(k*u_x + 2*x)" in lines
    assert "d2g/dk/dk = integral(p_k_k - lambda_2*s_k_k_2, t, t_0, t_f)" in lines


def test_a_letter_of_the_mechanism_is_left_to_it() -> None:
    """A mechanism with parameters A, B, g and rho has its matrices and criterion by other letters."""
    system = ts.sensitivity_equations(_mechanism("free_body"), "A", "kinetic_energy")
    text = ts.write_sensitivity_equations(system, "adjoint", "intrinsic")
    assert text.startswith("A_s^T*lambda' + (A_s'^T + J^T - B_s^T)*lambda = 0")


@pytest.mark.slow
def test_every_format_and_level_is_written() -> None:
    system = ts.sensitivity_equations(_mechanism("four_bar"), ["a", "gravity.y"], "gamma'", integral=True)
    for method in ("direct", "adjoint"):
        for level in ("intrinsic", "matrix", "recursive", "scalar"):
            listed = sensitivity_statements(system, method, level)
            for form in ("text", "latex", "mathml", "omml", "sympy"):
                assert write_statements(system.equations, listed, form)


def test_wrong_requests_are_refused_with_the_reason() -> None:
    mechanism = _mechanism("double_pendulum")
    with pytest.raises(TorseurError, match="criterion"):
        ts.write_sensitivity_equations(ts.sensitivity_equations(mechanism, "m1"), "adjoint")
    with pytest.raises(TorseurError, match="m3"):
        ts.sensitivity_equations(mechanism, "m3")
    with pytest.raises(UnsupportedError, match="event"):
        event = ts.Criterion("alpha", "event", when="gamma''")
        ts.write_sensitivity_equations(ts.sensitivity_equations(_mechanism("four_bar"), "a", event), "adjoint")


def test_second_derivatives_of_a_maximum_move_with_its_instant() -> None:
    """x = (v/w) sin(w t), w² = k/m: the maximum v/w has d²/dk² = 3 v √m k^(-5/2)/4, which x at fixed time has not."""
    spring = ts.parse("""mechanism spring ; param m = 2 kg, k = 30 N/m ; let b = body mass = m end ;
        join earth and b.frame with prismatic(x) along [1,0,0] force = -k*x end ; init x = 0 m, x' = 3 m/s ;""")
    for method, level in (("direct", "scalar"), ("direct", "matrix"), ("adjoint", "scalar")):
        system = ts.sensitivity_equations(ts.derive(spring), "k", ts.Criterion("x", "maximum"))
        printed = ts.write_sensitivity_equations(system, method, level, second_order=True)
        (line,) = [row for row in printed.splitlines() if row.startswith("d2g/dk/dk")]
        assert " - (dg'/dk*dg'/dk)/g''    (* at the maximum" in line
    m, k, v, t = sympy.symbols("m k v t", positive=True)
    x = v * sympy.sqrt(m / k) * sympy.sin(sympy.sqrt(k / m) * t)
    by_formula = x.diff(k, 2) - x.diff(t, k) ** 2 / x.diff(t, 2)
    peak = sympy.pi / 2 * sympy.sqrt(m / k)
    exact = (v * sympy.sqrt(m / k)).diff(k, 2)
    assert sympy.simplify(by_formula.subs(t, peak) - exact) == 0
    assert sympy.simplify(x.diff(k, 2).subs(t, peak) - exact) != 0
    hessian = ts.sensitivity(spring, ts.Criterion("x", "maximum"), "k", until=0.6, second_order=True, verify=False)[
        "maximum of x"
    ].hessian
    assert hessian is not None
    assert hessian[0, 0] == pytest.approx(float(exact.subs({m: 2, k: 30, v: 3})), rel=1e-5)
