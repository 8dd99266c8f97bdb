"""Systems with many right sides in batches: limb by limb, against NumPy's solution of the full matrix."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import torseur as ts
from computation.codegen.test_batch import POINTER, WAYS, compiled
from torseur.algebra.graph import Input, Program, Solved, as_expr, matrix, symbol
from torseur.algebra.graph.solve import factorize
from torseur.computation.codegen.kernels.batch_kernel import compile_batch
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.codegen.targets.c.batch.c_limb_blocks import limbs_of
from torseur.computation.codegen.targets.c.c_compiler import find_compiler
from torseur.computation.functions.column_systems import system
from torseur.computation.functions.function_requests import programs_of
from torseur.derivation.equations.parameter_values import parameter_values
from torseur.description import library

HAND = [-1, 0, 1, *(2, 3), *(4, 5), *(4, 7), *(2, 9), *(10, 11), *(10, 13), *(2, 15, 16)]
TREES = {
    "one row": [-1],
    "a long chain": [k - 1 for k in range(10)],
    "two fingers on two arms": HAND,
    "two robots": [-1, 0, 1, -1, 3, 3, 4],
    "numbered by levels": [-1, 0, 0, 1, 1, 2, 2, 3, 4, 5],
}
"""The nearest row that carries each row."""


@pytest.fixture(autouse=True)
def short_programs_too(monkeypatch):
    monkeypatch.setattr("torseur.computation.codegen.targets.c.batch.c_batch.STRAIGHT", 0)


def carriers(parents, k):
    return () if parents[k] < 0 else (*carriers(parents, parents[k]), parents[k])


def touched(parents, j):
    """The rows in which column j of a derivative is not zero: what carries it, and what it carries."""
    return [k for k in range(len(parents)) if j in (k, *carriers(parents, k)) or k in carriers(parents, j)]


def program_of(parents, units):
    """x_j = -A⁻¹ b_j, where b_j depends on y = -A⁻¹ r, and columns of A⁻¹; beside them something known."""
    n = len(parents)
    places = [(k, i) for k in range(n) for i in (*carriers(parents, k), k)]
    a = {place: symbol(f"a_{place[0]}_{place[1]}") for place in places}
    r, s = [symbol(f"r{k}") for k in range(n)], [symbol(f"s{k}") for k in range(n + 1)]
    full = [[a.get((max(i, k), min(i, k)), as_expr(0)) for i in range(n)] for k in range(n)]
    factors = factorize(full, [f"row {k}" for k in range(n)])
    y = factors.solve([-x for x in r])
    sides = {
        j: [s[j] * y[k] + 0.5 * (k == j) if k in touched(parents, j) else as_expr(0) for k in range(n)]
        for j in range(n)
    }
    ones = {c: [as_expr(-(k == j)) for k in range(n)] for c, j in enumerate(units)}
    known = {(0, k * (n + 1) + n): s[n] * r[k] for k in range(n)}
    found = system(factors, [sides, ones], known)
    inputs = (Input("a", tuple(a.values())), Input("r", tuple(r)), Input("s", tuple(s)))
    solved = Solved(
        Program("terms", inputs, found.outputs),
        found.pattern,
        found.blocks,
        found.places,
        tuple(y),
        tuple((k, i, entry) for (k, i), entry in a.items()),
        tuple(r),
    )
    columns = factors.solve_all([[-x for x in sides[j]] for j in range(n)])
    x = [[*(column[k] for column in columns), known[0, k * (n + 1) + n]] for k in range(n)]
    inverse = factors.solve_all([[-x for x in column] for column in ones.values()])
    outputs = [matrix("x", x), matrix("inverse", [[column[k] for column in inverse] for k in range(n)])]
    return Program("columns", inputs, tuple(outputs), solved)


def states_of(parents, count):
    """Random positive matrices with the zeros of the tree, as LᵀL with L of its pattern."""
    random, n = np.random.default_rng(len(parents)), len(parents)
    full = np.zeros((count, n, n))
    for state in full:
        lower = np.diag(random.uniform(1, 2, n))
        for k in range(n):
            lower[k, list(carriers(parents, k))] = random.uniform(-0.5, 0.5, len(carriers(parents, k)))
        state[:] = lower.T @ lower
    places = [(k, i) for k in range(n) for i in (*carriers(parents, k), k)]
    a = np.array([full[:, k, i] for k, i in places])
    return full, {"a": a, "r": random.uniform(-1, 1, (n, count)), "s": random.uniform(-1, 1, (n + 1, count))}


def solutions(parents, units, full, values, i):
    n, s, r = len(parents), values["s"][:, i], values["r"][:, i]
    y = -np.linalg.solve(full[i], r)
    mask = np.array([[k in touched(parents, j) for j in range(n)] for k in range(n)])
    x = -np.linalg.solve(full[i], mask * np.outer(y, s[:n]) + 0.5 * np.eye(n))
    return np.hstack([x, s[n] * r[:, None]]), np.linalg.inv(full[i])[:, units]


@pytest.mark.parametrize("parents", TREES.values(), ids=TREES)
@pytest.mark.parametrize("all_units", [True, False])
def test_columns_against_the_full_matrix(parents, all_units):
    """Of A⁻¹ all columns, which are mirrored, or some."""
    units = range(len(parents)) if all_units else range(0, len(parents), 2)
    full, values = states_of(parents, 11)
    found = compile_batch(program_of(parents, list(units)), threads=1)(**values)
    for i in (0, 7, 10):
        for ours, theirs in zip(found.values(), solutions(parents, list(units), full, values, i), strict=True):
            assert np.abs(ours[..., i] - theirs).max() < 1e-13 * max(1.0, np.abs(theirs).max())


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_width_of_vectors(way, tmp_path):
    parents = TREES["two fingers on two arms"]
    full, values = states_of(parents, 19)
    n = len(parents)
    program = program_of(parents, list(range(n)))
    dll, (name, _, _), _ = compiled(Module("hands", (program,)), tmp_path, WAYS[way])
    outputs = [np.full((len(o), 19), np.nan) for o in program.outputs]
    arrays = [*(np.ascontiguousarray(values[g.name]) for g in program.inputs), *outputs]
    getattr(dll, name)(*(ctypes.c_ssize_t(k) for k in (0, 19, 19)), *(x.ctypes.data_as(POINTER) for x in arrays))
    for i in range(19):
        for ours, theirs in zip(outputs, solutions(parents, list(range(n)), full, values, i), strict=True):
            assert np.abs(ours[:, i].reshape(theirs.shape) - theirs).max() < 1e-13 * max(1.0, np.abs(theirs).max())


def test_limbs_end_at_forks():
    program = program_of(HAND, list(range(len(HAND))))
    limbs = limbs_of(program.solved, program)
    assert [limb.rows for limb in limbs.limbs] == [
        *(range(3), range(3, 5), range(5, 7), range(7, 9)),
        *(range(9, 11), range(11, 13), range(13, 15), range(15, 18)),
    ]
    assert limbs.limbs[3].carriers == (0, 1) and limbs.limbs[3].depth == 5
    assert limbs.inverses == (1,)


@pytest.mark.slow
@pytest.mark.parametrize("live", [True, False], ids=["live parameters", "baked"])
def test_derivatives_of_a_robot(live):
    """Oracle: the graph's own evaluation of the straight-line form."""
    equations = ts.derive(library.load("puma560"))
    (program,) = programs_of(equations, ["forward_dynamics/q,v,tau"])
    random = np.random.default_rng(3)
    values = {g.name: random.uniform(0.5, 1.5, (len(g), 9)) for g in program.inputs if g.name != "p"}
    p = [*parameter_values(equations, {}).values()]
    batch = compile_batch(program, parameters=["p"]) if live else compile_batch(program, baked={"p": p})
    assert find_compiler() is None or "outward" in batch.source
    found = batch(**values, **({"p": np.array(p)} if live else {}))
    exact = program.evaluate({name: x[:, 8].tolist() for name, x in values.items()} | {"p": p})
    for name, numbers in exact.items():
        assert np.abs(found[name][..., 8].ravel() - numbers).max() < 1e-11 * np.abs(numbers).max()
