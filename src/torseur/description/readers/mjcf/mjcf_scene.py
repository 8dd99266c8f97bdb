"""A model while it is read: its settings, and what its names mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.spatial import SAME, Transform, Vec3
from torseur.description.elements import Line, Wrap
from torseur.description.mechanism import EARTH, Coordinate, Frame, Joint
from torseur.description.readers.mjcf.mjcf_assets import Assets
from torseur.description.readers.mjcf.mjcf_defaults import Defaults
from torseur.description.readers.mjcf.mjcf_settings import Settings
from torseur.description.readers.rigid_placement import place_of
from torseur.description.readers.robot_assembly import Assembly, Names
from torseur.description.readers.xml_document import Element
from torseur.errors import unknown_name


@dataclass(frozen=True)
class Axis:
    """A joint of the file: the joint it became, its type, its single coordinate (or none), and its reference value."""

    joint: Joint
    kind: str
    coordinate: Coordinate | None
    reference: float
    spring_reference: float
    child: str


@dataclass(frozen=True)
class Tendon:
    """A length: a sum of coordinates times factors, the distance between two frames, or that of a line.

    A line has the frames that it goes `through`, a divisor for each stretch between two, and is plain without surfaces.
    """

    name: str
    terms: tuple[tuple[Axis, float], ...] = ()
    ends: tuple[Frame, Frame] | None = None
    line: Line | None = None
    through: tuple[Frame, ...] = ()
    divisors: tuple[float, ...] = ()
    is_plain: bool = True

    @property
    def length(self) -> Expr:
        """The sum of coordinates, or the length of the line."""
        if self.line is not None:
            return self.line.length
        return sum((axis.coordinate.symbol * f for axis, f in self.terms if axis.coordinate), as_expr(0))

    @property
    def rate(self) -> Expr:
        if self.line is not None:
            return self.line.rate
        return sum((axis.coordinate.rate * f for axis, f in self.terms if axis.coordinate), as_expr(0))


@dataclass
class Scene:
    """The model's settings and parts by their names in the file.

    `bodies` maps the file's names to ours, `places` ours to where the body is in the earth's frame in the
    configuration in which the model is written; `order` has the joints as in qpos and qvel; `tuned` are joints whose
    spring is given by its rest, time constant and damping ratio; `force_ranges` limit what actuators do to a joint.
    `aligned` are free bodies whose keyframes are of their principal axes, and whether the file writes these.
    """

    settings: Settings
    defaults: Defaults
    assets: Assets
    assembly: Assembly
    bodies: dict[str, str] = field(default_factory=lambda: {"world": EARTH.body})
    places: dict[str, Transform] = field(default_factory=lambda: {EARTH.body: SAME})
    joints: dict[str, Axis] = field(default_factory=dict)
    order: list[Axis] = field(default_factory=list)
    tuned: list[tuple[Joint, float, float, float]] = field(default_factory=list)
    sites: dict[str, Frame] = field(default_factory=dict)
    tendons: dict[str, Tendon] = field(default_factory=dict)
    wraps: dict[str, Wrap] = field(default_factory=dict)
    force_ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    aligned: dict[str, bool] = field(default_factory=dict)

    @property
    def parameter_names(self) -> Names:
        """Parameters share their names with coordinates, for both stand in formulas."""
        return self.assembly.coordinate_names

    def body(self, element: Element, attribute: str) -> str | None:
        """The body that an attribute names; None when it is not written."""
        name = element.text(attribute)
        if name is None:
            return None
        if name not in self.bodies:
            raise element.fault(unknown_name("body", name, self.bodies))
        return self.bodies[name]

    def site(self, element: Element, attribute: str) -> Frame | None:
        """The site that an attribute names; None when it is not written."""
        name = element.text(attribute)
        if name is None:
            return None
        if name not in self.sites:
            raise element.fault(unknown_name("site", name, self.sites))
        return self.sites[name]

    def axis(self, element: Element, attribute: str) -> Axis | None:
        """The joint that an attribute names; None when it is not written."""
        name = element.text(attribute)
        if name is None:
            return None
        if name not in self.joints:
            raise element.fault(unknown_name("joint", name, self.joints))
        return self.joints[name]

    def point(self, frame: Frame) -> Vec3:
        """Where a frame's origin is in the earth's frame, in the configuration in which the model is written."""
        return self.places[frame.body].point_to_parent(place_of(frame.placement).position)
