"""Equations of small motions with formulas for coefficients.

Oracles: the published matrices of the benchmark bicycle (Meijaard, Papadopoulos, Ruina and Schwab 2007), closed forms
of textbooks, and the linearisation in numbers, which shares neither the elimination nor the reference state.
"""

from __future__ import annotations

import json
import re
from math import cos, pi, sin, sqrt
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import evaluate, symbols_of
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError
from torseur.presentation.levels.forms.simplified_statements import linear_statements
from torseur.presentation.typesetting.plain_text import plain_text

ORACLES = Path(__file__).parents[2] / "oracles"


def numbers(rows, values):
    """Values of a matrix of formulas by names."""
    used = [x for row in rows for x in symbols_of(row)]
    return np.array([evaluate(list(row), {x: values[str(x.name)] for x in used}) for row in rows], dtype=float)


def test_whipples_equations_have_the_published_coefficients():
    """Oracle: M, C1, K0 and K2 as published; K = g K0 + v² K2 and D = v C1 at any speed."""
    case = json.loads((ORACLES / "whipple_bicycle_linear.json").read_text())["meijaard"]
    linear = ts.derive(library.load("whipple_bicycle")).linearised(independent=["lean", "steer", "rear_turn"])
    assert [str(x.name) for x in linear.positions] == ["lean", "steer"]
    values = {**case["params"], "lambda": case["params"]["lam"]}
    for speed in (0.0, 3.7, -2.0):
        values["speed"] = speed
        mass, damping, stiffness = (
            numbers(rows, values) for rows in (linear.mass_matrix, linear.damping_matrix, linear.stiffness_matrix)
        )
        expected = 9.81 * np.array(case["K0"]) + speed**2 * np.array(case["K2"])
        assert np.abs(mass[:2, :2] - case["M"]).max() < 1e-11
        assert np.abs(damping[:2, :2] - speed * np.array(case["C1"])).max() < 1e-11
        assert np.abs(stiffness[:2] - expected).max() < 1e-11
        assert not mass[2, :2].any() and not damping[2].any() and not stiffness[2].any()


def test_whipples_equations_as_they_are_printed():
    """Oracle: the published matrices, from the printed text alone; the speed stands in it as v and v² only."""
    case = json.loads((ORACLES / "whipple_bicycle_linear.json").read_text())["meijaard"]
    linear = ts.derive(library.load("whipple_bicycle")).linearised(independent=["lean", "steer", "rear_turn"])
    listed = linear_statements(linear)
    known = {**case["params"], "lambda_": case["params"]["lam"], "speed": 5.0, "sin": sin, "cos": cos}

    def value(text: str, states: dict[str, float]) -> float:
        code = re.sub(r"\blambda\b", "lambda_", text.replace("^", "**").replace("''", "_dd").replace("'", "_d"))
        return float(eval(code, {}, known | states))

    for one in listed:
        if one.auxiliary:
            known[one.name] = value(plain_text(one.right), {})
    rows = [plain_text(one.left) for one in listed if one.name.startswith("R_")][:2]
    variables = ["lean_dd", "steer_dd", "lean_d", "steer_d", "lean", "steer"]
    expected = np.hstack(
        [case["M"], 5.0 * np.array(case["C1"]), 9.81 * np.array(case["K0"]) + 25 * np.array(case["K2"])]
    )
    for row, published in zip(rows, expected, strict=True):
        for k, x in enumerate(variables):
            unit = {name: float(name == x) for name in variables}
            assert value(row, unit) == pytest.approx(published[k], abs=1e-11)
    assert all(len(row) < 150 for row in rows)  # coefficients that are long stand by their names


