"""Folded equations are the same equations. Oracle: the graph's residual, by Python's own parser on the text."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import torseur as ts
from torseur.algebra.graph import evaluate, symbols_of
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError
from torseur.presentation.levels.folding import Fold, fold_parts
from torseur.presentation.levels.levels import statements
from torseur.presentation.levels.term_origins import PartOrigins
from torseur.presentation.levels.write_equations import document
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.read_graph import read_name


def motor(t):
    return 2.5 + t


FUNCTIONS = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt, "motor": motor}
NAMES = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*'*")
# Not in the library: a spring-driven cart on a plank that tilts, with a load of the user's own.
PLANK = """
mechanism plank "cart on a tilting plank" ;
param M in kg, m in kg, J in kg*m^2, h in m, k in N/m, l0 in m, c in N*s/m, P in N, g in m/s^2 ;
gravity = [0, 0, -g] ;
let plank = body mass = M, centre = [0, 0, 0], inertia = diag(0, J, 0) end ;
let cart = body mass = m, centre = [0, 0, h], inertia = 0 end ;
join earth and plank.frame as pivot with revolute(theta) about [0, 1, 0] end ;
join plank.frame and cart.frame as rail with prismatic(x) along [1, 0, 0] end ;
apply spring stiffness = k, rest = l0, damping = c between plank.frame and [0, 0, h] ++ 1 @ cart as spring ;
apply force [P*cos(2*theta), 0, 0] on [0, 0, h] ++ 1 @ cart as wind ;
"""


@pytest.fixture(scope="module")
def plank() -> ts.Equations:
    return ts.derive(ts.parse(PLANK))


def values(equations):
    chance = random.Random(3)
    return {one: chance.uniform(0.3, 1.3) for one in symbols_of(equations.residual)}


def computed(listed, given):
    """Every statement's right side, names looked up in the statements themselves."""
    known = {plain_text(read_name(str(one.name))): value for one, value in given.items()}
    texts = {plain_text(one.left): plain_text(one.right) for one in listed if one.auxiliary}

    def of(text):
        local = {}

        def look_up(found):
            name = found[0]
            if name in FUNCTIONS:
                return name
            if name not in known:
                known[name] = of(texts[name])
            local[f"n{len(local)}_"] = known[name]
            return f"n{len(local) - 1}_"

        return eval(NAMES.sub(look_up, text).replace("^", "**"), FUNCTIONS | local)

    return [of(plain_text(one.right)) for one in listed if not one.auxiliary and one.shape != "name"]


@pytest.mark.slow
@given(depth=st.integers(0, 5) | st.none(), size=st.integers(2, 12) | st.none())
def test_a_folded_equation_has_the_same_value(plank, depth, size):
    fold = Fold(depth, size)
    listed = fold_parts(statements(plank, "scalar"), fold, PartOrigins(plank))
    assert computed(listed, values(plank)) == pytest.approx(evaluate(plank.residual, values(plank)), rel=1e-12)


@pytest.mark.parametrize("name", ["puma560", "spinning_top", "slider_crank", "cart_pendulum?n=2"])
@pytest.mark.parametrize("depth", [0, 2])
def test_folded_equations_of_the_library(name, depth):
    equations = ts.derive(replace(library.load(name), laws=())).in_axes_to_read  # the motor's torque is a stand-in
    listed = [s for s in statements(equations, "scalar") if s.auxiliary or s.name.startswith("R_")]
    found = computed(fold_parts(listed, Fold(depth), PartOrigins(equations)), values(equations))
    expected = evaluate(equations.residual, values(equations), {"motor": motor})
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_depth_zero_is_one_name_per_side(plank):
    listed = fold_parts(statements(plank, "scalar"), Fold(0), PartOrigins(plank))
    letters = {plain_text(one.right)[0] for one in listed if not one.auxiliary and one.shape != "name"}
    assert letters == {"S"}, "P is a parameter of this mechanism, so that parts take another letter"


def test_every_part_keeps_bodies_joints_and_loads(plank):
    listed = fold_parts(statements(plank, "scalar"), Fold(1), PartOrigins(plank))
    parts = {plain_text(one.right): one.remark for one in listed if one.auxiliary}
    assert all(remark.bodies or remark.joints for remark in parts.values())
    (inertia,) = [remark for text, remark in parts.items() if text.startswith("J + ")]
    assert set(inertia.bodies) == {"plank", "cart"}, "the inertia of both turns with the plank"
    (spring,) = [remark for text, remark in parts.items() if "l0" in text]
    assert "spring" in spring.meaning and set(spring.bodies) == {"plank", "cart"}


