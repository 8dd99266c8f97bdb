"""Standard bases, dimensions and syzygies. Oracles: SymPy's own bases, varieties of the textbooks, M N = 0."""

from __future__ import annotations

import shutil
import stat
import sys

import pytest
import sympy as sp

import torseur as ts
from torseur.algebra.exact import engines
from torseur.errors import UnsupportedError

x, y, z, t, a, b = sp.symbols("x y z t a b")


def monic(polynomials, order):
    return {sp.Poly(p / sp.LC(p, x, y, z, order=order), x, y, z) for p in polynomials}


@pytest.mark.parametrize("order", ["grevlex", "grlex", "lex"])
def test_bases_are_those_of_sympy(order):
    """Reduced bases are unique up to factors."""
    given = [x**2 * y - z + 1, x * y**2 - z**2, 2 * z**3 - x / 3]
    own = ts.algebra.standard_basis(given, order=order)
    other = sp.groebner(given, x, y, z, order=order)
    assert monic(own.polynomials, order) == monic(other.exprs, order)
    probe = x**3 * y**2 + z**2 * x / 7 - y
    assert sp.expand(own.remainder(probe) - other.reduce(probe)[1]) == 0


# Hartshorne, Algebraic Geometry, chapter I; Cox, Little, O'Shea, Ideals, Varieties, and Algorithms, chapter 9.
VARIETIES = {
    "sphere": ([x**2 + y**2 + z**2 - 1], 2, "d**2 + 2*d + 1", 2),
    "twisted cubic": ([y - x**2, z - x**3], 1, "3*d + 1", 3),
    "two planes": ([x * y], 2, "d**2 + 2*d + 1", 2),
    "line and plane": ([x * z, y * z], 2, "d**2/2 + 5*d/2 + 1", 1),
    "four points": ([x * y - 1, x**2 + y**2 - 4, z], 0, "4", 4),
    "double point": ([x**2, y, z], 0, "2", 2),
    "nothing": ([x, x - 1], -1, "0", 0),
}


@pytest.mark.parametrize("name", VARIETIES)
def test_textbook_dimensions_and_hilbert_polynomials(name):
    polynomials, dimension, hilbert, degree = VARIETIES[name]
    basis = ts.algebra.standard_basis(polynomials, variables=[x, y, z])
    assert (basis.dimension, basis.hilbert.degree) == (dimension, degree)
    assert sp.expand(basis.hilbert.polynomial - sp.sympify(hilbert)) == 0
    assert len(basis.independent) == max(dimension, 0)


def test_hilbert_function_counts_monomials():
    """H(d) by listing the monomials that no leading one divides."""
    basis = ts.algebra.standard_basis([x**2 * y - 1, y**3 - x, x * z])
    stairs = basis.staircase
    for degree in range(6):
        left = [
            m for m in [(i, j, k) for i in range(degree + 1) for j in range(degree + 1) for k in range(degree + 1)]
            if sum(m) <= degree and not any(all(u <= v for u, v in zip(s, m, strict=True)) for s in stairs)
        ]  # fmt: skip
        assert basis.hilbert.value(degree) == len(left)


def test_the_division_of_the_slide():
    """P = X⁶Y³ + X⁵Y - X²Y² reduces to 0 by the standard basis of X⁵ and X³Y - Y², which has four stairs."""
    X, Y = sp.symbols("X Y")
    basis = ts.algebra.standard_basis([X**5, X**3 * Y - Y**2])
    assert basis.staircase == ((0, 3), (2, 2), (3, 1), (5, 0))
    assert basis.contains(X**6 * Y**3 + X**5 * Y - X**2 * Y**2)


def test_circles_belong_to_the_ideal_and_vanishing_is_more_than_membership():
    basis = ts.algebra.standard_basis([x - sp.cos(a), y - sp.sin(a)])
    assert basis.contains(x**2 + y**2 - 1)
    assert basis.dimension == 1
    square = ts.algebra.standard_basis([x**2])
    assert not square.contains(x)
    assert square.vanishes(x)


def apart(matrix, relations):
    gens = sorted({s for e in [*matrix, *relations] for s in e.free_symbols}, key=str)
    return [sp.reduced(sp.expand(e), relations, *gens)[1] if relations else sp.expand(e) for e in matrix]


def test_syzygies_of_koszul_and_of_hilbert_burch():
    """Of (x, y, z) the three relations of Koszul; of the minors of [[x, y, z], [y, z, t]] the rows themselves."""
    koszul = ts.algebra.syzygies([[x, y, z]])
    assert koszul.count == 3
    assert apart(sp.Matrix([[x, y, z]]) * koszul.matrix, []) == [0, 0, 0]
    minors = [[x * z - y**2, x * t - y * z, y * t - z**2]]
    two = ts.algebra.syzygies(minors)
    assert two.count == 2
    assert apart(sp.Matrix(minors) * two.matrix, []) == [0, 0]


