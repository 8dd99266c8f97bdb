"""How much work equations take to write, and how their size grows."""

from __future__ import annotations

import pytest

from counting import calls_of, forget_caches
from derivation.formalisms.examples import cart_pendulum
from torseur.algebra.graph import live_nodes
from torseur.derivation.formalisms import FORMALISMS, derive


def operations(outputs) -> int:
    return sum(bool(node.args) for node in live_nodes(outputs))


@pytest.mark.parametrize("formalism", FORMALISMS)
def test_twice_as_many_links_take_at_most_eight_times_the_work(formalism):
    """The entries of M and b are n² and n, each a sum over at most n bodies: n³, with symbolic parameters too."""

    def write(links: int) -> None:
        equations = derive(cart_pendulum(links), formalism)
        _ = equations.mass_matrix, equations.bias, equations.loads

    write(2)  # what is done once in a process is no growth
    five, ten = (calls_of(lambda n=n: write(n)) for n in (5, 10))
    assert ten < 8 * five and ten < 2_000_000


def test_recursive_work_grows_linearly():
    """Every further link costs the same number of calls, but for a few hundredths."""

    def write(links: int) -> None:
        _ = derive(cart_pendulum(links)).acceleration

    forget_caches()
    write(2)
    five, ten, twenty = (calls_of(lambda n=n: write(n)) for n in (5, 10, 20))
    assert twenty - ten == pytest.approx(2 * (ten - five), rel=0.05) and ten < 200_000


@pytest.mark.slow
def test_recursive_grows_linearly_to_two_hundred_links():
    """Every further link costs the same number of operations."""
    sizes = {n: operations(derive(cart_pendulum(n)).acceleration) for n in (50, 100, 200)}
    assert sizes[200] - sizes[100] == 2 * (sizes[100] - sizes[50])
