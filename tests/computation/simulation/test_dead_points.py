"""Reduced models at dead points say so."""

from __future__ import annotations

import pytest

import torseur as ts
from torseur.description import library
from torseur.errors import TorseurError


def test_a_piston_at_its_end_is_a_dead_point():
    """Oracle: with crank and rod in line the piston rests while the crank turns."""
    slider = library.load("slider_crank")
    with pytest.raises(TorseurError, match="dead point of x: the mechanism can move while x does not"):
        ts.reduced_model(slider, ["x"], at={"theta": 0.0})
    model = ts.reduced_model(slider, ["x"])
    with pytest.raises(TorseurError, match="dead point"):
        model.mass_matrix(model.state({"theta": 0.0}))
    with pytest.raises(TorseurError, match="1 degrees of freedom"):
        ts.reduced_model(slider, ["theta", "x"])


def test_where_motions_branch_no_speeds_stand_for_them():
    """A flat parallelogram has two first-order motions, of which one goes on; around it one speed tells all."""
    flat = library.load("flat_parallelogram")
    with pytest.raises(TorseurError, match="rank of the constraints is 1 at this state and 2 around it"):
        ts.reduced_model(flat, ["alpha"])
    assert len(ts.reduced_model(flat, ["alpha"], at={"alpha": 0.5}).names) == 1
    assert len(ts.build_tree(ts.parametrised(flat, "complete")).layout.coordinates) == 4


def test_a_reduced_model_prints_in_a_line():
    assert repr(ts.reduced_model(library.load("slider_crank"), ["theta"])).startswith(
        "ReducedModel of 'slider_crank' in theta"
    )
