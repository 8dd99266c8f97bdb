"""Equations solved for the accelerations, as they are printed, have the values of the model.

Oracle: M v' + b + Cᵀ λ = Q with C v' = γ solved in numbers at a random state that the constraints allow, beside what the
printed lines say there, evaluated by Python's own parser from the first definition to the last formula.
"""

from __future__ import annotations

import math
import re
from random import Random

import numpy as np
import pytest

import torseur as ts
from torseur import library
from torseur.algebra.graph import evaluate, symbols_of
from torseur.presentation.levels.forms.reduced_form import reduced_statements
from torseur.presentation.typesetting.plain_text import plain_text

ARM = """mechanism arm ;
param g = 9.81 m/s^2, m1 = 1 kg, m2 = 2 kg, m3 = 3 kg, c1 = 0.3 m, c3 = 0.2 m, I1 = 0.1 kg*m^2, I2 = 0.2 kg*m^2,
    I3 = 0.3 kg*m^2 ;
gravity = [0, -g, 0] ;
let a = body mass = m1, centre = [c1, 0, 0], inertia = diag(0, 0, I1) end ;
let b = body mass = m2, centre = 0, inertia = diag(0, 0, I2) end ;
let c = body mass = m3, centre = [c3, 0, 0], inertia = diag(0, 0, I3) end ;
join earth and a.frame as j1 with revolute(q1) torque = tau1(t) end ;
join a.frame and b.frame as j2 with prismatic(d) along [1, 0, 0] force = F(t) end ;
join b.frame and c.frame as j3 with revolute(q3) end ;
law tau1(t) in N*m ; law F(t) in N ;
init d = 1 m ;"""

SCARA = """mechanism scara ;
param g = 9.81 m/s^2, m1 = 1 kg, m2 = 2 kg, m3 = 3 kg, l1 = 1 m, c1 = 0.5 m, l2 = 0.8 m, c2 = 0.4 m, I1 = 0.1 kg*m^2,
    I2 = 0.2 kg*m^2, I3 = 0.3 kg*m^2 ;
gravity = [0, 0, -g] ;
let a = body mass = m1, centre = [c1, 0, 0], inertia = diag(0, 0, I1) end ;
let b = body mass = m2, centre = [c2, 0, 0], inertia = diag(0, 0, I2) end ;
let c = body mass = 0, inertia = 0 end ;
let d = body mass = m3, centre = 0, inertia = diag(0, 0, I3) end ;
join earth and a.frame as j1 with revolute(q1) torque = tau1(t) end ;
join [l1, 0, 0] @ a and b.frame as j2 with revolute(q2) end ;
join [l2, 0, 0] @ b and c.frame as j3 with prismatic(z) along [0, 0, 1] force = F(t) end ;
join c.frame and d.frame as j4 with revolute(q4) torque = tau4(t) end ;
law tau1(t) in N*m ; law tau4(t) in N*m ; law F(t) in N ;"""

DRONE = """mechanism drone ;
param g = 9.81 m/s^2, m = 1 kg, A = 0.01 kg*m^2, C = 0.02 kg*m^2 ;
gravity = [0, 0, -g] ;
let drone = body mass = m, centre = 0, inertia = diag(A, A, C) end ;
join earth and drone.frame as air with free(x, y, z, psi, theta, phi) angles zyx
    speeds vx, vy, vz = velocity in drone, p, q, r = rotation in drone end ;
apply force [0, 0, F(t)] in drone on drone.iframe ;
law F(t) in N ;"""

CLOCKS = """mechanism clocks ;
param g = 9.81 m/s^2, M = 10 kg, m = 1 kg, l = 1 m, k = 1 N/m, c = 1 N*s/m ;
gravity = [0, -g, 0] ;
let beam = body mass = M, centre = 0, inertia = 0 end ;
let p = body mass = m, centre = [0, -l, 0], inertia = 0 end ;
let q = body mass = m, centre = [0, -l, 0], inertia = 0 end ;
join earth and beam.frame as rail with prismatic(x) along [1, 0, 0] stiffness = k, damping = c end ;
join beam.frame and p.frame as j1 with revolute(a) end ;
join beam.frame and q.frame as j2 with revolute(b) end ;"""

RACER = """mechanism racer ;
param m = 1 kg, J1 = 0.1 kg*m^2, J2 = 0.02 kg*m^2, a = 0.3 m, b = 0.1 m ;
let body1 = body mass = m, centre = 0, inertia = diag(0, 0, J1) end ;
let body2 = body mass = 0, inertia = diag(0, 0, J2) end ;
join earth and body1.frame as ice with planar(x, y, th) end ;
join [a, 0, 0] @ body1 and body2.frame as steer with revolute(phi) torque = tau(t) end ;
law tau(t) in N*m ;
constrain 0 = -x'*sin(th) + y'*cos(th) as rear ;
constrain 0 = -x'*sin(th + phi) + y'*cos(th + phi) + a*th'*cos(phi) + b*(th' + phi') as front ;"""

WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*'*(?:\(t\))?")
FUNCTIONS = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt}


def value_of(text: str, values: dict[str, float]) -> float:
    """A printed formula in numbers."""

    def number(found: re.Match[str]) -> str:
        return found[0] if found[0] in FUNCTIONS else f"({values[found[0]]!r})"

    return float(eval(WORD.sub(number, text).replace("^", "**"), dict(FUNCTIONS)))


