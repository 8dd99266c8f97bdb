"""Tables of the body's segments against other rows of the same publications and against themselves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from torseur.analysis.biomechanics.person_model.anthropometry import (
    CENTRAL,
    LIMBS,
    TABLES,
    anthropometry,
    join_segments,
)
from torseur.errors import TorseurError

DE_LEVA = json.loads((Path(__file__).parents[2] / "oracles" / "de_leva.json").read_text())
SEXES = ("male", "female")


@pytest.mark.parametrize("name", TABLES)
def test_masses_add_up_to_the_body(name):
    assert anthropometry(name).total_mass == pytest.approx(1, abs=1.01e-4)  # of de Leva's females 99.99 % is printed


@pytest.mark.parametrize("name", TABLES)
def test_segments_are_possible_bodies(name):
    """No radius of gyration exceeds what the other two allow, and mass centres lie inside."""
    for segment in (*CENTRAL, *LIMBS):
        p = anthropometry(name)[segment]
        squares = sorted((p.sagittal**2, p.transverse**2, p.longitudinal**2))
        assert squares[2] < squares[0] + squares[1] or np.isclose(squares[1], squares[2], rtol=0.3)
        assert 0 < p.centre < 1 and 0 < p.mass < 0.5


@pytest.mark.parametrize("sex", SEXES)
def test_trunk_and_pelvis_together_are_the_published_trunk(sex):
    """Oracle: the row of the whole trunk, which the table prints besides its three parts."""
    table = anthropometry(f"de_leva_{sex}")
    whole = join_segments(table["trunk"], table["pelvis"])
    length, mass, centre, *radii = DE_LEVA[sex]["trunk"]["row"]
    assert whole.mass == pytest.approx(mass / 100, abs=1.01e-4)
    assert whole.length * DE_LEVA["stature"][sex] == pytest.approx(length, abs=0.11)
    # The printed table is consistent to its digits for women; for men its whole is 3 mm above the sum of its parts.
    assert whole.centre == pytest.approx(centre / 100, abs=1e-4 if sex == "female" else 5e-3)
    assert [whole.sagittal, whole.transverse, whole.longitudinal] == pytest.approx(np.array(radii) / 100, abs=6e-4)


@pytest.mark.parametrize("sex", SEXES)
@pytest.mark.parametrize("segment", ["hand", "shank"])
def test_radii_are_the_same_between_other_landmarks(sex, segment):
    """Oracle: the same segment measured between other points has the same mass centre and radii in millimetres."""
    p = anthropometry(f"de_leva_{sex}")[segment]
    size = p.length * DE_LEVA["stature"][sex]
    length, mass, centre, *radii = DE_LEVA[sex][segment]["row"]
    assert p.mass == mass / 100
    assert p.centre * size == pytest.approx(centre / 100 * length, abs=0.15)
    found = np.array([p.sagittal, p.transverse, p.longitudinal]) * size
    assert found == pytest.approx(np.array(radii) / 100 * length, abs=0.4)


def test_published_fractions_of_dempster():
    """Oracle: whole limbs as Winter prints them, 0.050 and 0.161 of the body's mass."""
    table = anthropometry("dempster")
    assert sum(table[s].mass for s in ("upper_arm", "forearm", "hand")) == pytest.approx(0.050)
    assert sum(table[s].mass for s in ("thigh", "shank", "foot")) == pytest.approx(0.161)


def test_joined_rods_are_one_rod():
    """Oracle: two halves of a uniform rod, radius of gyration L / √12 whatever the length."""
    from torseur.analysis.biomechanics.person_model.anthropometry import Proportions

    half = Proportions(0.1, 0.2, 0.5, 12**-0.5, 12**-0.5, 0.05, "a", "b")
    whole = join_segments(half, half)
    assert (whole.mass, whole.length, whole.centre) == pytest.approx((0.2, 0.4, 0.5))
    assert (whole.sagittal, whole.transverse, whole.longitudinal) == pytest.approx((12**-0.5, 12**-0.5, 0.025))


def test_unknown_names_are_refused():
    with pytest.raises(TorseurError, match="Did you mean 'de_leva_male'"):
        anthropometry("deleva_male")
    with pytest.raises(TorseurError, match="unknown segment 'arm'"):
        anthropometry("human36")["arm"]
