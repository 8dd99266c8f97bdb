"""Published proportions of the segments of the human body: masses, lengths, mass centres and radii of gyration.

    de_leva_male, de_leva_female  de Leva (1996), table 4: Zatsiorsky and Seluyanov's gamma-ray scans of young adults,
                                  referred to joint centres
    dempster                      Dempster (1955) as tabulated by Winter, lengths of Drillis and Contini
    human36                       the proportions of the source of the Human36 model (Monnet 2007, table 5.1)

A radius of gyration is about an axis through the segment's mass centre: sagittal (forward), longitudinal (along the
segment) or transverse (to the right) in the anatomical position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from torseur.errors import TorseurError, unknown_name

CENTRAL = ("head", "trunk", "pelvis")
LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
SEGMENTS = (*CENTRAL, *LIMBS)


@dataclass(frozen=True)
class Proportions:
    """One segment: mass over the body's, length over stature, then parts of the length.

    `centre` is counted from `origin` towards `end`. `note` tells where a number is not the table's own.
    """

    mass: float
    length: float
    centre: float
    sagittal: float
    transverse: float
    longitudinal: float
    origin: str
    end: str
    note: str = ""


@dataclass(frozen=True)
class Anthropometry:
    """A table of the body's segments; limbs stand for one side."""

    name: str
    title: str
    segments: Mapping[str, Proportions]

    def __getitem__(self, segment: str) -> Proportions:
        if segment not in self.segments:
            raise TorseurError(unknown_name("segment", segment, self.segments, f"table '{self.name}': "))
        return self.segments[segment]

    @property
    def total_mass(self) -> float:
        """Masses of all fifteen segments over the body's: 1 up to the digits printed."""
        one = sum(self.segments[name].mass for name in CENTRAL)
        return one + 2 * sum(self.segments[name].mass for name in LIMBS)


# de Leva's table 4 for males and females: stature in mm, then per segment the length in mm, and in percent the mass,
# the mass centre and the radii of gyration (sagittal, transverse, longitudinal).
_STATURE = {"male": 1741.0, "female": 1735.0}
_DE_LEVA = {
    "male": {
        ("head", "vertex", "C7"): (242.9, 6.94, 50.02, 30.3, 31.5, 26.1),
        ("upper trunk", "C7", "xiphoid"): (242.1, 15.96, 50.66, 50.5, 32.0, 46.5),
        ("middle trunk", "xiphoid", "navel"): (215.5, 16.33, 45.02, 48.2, 38.3, 46.8),
        ("pelvis", "navel", "mid-hip"): (145.7, 11.17, 61.15, 61.5, 55.1, 58.7),
        ("upper_arm", "shoulder", "elbow"): (281.7, 2.71, 57.72, 28.5, 26.9, 15.8),
        ("forearm", "elbow", "wrist"): (268.9, 1.62, 45.74, 27.6, 26.5, 12.1),
        ("hand", "wrist", "fingertip"): (187.9, 0.61, 36.24, 28.8, 23.5, 18.4),
        ("thigh", "hip", "knee"): (422.2, 14.16, 40.95, 32.9, 32.9, 14.9),
        ("shank", "knee", "ankle"): (440.3, 4.33, 43.95, 25.1, 24.6, 10.2),
        ("foot", "heel", "toe tip"): (258.1, 1.37, 44.15, 25.7, 24.5, 12.4),
    },
    "female": {
        ("head", "vertex", "C7"): (243.7, 6.68, 48.41, 27.1, 29.5, 26.1),
        ("upper trunk", "C7", "xiphoid"): (228.0, 15.45, 50.50, 46.6, 31.4, 44.9),
        ("middle trunk", "xiphoid", "navel"): (205.3, 14.65, 45.12, 43.3, 35.4, 41.5),
        ("pelvis", "navel", "mid-hip"): (181.5, 12.47, 49.20, 43.3, 40.2, 44.4),
        ("upper_arm", "shoulder", "elbow"): (275.1, 2.55, 57.54, 27.8, 26.0, 14.8),
        ("forearm", "elbow", "wrist"): (264.3, 1.38, 45.59, 26.1, 25.7, 9.4),
        ("hand", "wrist", "fingertip"): (170.1, 0.56, 34.27, 24.4, 20.8, 15.4),
        ("thigh", "hip", "knee"): (368.5, 14.78, 36.12, 36.9, 36.4, 16.2),
        ("shank", "knee", "ankle"): (438.6, 4.81, 43.52, 26.7, 26.3, 9.2),
        ("foot", "heel", "toe tip"): (228.3, 1.29, 40.14, 29.9, 27.9, 13.9),
    },
}  # fmt: skip

