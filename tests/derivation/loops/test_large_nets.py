"""Large nets of antenna meshes; benchmarks/bench_loops.py has their times."""

from __future__ import annotations

import pytest

from derivation.loops import mechanisms as m
from torseur.derivation.loops import loops


@pytest.mark.slow
def test_a_strip_of_twelve_meshes():
    """Three motions of the first mesh, one more of each other."""
    assert loops(m.antenna_strip(12)).finite == 14


@pytest.mark.slow
def test_a_grid_of_fifty_meshes():
    """One of the motions at first order does not go on."""
    report = loops(m.antenna_grid(5, 10))
    assert report.finite == report.infinitesimal - 1
