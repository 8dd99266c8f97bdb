"""The rank by four methods that share no arithmetic: they must agree."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import torseur.description.mechanism as tm
from derivation.loops import curious as c
from derivation.loops import mechanisms as m
from torseur.algebra.graph import evaluate
from torseur.derivation.loops import constraint_equations, loops
from torseur.derivation.loops.assembly.projection import project, random_states
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.named_coordinates import coordinates_at
from torseur.derivation.loops.rank.exact_loops import (
    admissible_rank,
    generic_rank,
    passage_by_syzygies,
    polynomial_loops,
    readable_passage,
)
from torseur.derivation.loops.rank.numerical_rank import ranks
from torseur.derivation.tree import build_tree
from torseur.errors import TorseurError, UnsupportedError

PRECISE = (m.four_bar, m.flat_parallelogram, m.parallelogram_with_bar, m.bennett, m.bricard, m.sarrus, m.stewart, m.delta,
           m.saliere, m.constant_velocity, c.goldberg, lambda: m.antenna_strip(1), lambda: m.antenna_strip(2))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("make", PRECISE)
def test_a_hundred_digits_agree_with_floating_point(make):
    found = loops(make(), method="precise")
    assert found.ranks[0].rank == found.ranks[1].rank
    assert "multiple precision" in str(found)


@pytest.mark.slow
def test_shaky_configurations_show_in_the_convergence():
    """Newton's method converges linearly there, and the next pivot is the root of the residual."""
    assert "singular configurations" in loops(m.antenna_strip(1), {"q_s0_1a": 0.1}, method="precise").ranks[1].support
    assert "singular configurations" not in loops(m.bennett(), method="precise").ranks[1].support


@pytest.mark.slow
def test_rounded_dimensions_are_not_taken_for_exact_ones():
    """Bennett's loop with lengths and twists rounded to floats closes to rounding only."""
    rounded = m.dh_loop("rounded", (0.1 * 4, 0.3, 0.4, 0.3), (0.5, 1 / 3, 0.5, 1 / 3))
    found = loops(rounded, method="precise")
    assert found.ranks[0].rank == 3
    assert found.ranks[1].rank is None


MODULAR = (m.four_bar, m.slider_crank, m.parallelogram_with_bar, m.bennett, m.bricard, c.goldberg, c.six_hinges, m.jansen,
           pytest.param(lambda: m.antenna_strip(1), marks=pytest.mark.slow))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("make", MODULAR)
def test_points_modulo_a_prime_agree_with_floating_point(make):
    found = loops(make(), method="modular")
    assert found.ranks[1].rank == found.ranks[0].rank


@pytest.mark.slow
def test_algebra_tells_the_largest_rank_and_says_that_complex_configurations_count():
    """The stretched four-bar moves over the complex numbers only: rank 2 at each of its real configurations, 3 at others."""
    found = loops(m.stretched_four_bar(), method=("precise", "modular"))
    assert [(f.rank, f.here) for f in found.ranks] == [(2, True), (2, True), (3, False)]
    assert found.rank == 2
    assert "other configurations, or only complex ones" in str(found)


@pytest.mark.slow
def test_several_methods_are_asked_at_once():
    found = loops(m.slider_crank(), method=["precise", "modular", "exact"])
    assert [f.rank for f in found.ranks] == [3, 3, 3, 3]


@pytest.mark.slow
def test_where_points_cannot_be_had_the_reason_is_said():
    finding = loops(m.stewart(), method="modular").ranks[1]
    assert finding.rank is None
    assert "balls" in finding.support


@pytest.mark.slow
def test_exact_algebra_agrees_on_small_loops():
    for make, generic, closed in (
        (m.slider_crank, 2, 2),
        (m.four_bar, 2, 2),
        (m.simplest, 2, 2),
        (m.constant_velocity, 4, 4),
    ):
        polynomials = polynomial_loops(make())
        assert (generic_rank(polynomials), admissible_rank(polynomials)) == (generic, closed)
    finding = loops(m.slider_crank(), method="exact").ranks[1]
    assert finding.rank == 3


@pytest.mark.slow
def test_exact_algebra_sees_the_fold_lose_rank_where_it_closes():
    from derivation.loops.test_seed_examples import fold

    polynomials = polynomial_loops(fold())
    assert generic_rank(polynomials) == 3
    assert admissible_rank(polynomials) == 2


