"""The order of operations: it stays one that can be computed, and stores less for few registers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from torseur.algebra.graph import symbol
from torseur.computation.codegen.straight_line import fewest_live, most_live

X = [symbol(f"x{k}") for k in range(40)]


def chains():
    """Values made first and used last, beside a long sum: most of them can be made when they are used."""
    early = [a * b for a, b in pairwise(X)]
    total = X[0]
    steps = []
    for x in X:
        total = total * x + 1
        steps += [total.args[1] if total.args[1].args else total.args[0], total]
    for value in early:
        total = total + value
        steps.append(total)
    return [*early, *steps]


def stored(order, registers):
    """Values pushed out of the registers, farthest next use first: counted by looking ahead at every step."""
    here, found = [], set()
    for k, node in enumerate(order):
        ahead = {value: j for j in range(len(order) - 1, k, -1) for value in order[j].args}
        here = [v for v in dict.fromkeys([*here, *node.args, node]) if v in ahead and v.op != "constant"]
        while len(here) > registers:
            last = max(here, key=lambda value: ahead[value])
            here.remove(last)
            found.add(last)
    return len(found & set(order))


def test_fewer_values_are_stored():
    given = chains()
    order = fewest_live(given, registers=8)
    assert set(order) == set(given) and len(order) == len(given)
    seen = set()
    for node in order:
        assert all(a in seen for a in node.args if a in set(given))
        seen.add(node)
    assert stored(order, 8) < stored(given, 8)


def live(order):
    """Values between their making, or their first use where they come from outside, and their last use."""
    place = {node: k for k, node in enumerate(order)}
    uses = {}
    for k, node in enumerate(order):
        for value in node.args:
            if value.op != "constant":
                uses.setdefault(value, []).append(k)
    spans = [(place.get(value, places[0]), places[-1]) for value, places in uses.items()]
    return max(sum(first <= k <= last for first, last in spans) for k in range(len(order)))


@pytest.mark.parametrize("backwards", [False, True])
def test_fewer_values_are_live(backwards):
    given = chains()
    results = [node for node in given if node not in {a for other in given for a in other.args}]
    order = fewest_live(given, results[::-1] if backwards else results)
    assert most_live(given) == live(given)
    assert most_live(order) == live(order) < live(given)
    assert set(order) == set(given) and len(order) == len(given)
