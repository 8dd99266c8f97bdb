"""The parameters that measured forces are linear in, one column of the regressor each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph.scalar import sign, tanh
from torseur.algebra.spatial import Inertia, Scalar
from torseur.derivation.dynamics.regressor import PARAMETERS as INERTIAL
from torseur.derivation.dynamics.regressor import unit_inertias
from torseur.derivation.tree import GROUND, Tree
from torseur.description.mechanism import Frame
from torseur.errors import IdentificationError, unknown_name

PARAMETER_NAMES = ("mass", "h.x", "h.y", "h.z", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Inertial parameters as users read them, in the order of the regressor: mass, first moment, inertia at the origin."""

UNITS = ("kg", *("kg*m",) * 3, *("kg*m^2",) * 6)


@dataclass(frozen=True)
class Column:
    """A parameter: its name and unit, what it is, and the link, payload or coordinate it belongs to."""

    name: str
    unit: str
    kind: str  # inertia, payload, rotor, viscous, coulomb, stiffness or offset
    owner: str


@dataclass(frozen=True)
class Extras:
    """Further parameters besides the bodies' inertia, each a list of coordinates.

    rotor      inertia that turns with the joint's own speed: τ = J v̇
    viscous    τ = c v
    coulomb    τ = f sign(v), or f tanh(v / threshold) where a threshold is given (rad/s or m/s)
    stiffness  τ = k q
    offset     τ = constant: a sensor's offset, or -k rest beside a stiffness
    payloads   frames that carry an unknown load in the trials that name it
    """

    rotor: Sequence[str] = ()
    viscous: Sequence[str] = ()
    coulomb: Sequence[str] = ()
    stiffness: Sequence[str] = ()
    offset: Sequence[str] = ()
    payloads: Mapping[str, Frame] = field(default_factory=dict)
    threshold: float = 0.0

    def __post_init__(self) -> None:
        if not self.threshold >= 0:
            raise IdentificationError(
                f"the threshold of Coulomb friction is a speed of at least 0, not {self.threshold:g}."
            )


FORCE_LAWS = ("rotor", "viscous", "coulomb", "stiffness", "offset")


def inertia_columns(owner: str, kind: str = "inertia") -> list[Column]:
    """The ten columns of a body."""
    return [Column(f"{owner}.{name}", unit, kind, owner) for name, unit in zip(PARAMETER_NAMES, UNITS, strict=True)]


def speed_slot(tree: Tree, coordinate: str) -> tuple[int, int]:
    """Slots of a coordinate and of the speed that is its rate."""
    layout = tree.layout
    if coordinate not in layout.coordinate_names:
        raise IdentificationError(unknown_name("coordinate", coordinate, layout.coordinate_names))
    q = layout.coordinate_names.index(coordinate)
    if f"{coordinate}'" not in layout.speed_names:
        raise IdentificationError(
            f"coordinate '{coordinate}' has no speed of its own (its joint has other speeds), so that no friction, "
            "stiffness or rotor can act along it."
        )
    return q, layout.speed_names.index(f"{coordinate}'")


def force_law_column(tree: Tree, kind: str, coordinate: str, threshold: float) -> tuple[Column, int, Expr]:
    """A parameter of a joint's own law: its column, the equation it stands in, and its factor there."""
    q_slot, slot = speed_slot(tree, coordinate)
    layout = tree.layout
    q, v, vdot = layout.coordinates[q_slot], layout.speeds[slot], layout.accelerations[slot]
    turning = q.data.unit != "m"
    force, length = ("N*m", "rad") if turning else ("N", "m")
    factors = {
        "rotor": (vdot, "kg*m^2" if turning else "kg"),
        "viscous": (v, f"{force}*s" if turning else "N*s/m"),
        "coulomb": (tanh(v / threshold) if threshold > 0 else sign(v), force),
        "stiffness": (q, f"{force}/{length}"),
        "offset": (as_expr(1), force),
    }
    factor, unit = factors[kind]
    return Column(f"{coordinate}.{kind}", unit, kind, coordinate), slot, as_expr(factor)


def payload_map(tree: Tree, frame: Frame) -> tuple[int, list[list[Scalar]]]:
    """The link that carries a frame, and the linear map from a payload's ten parameters there to the link's."""
    link, place = tree.place(frame)
    if link == GROUND:
        raise IdentificationError(f"a payload on '{frame.body}' does not move: no force depends on it.")
    # The map is linear in the payload: its columns are the images of unit parameters.
    columns = [parameters_of(place.inertia_to_parent(unit)) for unit in unit_inertias()]
    return link, [list(row) for row in zip(*columns, strict=True)]


def parameters_of(inertia: Inertia) -> list[Scalar]:
    """An inertia as its ten parameters."""
    m = inertia.matrix
    entries = {"Ixx": m.xx, "Ixy": m.xy, "Iyy": m.yy, "Ixz": m.xz, "Iyz": m.yz, "Izz": m.zz}
    return [inertia.mass, *inertia.moment, *(entries[name] for name in INERTIAL[4:])]
