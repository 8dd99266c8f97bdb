"""Units: exact factors, dimensions, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torseur.algebra.graph import PI, symbol
from torseur.description.mechanism import in_si, parameter
from torseur.description.mechanism.units import kind_of, parse_unit, si_name, si_unit_of, unit_of
from torseur.errors import UnitError

METRE, KILOGRAM, SECOND = ((1.0 * (i == k) for i in range(7)) for k in range(3))

# Unit, SI factor, exponents of m, kg, s. Origin: the SI brochure; inch and pound are defined by 25.4 mm and 0.45359237 kg.
KNOWN = {
    "1": (1, 0, 0, 0), "m": (1, 1, 0, 0), "mm": (Fraction(1, 1000), 1, 0, 0), "km/h": (Fraction(5, 18), 1, 0, -1),
    "kg*m^2": (1, 2, 1, 0), "g/cm^3": (1000, -3, 1, 0), "N": (1, 1, 1, -2), "N/mm": (1000, 0, 1, -2), "N*m*s": (1, 2, 1, -1),
    "MPa": (10**6, -1, 1, -2), "1/s": (1, 0, 0, -1), "s^-2": (1, 0, 0, -2), "m^0.5": (1, 0.5, 0, 0), "kg/(m*s)": (1, -1, 1, -1),
    "min": (60, 0, 0, 1), "inch": (Fraction(254, 10000), 1, 0, 0), "lb": (Fraction(45359237, 10**8), 0, 1, 0),
    "foot": (Fraction(3048, 10000), 1, 0, 0), "N·m": (1, 2, 1, -2), "m**2": (1, 2, 0, 0), "bar": (10**5, -1, 1, -2),
}  # fmt: skip


@pytest.mark.parametrize("unit", KNOWN)
def test_factor_and_dimension(unit):
    factor, *exponents = KNOWN[unit]
    assert unit_of(unit).ratio == factor and unit_of(unit).turns == 0
    assert parse_unit(unit) == (float(factor), (*map(float, exponents), 0.0, 0.0, 0.0, 0.0))


def test_angles_carry_pi_and_no_dimension():
    assert parse_unit("deg") == (math.pi / 180, (0.0,) * 7)
    assert (unit_of("rpm").ratio, unit_of("rpm").turns) == (Fraction(1, 30), 1)
    assert in_si(90, "deg") is PI / 2 and in_si(1, "rev") is 2 * PI
    assert (si_unit_of("deg"), si_unit_of("rad"), si_unit_of("1"), si_unit_of("rad/s")) == ("rad", "rad", "1", "rad/s")


@pytest.mark.parametrize(
    "unit", ["", "zorg", "m^", "*m", "m m", "2", "m/(s", "m^100", "degC", "pi", "dB", "m" * 200, "m^2^2", "é"]
)
def test_what_is_no_unit_is_refused(unit):
    with pytest.raises(UnitError):
        unit_of(unit)


@given(st.integers(-(10**12), 10**12), st.sampled_from(["mm", "km", "inch", "g", "ms", "N/mm"]))
@settings(deadline=None)
def test_integers_convert_exactly(value, unit):
    assert in_si(value, unit).value == value * unit_of(unit).ratio


@given(st.floats(-1e9, 1e9), st.sampled_from(["mm", "km/h", "inch", "lb", "ms"]))
@settings(deadline=None)
def test_decimals_convert_with_one_rounding(value, unit):
    assert float(in_si(value, unit)) == float(Fraction(repr(value)) * unit_of(unit).ratio)


def test_names_of_dimensions():
    assert [si_name(unit_of(u).dimension) for u in ("N/mm", "J", "km/h", "deg", "g*mm^2")] == [
        "N/m",
        "N*m",
        "m/s",
        "1",
        "kg*m^2",
    ]
    assert [kind_of(unit_of(u).dimension) for u in ("mm", "g", "kN", "N/mm")] == [
        "length",
        "mass",
        "force",
        "stiffness",
    ]
    assert si_name(unit_of("kg/(m^2*s)").dimension) == "kg/m^2/s"


def test_parameters_keep_the_unit_they_were_given_in():
    p = parameter("l", 250, "mm", "length")
    assert (p.value.value, p.unit, p.si_unit, p.meaning) == (Fraction(1, 4), "mm", "m", "length")
    q = parameter("twice", 2 * p.symbol, "m")
    assert q.value is 2 * symbol("l", "m", "length")
    assert parameter("k", unit="N/m").value is None
