"""Ranks by four methods. Oracles: the numbers printed on the slides, and matrices built to have a rank."""

from __future__ import annotations

import random

import pytest
import sympy as sp

import torseur as ts
from torseur.algebra.exact import flint_fractions
from torseur.errors import UnsupportedError

METHODS = ("gauss", "probabilistic", "modular", "probabilistic-modular")
x, y, a, b = sp.symbols("x y a b")
SLIDE = [
    [(x + y) / (x * y), (2 * x + y) / (1 + y**2), y / (x - y)],
    [(x - y) / x**2, 2 * x / (x**2 - y), x / (x - y**2)],
    [(x**2 - y**2) / (x * y), (x**2 + 1) / (x + y), y / x],
]


def test_the_slide_by_all_methods():
    assert [ts.algebra.rank(SLIDE, method).rank for method in METHODS] == [3, 3, 3, 3]


def test_the_numbers_printed_on_the_slides():
    """Its rational matrix is that of x = 71, y = 98, its modular one that of x = 440, y = 43 modulo 997."""
    printed = [
        ["169/6958", "48/1921", "-98/27"],
        ["-27/5041", "142/4943", "-71/9533"],
        ["-4563/6958", "5042/169", "98/71"],
    ]
    there = {x: 71, y: 98}
    assert ts.algebra.rank(SLIDE, "probabilistic", at=there).values == sp.Matrix(printed)
    assert ts.algebra.rank(SLIDE, "modular", at=there).values == [
        [4956134576065702263, 5098643920827501408, -740633107443783765484],
        [-1092918750585036102, 5861901873066152004, -1519740950307667542],
        [-133815633553773961101, 6087751929039491554788, 281649209872988192508],
    ]
    modular = ts.algebra.rank(SLIDE, "probabilistic-modular", at={x: 440, y: 43}, prime=997)
    assert modular.values == [[976, 319, 530], [172, 408, 299], [636, 149, 93]]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_products_have_the_rank_of_their_factors(method, rank):
    """P Q with P of `rank` columns that hold an identity."""
    rng = random.Random(rank)
    some = [x, y, sp.cos(a), sp.sin(a + b), sp.cos(2 * b), x * y - 1, 1 / (x + y), 2, 0]
    left = sp.eye(rank).col_join(sp.Matrix(4 - rank, rank, lambda i, j: rng.choice(some)))
    right = sp.eye(rank).row_join(sp.Matrix(rank, 4 - rank, lambda i, j: rng.choice(some)))
    result = ts.algebra.rank((left * right).tolist(), method, seed=rank)
    assert result.rank == rank
    assert result.error_probability < 1e-6
    assert str(rank) in str(result)


def test_large_matrices_are_eliminated_or_refused(monkeypatch):
    """Free entries: a full rank is seen at a point, one dependent row costs one; what grows too far is refused."""
    free = sp.Matrix(6, 6, sp.symbols("k1:37"))
    assert ts.algebra.rank(free).rank == 6
    free[5, :] = free[0, :] + x * free[3, :]
    assert ts.algebra.rank(free).rank == 5
    monkeypatch.setattr(flint_fractions, "MOST_PRODUCTS", 1000)
    with pytest.raises(UnsupportedError, match="'probabilistic-modular' answers at once"):
        ts.algebra.rank(free)


w, z = sp.sqrt(2), sp.Symbol("z")
POWERS = {
    "sums": lambda i, j: ((x, y, z)[i % 3] + (x, y, z)[j % 3] + i * j + 1) ** 11,
    "circles": lambda i, j: (sp.cos((x, y, z)[i % 3]) + sp.sin((x, y, z)[j % 3]) + i * j + 1) ** 11,
    "quotients": lambda i, j: ((x, y, z)[i % 3] + j + 1) ** 11 / ((x, y, z)[j % 3] + i + 2) ** 3,
    "roots": lambda i, j: (x + (i + 1) * w * y + j * z) ** 11,
}


@pytest.mark.parametrize("name", POWERS)
def test_dense_matrices_of_high_powers_end(name, monkeypatch):
    """5 x 5, the last row a sum of two others: nothing is expanded at a point, and elimination ends by its budget."""
    monkeypatch.setattr(flint_fractions, "MOST_PRODUCTS", 10**6)
    matrix = sp.Matrix(5, 5, POWERS[name])
    matrix[4, :] = matrix[0, :] + matrix[1, :]
    other = "probabilistic" if name == "roots" else "probabilistic-modular"
    at_a_point = ts.algebra.rank(matrix, other)
    assert at_a_point.rank == 4
    assert at_a_point.error_probability < 1e-6
    with pytest.raises(UnsupportedError, match=f"'{other}' answers at once"):
        ts.algebra.rank(matrix)


