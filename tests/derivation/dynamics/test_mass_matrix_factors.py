"""Factors of the mass matrix from articulated bodies, and code for single precision that uses them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from robots import robot
from torseur.computation.functions.generate_sources import for_target, module_of
from torseur.computation.functions.single_precision import spares_digits
from torseur.derivation import dynamics as td
from torseur.description import library


def eliminated(matrix):
    """Lᵀ D L from the last row up, by elimination in the matrix."""
    n = len(matrix)
    left, lower, pivots = matrix.copy(), np.eye(n), np.zeros(n)
    for k in range(n - 1, -1, -1):
        pivots[k] = left[k, k]
        lower[k, :k] = left[k, :k] / pivots[k]
        left[:k, :k] -= np.outer(left[:k, k], lower[k, :k])
    return lower, pivots


@pytest.mark.parametrize("name", ["ur5", "solo12", "human36", "spinning_top", "quadruped"])
def test_factors_are_those_of_elimination(name):
    """Chains, limbs, several speeds in a joint. Oracle: elimination in the numbers of the mass matrix."""
    mechanism = robot(name) if name in ("ur5", "solo12") else library.load(name)
    tree = ts.derive(mechanism).tree
    values = {p.name: p.value for p in mechanism.parameters}
    tree = tree.with_parameters({name: values[name] for name in tree.layout.parameter_names})
    q = np.random.default_rng(1).uniform(-1, 1, len(tree.layout.coordinates))
    for link in tree.links:
        slots = [tree.layout.coordinates.index(x) for x in link.symbols.quaternion or ()]
        q[slots] /= np.linalg.norm(q[slots]) if slots else 1.0
    matrix = np.array(td.mass_matrix(tree, list(q)), dtype=float)
    found = td.mass_matrix_factors(tree, list(q))
    lower, pivots = eliminated(matrix)
    ours = np.eye(len(matrix))
    for k, row in enumerate(found.lower):
        for i, entry in row.items():
            ours[k, i] = entry
    assert np.allclose(ours, lower, rtol=1e-9, atol=1e-9)
    assert np.allclose(1 / np.array(found.inverse, dtype=float), pivots, rtol=1e-9)
    frozen, yielding = np.array(td.inertias_of_joints(tree, list(q)), dtype=float).T
    assert np.allclose(np.sort(frozen), np.sort(np.diag(matrix)), rtol=1e-9)
    assert np.allclose(np.sort(yielding), np.sort(pivots), rtol=1e-9)


def _widening_chain():
    """Six links, each with eight times the mass of the one that carries it."""
    lines = ["mechanism whip ;", "gravity = [0, 0, -9.81] ;"]
    for k in range(1, 7):
        mass, below = 0.01 * 8.0**k, "earth" if k == 1 else f"b{k - 1}"
        inertia = ", ".join(f"{mass * f}" for f in (0.01, 0.02, 0.015))
        lines.append(f"let b{k} = body mass = {mass} kg, centre = [0, 0, -0.2], inertia = diag({inertia}) end ;")
        axis = ["[1,0,0]", "[0,1,0]", "[0,0,1]"][k % 3]
        lines.append(
            f"join [0, 0, {-0.4 if k > 1 else 0}] ++ 1 @ {below} and b{k}.frame as j{k} with revolute(q{k}) about {axis} end ;"
        )
    return ts.parse("\n".join(lines))


def _single_precision_error(program):
    """The worst error of a gradient computed in single precision. Oracle: the same program in double precision."""
    random = np.random.default_rng(2)
    worst = largest = 0.0
    for _ in range(10):
        state = {g.name: random.uniform(-1, 1, len(g)).astype(np.float32) for g in program.inputs}
        exact = program.evaluate({name: list(x.astype(float)) for name, x in state.items()})
        found = program.evaluate({name: list(x) for name, x in state.items()})
        for output in program.outputs:
            wanted, ours = (np.array(values[output.name], dtype=float) for values in (exact, found))
            largest = max(largest, np.abs(wanted).max())
            worst = max(worst, np.abs(wanted - ours).max())
    return worst / largest


def test_single_precision_keeps_its_digits_where_pivots_cancel():
    equations = ts.derive(_widening_chain())
    assert not spares_digits(equations) and spares_digits(replace(equations, few_digits=True))
    plain, spared = (
        module_of(for_target(equations, target), ["forward_dynamics/q,v"], baked=True).programs[0]
        for target in ("c", "cuda")
    )
    state = {g.name: list(np.random.default_rng(3).uniform(-1, 1, len(g))) for g in plain.inputs}
    for name, wanted in plain.evaluate(state).items():
        assert np.allclose(np.array(spared.evaluate(state)[name], float), np.array(wanted, float), rtol=1e-8, atol=1e-8)
    assert _single_precision_error(spared) < 0.4 * _single_precision_error(plain)


def test_well_conditioned_mechanisms_are_written_the_shorter_way():
    equations = ts.derive(robot("ur5"))
    plain, spared = (
        module_of(for_target(equations, target), ["forward_dynamics/q,v"], baked=True).programs[0]
        for target in ("c", "cuda")
    )
    assert plain.outputs == spared.outputs
