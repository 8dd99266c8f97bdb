"""Readable equations say the same as the equations: every text is evaluated again and compared."""

from __future__ import annotations

import math
import random
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import torseur as ts
from torseur.algebra.graph import evaluate, symbol, symbols_of
from torseur.algebra.graph import scalar as s
from torseur.computation.functions import program_of
from torseur.derivation.equations.terms.origins import Shares
from torseur.derivation.equations.terms.polynomial import TooManyTerms, expand
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.description import library
from torseur.presentation.typesetting.latex import latex
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.read_graph import (
    factored_form,
    literal_form,
    read_name,
    readable_form,
    term_sources,
)
from torseur.presentation.typesetting.recursion import definitions, lines

a, b, x, y, z = (symbol(name) for name in "abxyz")
NAMES = [entry.name for entry in library.entries()]
FUNCTIONS = {name: getattr(math, name) for name in ("sin", "cos", "sqrt", "exp", "tanh", "log", "atan2")}
FUNCTIONS |= {"pi": math.pi, "where": lambda c, u, v: u if c else v, "lt": lambda u, v: u < v, "max": max, "abs": abs}


def identifier(name: str) -> str:
    """A name that Python accepts in place of one of the language's."""
    return re.sub(r"\W", lambda m: f"_{ord(m[0])}_", name)


def value_of(text: str, values: dict[str, float]) -> float:
    """The number a text stands for, by Python's own parser."""
    names = re.compile(r"[A-Za-z_][\w.]*'*")
    code = names.sub(lambda m: m[0] if m[0] in FUNCTIONS else identifier(m[0]), text).replace("^", "**")
    return float(eval(code, {**FUNCTIONS, **{identifier(k): v for k, v in values.items()}}))


def state(expressions, seed: int = 0) -> dict:
    """Random values for all symbols."""
    source = random.Random(seed)
    return {symbol: source.uniform(0.3, 1.2) for symbol in symbols_of(expressions)}


def expressions() -> st.SearchStrategy:
    leaves = st.sampled_from([a, b, x, y, z, ts.PI]) | st.integers(-3, 3).map(lambda n: x * 0 + n)
    pairs = lambda inner: st.tuples(inner, inner)  # noqa: E731
    return st.recursive(
        leaves,
        lambda inner: (
            pairs(inner).map(lambda p: p[0] + p[1])
            | pairs(inner).map(lambda p: p[0] - p[1])
            | pairs(inner).map(lambda p: p[0] * p[1])
            | st.sampled_from([x, y, z, x + y]).flatmap(lambda q: st.sampled_from([s.sin(q), s.cos(q)]))
            | inner.map(lambda e: e / (a + 2))
            | inner.map(lambda e: -e)
            | inner.map(lambda e: e * e)
        ),
        max_leaves=12,
    )


@given(expressions())
def test_shortened_text_has_the_same_value(expression):
    values = state([a, b, x, y, z, expression])
    expected = float(evaluate([expression], values)[0])
    by_name = {str(symbol.name): value for symbol, value in values.items()}
    for node in (readable_form(expression), literal_form(expression)):
        assert value_of(plain_text(node), by_name) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(expressions(), expressions())
def test_equal_polynomials_cancel(first, second):
    """(p + q)² - p² - 2 p q - q² has no terms at all."""
    with suppress(TooManyTerms):
        assert expand((first + second) ** 2 - first**2 - 2 * first * second - second**2, 2000) == {}


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (s.sin(x) ** 2 * a + a * s.cos(x) ** 2, "a"),
        (a * s.sin(x) * s.cos(y) + a * s.cos(x) * s.sin(y), "a*sin(x + y)"),
        (s.cos(x) * s.cos(y) + s.sin(x) * s.sin(y), "cos(x - y)"),
        (s.sin(x) * s.cos(y) - s.cos(x) * s.sin(y), "sin(x - y)"),
        (s.cos(x) * s.cos(y) - s.sin(x) * s.sin(y), "cos(x + y)"),
        (s.cos(x + y) * s.cos(z) - s.sin(x + y) * s.sin(z), "cos(x + y + z)"),
        (a * x + b * x, "(a + b)*x"),
        (a - b, "a - b"),
        (-(a / b), "-a/b"),
        (a / (x + y), "a/(x + y)"),
        (x * 0, "0"),
    ],
)  # fmt: skip
def test_text_is_the_one_an_engineer_writes(expression, text):
    """Oracle: trigonometry by hand."""
    assert plain_text(readable_form(expression)) == text


def test_what_is_given_stands_before_what_is_looked_for():
    """Oracle: a pendulum hauled up at a given speed, (l - v t) θ'' - 2 v θ'; a bead on a parabola, (1 + 4 a² x²) x''."""
    length, v, arc = symbol("l", "m"), symbol("v", "m/s"), symbol("a", "1/m")
    x, th1, th2, x2 = symbol("x", "m"), symbol("th'", "rad/s"), symbol("th''", "rad/s^2"), symbol("x''", "m/s^2")
    hauled = (length - v * ts.TIME) * th2 - 2 * v * th1
    assert plain_text(readable_form(hauled)) == "(l - v*t)*th'' - 2*v*th'"
    assert plain_text(readable_form((1 + 4 * arc**2 * x**2) * x2)) == "(1 + 4*a^2*x^2)*x''"
    push = symbol("m", "kg") * s.sin(symbol("al", "rad")) * ts.UndeterminedFunction("tau", 1)(ts.TIME)
    assert plain_text(readable_form(push)) == "m*tau(t)*sin(al)"


