"""Human36: a person of fifteen segments, sixteen joints and thirty-six freedoms, scaled by stature and mass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import evaluate
from torseur.analysis.biomechanics.person_model.anthropometry import LIMBS, Anthropometry, anthropometry
from torseur.analysis.biomechanics.person_model.human36_text import LINK, human36_text
from torseur.analysis.identification.model.linear_model import given_values
from torseur.derivation.tree import build_tree, resolve
from torseur.description.mechanism import Body, Mechanism, body, inertia
from torseur.errors import MechanismError, TorseurError, unknown_name

HEIGHT, MASS = 1.74, 63.0  # those of the source
SIDES = {"r": "right", "l": "left"}
SEGMENT_NAMES = ("pelvis", "trunk", "head", *(f"{side}_{limb}" for side in SIDES for limb in LIMBS))
_RANGES = {
    "lumbar_extension": (-75, 40), "lumbar_bending": (-35, 35), "thoracic_rotation": (-50, 50),
    "neck_extension": (-60, 70), "neck_bending": (-45, 45), "neck_rotation": (-80, 80),
    "shoulder_flexion": (-90, 180), "shoulder_adduction": (-180, 60), "shoulder_rotation": (-100, 100),
    "elbow_flexion": (-5, 155), "elbow_pronation": (-15, 185), "wrist_flexion": (-80, 90),
    "hip_flexion": (-35, 135), "hip_adduction": (-60, 40), "hip_rotation": (-60, 60),
    "knee_flexion": (-10, 155), "ankle_flexion": (-60, 40), "ankle_inversion": (-35, 35),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class SegmentInertia:
    """A segment's own mass (kg), mass centre (m, from its proximal joint) and inertia (kg m², at the mass centre)."""

    mass: float
    centre: Sequence[float]
    inertia: Array


def human36(
    height: float = HEIGHT,
    mass: float = MASS,
    table: str | Anthropometry = "human36",
    *,
    values: Mapping[str, float] | None = None,
    segments: Mapping[str, SegmentInertia] | None = None,
) -> Mechanism:
    """The model of a person of some height (m) and mass (kg), with the proportions of a table.

    `values` overrides any parameter (SI: "r_thigh_length", "l_hand_mass", ...); `segments` replaces the inertia of
    whole segments, such as identified ones. Markers are named frames of the mechanism.
    """
    check_person(height, mass)
    chosen = anthropometry(table) if isinstance(table, str) else table
    made = _parse(human36_text(chosen)).with_values(height=height, mass=mass, **dict(values or {}))
    return with_segments(made, segments) if segments else made


@cache
def _parse(text: str) -> Mechanism:
    from torseur.description.language import parse

    return parse(text, "human36")


def check_person(height: float, mass: float) -> None:
    """Refuses what no person can be, such as centimetres for metres."""
    if not 0.4 <= height <= 2.6:
        hint = f" Did you mean {height / 100:g} m?" if 40 <= height <= 260 else ""
        raise TorseurError(f"a person's height is between 0.4 and 2.6 m, not {height:g} m.{hint}")
    if not 2 <= mass <= 400:
        raise TorseurError(f"a person's mass is between 2 and 400 kg, not {mass:g} kg.")


def with_segments(mechanism: Mechanism, segments: Mapping[str, SegmentInertia]) -> Mechanism:
    """The same person with other inertias of some segments."""
    for name in segments:
        if name not in SEGMENT_NAMES:
            raise TorseurError(unknown_name("segment", name, SEGMENT_NAMES))
    return replace(
        mechanism,
        bodies=tuple(
            _with_inertia(one, segments[one.name]) if one.name in segments else one for one in mechanism.bodies
        ),
    )


def _with_inertia(one: Body, own: SegmentInertia) -> Body:
    I = np.asarray(own.inertia, dtype=float)
    if I.shape != (3, 3) or not own.mass > 0:
        raise MechanismError(f"segment '{one.name}': an inertia is a 3x3 matrix and a mass is positive.")
    xx, yy, zz, xy, xz, yz = (float(I[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    matrix = inertia(xx, yy, zz, xy, xz, yz)
    return body(one.name, mass=own.mass, centre=tuple(own.centre), inertia=matrix, meaning=one.meaning)


def dimensions(mechanism: Mechanism) -> dict[str, float]:
    """The value of every parameter (SI): lengths, masses, mass centres and radii of gyration of the segments."""
    tree = build_tree(mechanism)
    known = {p: given_values(tree)[str(p.name)] for p in tree.layout.parameters}
    formulas = resolve(mechanism, tree.definitions, [p.symbol for p in mechanism.parameters])
    return {p.name: float(value) for p, value in zip(mechanism.parameters, evaluate(formulas, known), strict=True)}


def joint_limits() -> dict[str, tuple[float, float]]:
    """Least and greatest angle (rad) of the coordinates that have an anatomical range; the pelvis moves freely."""
    limits = {}
    for name, bounds in _RANGES.items():
        low, high = np.radians(bounds).tolist()
        central = name.startswith(("lumbar", "thoracic", "neck"))
        for full in (name,) if central else (f"r_{name}", f"l_{name}"):
            limits[full] = (low, high)
    return limits


def marker_places(mechanism: Mechanism) -> dict[str, str]:
    """Which segment carries each marker of the model."""
    carried = {name: frame.body for name, frame in mechanism.frames}
    return {name: where for name, where in carried.items() if where != LINK}
