"""The source's studies of markers: how many a rotation needs, on the box of its chapter 3."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from torseur.analysis.published_studies import marker_count

RECORDED = Path(__file__).resolve().parents[2] / "oracles" / "box_on_string.csv"


def test_the_box_moves_as_in_the_reference():
    """Oracle: markers P1, P2 and P3 integrated elsewhere, 2 s at 100 Hz."""
    table = np.genfromtxt(RECORDED, delimiter=",", skip_header=1)
    found = marker_count.box_markers()
    assert np.allclose(found.time, table[:, 0])
    for k, corner in enumerate(("P1", "P2", "P3")):
        assert np.abs(found.of(corner) - table[:, 1 + 3 * k : 4 + 3 * k]).max() < 1e-6


@pytest.fixture(scope="module")
def influence() -> marker_count.Influence:
    return marker_count.influence()


def test_more_markers_help_and_most_from_three_to_four(influence):
    """As in the source, at every level of differentiation."""
    for row in influence.normalised:
        gains = row[:-1] - row[1:]
        assert (gains > 0).all()
        assert gains.argmax() == 0
    assert (influence.normalised[1] > 10 * influence.normalised[0]).all()
    assert (influence.normalised[2] > 10 * influence.normalised[1]).all()


def test_size_of_the_error_is_the_source_s(influence):
    """It prints 0.028 for three markers and 0.011 for seven; its initial state is not known."""
    by_count = dict(zip(influence.counts, influence.relative[0], strict=True))
    assert by_count[3] == pytest.approx(0.028, rel=0.5)
    assert by_count[7] == pytest.approx(0.011, rel=0.7)
    assert str(influence).splitlines()[0].split() == ["markers", "3", "4", "5", "6", "7", "8"]
