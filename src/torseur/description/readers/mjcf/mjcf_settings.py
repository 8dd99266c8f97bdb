"""Settings of a model: how angles are written, how inertias are made, gravity."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torseur.description.readers.attribute_numbers import choice, number, numbers
from torseur.description.readers.xml_document import Attribute, Element

_SWITCHES = ("false", "true")
# Flags of <option> that switch off something that is modelled or listed.
SWITCHED = (
    "gravity", "equality", "constraint", "actuation", "spring", "damper", "passive", "frictionloss", "limit", "contact",
    "clampctrl",
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What <compiler> and <option> say about the mechanics of a model; what a <flag> switches off is in `disabled`."""

    degree: bool
    euler_order: str
    automatic_limits: bool
    inertia_from_geoms: str
    inertia_groups: tuple[float, ...]
    least_mass: float
    least_inertia: float
    balance: bool
    total_mass: float
    mesh_folder: str
    strip_paths: bool
    gravity: tuple[float, ...]
    disabled: frozenset[str]
    align_free: bool = False

    @property
    def radians(self) -> float:
        """How many radians the unit of angles has."""
        return math.pi / 180 if self.degree else 1.0


def read_settings(root: Element) -> Settings:
    compiler, option = together(root, "compiler"), together(root, "option")
    disabled = _disabled_features(option)
    folder = compiler.text("meshdir")
    assets = compiler.text("assetdir")
    gravity = numbers(option, "gravity", 3, (0.0, 0.0, -9.81))
    choice(compiler, "coordinate", ("local",), "local")
    return Settings(
        degree=choice(compiler, "angle", ("degree", "radian"), "degree") == "degree",
        euler_order=_euler_order(compiler),
        automatic_limits=choice(compiler, "autolimits", _SWITCHES, "true") == "true",
        inertia_from_geoms=choice(compiler, "inertiafromgeom", ("false", "true", "auto"), "auto"),
        inertia_groups=numbers(compiler, "inertiagrouprange", 2, (0.0, 5.0)),
        least_mass=number(compiler, "boundmass", 0.0),
        least_inertia=number(compiler, "boundinertia", 0.0),
        balance=choice(compiler, "balanceinertia", _SWITCHES, "false") == "true",
        total_mass=number(compiler, "settotalmass", -1.0),
        mesh_folder=folder if folder is not None else assets or "",
        strip_paths=choice(compiler, "strippath", _SWITCHES, "false") == "true",
        gravity=(0.0, 0.0, 0.0) if "gravity" in disabled else gravity,
        disabled=disabled,
        align_free=choice(compiler, "alignfree", _SWITCHES, "false") == "true",
    )


def together(root: Element, tag: str) -> Element:
    """All elements of a tag at the top of the model as one; later attributes replace earlier ones."""
    merged = Element(tag, {}, root.file, root.line, used=True)
    for element in root.all(tag):
        for name, attribute in element.attributes.items():
            attribute.behind = merged.attributes.get(name)
            merged.attributes[name] = attribute
        merged.children += element.children
    return merged


def _euler_order(compiler: Element) -> str:
    order = compiler.text("eulerseq") or "xyz"
    if len(order) != 3 or any(letter not in "xyzXYZ" for letter in order):
        raise compiler.fault(f'eulerseq="{order[:20]}": expected three of x, y, z, X, Y, Z.')
    return order


def _disabled_features(option: Element) -> frozenset[str]:
    """What the flags switch off among the things that are modelled."""
    flags: dict[str, Attribute] = {}
    for flag in option.all("flag"):
        flags |= flag.attributes
    off = {name for name in SWITCHED if name in flags and flags[name].read() == "disable"}
    if "passive" in off:
        off |= {"spring", "damper"}
    if "constraint" in off:
        off |= {"equality", "frictionloss"}
    return frozenset(off)
