"""A scene: bodies with their shapes, where they are, what stretches between them, and from where they are seen.

Pure data. Report, studio, notebook and picture files show the same scene.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from torseur.presentation.scene.overlays import Overlay
from torseur.presentation.scene.palette import Colour
from torseur.presentation.scene.shapes import Paint, Point, Shape

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Body:
    """A body with its picture: shapes lie in its own frame; the ground is the body that is `fixed`."""

    name: str
    detail: str = ""  # such as "1.20 kg"
    shapes: tuple[Shape, ...] = ()
    fixed: bool = False
    colour: Colour | None = None  # in place of the next of the palette


@dataclass(frozen=True, eq=False)
class Motion:
    """Where every body is at every sample: positions in metres, unit quaternions (w, x, y, z), body to world.

    Shapes: times (T,), positions (T, B, 3), quaternions (T, B, 4), in the order of the bodies.
    """

    times: Array
    positions: Array
    quaternions: Array


@dataclass(frozen=True)
class Anchor:
    """A point of a body, by the body's name; a rope is wound about it with a radius (negative: on the other side)."""

    body: str
    point: Point
    radius: float = 0.0


@dataclass(frozen=True)
class Element:
    """What stretches between points of bodies: a coil, damper, rod, rope or arrow.

    `radius` is that of the whole (of the coil, of the cylinder of a damper), `wire` that of what it is made of.
    `turns` counts those of a coil.
    """

    kind: str
    anchors: tuple[Anchor, ...]
    radius: float
    wire: float
    turns: int = 0
    paint: Paint | None = None  # None: the colour of elements
    label: str = ""


@dataclass(frozen=True)
class Trace:
    """The path of a point of a body, drawn in the animation; `shown` from the start where somebody asked for it."""

    body: str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    label: str = ""
    shown: bool = False
    paint: Paint | None = None


@dataclass(frozen=True)
class View:
    """How the animation is first seen; `up` is against gravity.

    A mechanism that moves in a plane is seen `flat`: along the normal of that plane, in parallel projection. A robot
    is seen `near`: framed as it stands where the motion starts, wherever it falls to.
    """

    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    azimuth: float = 0.9
    elevation: float = 0.3
    start: float = 0.0
    traces: tuple[Trace, ...] = ()
    floor: bool = True
    level: float | None = None  # height of the floor (m); below everything where it is not given
    flat: bool = False
    near: bool = False


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything a picture shows. `reason` says why there is no motion, where there is none."""

    title: str
    bodies: tuple[Body, ...]
    motion: Motion
    elements: tuple[Element, ...] = ()
    overlays: tuple[Overlay, ...] = ()
    view: View = field(default_factory=View)
    reason: str = ""

    @property
    def is_still(self) -> bool:
        return bool(self.reason)

    def index(self, body: str) -> int:
        return next(k for k, one in enumerate(self.bodies) if one.name == body)
