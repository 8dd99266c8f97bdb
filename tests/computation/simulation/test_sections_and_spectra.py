"""Poincaré sections and spectra against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.errors import TorseurError

OSCILLATOR = """
let a = body mass = 1 kg, centre = 0, inertia = 0 end ;
join earth and a.frame with prismatic(x) along [1,0,0] stiffness = 4 N/m end ;
init x = 0.3 m ;
"""
FALLING = """
gravity = [0, 0, -9.81] ;
let b = body mass = 1 kg, centre = 0, inertia = 0 end ;
join earth and b.frame with prismatic(z) along [0,0,1] end ;
init z = 1 m ;
"""


@pytest.mark.slow
def test_a_section_is_passed_where_the_formula_says():
    """x = 0.3 cos 2t passes x = 0.15 upwards at 2t = 5π/3 + 2πk, with x' = 0.6 sin(π/3)."""
    section = ts.poincare_section(ts.parse(OSCILLATOR), "x - 15 cm", 10, outputs=["energy"], rtol=1e-11)
    expected = np.array([(5 * np.pi / 3 + 2 * np.pi * k) / 2 for k in range(3)])
    assert section.points.time == pytest.approx(expected)
    assert section["x'"] == pytest.approx(np.full(3, 0.6 * np.sin(np.pi / 3)))
    assert section["energy"] == pytest.approx(np.full(3, 0.5 * 4 * 0.3**2))
    down = ts.poincare_section(ts.parse(OSCILLATOR), "x", 10, direction=-1)
    assert down.points.time == pytest.approx(np.pi / 4 + np.pi * np.arange(3))


@pytest.mark.slow
def test_sections_keep_contacts():
    """Bounces on z >= 0 with half the speed: the section z' = 0 from + to - holds the tops, h/4, h/16, ..."""
    contact = ts.Impact("floor", "z", restitution=0.5)
    tops = ts.poincare_section(ts.parse(FALLING), "-z'", 1.2, events=[contact])
    assert tops["z"][:2] == pytest.approx([0.25, 0.0625])


def test_lines_of_a_spectrum_have_the_amplitudes():
    motion = ts.simulate(ts.parse(OSCILLATOR), 20 * np.pi, samples=2001, outputs=["double = 2*x"])
    found = ts.spectrum(motion, ["x", "double"])
    assert found.peak("x") == pytest.approx(1 / np.pi, rel=1e-3)
    assert found["x"].max() == pytest.approx(0.3, rel=1e-2)
    assert found["double"].max() == pytest.approx(0.6, rel=1e-2)
    assert len(found.low.frequency) < 100 < len(found.frequency)
    assert "x at 0.318" in repr(found)


def test_mistakes_are_named():
    mechanism = ts.parse(OSCILLATOR)
    with pytest.raises(TorseurError, match="never passes through x - 4 m = 0"):
        ts.poincare_section(mechanism, "x - 4 m", 5)
    with pytest.raises(TorseurError, match="evenly spaced samples"):
        ts.spectrum(ts.simulate(mechanism, 5, samples=[0, 1, 4, 4.5, 5]))
    with pytest.raises(TorseurError, match="unknown column 'y'"):
        ts.spectrum(ts.simulate(mechanism, 5, samples=11), "y")