CLOSED_FORMS = {
    "Kapitza's pendulum upside down": (
        """mechanism kapitza ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m, a = 0.05 m, w = 120 rad/s ;
        gravity = [0, -g, 0] ;
        let bob = body mass = m, centre = [0, l, 0], inertia = 0 end ;
        join [0, a*cos(w*t), 0] @ earth and bob.frame as pivot with revolute(theta) about [0, 0, 1] end ;""",
        {},
        ["m*l^2*theta'' + m*l*(a*w^2*cos(w*t) - g)*theta"],  # Mathieu's equation
    ),
    "bead that has climbed its hoop": (
        """mechanism hoop ;
        param g = 9.81 m/s^2, m = 0.1 kg, R = 0.5 m, W = 8 rad/s ;
        gravity = [0, 0, -g] ;
        let bead = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bead.frame as wire
            with link(theta) dof1 = W*t || [0,0,1], dof2 = theta || [0,1,0], dof3 = [0,0,-R] end ;""",
        {"theta": "acos(g/(R*W^2))"},
        ["m*R^2*theta'' + m*R^2*W^2*(1 - (g/(R*W^2))^2)*delta_theta"],
    ),
    "pendulum in Cartesian coordinates": (
        """mechanism cartesian ;
        param g = 9.81 m/s^2, m = 2 kg, l = 1.5 m ;
        gravity = [0, -g, 0] ;
        let bob = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bob.frame as plane with link(x, y) dof = [x, y, 0] end ;
        constrain x^2 + y^2 = l^2 as rod ;
        init y = -l ;""",
        {},
        ["m*x'' + m*g/l*x"],
    ),
    "cart-pole upright": (
        """mechanism cart_pole ;
        param g = 9.81 m/s^2, M = 1 kg, m = 0.1 kg, l = 0.5 m, b = 0.1 N*s/m ;
        gravity = [0, -g, 0] ;
        let cart = body mass = M, centre = 0, inertia = 0 end ;
        let pole = body mass = m, centre = [0, l, 0], inertia = 0 end ;
        join earth and cart.frame as rail with prismatic(x) along [1, 0, 0] force = F(t) - b*x' end ;
        law F(t) in N ;
        join cart.frame and pole.frame as hinge with revolute(theta) about [0, 0, -1] end ;""",
        {},
        ["(M+m)*x'' + m*l*theta'' + b*x' - F", "m*l*x'' + m*l^2*theta'' - m*g*l*theta"],
    ),
    "sleeping top in Cardan's angles": (
        """mechanism sleeping_top ;
        param g = 9.81 m/s^2, m = 1 kg, l = 0.1 m, A = 0.02 kg*m^2, C = 0.01 kg*m^2, n = 100 rad/s ;
        gravity = [0, 0, -g] ;
        let top = body mass = m, centre = [0, 0, l], inertia = diag(A, A, C) about frame end ;
        join earth and top.frame as tip with spherical(a, b, c) angles xyz end ;
        init c' = n ;""",
        {},
        ["A*a'' + C*n*b' - m*g*l*a", "A*b'' - C*n*a' - m*g*l*b", "C*c''"],
    ),
    "skate that glides": (
        """mechanism sleigh ;
        param m = 1 kg, J = 0.1 kg*m^2, a = 0.2 m, v = 2 m/s ;
        let body1 = body mass = m, centre = [a, 0, 0], inertia = diag(0, 0, J) end ;
        join earth and body1.frame as ice with planar(x, y, psi) end ;
        constrain 0 = -x'*sin(psi) + y'*cos(psi) as blade ;
        init x' = v ;""",
        {},
        ["m*x''", "(J + m*a^2)*psi'' + m*a*v*psi'"],
    ),
}


@pytest.mark.parametrize("system", CLOSED_FORMS)
def test_small_motions_have_their_closed_form(system):
    text, about, published = CLOSED_FORMS[system]
    mechanism = ts.parse(text)
    given = {name: formula(mechanism, value) for name, value in about.items()}
    for formalism in ("recursive", "lagrange", "kane"):
        listed = linear_statements(ts.derive(mechanism, formalism).linearised(given))
        rows = [one for one in listed if one.name.startswith("R_")]
        for one, theirs in zip(rows, published, strict=True):
            ours = f"{plain_text(one.left)} - ({plain_text(one.right)})"
            first, second = (number(ours, theirs, seed) for seed in (1, 2))
            assert first == pytest.approx(second, rel=1e-12), (ours, theirs)


def formula(mechanism, text):
    from torseur.cli.shared.value_options import state_formulas

    return state_formulas(mechanism, "--about", [f"x={text}"])["x"]


def number(ours: str, theirs: str, seed: int) -> float:
    """The quotient of two equations at random values of what moves; parameters are the same in both."""
    words = re.compile(r"\b(?!(?:sin|cos|acos|sqrt)\b)[A-Za-z_]\w*'*")
    chance = np.random.default_rng(seed)
    names = sorted({name for text in (ours, theirs) for name in words.findall(text)})
    moving = {n for n in names if "'" in n or n in {"theta", "x", "a", "b", "F", "t", "delta_theta"}}
    values = {n: chance.uniform(0.3, 1.3) if n in moving else 0.5 + len(n) / 7 + ord(n[0]) / 300 for n in names}

    def value(text: str) -> float:
        code = text.replace("F(t)", "F").replace("^", "**")
        code = words.sub(lambda m: f"({values[m[0]]!r})", code)
        return float(eval(code, {"sin": sin, "cos": cos, "sqrt": sqrt, "pi": pi}))

    return value(ours) / value(theirs)


