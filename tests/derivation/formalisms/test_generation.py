"""How long equations take to write, and how their size grows."""

from __future__ import annotations

import time

import pytest

from derivation.formalisms.examples import cart_pendulum
from torseur.algebra.graph import live_nodes
from torseur.derivation.formalisms import FORMALISMS, derive


def operations(outputs) -> int:
    return sum(bool(node.args) for node in live_nodes(outputs))


@pytest.mark.parametrize("formalism", FORMALISMS)
def test_ten_links_with_symbolic_parameters(formalism):
    mechanism = cart_pendulum(10)
    start = time.process_time()
    equations = derive(mechanism, formalism)
    _ = equations.mass_matrix, equations.bias, equations.loads
    assert time.process_time() - start < 5


def test_recursive_takes_milliseconds():
    mechanism = cart_pendulum(10)
    times = []
    for _ in range(3):
        start = time.process_time()
        _ = derive(mechanism).acceleration
        times.append(time.process_time() - start)
    assert min(times) < 0.05


@pytest.mark.slow
def test_recursive_grows_linearly_to_two_hundred_links():
    """Every further link costs the same number of operations."""
    sizes = {n: operations(derive(cart_pendulum(n)).acceleration) for n in (50, 100, 200)}
    assert sizes[200] - sizes[100] == 2 * (sizes[100] - sizes[50])
