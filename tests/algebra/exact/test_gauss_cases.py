"""Elimination with cases. Oracles: the slide of Papegay's talk, and ranks of numbers put in at random points."""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy as sp

import torseur as ts
from torseur.algebra.exact import gauss_cases
from torseur.algebra.exact.engines import TooLarge
from torseur.errors import UnsupportedError

x, y, a, b, c = sp.symbols("x y a b c")
SLIDE = [[x, 1, 0], [0, 0, 1], [1, y, 1]]


def test_the_slide():
    """Printed for x ≠ 0 and otherwise; the slide does not ask whether x y = 1, where its second pivot vanishes."""
    cases = ts.algebra.eliminate(SLIDE).cases
    assert cases[0].matrix == sp.Matrix([[x, 1, 0], [0, (x * y - 1) / x, 1], [0, 0, 1]])
    assert cases[2].matrix == sp.Matrix([[1, y, 1], [0, 1, 0], [0, 0, 1]])
    assert [(str(c.conditions[-1]), c.rank) for c in cases] == [("x*y - 1 != 0", 3), ("x*y - 1 = 0", 2), ("x = 0", 3)]


def test_undetermined_functions_are_entries_too():
    """On the slide x(t) was refused: "matrix entries must be rational polynomials"."""
    t = sp.Symbol("t")
    named = ts.algebra.eliminate([[sp.Function("x")(t), 1, 0], [0, 0, 1], [1, y, 1]])
    assert [(str(case.conditions[0]), case.rank) for case in named.cases] == [
        ("x(t) != 0", 3),
        ("x(t) != 0", 2),
        ("x(t) = 0", 3),
    ]


def test_constraints_prune_cases():
    assert [case.rank for case in ts.algebra.eliminate(SLIDE, constraints=[x * y - 1]).cases] == [2]
    assert [case.rank for case in ts.algebra.eliminate(SLIDE, nonzero=[x, x * y - 1]).cases] == [3]
    assert len(ts.algebra.eliminate(SLIDE, pivots="sure").cases) == 2
    assert len(ts.algebra.eliminate([[x**2 + 1, 1]]).cases) == 1  # no real number makes it vanish
    rotation = [[sp.cos(a), -sp.sin(a)], [sp.sin(a), sp.cos(a)]]
    assert ts.algebra.eliminate(rotation).ranks == (2,)


def random_matrix(rng):
    entries = [0, 1, x, y, x * y - 1, x + y, sp.cos(a), sp.sin(a), x - 2, y / (x**2 + 1)]
    return [[rng.choice(entries) for _ in range(3)] for _ in range(3)]


