"""Inverse dynamics of two robots with symbolic geometry and inertia, in fewer operations than the best published."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from derivation.formalisms.examples import PUMA, RX90, six_axis_arm
from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.derivation.dynamics import inverse_dynamics
from torseur.derivation.equations.random_states import multiple_precision_values, rational_state
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import Tree, build_tree, regroup


def forces(tree: Tree) -> list[Expr]:
    layout = tree.layout
    return [as_expr(f) for f in inverse_dynamics(tree, layout.coordinates, layout.speeds, layout.accelerations)]


def operations(tree: Tree) -> tuple[int, int]:
    """Multiplications and additions at every state; what depends on parameters only is computed once."""
    layout = tree.layout
    varying = {*layout.coordinates, *layout.speeds, *layout.accelerations}
    counts: Counter[str] = Counter()
    for node in live_nodes(forces(tree)):
        if any(argument in varying for argument in node.args):
            varying.add(node)
            counts[node.op] += 1
    return counts["mul"] + counts["div"], counts["add"] + counts["sub"]


@pytest.mark.parametrize(("name", "rows", "plain", "regrouping"), [
    ("puma", PUMA, (345, 296), (301, 240)), ("rx90", RX90, None, (287, 226)),
])  # fmt: skip
def test_fewer_operations_than_published(name, rows, plain, regrouping):
    """Oracle: the counts of the best published generator, without and with regrouping of the base parameters."""
    tree = build_tree(six_axis_arm(name, rows))
    if plain is not None:
        assert all(ours <= theirs for ours, theirs in zip(operations(tree), plain, strict=True))
    assert all(ours <= theirs for ours, theirs in zip(operations(regroup(tree)), regrouping, strict=True))


@pytest.mark.parametrize(("name", "rows"), [("puma", PUMA), ("rx90", RX90)])
def test_the_short_equations_are_right(name, rows):
    """Oracle: M v' + b by another formalism, to forty digits at a random state and random inertias."""
    mechanism = six_axis_arm(name, rows)
    tree = build_tree(mechanism)
    short = forces(regroup(tree))
    other = derive(mechanism, "lie_group").residual
    state = rational_state(tree, Random(8))
    values = multiple_precision_values([*short, *other], state)
    assert all(abs(a - b) < 1e-40 * (1 + abs(a)) for a, b in zip(values[:6], values[6:], strict=True))
