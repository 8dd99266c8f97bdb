"""Mobility with an algebraic proof. Oracles: mobilities of the literature, dead points in closed form, the loop doctor."""

from __future__ import annotations

import pytest

import torseur as ts
from derivation.loops import mechanisms as m
from torseur.description import library
from torseur.errors import UnsupportedError


@pytest.mark.parametrize(
    ("make", "mobility"),
    [(m.slider_crank, 1), (m.four_bar, 1), (m.simplest, 3), (m.bennett, 1), (m.saliere, 1), (m.constant_velocity, 1)],
)
def test_known_mobilities_are_proven(make, mobility):
    """Bennett's four hinges move though counting says -2 (Bennett 1903)."""
    proof = ts.algebraic_mobility(make())
    assert (proof.dimension, proof.mobility) == (mobility, mobility)
    assert "no more and no less" in str(proof)


@pytest.mark.slow
def test_the_proof_holds_at_the_configuration_of_the_doctor():
    for name in ("four_bar", "bennett", "saliere"):
        mechanism = library.load(name)
        report = ts.loops(mechanism)
        proof = ts.algebraic_mobility(mechanism, report.configuration)
        assert (proof.mobility, proof.here) == (report.finite, True)


@pytest.mark.slow
def test_dead_points_are_where_the_proof_ends():
    """With the coupler and rocker in line (sin γ = 0) the crank of a four-bar is at its end; at the fold both branches meet."""
    assert ts.algebraic_mobility(library.load("four_bar"), ts.loops(library.load("four_bar")).configuration).apart == (
        "sin(gamma)",
    )
    flat = library.load("flat_parallelogram")
    proof = ts.algebraic_mobility(flat, ts.loops(flat).configuration)
    assert (proof.mobility, proof.here) == (1, False)
    assert "leaves the configuration examined open" in str(proof)


def test_symbolic_lengths():
    """A four-bar of general lengths moves; with one length left free it closes as well."""
    text = """
    let a = body mass = 1, inertia = 0 end ;
    let b = body mass = 1, inertia = 0 end ;
    let c = body mass = 1, inertia = 0 end ;
    join earth and a.frame with link(p) dof = p || [0,0,1] end ;
    join [l1,0,0] ++ 1 @ a and b.frame with link(q) dof = q || [0,0,1] end ;
    join [l4,0,0] ++ 1 @ earth and c.frame with link(s) dof = s || [0,0,1] end ;
    join [l2,0,0] ++ 1 @ b and [l3,0,0] ++ 1 @ c with link(u) dof = u || [0,0,1], role = loop end ;
    """
    four = ts.parse("mechanism general ;\nparam l1, l2, l3, l4 ;" + text)
    proof = ts.algebraic_mobility(four)
    assert proof.parameters == ("l1", "l2", "l3", "l4")
    assert (proof.dimension, proof.mobility) == (1, 1)


@pytest.mark.slow
def test_what_is_too_large_or_not_algebraic_is_refused():
    with pytest.raises(UnsupportedError, match="too many for standard bases"):
        ts.algebraic_mobility(m.delta())
    with pytest.raises(UnsupportedError, match="unknown parameter 'nothing'"):
        ts.algebraic_mobility(m.four_bar(), free=["nothing"])


def test_loops_that_close_for_complex_angles_alone_are_refused():
    """Bars of 1, 2 and 1.5 between pivots 10 apart: dimension 1 over the complex numbers, and no mechanism."""
    text = """mechanism short_bars ;
    let a = body mass = 1, inertia = 0 end ;
    let b = body mass = 1, inertia = 0 end ;
    let c = body mass = 1, inertia = 0 end ;
    join earth and a.frame with link(p) dof = p || [0,0,1] end ;
    join [1,0,0] ++ 1 @ a and b.frame with link(q) dof = q || [0,0,1] end ;
    join [10,0,0] ++ 1 @ earth and c.frame with link(s) dof = s || [0,0,1] end ;
    join [2,0,0] ++ 1 @ b and [1.5,0,0] ++ 1 @ c with link(u) dof = u || [0,0,1], role = loop end ;
    """
    with pytest.raises(ts.MechanismError, match="cannot close: at best.*open by 5.5 m"):
        ts.algebraic_mobility(ts.parse(text))