def test_matrix_entries_tell_the_owners_of_their_quantities(plank):
    listed = fold_parts(statements(plank, "matrix"), Fold(0), PartOrigins(plank))
    parts = {one.name: one.remark for one in listed if one.auxiliary}
    mass = next(one for one in listed if one.name == "M")
    assert set(parts[plain_text(mass.rows[0][0])].bodies) == {"plank", "cart"}
    assert plain_text(mass.rows[1][1]) == "m"


def test_parts_by_the_user_s_names():
    equations = ts.derive(library.load("double_pendulum"))
    text = ts.write_equations(equations, "matrix", fold=Fold(names={"A": "m2*l2^2", "mu": "m1 + m2"}))
    assert "M[1,1] = mu*r2^2 + A*cos(q2)^2" in text
    assert "M[2,2] = A" in text
    assert "mu = m1 + m2    (* of arm; blade *)" in text


def test_a_part_can_stay_open(plank):
    listed = fold_parts(statements(plank, "scalar"), Fold(1, opened=("S2",)), PartOrigins(plank))
    assert "S2" not in {one.name for one in listed}
    assert computed(listed, values(plank)) == pytest.approx(evaluate(plank.residual, values(plank)))


def test_folded_sympy_program_builds_the_equations():
    """Oracle: the residual, through SymPy running the text."""
    equations = ts.derive(library.load("double_pendulum"))
    defined: dict = {}
    exec(ts.write_equations(equations, "matrix", "sympy", fold=Fold(1)), defined)
    assert isinstance(defined["M"], sympy.MatrixBase)
    given = values(equations)
    spelled = {str(one.name): value for one, value in given.items()}
    expected = evaluate([e for row in equations.mass_matrix for e in row], given)
    found = [float(e.subs({s: spelled[s.name] for s in e.free_symbols})) for e in defined["M"]]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("form", ["latex", "mathml", "omml"])
def test_folded_parts_in_every_format(plank, form):
    text = ts.write_equations(plank, "intrinsic", form, steps=2, fold=Fold(size=5))
    assert len(text.splitlines()) > len(ts.write_equations(plank, "intrinsic", form, steps=2).splitlines())


def test_a_folded_vector_is_bold():
    equations = ts.derive(library.load("double_pendulum"))
    listed = fold_parts(statements(equations, "intrinsic", 3), Fold(size=6), PartOrigins(equations))
    kinds = {plain_text(one.right): one.left.bold for one in listed if one.name.startswith("P")}
    assert kinds["r_arm × P1"] and not kinds["u_q1 · P3"]
    assert document(listed[-1], "text")["bodies"] == ("blade",)


def test_terms_of_the_scalar_level_know_their_bodies(plank):
    first = document(statements(plank, "scalar")[0], "text")
    origins = {term["term"]: term["bodies"] for term in first["terms"]}
    assert origins["(J + m*(h^2 + x^2))*theta''"] == ("plank", "cart")
    assert origins["m*h*x''"] == ("cart",)
    shared = [
        term
        for term in document(statements(ts.derive(library.load("double_pendulum")), "scalar")[0], "text")["terms"]
        if "m1 + m2" in term["term"]
    ]
    assert [term["bodies"] for term in shared] == [("arm", "blade")] * 2


def test_mistakes_are_named(plank):
    listed = statements(plank, "scalar")
    with pytest.raises(TorseurError, match="'m\\*k' .* is a part of none"):
        fold_parts(listed, Fold(names={"A": "m*k"}), PartOrigins(plank))
    with pytest.raises(TorseurError, match="'theta' is a quantity"):
        fold_parts(listed, Fold(names={"theta": "m*h"}), PartOrigins(plank))
    with pytest.raises(TorseurError, match="no part 'S99'"):
        fold_parts(listed, Fold(1, opened=("S99",)), PartOrigins(plank))
    with pytest.raises(TorseurError, match="depth is -1"):
        Fold(-1)
    with pytest.raises(UnsupportedError, match="SymPy program of the intrinsic level"):
        ts.write_equations(plank, "intrinsic", "sympy", fold=Fold(1))
