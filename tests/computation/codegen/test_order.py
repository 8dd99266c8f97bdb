"""The order of operations: it can be computed, stores less for few registers, and starts long chains early."""

from __future__ import annotations

from itertools import pairwise

import pytest

from torseur.algebra.graph import symbol
from torseur.computation.codegen.straight_line import fewest_live, most_live
from torseur.computation.codegen.straight_line.scheduling import MANY_LIVE, longest_chains_first

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


def cycles(order, window=64):
    """When the last value is there on a machine with one addition or product a cycle, each four cycles long, that looks
    `window` operations ahead of the oldest that waits."""
    ready, busy, retired = {}, set(), []
    for k, node in enumerate(order):
        start = max([ready.get(a, 0) for a in node.args] + [retired[k - window] if k >= window else 0])
        while start in busy:
            start += 1
        busy.add(start)
        ready[node] = start + 4
        retired.append(max([ready[node], *retired[-1:]]))
    return retired[-1]


def test_long_chains_begin_early():
    """A chain of 40 products beside 200 sums that nothing waits for: it hides behind them, unless it comes last."""
    chain = [X[0] * X[1]]
    for x in X[2:]:
        chain.append(chain[-1] * x)
    sums = [a + b for a in X for b in X if a.name < b.name][:200]
    order = longest_chains_first([*sums, *chain])
    assert set(order) == {*sums, *chain} and len(order) == 239
    assert [node for node in order if node in chain] == chain
    assert cycles([*sums, *chain]) > 4 * 39 + 100
    assert cycles(order) < 4 * 39 + 100


def test_long_chains_do_not_fill_the_registers():
    """300 products of products, two levels of which fit before the first sum is needed."""
    products = [symbol(f"a{k}") * symbol(f"b{k}") * symbol(f"c{k}") for k in range(300)]
    sums = [products[0] + products[1]]
    for product in products[2:]:
        sums.append(sums[-1] + product)
    given = [*[product.args[0] for product in products], *products, *sums]
    order = longest_chains_first(given)
    assert most_live(given) > 300
    assert most_live(order) < 2 * MANY_LIVE
    seen = set()
    for node in order:
        assert all(a in seen for a in node.args if a.args)
        seen.add(node)