@pytest.mark.slow
@pytest.mark.parametrize("make", [m.slider_crank, m.simplest, m.saliere])
def test_syzygies_give_a_passage_matrix(make):
    """M N = 0 in the ring of cosines and sines, and N spans the motions at a closed point."""
    polynomials = polynomial_loops(make())
    n = passage_by_syzygies(polynomials)
    product = (polynomials.matrix * n).applyfunc(
        lambda e: sp.reduced(e, polynomials.relations, *polynomials.variables)[1]
    )
    assert all(sp.expand(entry) == 0 for entry in product)
    assert n.shape[1] >= 1


@pytest.mark.slow
def test_simplest_has_the_printed_passage_matrix():
    """The motions of a rigid triangle: x, y and the common rotation."""
    assert passage_by_syzygies(polynomial_loops(m.simplest())) == sp.Matrix(5, 3, lambda i, j: int(i == j))


@pytest.mark.slow
def test_passage_is_written_in_the_names_of_the_user():
    """Oracle: the constant-velocity joint turns both shafts alike whatever its angles."""
    written = readable_passage(polynomial_loops(m.constant_velocity()))
    assert dict(zip(written.coordinates, written.rows, strict=True)) == {
        "alpha1": ("1",), "beta2": ("0",), "gamma2": ("0",), "alpha4": ("1",), "z": ("0",),
    }  # fmt: skip
    assert "sin(q_O)" in str(readable_passage(polynomial_loops(m.slider_crank())))


@pytest.mark.slow
def test_syzygies_modulo_the_closures_see_the_motions_of_the_fold():
    """Where its coordinates are free the printed closure has rank 3 and no motion; where it is closed it moves."""
    from derivation.loops.test_seed_examples import fold

    polynomials = polynomial_loops(fold())
    assert passage_by_syzygies(polynomials).shape[1] == 0
    assert passage_by_syzygies(polynomials, closed=True).shape[1] > 0


@pytest.mark.slow
def test_too_large_or_transcendental_loops_are_refused_by_exact_algebra():
    with pytest.raises(UnsupportedError, match="too many"):
        polynomial_loops(m.delta())
    assert loops(c.screws(), method="exact").ranks[1].rank in (None, 2)


@pytest.mark.slow
def test_an_unknown_method_is_refused():
    with pytest.raises(TorseurError, match="unknown method 'magic'.*numeric"):
        loops(m.four_bar(), method="magic")


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [m.four_bar, m.slider_crank, m.sarrus, m.delta, m.stewart, m.saliere, c.rssr, c.screws, c.oldham]
)
def test_symbolic_closures_and_screws_leave_the_same_motions(make):
    """Two independent ways to write the constraints: closure equations over the tree, screws around the loops."""
    mechanism = make()
    system = loop_system(mechanism)
    closed = project(system, random_states(system, 6, np.random.default_rng(2), 0.6), steps=200)
    tree = build_tree(mechanism)
    equations = constraint_equations(tree)
    for lane in np.flatnonzero(closed.gap < 1e-10)[:3]:
        state = closed.state.lane(int(lane))
        at = coordinates_at(system, state)
        values = {q: at[q.name] for q in tree.layout.coordinates}
        assert np.allclose(np.array(evaluate([e.residual for e in equations], values), float), 0, atol=1e-8)
        rows = np.array([evaluate(list(e.row), values) for e in equations], float)
        by_tree = rows.shape[1] - np.linalg.matrix_rank(rows, tol=1e-7)
        assert by_tree == system.n - ranks(system.linearise(state)[1])[0]


@pytest.mark.slow
def test_a_generic_sequence_may_close_a_loop():
    """A cam-like joint (turn and rise) cut or not: the same mobility."""
    d = m.Drawing("cam")
    q = tm.Coordinate("u")
    rise = tm.translation(m.Z, tm.in_si(0.1, "m") * sp_sin(q))
    d.revolute("A", "earth", "cam", (0, 0, 0))
    d.joints.append(
        tm.sequence("lift", d.frame("cam", (0, 0, 0)), d.frame("follower", (0, 0, 0)), [q], [tm.rotation(m.Z, q), rise])
    )
    d.prismatic("guide", "follower", "earth", m.Z)
    found = loops(d.mechanism())
    assert (found.infinitesimal, found.finite) == (1, 1)


def sp_sin(q):
    from torseur.algebra.graph import scalar as s

    return s.sin(q.symbol)