STEADY = {
    "disc that rolls straight on": (
        """mechanism disc ;
        param g = 9.81 m/s^2, m = 2 kg, r = 0.25 m, W = 9 rad/s ;
        gravity = [0, 0, -g] ;
        let disc = body mass = m, centre = 0, inertia = diag(m*r^2/4, m*r^2/4, m*r^2/2) end ;
        join earth and disc.frame as flight with free(x, y, z, yaw, lean, spin) angles zxz end ;
        constrain rolling disc.frame radius r on earth normal [0, 0, 1] as contact ;
        init lean = pi/2, spin' = W ;""",
        ["yaw", "lean", "spin"],
    ),
    "two bars in Cartesian coordinates": (
        """mechanism bars ;
        param g = 9.81 m/s^2, m = 2 kg, M = 1 kg, a = 1.5 m, b = 0.7 m, h = 0.3 m ;
        gravity = [0, -g, 0] ;
        let p = body mass = m, centre = 0, inertia = 0 end ;
        let q = body mass = M, centre = 0, inertia = 0 end ;
        join [h, 0, 0] @ earth and p.frame as upper with link(x, y) dof = [x, y, 0] end ;
        join [h, 0, 0] @ earth and q.frame as lower with link(u, v) dof = [u, v, 0] end ;
        constrain x^2 + y^2 = a^2 as first ;
        constrain (u - x)^2 + (v - y)^2 = b^2 as second ;
        init y = -a, v = -a - b ;""",
        ["x", "u"],
    ),
    "car in its own velocities": (
        """mechanism car ;
        param m = 1200 kg, J = 1500 kg*m^2, a = 1.2 m, b = 1.4 m, B = 10, C = 1.3, D = 5000 N, V = 20 m/s ;
        let car = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
        join earth and car.frame as road with planar(x, y, psi) speeds Vx, Vy = velocity in car, r = psi' end ;
        law mf(s) = D*sin(C*atan(B*s)) ;
        apply force [0, -mf((Vy + a*r)/Vx), 0] in car on [a, 0, 0] @ car as front ;
        apply force [0, -mf((Vy - b*r)/Vx), 0] in car on [-b, 0, 0] @ car as rear ;
        init Vx = V ;""",
        [],
    ),
}


@pytest.mark.parametrize("system", STEADY)
def test_formulas_agree_with_the_linearisation_in_numbers(system):
    """Oracle: M, D and K about the same state by numbers."""
    text, independent = STEADY[system]
    equations = ts.derive(ts.parse(text))
    linear, peer = equations.linearised(independent=independent), ts.linearise(equations, independent=independent)
    names = equations.layout.speed_names
    rows = [peer.speeds.index(names.index(str(v.name))) for v in linear.speeds]
    columns = [peer.positions.index(names.index(f"{x.name}'")) for x in linear.positions]
    values = {p.name: float(p.value) for p in equations.mechanism.parameters}
    pairs = (
        (linear.mass_matrix, peer.mass_matrix[np.ix_(rows, rows)]),
        (linear.damping_matrix, peer.damping_matrix[np.ix_(rows, rows)]),
        (linear.stiffness_matrix, peer.stiffness_matrix[np.ix_(rows, columns)]),
    )
    for ours, theirs in pairs:
        assert np.abs(numbers(ours, values).reshape(theirs.shape) - theirs).max(initial=0.0) < 1e-9 * max(
            1, abs(theirs).max(initial=0)
        )
    left = [k for k in range(peer.stiffness_matrix.shape[1]) if k not in columns]
    assert np.abs(peer.stiffness_matrix[:, left]).max(initial=0.0) < 1e-9 * max(
        1.0, np.abs(peer.stiffness_matrix).max(initial=0.0)
    )


def test_what_has_no_equations_of_small_motions_is_refused():
    pendulum = ts.derive(library.load("pendulum"))
    with pytest.raises(UnsupportedError, match="not an equilibrium"):
        pendulum.linearised({pendulum.layout.coordinate_names[0]: 0.7})
    with pytest.raises(TorseurError, match="unknown coordinate or speed"):
        pendulum.linearised({"nothing": 0})
    with pytest.raises(UnsupportedError, match="does not hold"):
        ts.derive(library.load("slider_crank")).linearised()
    with pytest.raises(TorseurError, match="expected a formula of parameters"):
        pendulum.linearised({pendulum.layout.coordinate_names[0]: pendulum.time})
    bars = ts.derive(ts.parse(STEADY["two bars in Cartesian coordinates"][0]))
    with pytest.raises(TorseurError, match="ties 'u'', 'v'', 'x'', 'y''|ties 'x'', 'y''"):
        bars.without_multipliers(["x'", "y'"])