def test_denominators_with_roots_are_not_divided_by_unseen_zeros():
    """sqrt(5 + 2 sqrt(6)) is sqrt(2) + sqrt(3), which SymPy leaves as it stands."""
    assert ts.algebra.rank([[1 / (x + w), w], [w / (x + w), 2]]).rank == 1
    assert ts.algebra.rank([[1 / (x + w), w], [w / (x + w), 3]]).rank == 2
    nothing = 1 / (x * (sp.sqrt(5 + 2 * sp.sqrt(6)) - w - sp.sqrt(3)))
    with pytest.raises(UnsupportedError, match="vanish wherever|divides by an expression that is zero"):
        ts.algebra.rank([[nothing, 1], [nothing, 1]])


def test_exponents_and_multiples_beyond_all_memory_are_refused():
    huge = x ** (10**9)
    assert ts.algebra.rank([[huge, 1], [2 * huge, 2]]).rank == 1
    for method, entry, said in (("gauss", (x + y) ** (10**6), "multiplies more"), ("modular", huge, "up to .* bits")):
        with pytest.raises(UnsupportedError, match=said):
            ts.algebra.rank([[entry, 1], [2 * entry, 2]], method)
    with pytest.raises(UnsupportedError, match="row 1, column 1: .* too high a degree"):
        ts.algebra.rank([[sp.cos(10**6 * a), 1]])


def test_circles_and_roots_count():
    """cos² + sin² = 1 and sqrt(3)² = 3 are known, without which the ranks were 2."""
    root = sp.sqrt(3)
    assert ts.algebra.rank([[sp.cos(a) ** 2, 1], [1 - sp.sin(a) ** 2, 1]]).rank == 1
    assert ts.algebra.rank([[root, 3], [1, root]]).rank == 1
    assert ts.algebra.rank([[root, 3], [1, root]], "probabilistic").rank == 1
    assert ts.algebra.rank([[sp.cos(a / 2) ** 2, 1 + sp.cos(a)], [1, 2]]).rank == 1


def test_more_points_are_surer():
    matrix = [[x, y], [2 * x, 2 * y]]
    one, three = (ts.algebra.rank(matrix, "probabilistic", points=k).error_probability for k in (1, 3))
    assert three == pytest.approx(one**3)
    assert 0 < one < 1e-8
    assert ts.algebra.rank(matrix, "probabilistic", at={x: 1, y: 1}).error_probability is None


def test_expressions_of_ours_and_the_same_symbols_of_sympy():
    q = ts.symbol("q")
    assert ts.algebra.rank([[ts.cos(q), ts.sin(q)], [sp.cos(sp.Symbol("q")), sp.sin(sp.Symbol("q"))]]).rank == 1
    assert ts.algebra.rank([[0.1, 0.3], [0.2, 0.6]]).rank == 1  # decimals are what they are written as


def test_rank_where_equations_hold():
    """A matrix that is regular for free x and y loses rank on x y = 1, and all of it where x = y = 0."""
    matrix = [[x, 1], [1, y]]
    assert ts.algebra.rank_where(matrix, [x * y - 1]) == 1
    assert ts.algebra.rank_where([[x, y], [y, x]], [x**2, y]) == 0
    assert ts.algebra.rank_where(matrix, [x - y]) == 2
    with pytest.raises(UnsupportedError, match="no common solution"):
        ts.algebra.rank_where(matrix, [x, x - 1])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "best"}, "unknown method 'best'"),
        ({"method": "gauss", "at": {x: 1}}, "takes no point"),
        ({"method": "probabilistic", "at": {x: 1}}, "no value of 'y'"),
        ({"method": "probabilistic", "at": {x: 1, y: 1}}, "denominator vanishes"),
        ({"method": "probabilistic-modular", "prime": 998}, "no prime number"),
        ({"method": "probabilistic", "points": 0}, "at least 1"),
    ],
)
def test_bad_options(options, said):
    with pytest.raises(UnsupportedError, match=said):
        ts.algebra.rank(SLIDE, **options)
    with pytest.raises(UnsupportedError, match="modulo most primes"):
        ts.algebra.rank([[sp.sqrt(2), x]], "modular")
