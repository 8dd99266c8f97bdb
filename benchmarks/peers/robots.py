"""Robots to time, and what other programs need to know of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import torseur as ts
from torseur.algebra.graph import as_expr
from torseur.derivation.tree import GROUND
from torseur.description.readers import read_robot

OWN = Path(__file__).parents[2] / "tests" / "oracles" / "robots"
SHIPPED = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "floating"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "floating"),
}
"""Robots of the package example-robot-data: 7, 18 and 38 degrees of freedom."""

ALWAYS = {"ur5": "fixed", "solo12": "floating"}


def prefix() -> Path | None:
    """Where the packages of Pinocchio put their files."""
    found = find_spec("cmeel")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parents[1] / "cmeel.prefix"


def load(name: str, folder: Path) -> ts.Equations | None:
    """The equations of a robot without friction and pictures, its fingers fixed; None when its file is not here."""
    if name in ALWAYS:
        path, base = OWN / f"{name}_nomesh.urdf", ALWAYS[name]
    else:
        root = prefix()
        file, base = SHIPPED[name]
        path = Path() if root is None else root / "share" / "example-robot-data" / "robots" / file
    if not path.is_file():
        return None
    text = path.read_text()
    text = re.sub(r'(<joint name="\w*finger\w*" type=")prismatic', r"\1fixed", text)
    text = re.sub(r"<mimic[^>]*/>|<(visual|collision)\b.*?</\1>", "", text, flags=re.S)
    plain = folder / f"{name}.urdf"
    plain.write_text(text)
    mechanism = read_robot(plain, base=base).mechanism
    return ts.derive(replace(mechanism, loads=(), name=name), formalism="recursive")


@dataclass(frozen=True)
class LinkData:
    """A link in numbers: how its joint moves, where, and its inertia at the mass centre."""

    kind: str
    parent: int
    axis: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    mass: float
    centre: np.ndarray
    inertia: np.ndarray

    @property
    def line(self) -> str:
        values = [*self.axis, *self.rotation.ravel(), *self.position, self.mass, *self.centre, *self.inertia.ravel()]
        return f"{self.kind} {self.parent} " + " ".join(repr(float(x)) for x in values)


def link_data(equations: ts.Equations) -> list[LinkData]:
    """The links of a robot whose joints are revolute, or free at the base."""
    return [_link(link) for link in equations.tree.links]


def _link(link) -> LinkData:
    place = link.base
    rotation = np.array([[float(as_expr(x)) for x in row] for row in place.rotation.matrix.rows])
    position = np.array([float(as_expr(x)) for x in place.position])
    axis = np.zeros(3)
    kind = "free"
    if len(link.motion.screws) == 1:
        axis = np.array([float(as_expr(x)) for x in link.motion.screws[0].angular])
        aligned = [k for k in range(3) if np.array_equal(axis, np.eye(3)[k])]
        kind = "xyz"[aligned[0]] if aligned else "any"
    mass = float(as_expr(link.inertia.mass))
    moment = np.array([float(as_expr(x)) for x in link.inertia.moment])
    at_origin = np.array([[float(as_expr(x)) for x in row] for row in link.inertia.matrix.rows])
    centre = moment / mass if mass else np.zeros(3)
    inertia = at_origin - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    parent = -1 if link.parent == GROUND else link.parent
    return LinkData(kind, parent, axis, rotation, position, mass, centre, inertia)