@pytest.mark.parametrize("text", [ARM, SCARA, DRONE, CLOCKS, RACER], ids=["arm", "scara", "drone", "clocks", "racer"])
def test_solved_accelerations_have_the_values_of_the_model(text):
    equations = ts.derive(ts.parse(text), "lagrange" if "velocity in" not in text else "kane")
    layout, chance = equations.layout, Random(3)
    shown = reduced_statements(equations, solve=True)
    state = {s: chance.uniform(0.3, 1.3) for s in (*layout.coordinates, *layout.speeds, *layout.parameters)}
    inputs = {name: chance.uniform(0.3, 1.3) for name in ("tau", "tau1", "tau4", "F")}
    laws = {name: (lambda t, value=value: value) for name, value in inputs.items()}
    values = {str(s.name): value for s, value in state.items()} | {
        f"{name}(t)": value for name, value in inputs.items()
    }
    for one in shown:
        if one.remark.meaning == "by the constraints":
            values[plain_text(one.left)] = value_of(plain_text(one.right), values)
    state = {s: values[str(s.name)] for s in state} | {equations.time: 0.0}

    def numbers(entries):
        return np.array(evaluate(list(entries), state, laws), dtype=float)

    n, rows = len(layout.speeds), [c.row for c in equations.constraints]
    system = np.zeros((n + len(rows), n + len(rows)))
    system[:n, :n] = numbers(sum(equations.mass_matrix, ())).reshape(n, n)
    for k, row in enumerate(rows, n):
        system[k, :n] = system[:n, k] = numbers(row)
    gamma = numbers([c.gamma for c in equations.constraints])
    exact = np.linalg.solve(system, [*(numbers(equations.loads) - numbers(equations.bias)), *gamma])
    solved = dict(zip((str(a.name) for a in layout.accelerations), exact, strict=False))
    checked = 0
    for one in shown:
        name = plain_text(one.left)
        if one.auxiliary:
            values[name] = value_of(plain_text(one.right), values)
        elif name in solved:
            assert value_of(plain_text(one.right), values) == pytest.approx(solved[name], rel=1e-9, abs=1e-12), name
            checked += 1
    assert checked == n - len(rows)


def test_long_accelerations_are_written_by_entries_of_m_and_others_are_not():
    """Three of four freedoms of a SCARA are tied: the fourth, its lift, is written at once."""
    shown = {
        plain_text(one.left): plain_text(one.right)
        for one in reduced_statements(ts.derive(ts.parse(SCARA)), solve=True)
    }
    assert shown["z''"] == "F(t)/m3 - g" and shown["M_1_2"].startswith("I2 + I3")
    assert shown["q1''"].endswith("/D") and shown["q4''"].endswith("/(I3*D)")
    assert (
        sum("determinant" in one.remark.meaning for one in reduced_statements(ts.derive(ts.parse(SCARA)), solve=True))
        == 1
    )


def test_accelerations_of_one_system_have_one_denominator():
    """Oracle: M + m (sin² a + sin² b) of two clocks on a beam, in one writing; no fraction stands within a fraction."""
    shown = {
        plain_text(one.left): plain_text(one.right)
        for one in reduced_statements(ts.derive(ts.parse(CLOCKS)), solve=True)
    }
    below = "(M + (sin(a)^2 + sin(b)^2)*m)"
    assert all(below in shown[name] and shown[name].count("/") == 1 for name in ("x''", "a''", "b''"))


KNIFE = """mechanism knife ;
param g = 9.81 m/s^2, m = 1 kg, J = 0.1 kg*m^2, al = 30 deg ;
gravity = [g*sin(al), 0, -g*cos(al)] ;
let knife = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
join earth and knife.frame as ice with planar(x, y, phi) end ;
constrain 0 = x'*sin(phi) - y'*cos(phi) as edge ;"""


@pytest.mark.parametrize(("start", "divisor", "dependent"), [("", "cos", "y'"), ("init phi = pi/2 ;", "sin", "x'")])
def test_nothing_is_divided_by_that_vanishes_where_the_motion_starts(start, divisor, dependent):
    """Oracle: y' = x' tan φ for a blade that starts along x, x' = y'/tan φ for one along y."""
    shown = reduced_statements(ts.derive(ts.parse(KNIFE + start)))
    said = {one.remark.meaning: plain_text(one.left) for one in shown}
    assert said["assumed not to vanish"] == f"{divisor}(phi)" and said["by the constraints"] == dependent


def test_a_four_bar_is_divided_by_its_determinant_alone():
    """Textbooks: gamma' = a sin(beta) / (c sin(alpha + beta - gamma)) alpha'; sin(gamma) = 0 is no singular pose."""
    reduced = ts.derive(library.load("four_bar")).without_multipliers(["alpha'"])
    assert {str(pivot) for pivot in reduced.pivots}.isdisjoint({"sin(gamma)"})
    values = {"a": 0.3, "b": 1.1, "c": 0.8, "alpha": 0.7, "beta": 0.4, "gamma": 0.0}
    names = {symbol: values[str(symbol)] for symbol in symbols_of(reduced.projection[2])}
    assert evaluate(reduced.projection[2], names)[0] == pytest.approx(0.3 * math.sin(0.4) / (0.8 * math.sin(1.1)))