# Dempster's mass, mass centre and radius of gyration over the length, with Drillis and Contini's length over stature.
# His hand ends at a knuckle and his foot at a metatarsal, for which no length over stature is known: of these, as of
# the head and the trunk, only the mass is used.
_DEMPSTER = {
    "upper_arm": (0.028, 0.186, 0.436, 0.322),
    "forearm": (0.016, 0.146, 0.430, 0.303),
    "thigh": (0.100, 0.245, 0.433, 0.323),
    "shank": (0.0465, 0.246, 0.433, 0.302),
}
_DEMPSTER_MASSES = {"head": 0.081, "trunk": 0.355, "pelvis": 0.142, "hand": 0.006, "foot": 0.0145}

# Table 5.1 of the source of Human36: length and mass over those of the body, centre, radii x (sagittal), y, z.
_HUMAN36 = {
    "hand": (0.1091, 0.0061, 0.3691, 0.288, 0.184, 0.235),
    "forearm": (0.1541, 0.0162, 0.4574, 0.276, 0.121, 0.265),
    "upper_arm": (0.1618, 0.0271, 0.5772, 0.285, 0.158, 0.269),
}


def join_segments(upper: Proportions, lower: Proportions) -> Proportions:
    """Two segments in a line as one, from the first's origin to the second's end."""
    mass, length = upper.mass + lower.mass, upper.length + lower.length
    # Both mass centres along the common line, from the first origin.
    places = (upper.centre * upper.length, upper.length + lower.centre * lower.length)
    middle = (upper.mass * places[0] + lower.mass * places[1]) / mass
    parts = tuple(zip((upper, lower), places, strict=True))

    def radius(axis: str) -> float:
        # Steiner's part counts about axes across the line on which both mass centres lie.
        across = 0.0 if axis == "longitudinal" else 1.0
        squares = [
            part.mass * ((getattr(part, axis) * part.length) ** 2 + across * (place - middle) ** 2)
            for part, place in parts
        ]
        return float(np.sqrt(sum(squares) / mass)) / length

    return Proportions(
        mass, length, middle / length, radius("sagittal"), radius("transverse"), radius("longitudinal"),
        upper.origin, lower.end,
    )  # fmt: skip


def _de_leva(sex: str) -> Anthropometry:
    rows = {
        name: Proportions(mass / 100, length / _STATURE[sex], centre / 100, sagittal / 100, transverse / 100,
                          longitudinal / 100, origin, end)
        for (name, origin, end), (length, mass, centre, sagittal, transverse, longitudinal) in _DE_LEVA[sex].items()
    }  # fmt: skip
    trunk = join_segments(rows.pop("upper trunk"), rows.pop("middle trunk"))
    ordered = {name: rows.get(name, trunk) for name in SEGMENTS}
    return Anthropometry(f"de_leva_{sex}", f"de Leva (1996), {sex}", MappingProxyType(ordered))


def _dempster() -> Anthropometry:
    """Dempster's masses, and his long segments; how the others are spread is de Leva's."""
    rows = {}
    for name, like in _de_leva("male").segments.items():
        if name in _DEMPSTER_MASSES:
            note = "mass of Dempster, its spread of de Leva (male)"
            rows[name] = replace(like, mass=_DEMPSTER_MASSES[name], note=note)
        else:
            mass, length, centre, radius = _DEMPSTER[name]
            # A radius is a part of its own table's length: the same radius in metres, over the other length.
            slim = like.longitudinal * like.length / length
            note = "the table has one radius, across the segment; the one along it is de Leva's (male)"
            rows[name] = Proportions(mass, length, centre, radius, radius, slim, like.origin, like.end, note)
    return Anthropometry("dempster", "Dempster (1955), Drillis and Contini's lengths", MappingProxyType(rows))


def _human36() -> Anthropometry:
    """The source prints the upper limb; the rest is de Leva's, from which the source says it takes its numbers."""
    rows = dict(_de_leva("male").segments)
    for name, (length, mass, centre, x, y, z) in _HUMAN36.items():
        rows[name] = Proportions(mass, length, centre, x, z, y, rows[name].origin, rows[name].end)
    return Anthropometry("human36", "Human36 (Monnet 2007), de Leva's male", MappingProxyType(rows))


TABLES: Mapping[str, Anthropometry] = MappingProxyType(
    {table.name: table for table in (_human36(), _de_leva("male"), _de_leva("female"), _dempster())}
)


def anthropometry(name: str) -> Anthropometry:
    """The table of that name: human36, de_leva_male, de_leva_female or dempster."""
    if name not in TABLES:
        raise TorseurError(unknown_name("anthropometric table", name, TABLES))
    return TABLES[name]