def test_sources_of_terms_stand_in_the_order_of_the_terms():
    """A positive spring is put before a negative damper: each keeps its own source."""
    k, c, x = symbol("k", "N/m"), symbol("c", "N*s/m"), symbol("x", "m")
    polynomial = expand(k * x - c * symbol("x'", "m/s"))
    assert plain_text(factored_form(polynomial)) == "k*x - c*x'"
    assert [[f.name for f, _ in term] for (term,) in term_sources(polynomial)] == [["k", "x"], ["c", "x'"]]


def test_names_carry_primes_and_multipliers():
    assert (read_name("q1''").text, read_name("q1''").dots) == ("q1", 2)
    assert read_name("lambda.joint 'wrist': x").text == "lambda_wrist_x"


def test_too_many_terms_are_refused():
    with pytest.raises(TooManyTerms, match="more than 10 terms"):
        few_terms((a + b + x + y + z + 1) ** 4, 10)


@pytest.mark.parametrize("name", NAMES)
def test_shares_add_up_to_the_equations(name):
    """Oracle: M v' + b - Q as the recursion gives it for all bodies and loads together."""
    equations = ts.derive(library.load(name))
    shares = Shares(equations).all
    functions = {f.data.function.name: lambda *given: 0.7 + sum(given) for f in equations.undetermined}
    rows = [row for share in shares for row in share.rows]
    # The mechanism's own parameters: roots of random ones may not exist.
    given = {
        p.symbol: float(p.value) for p in equations.mechanism.parameters if p.value is not None and p.value.is_constant
    }
    values = state([*equations.residual, *rows]) | given
    expected = evaluate(list(equations.residual), values, functions)
    found = evaluate(rows, values, functions)
    n = len(expected)
    totals = [sum(float(found[k]) for k in range(i, len(found), n)) for i in range(n)]
    assert totals == pytest.approx([float(e) for e in expected], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["double_pendulum", "puma560", "pendulum_chain?n=6", "spinning_top", "free_body"])
def test_lines_of_the_recursion_give_the_forces(name):
    """Each line is evaluated by Python in the order printed; oracle: the program evaluated on the graph."""
    equations = ts.derive(library.load(name))
    program = program_of(equations, ["inverse_dynamics"])
    symbols = [node for group in program.inputs for node in group.nodes]
    values = state(symbols)
    expected = program.evaluate({g.name: [values[node] for node in g.nodes] for g in program.inputs})["tau"]
    known = {str(symbol.name): value for symbol, value in values.items()}
    listed = lines(program, {"tau": [f"result_{k}" for k in range(len(expected))]})
    for line in listed:
        known[plain_text(line.left)] = value_of(plain_text(line.right), known)
    assert [known[f"result_{k}"] for k in range(len(expected))] == pytest.approx([float(e) for e in expected], rel=1e-9)


@pytest.mark.parametrize("name", ["pendulum_chain?n=7", "puma560"])
def test_long_entries_are_broken_up_by_names(name):
    """Lines and entries are evaluated by Python in the order printed; oracle: the graph."""
    equations = ts.derive(library.load(name))
    entries = [equations.bias[0], equations.bias[1], equations.mass_matrix[0][0]]
    values = state(entries)
    known = {str(symbol.name): value for symbol, value in values.items()}
    listed, nodes = definitions(entries)
    assert listed
    for line in listed:
        known[plain_text(line.left)] = value_of(plain_text(line.right), known)
    found = [value_of(plain_text(node), known) for node in nodes]
    assert found == pytest.approx([float(e) for e in evaluate(entries, values)], rel=1e-9)
    assert max(len(plain_text(line.right)) for line in listed) < 400


def test_every_line_of_the_recursion_has_its_own_name():
    listed = lines(program_of(ts.derive(library.load("quadruped")), ["mass_matrix"]))
    names = [plain_text(line.left) for line in listed]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("expression", "source"),
    [
        (symbol("q1''") * symbol("m_arm"), r"m_{\mathrm{arm}} \, \ddot{q}_{1}"),
        (a / b, r"\frac{a}{b}"),
        (s.sin(symbol("theta")) ** 2, r"\sin^{2} \theta"),
        (s.sqrt(a) + x, r"x + \sqrt{a}"),
        (-(a + b) * x, r"-\left(a + b\right) \, x"),
        (symbol("arm.mass"), r"m_{\mathrm{arm}}"),
        (symbol("l"), r"\ell"),
    ],
)  # fmt: skip
def test_latex_source(expression, source):
    """Oracle: LaTeX by hand."""
    assert latex(readable_form(expression)) == source


def test_conditions_read_as_in_a_description():
    node = readable_form(s.where(x + 1 <= y, x, 0) + s.where(y < x, 1, 2))
    assert plain_text(node) == "where(y < x, 1, 2) + where((1 + x) <= y, x, 0)"
    assert r"y < x" in latex(node) and r"\le y" in latex(node)


def test_the_square_of_a_square_root_is_what_was_under_it():
    root = s.sqrt(1 + x * x)
    assert plain_text(readable_form(y / root / root)) == "y/(1 + x^2)"
    assert plain_text(readable_form(y * root**3)) == "y*sqrt(1 + x^2)^3"
