"""What is printed depends on the mechanism and the level: not on the formalism, not on the order of a joint's sides.

Oracle: the texts of the formalisms beside each other, and identities that a reader sees (no term that rounding left, laws by
their names with one definition each).
"""

from __future__ import annotations

import math
import re

import pytest

import torseur as ts
from torseur.algebra.graph import evaluate, symbol
from torseur.derivation.equations.terms.short_sum import short_expression
from torseur.derivation.formalisms import FORMALISMS
from torseur.description import library
from torseur.errors import UnsupportedError
from truth.draft import DATA
from truth.generator import generate

ROUNDING = re.compile(r"\de-(?:1[3-9]|2\d)")
QUICK = ("spinning_top", "chaplygin_sleigh", "cardan")
OTHERS = (
    "dual_spin_satellite", "free_body", "four_bar", "slider_crank", "rolling_disc", "car_axis", "flyball_governor",
    "double_wishbone", "ball_on_turntable", "pendulum_chain", "puma560", "whipple_bicycle",
)  # fmt: skip


def texts(mechanism: ts.Mechanism, level: str = "scalar") -> set[str]:
    """What the formalisms that apply print."""
    written = set()
    for formalism in FORMALISMS:
        try:
            written.add(ts.write_equations(ts.derive(mechanism, formalism), level))
        except UnsupportedError:
            continue
    return written


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_formalisms_print_one_text_of_the_library(name):
    (text,) = texts(library.load(name))
    assert not ROUNDING.search(text)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3, 6, 9])
def test_formalisms_print_one_text_of_random_mechanisms(seed):
    (text,) = texts(ts.parse(generate(seed), directory=DATA))
    assert not ROUNDING.search(text)


LINKAGE = """mechanism linkage ;
param a = 0.1 m, b = 0.3 m, c = 0.25 m, d = 0.3 m, J = 0.01 kg*m^2 ;
let crank = body mass = 0, inertia = diag(0, 0, J) end ;
let coupler = body mass = 0, inertia = diag(0, 0, J) end ;
let rocker = body mass = 0, inertia = diag(0, 0, J) end ;
join earth and crank.frame as A with revolute(alpha) end ;
join [a, 0, 0] @ crank and coupler.frame as B with revolute(beta) end ;
join [d, 0, 0] @ earth and rocker.frame as D with revolute(delta) end ;
join SIDES as C with revolute(gam), role = loop end ;
init alpha = 60 deg ;
"""


@pytest.mark.parametrize("turned", [False, True])
def test_a_loop_closes_in_the_shortest_axes_whichever_side_is_named_first(turned):
    """Oracle: a cos α + b cos(α + β) = d + c cos δ, and the same with sines."""
    sides = ["[b, 0, 0] @ coupler", "[c, 0, 0] @ rocker"]
    tree = ts.build_tree(ts.parse(LINKAGE.replace("SIDES", " and ".join(sides[::-1] if turned else sides))))
    values = {symbol(name): 0.3 + 0.17 * k for k, name in enumerate(("a", "b", "c", "d", "alpha", "beta", "delta"))}
    x, y = ts.constraint_equations(tree)
    a, b, c, d, alpha, beta, delta = values.values()
    sign = -1 if turned else 1
    expected = [
        d + c * math.cos(delta) - a * math.cos(alpha) - b * math.cos(alpha + beta),
        c * math.sin(delta) - a * math.sin(alpha) - b * math.sin(alpha + beta),
    ]
    by_name = {str(s.name): s for s in (*tree.layout.coordinates, *tree.layout.parameters)}
    state = {by_name[str(s.name)]: value for s, value in values.items()}
    assert evaluate([x.residual, y.residual], state) == pytest.approx([sign * value for value in expected])
    assert (
        x.name.endswith(" of earth")
        and len(str(x.residual)) <= len("d + c*cos(delta) - a*cos(alpha) - b*cos(alpha + beta)") + 3
    )


def test_gravity_of_the_puma_has_its_five_constants():
    """Oracle: Armstrong, Khatib and Burdick's form: cos q2, sin q2, sin(q2 + q3), cos(q2 + q3) and the wrist's."""
    first, second, third, fourth, fifth, sixth = (
        str(short_expression(entry)) for entry in ts.derive(library.load("puma560")).gravity
    )
    assert first == sixth == "0"
    assert len(re.findall(r"(?:sin|cos)\(q2\)", second)) == 2 and "sin(q2 + q3)" in second
    assert "(q2)" not in third and "sin(q2 + q3)" in third
    assert fourth.count("*") == 4 and "sin(q4)*sin(q5)" in fourth
    assert fifth.count("cos(q2 + q3)*sin(q5)") == 1 and fifth.count("sin(q2 + q3)*cos(q4)*cos(q5)") == 1


@pytest.mark.slow
def test_torques_of_the_satellite_act_along_their_own_coordinates():
    """Oracle: a torque about a joint's axis works along that joint's coordinate alone."""
    matrix = ts.write_equations(ts.derive(library.load("satellite"), "lagrange"), "matrix")
    rows = [line for line in matrix.splitlines() if line.startswith("Q[") and ".fs(" in line]
    assert [row[:4] for row in rows] == ["Q[7]", "Q[8]", "Q[9]"]


CAR = """mechanism car ;
param m = 1200 kg, J = 1500 kg*m^2, a = 1.2 m, b = 1.4 m, B = 10, C = 1.3, D = 5000 N, E = 0.97, F0 = m*9.81 m/s^2 ;
let car = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
join earth and car.frame as road with planar(x, y, psi) speeds Vx, Vy = velocity in car, r = psi' end ;
law mf(s) = D*sin(C*atan(B*s - E*(B*s - atan(B*s)))) "magic formula" ;
apply force [-F0*grade(t), -mf((Vy + a*r)/Vx), 0] in car on [a, 0, 0] @ car as front ;
apply force [0, -mf((Vy - b*r)/Vx), 0] in car on [-b, 0, 0] @ car as rear ;
law grade(t) ;
init Vx = 20 m/s ;
"""


@pytest.mark.parametrize("form", ["text", "latex", "mathml", "sympy", "omml"])
@pytest.mark.parametrize("level", ["scalar", "matrix", "recursive", "intrinsic"])
def test_laws_stay_by_name_and_are_defined_once(level, form):
    written = ts.write_equations(ts.derive(ts.parse(CAR)), level, form)
    assert written.count("atan") + written.count("arctan") in (2, 4)  # the two of the definition; OMML says each twice
    if form in ("text", "latex", "sympy"):
        assert "magic formula" in written and "left open" in written and "F0" in written.replace("F_{0}", "F0")


def test_laws_can_be_put_in():
    equations = ts.derive(ts.parse(CAR))
    named, put_in = str(equations.sympy().loads), str(equations.sympy(named=False).loads)
    assert "mf(" in named and "F0" in named and "atan" not in named
    assert "mf(" not in put_in and "F0" not in put_in and "atan" in put_in
