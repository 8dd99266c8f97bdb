"""Systems with the zeros of a tree. Oracle: NumPy's solution of the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest

from torseur.algebra.graph import evaluate, symbol
from torseur.algebra.graph.solve import factorize

PARENTS = [-1, 0, 1, 2, 3, 3, 5, 6, 7, 3, 9, 10, 11, 2, 13, 14]
"""A trunk of four rows and three limbs of one, four and four, and one that leaves the trunk further in."""


def ancestors(k):
    found = [k]
    while PARENTS[found[-1]] >= 0:
        found.append(PARENTS[found[-1]])
    return found


@pytest.fixture(scope="module")
def system():
    n = len(PARENTS)
    entries = {(max(i, j), min(i, j)): None for i in range(n) for j in ancestors(i)}
    symbols = {place: symbol(f"a{place[0]}_{place[1]}") for place in entries}
    random = np.random.default_rng(3)
    values = np.zeros((n, n))
    for i, j in entries:
        values[i, j] = values[j, i] = random.uniform(-1, 1) + 8 * (i == j)
    rows = [[symbols.get((max(i, j), min(i, j)), 0) for j in range(n)] for i in range(n)]
    bound = {node: values[place] for place, node in symbols.items()}
    return factorize(rows, [f"v{k}" for k in range(n)]), values, bound


def number(columns, bound):
    flat = evaluate([entry for column in columns for entry in column], bound)
    return np.array(flat, dtype=float).reshape(len(columns), -1)


def test_columns_of_limbs(system):
    """Each column is zero outside its own limb and the trunk, as derivatives of a tree's forces are."""
    factors, matrix, bound = system
    random = np.random.default_rng(5)
    sides = np.zeros((len(PARENTS), len(PARENTS)))
    for k in range(len(PARENTS)):
        sides[k, ancestors(k)] = random.uniform(-1, 1, len(ancestors(k)))
    found = number(factors.solve_all(sides.tolist()), bound)
    assert found == pytest.approx(np.linalg.solve(matrix, sides.T).T, rel=1e-12, abs=1e-13)
    alone = number([factors.solve(side) for side in sides.tolist()], bound)
    assert alone == pytest.approx(found, rel=1e-12, abs=1e-13)


def test_many_columns_share_the_way_through_a_limb(system):
    """Rows of limbs that only follow are taken from the trunk, where enough columns do so."""
    factors, *_ = system
    sides = [[symbol(f"b{c}_{k}") if k < 4 else 0 for k in range(len(PARENTS))] for c in range(12)]
    shared = {node for column in factors.solve_all(sides) for node in column}
    plain = {node for side in sides for node in factors.solve(side)}
    assert count(shared) < count(plain)


def count(results):
    from torseur.algebra.graph import live_nodes

    return sum(1 for node in live_nodes(list(results)) if node.op == "mul")


def test_inverse(system):
    factors, matrix, bound = system
    assert number(factors.inverse_columns(), bound) == pytest.approx(np.linalg.inv(matrix), rel=1e-12, abs=1e-13)