ANGLES = [(1, 0), (0, 1), (-1, 0), (sp.Rational(3, 5), sp.Rational(4, 5))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_every_point_lies_in_one_case_with_its_rank(seed):
    """Points with small values and right angles hit special cases often."""
    rng = random.Random(seed)
    matrix = random_matrix(rng)
    cases = ts.algebra.eliminate(matrix).cases
    for _ in range(15):
        cosine, sine = rng.choice(ANGLES)
        point = {x: rng.choice([-1, 0, 1, 2]), y: rng.choice([-1, 0, 1, sp.Rational(1, 2)])}
        named = {sp.cos(a): cosine, sp.sin(a): sine, **point}
        here = [k for k in cases if all((q.expression.subs(named) == 0) == q.vanishes for q in k.conditions)]
        assert len(here) == 1
        own = sp.Matrix(matrix).subs({sp.cos(a): cosine, sp.sin(a): sine}).subs(point)
        assert here[0].rank == own.rank()
        assert own.col_join(here[0].matrix.subs(named)).rank() == here[0].rank  # the same row space


def test_salt_cellar_has_ranks_three_two_and_one():
    """The matrix of the slide; rank 3 for free angles, 2 on its branches, 1 where they cross."""
    s, k = sp.sin, sp.cos
    matrix = [[0, -s(b), s(c)], [k(a) * s(b), s(a) * k(b), 0], [-s(a) * s(b), k(a) * k(b), -k(c)]]
    assert ts.algebra.eliminate(matrix).ranks == (3, 2, 1)


@pytest.mark.parametrize(
    ("matrix", "options", "said"),
    [
        ([[sp.exp(x)]], {}, r"row 1, column 1: exp\(x\) is no rational function"),
        ([[sp.Piecewise((x, x > 0), (1, True))]], {}, "Piecewise.* is no rational function"),
        ([[1, 2], [3]], {}, "one length"),
        ("A", {}, "expected a matrix"),
        ([["x"]], {}, "neither a number nor an expression"),
        (SLIDE, {"constraints": [x, x - 1]}, "no common zero"),
        (SLIDE, {"constraints": x}, "a list of expressions"),
        (SLIDE, {"pivots": "best"}, "unknown choice of pivots 'best'"),
        ([[sp.cos(x * y)]], {}, "no trigonometric polynomial"),
    ],
)
def test_bad_input(matrix, options, said):
    with pytest.raises(UnsupportedError, match=said):
        ts.algebra.eliminate(matrix, **options)


def test_forms_are_in_the_symbols_that_were_given():
    """Sines, functions, roots and pi come back as SymPy's own: a number put in for the angle gives the rank there."""
    t, w = sp.symbols("t w")
    matrix = sp.Matrix([[sp.cos(a), sp.sqrt(2) * w], [sp.Function("f")(t), sp.pi]])
    case = ts.algebra.eliminate(matrix).cases[0]
    assert sp.simplify(case.matrix.det() - matrix.det()) == 0
    assert case.conditions[0].expression == sp.cos(a)
    assert [k.rank for k in ts.algebra.eliminate([[w, sp.sqrt(2)], [sp.sqrt(2), w]]).cases] == [2, 1, 2]
    assert ts.algebra.eliminate([[sp.pi**2 - 2]]).ranks == (1,)


def test_equations_are_constraints_and_denominators_are_named():
    assert ts.algebra.eliminate(SLIDE, constraints=[sp.Eq(x * y, 1)]).ranks == (2,)
    quotient = ts.algebra.eliminate([[sp.tan(a), 1 / x]])
    assert set(quotient.denominators) == {sp.cos(a), x}
    assert str(quotient).startswith("where ") and "x != 0" in str(quotient)


def test_what_computes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(gauss_cases, "SECONDS", 0)
    with pytest.raises(UnsupportedError, match="of computing in 4 variables.*give symbols values"):
        ts.algebra.eliminate(sp.Matrix(2, 2, sp.symbols("k1:5")))


def test_matrices_of_numbers_have_one_case():
    assert ts.algebra.eliminate([[0.1, 0.2], [0.3, 0.6]]).ranks == (1,)
    assert ts.algebra.standard_basis([3]).is_everything and ts.algebra.standard_basis([0]).dimension == 0


def test_what_sympy_knows_to_be_positive_is_not_asked():
    p, q = sp.symbols("p q", positive=True)
    assert len(ts.algebra.eliminate([[p, x], [1, y]]).cases) == 2  # p y = x or not
    assert len(ts.algebra.eliminate([[p * x**2 + q, 1]]).cases) == 1
    assert len(ts.algebra.eliminate([[p * x - q, 1]]).cases) == 2


@pytest.mark.slow
def test_general_matrices_have_a_case_for_every_echelon_form():
    """Of entries without relation: each point lies in one case, with the rank that NumPy finds."""
    cases = ts.algebra.eliminate(sp.Matrix(2, 3, sp.symbols("k1:7"))).cases
    for values in range(0, 3**6, 7):
        point = {f"k{i + 1}": values // 3**i % 3 - 1 for i in range(6)}
        own = {s: point[s.name] for s in sp.symbols("k1:7")}
        holding = [k for k in cases if all((c.expression.subs(own) == 0) == c.vanishes for c in k.conditions)]
        assert len(holding) == 1
        assert holding[0].rank == np.linalg.matrix_rank(np.reshape([*point.values()], (2, 3)))


def test_a_question_whose_basis_takes_too_long_is_kept(monkeypatch):
    def too_long(*given, **named):
        raise TooLarge("too long")

    whole = ts.algebra.eliminate([[x, 1], [x * y, y]])
    monkeypatch.setattr("torseur.algebra.exact.gauss_cases.no_common_zero", too_long)
    kept = ts.algebra.eliminate([[x, 1], [x * y, y]])
    assert {case.conditions for case in whole.cases} <= {case.conditions for case in kept.cases}
    assert kept.ranks == whole.ranks == (1,)


def test_entries_that_grow_too_long_are_refused_before_they_are_factored():
    general = sp.Matrix(6, 6, sp.symbols("m1:37"))
    with pytest.raises(UnsupportedError, match="entries grow beyond what SymPy factors"):
        ts.algebra.eliminate(general)
