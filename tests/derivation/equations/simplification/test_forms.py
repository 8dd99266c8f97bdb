"""Grouping, Horner's form, small motions, solutions. Oracles: SymPy's own series, horner and dsolve, and numbers."""

from __future__ import annotations

import random

import pytest
import sympy

import torseur as ts
from torseur.algebra.graph import evaluate, symbol, symbols_of, to_sympy
from torseur.algebra.graph import scalar as s
from torseur.derivation.equations.simplification import (
    factor,
    group_parameters,
    horner,
    linear_form,
    small_motion_form,
    solve_accelerations,
    solve_motion,
)
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError

x, y, a, b = (symbol(name) for name in "xyab")


def same(first, second):
    chance = random.Random(5)
    values = {one: chance.uniform(0.2, 1.5) for one in symbols_of([first, second])}
    left, right = evaluate([first, second], values)
    assert left == pytest.approx(right, rel=1e-12, abs=1e-12)


def test_horner_has_the_value_and_the_products_of_sympys():
    cubic = 3 * x**3 + a * x**2 - b * x + 2
    found = horner(cubic, x)
    same(found, cubic)
    assert to_sympy([found])[0].count_ops() <= sympy.horner(to_sympy([cubic])[0], wrt=to_sympy([x])[0]).count_ops() + 1
    with pytest.raises(TorseurError, match="denominator"):
        horner(1 / x, x)


def test_factor():
    product = factor(x**2 - y**2)
    same(product, (x - y) * (x + y))
    assert product.op == "mul"


@pytest.mark.parametrize("order", [1, 2, 3])
def test_small_motions_are_sympys_series(order):
    """Oracle: SymPy's Taylor series in a common small factor."""
    expression = a * s.sin(x) * s.cos(y) + b * s.cos(x + y) + x * y * a
    found = to_sympy([small_motion_form(expression, {x, y}, order)])[0]
    epsilon = sympy.Symbol("epsilon")
    whole, sx, sy = to_sympy([expression, x, y])
    series = sympy.series(whole.subs({sx: epsilon * sx, sy: epsilon * sy}), epsilon, 0, order + 1).removeO()
    assert sympy.expand(found - series.subs(epsilon, 1)) == 0


def test_linear_form_is_the_tangent():
    constant, slopes = linear_form([s.sin(x) * a + y], {x: 0, y: 1})
    assert [str(e) for e in constant] == ["1"]
    assert [str(e) for row in slopes for e in row] == ["a", "1"]


def test_grouped_parameters_give_the_same_equations():
    """Oracle: definitions put back, at random numbers."""
    equations = ts.derive(library.load("double_pendulum"))
    rows = [few_terms(row) for row in equations.residual]
    found = group_parameters(rows, equations.layout.parameters)
    chance = random.Random(2)
    values = {one: chance.uniform(0.2, 1.5) for one in symbols_of(equations.residual)}
    for name, meaning in found.definitions:
        values[name] = number(meaning, values)
    expected = evaluate(equations.residual, {k: v for k, v in values.items() if k in symbols_of(equations.residual)})
    assert [number(row, values) for row in found.rows] == pytest.approx(expected, rel=1e-12)
    assert len(found.definitions) == 5  # r2²(m1+m2), m2 r2 l2, m2 l2², g r2 (m1+m2), m2 g l2
    used = {f for row in found.rows for term in row for f, _ in term}
    assert not used & set(equations.layout.parameters)


def number(polynomial, values):
    total = 0.0
    for term, coefficient in polynomial.items():
        part = float(coefficient)
        for one, exponent in term:
            part *= evaluate([one], {k: values[k] for k in symbols_of([one])})[0] ** exponent
        total += part
    return total


def test_accelerations_in_closed_form():
    """Oracle: the equations of motion vanish."""
    equations = ts.derive(library.load("double_pendulum"))
    solved = solve_accelerations(equations)
    chance = random.Random(3)
    values = {str(one.name): chance.uniform(0.2, 1.5) for one in symbols_of(equations.residual)}
    for name, formula in solved.items():
        values[name] = float(formula.subs({one: values[one.name] for one in formula.free_symbols}))
    found = evaluate(equations.residual, {one: values[str(one.name)] for one in symbols_of(equations.residual)})
    assert found == pytest.approx([0, 0], abs=1e-9)
    with pytest.raises(UnsupportedError, match="6 speeds"):
        solve_accelerations(ts.derive(library.load("puma560")))


def test_motion_of_a_linear_equation():
    """Oracle: the solution put back into m x'' + c x' + k x = 0 by SymPy."""
    solution = solve_motion(ts.derive(library.load("mass_spring_damper")))
    t = sympy.Symbol("t")
    equations = ts.derive(library.load("mass_spring_damper"))
    (row,) = to_sympy(equations.residual)
    names = {str(one): one for one in row.free_symbols}
    motion = solution.rhs
    back = row.subs({names["x''"]: motion.diff(t, 2), names["x'"]: motion.diff(t), names["x"]: motion})
    numbers = {one: 0.7 + 0.1 * k for k, one in enumerate(sorted(back.free_symbols, key=str))}
    assert abs(complex(back.subs(numbers))) < 1e-9
    with pytest.raises(UnsupportedError, match="not linear"):
        solve_motion(ts.derive(library.load("pendulum")))


@pytest.mark.slow
def test_accelerations_of_four_speeds_as_formulas():
    """Oracle: the linear system M v' + b = Q, at random numbers, on a cart with three links."""
    equations = ts.derive(library.load("cart_pendulum?n=3"))
    solved = solve_accelerations(equations)
    chance = random.Random(5)
    states = {one: chance.uniform(0.3, 1.2) for one in symbols_of(equations.residual)}
    spelled = {str(one.name): value for one, value in states.items()}
    for acceleration in equations.layout.accelerations:
        formula = solved[str(acceleration.name)]
        states[acceleration] = float(formula.subs({s: spelled[s.name] for s in formula.free_symbols}))
    assert evaluate(equations.residual, states) == pytest.approx([0] * 4, abs=1e-9)