def test_syzygies_with_symbolic_lengths_and_more_than_nine_variables():
    """Two bars with lengths l and m and a slider: one motion for all values; four angles in a chain: M N = 0."""
    l, m = sp.symbols("l m")
    rows = [[-l * sp.sin(a), -m * sp.sin(b), -1], [l * sp.cos(a), m * sp.cos(b), 0]]
    own = ts.algebra.syzygies(rows)
    assert own.count == 1
    angles = sp.symbols("q1:5")
    lengths = sp.symbols("l1:5")
    chain = [
        [-k * sp.sin(q) for k, q in zip(lengths, angles, strict=True)],
        [k * sp.cos(q) for k, q in zip(lengths, angles, strict=True)],
    ]
    long = ts.algebra.syzygies(chain)
    assert len(long.ring.variables) == 12
    values = {v: sp.Rational(k + 2, 7) for k, v in enumerate(lengths)}
    values |= {q: k + 1 for k, q in enumerate(angles)}
    numbers = sp.Matrix(chain).subs(values).evalf(30)
    columns = long.matrix.subs(values).evalf(30)
    assert max(abs(e) for e in numbers * columns) < 1e-25
    assert columns.rank(iszerofunc=lambda e: abs(e) < 1e-20) == 2


def test_syzygies_modulo_equations():
    """[x, y] has the relation (y, -x); where x y = 0 also (y, 0) and (0, x)."""
    free, closed = ts.algebra.syzygies([[x, y]]), ts.algebra.syzygies([[x, y]], modulo=[x * y])
    assert (free.count, closed.count) == (1, 2)
    assert {tuple(closed.matrix[:, k]) for k in range(2)} == {(y, 0), (0, x)}


FAKE = """#!/bin/sh
cat > /dev/null
printf '{answer}'
"""


@pytest.mark.parametrize(("answer", "fits"), [("x1-1,\\nx0-1\\n", True), ("x1-1,\\nx0-2\\n", False)])
def test_another_engine_is_found_at_run_time_and_checked(answer, fits, tmp_path, monkeypatch):
    """A stand-in for Singular on the path, with a right and a wrong answer."""
    program = tmp_path / "Singular"
    program.write_text(FAKE.format(answer=answer), encoding="ascii")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    given = [x - 1, y - x]
    if fits:
        basis = ts.algebra.standard_basis(given, engine="singular")
        assert (basis.engine, {*basis.polynomials}) == ("singular", {x - 1, y - 1})
    else:
        with pytest.raises(UnsupportedError, match="no standard basis of what was given"):
            ts.algebra.standard_basis(given, engine="singular")


@pytest.mark.skipif(shutil.which("Singular") is None, reason="Singular is not installed")
def test_singular_agrees():
    given = [x**2 * y - z + 1, x * y**2 - z**2, 2 * z**3 - x]
    own, other = (ts.algebra.standard_basis(given, engine=engine) for engine in ("flint", "singular"))
    assert own.polynomials == other.polynomials


@pytest.mark.skipif(shutil.which("msolve") is None, reason="msolve is not installed")
def test_msolve_agrees():
    given = [x**2 * y - z + 1, x * y**2 - z**2, 2 * z**3 - x]
    own, other = (ts.algebra.standard_basis(given, engine=engine) for engine in ("flint", "msolve"))
    assert own.polynomials == other.polynomials


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ts.algebra.standard_basis([]), "expected a list of polynomials"),
        (lambda: ts.algebra.standard_basis([1 / x]), "denominator x"),
        (lambda: ts.algebra.standard_basis([sp.sqrt(x)]), r"sqrt\(x\) is no rational function"),
        (lambda: ts.algebra.standard_basis([x * sp.cos(x)]), "occurs as an angle and outside"),
        (lambda: ts.algebra.standard_basis([x], order="revlex"), "unknown order 'revlex'"),
        (lambda: ts.algebra.standard_basis([x], engine="maple"), "unknown engine 'maple'"),
        (lambda: ts.algebra.standard_basis([x], variables=["y"]), "unknown variable 'y'"),
        (lambda: ts.algebra.standard_basis([x * y - 1], order="lex").hilbert, "does not follow degrees"),
        (lambda: ts.algebra.syzygies([[x, sp.log(y)]]), r"column 2: log\(y\)"),
        (lambda: ts.algebra.standard_basis([x]).contains(y), "'y' is no variable of the basis"),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(UnsupportedError, match=said):
        call()


@pytest.mark.slow
def test_a_basis_is_limited_by_computing_and_not_by_the_clock(monkeypatch):
    """A program that sleeps is not stopped where one that computes is: another's load changes no answer."""
    sleeping = [sys.executable, "-c", "import time; time.sleep(1.5); print('done')"]
    assert engines._limited(sleeping, "", 1).stdout == "done\n"
    if sys.platform != "win32":
        with pytest.raises(TimeoutError):
            engines._limited([sys.executable, "-c", "while True: pass"], "", 1)


def test_marks_of_columns_are_apart_from_symbols_of_entries():
    t, e = sp.symbols("t_0 e_0")
    assert ts.algebra.syzygies([[t, e]]).matrix in (sp.Matrix([e, -t]), sp.Matrix([-e, t]))


def test_a_program_for_bases_is_asked_before_python_flint_takes_its_half_minute(tmp_path, monkeypatch):
    """Cyclic 6, beyond what python-flint answers at once: any program named Singular is then the next."""
    program = tmp_path / "Singular"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexit 1\n", encoding="ascii")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("torseur.algebra.exact.engines.FLINT_SECONDS", 1)
    v = sp.symbols("v0:6")
    cyclic = [sum(sp.prod([v[(i + j) % 6] for j in range(d)]) for i in range(6)) for d in range(1, 6)] + [
        sp.prod(v) - 1
    ]
    with pytest.raises(UnsupportedError, match="python-flint found no standard basis in 6 variables in 1 s"):
        ts.algebra.standard_basis(cyclic)
    assert (tmp_path / "asked").exists()
