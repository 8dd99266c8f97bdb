"""Guesses at what the mass of a body looks like: its ellipsoid of inertia, a wheel, a rack, a sliding box, a ball."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from torseur.description.mechanism import EARTH_NAME
from torseur.presentation.scene.bodies.body_masses import BodyMass
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of
from torseur.presentation.scene.bodies.drawn_shapes import wheel
from torseur.presentation.scene.bodies.guesses.coordinate_ties import Rack
from torseur.presentation.scene.bodies.guesses.tracks import frame_about
from torseur.presentation.scene.bodies.joint_shapes import moving_axes
from torseur.presentation.scene.orientation import rotation
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Box, Cylinder, Ellipsoid, Shape, Sphere

if TYPE_CHECKING:
    from torseur.presentation.scene.bodies.body_shapes import Pictures

ROD, BALL, LEAST, SLIDER = 0.022, 0.075, 0.02, 0.17  # parts of the typical length
BEAD = 0.03  # of the extent of the wire it slides on
OWN_ROOM, OTHERS_ROOM = 0.42, 0.6  # parts of the way to own joints and to other bodies that a guessed mass may fill
FLAT, SLENDER, LEFT = (
    0.02,
    0.1,
    0.6,
)  # of a plate: its thickness at most, its width at least, what is left of it at least
DISC = 1.5  # least moment about the axis of a wheel by those across it: a thin disc and a rim have 2
TOOTHED, LONGEST = 0.25, 8.0  # thickness of a rack and what is seen of it on either side, in radii of its wheel


def flywheel(pictures: Pictures, body: str) -> Iterator[Shape]:
    """A disc that turns about its mass centre and carries nothing: a rim of its radius of gyration."""
    mass, carrier = pictures.masses[body], pictures.carrier(body)
    place = None if carrier is None else pictures.place(carrier.child)
    if carrier is None or place is None or mass.inertia is None or mass.centre is None or not mass.mass:
        return
    axes = list(moving_axes(carrier, pictures.numbers, place, pictures.moving))
    joints = [j for j in pictures.numbers.tree.mechanism.joints if body in (j.parent.body, j.child.body)]
    if len(axes) != 1 or axes[0][0] != "rotation" or len(joints) != 1 or not mass.is_finite:
        return
    axis, centre, inertia = axes[0][1], np.array(mass.centre), np.array(mass.inertia)
    moment, off = float(axis @ inertia @ axis), centre - np.array(point(place.position))
    across, radius = (float(np.trace(inertia)) - moment) / 2, float(np.sqrt(max(moment, 0.0) / mass.mass))
    is_centred = float(np.linalg.norm(np.cross(axis, off))) <= 1e-6 * pictures.size
    is_disc = moment >= DISC * across and float(np.linalg.norm(np.cross(axis, inertia @ axis))) <= 0.01 * moment
    others = [float(np.linalg.norm(way)) for part, way in _neighbours(pictures, body) if part == OTHERS_ROOM]
    room = max(0.5 * pictures.whole, 0.95 * min(others, default=0.0)) or np.inf
    if is_centred and is_disc and 0 < radius < room:
        yield from wheel(centre, frame_about(axis), radius, 0.15 * radius)


def rack_bar(pictures: Pictures, rack: Rack) -> Box | None:
    """The bar of a slider that its wheel touches in line with its origin, as long as what passes by the wheel."""
    motion = pictures.motion
    if rack.touch is None or motion is None or not np.all(np.isfinite(motion.positions)):
        return None
    names = [EARTH_NAME, *(b.name for b in pictures.numbers.tree.mechanism.bodies)]

    def turns(body: str) -> Array:
        return np.array([rotation(q) for q in motion.quaternions[:, names.index(body)]])

    def spots(body: str, local: Array) -> Array:
        return np.asarray(motion.positions[:, names.index(body)] + turns(body) @ local)

    (base, slider), radius = rack.touch, rack.wheel.radius
    touching, own = spots(base.body, np.array(base.point)), turns(slider.body)
    down = own[0].T @ (touching - spots(rack.wheel.body, rack.wheel.centre))[0] / radius
    along = np.cross(own[0].T @ turns(rack.wheel.body)[0] @ rack.wheel.axis, down)
    # Where the wheel touches, in the axes of the slider and from its origin.
    ways = np.einsum("tji,tj->ti", own, touching - spots(slider.body, np.array(slider.point)))
    reach = ways @ along
    if np.abs(ways - reach[:, None] * along).max() > 0.5 * radius:
        return None
    seen = np.clip(reach, reach[0] - (LONGEST - 1) * radius, reach[0] + (LONGEST - 1) * radius)
    low, high = float(seen.min()) - radius, float(seen.max()) + radius
    thick = TOOTHED * radius
    aside = float(ways[0] @ down) + thick / 2
    centre = np.array(slider.point) + along * (low + high) / 2 + down * aside
    turn = np.stack([along, down, np.cross(along, down)], axis=1)
    return Box(point(centre), (high - low, thick, 0.2 * radius), quaternion_of(turn))


def guessed_mass(pictures: Pictures, body: str) -> Shape:
    """The mass of a body to scale, where that hides neither its joints nor its neighbours."""
    mass, size = pictures.masses[body], pictures.size
    room, centre = _room(pictures, body), point(mass.centre or pictures.start(body))
    solid = _ellipsoid(mass, _neighbours(pictures, body), size)
    if solid is not None and not _carries_at_centre(pictures, body):
        return solid
    if _slides_on_earth(pictures, body):
        return Box(centre, (_slider(pictures),) * 3)
    led = pictures.curve_to(body)
    if led is not None:  # a bead is thicker than its wire
        return Sphere(centre, min(BEAD * float(np.linalg.norm(np.ptp(led.points, axis=0))), BALL * size))
    radius = min(BALL * size * _share(pictures, mass.mass or 0.0), 0.7 * room)
    return Sphere(centre, max(radius, 1.3 * ROD * size))


def _carries_at_centre(pictures: Pictures, body: str) -> bool:
    """Whether a joint to another body lies in the mass centre, where a solid would hide it."""
    centre, carrier = np.array(pictures.masses[body].centre), pictures.carrier(body)
    others = [(j, f) for j in pictures.numbers.tree.mechanism.joints for f in (j.parent, j.child) if f.body == body]
    places = [pictures.beyond(joint, frame) for joint, frame in others if joint is not carrier and joint.coordinates]
    spots = [np.array(point(place.position)) for place in places if place is not None]
    return any(float(np.linalg.norm(spot - centre)) <= 0.02 * pictures.size for spot in spots)


def _slides_on_earth(pictures: Pictures, body: str) -> bool:
    links = pictures.numbers.tree.links
    return any(k.joint.kind == "prismatic" and k.parent < 0 for k in links if k.name == body)


def _slider(pictures: Pictures) -> float:
    """The edge of the boxes of sliders without size: all the same, and apart."""
    sliding = [name for name, mass in pictures.masses.items() if mass.mass and _slides_on_earth(pictures, name)]
    return min([SLIDER * pictures.size, *(_room(pictures, name) for name in sliding)])


def _share(pictures: Pictures, mass: float) -> float:
    """The radius of a mass as a part of the largest."""
    largest = max(m.mass or 0.0 for m in pictures.masses.values())
    return float(max(0.45, (mass / largest) ** (1 / 3)))


def _room(pictures: Pictures, body: str) -> float:
    """How far a guessed mass may reach from its centre without hiding the body's own joints or another body."""
    return min((part * float(np.linalg.norm(way)) for part, way in _neighbours(pictures, body)), default=np.inf)


def _neighbours(pictures: Pictures, body: str) -> list[tuple[float, Array]]:
    """The ways, in the body, from its mass centre to its joints and to other bodies, and the part that it may fill."""
    mass, near = pictures.masses[body], 0.02 * pictures.size
    centre = np.array(mass.centre) if mass.centre is not None else pictures.start(body)
    ways = [(OWN_ROOM, end - centre) for end in [*pictures.ends(body), pictures.start(body)]]
    if pictures.motion is not None:
        names = [b.name for b in pictures.numbers.tree.mechanism.bodies]
        number = 1 + names.index(body)
        turn = rotation(pictures.motion.quaternions[0, number])
        with np.errstate(over="ignore", invalid="ignore"):
            here = pictures.motion.positions[0, number] + turn @ centre
        others = [spot for name in names if name != body for spot in pictures.spots(name)]
        ways += [(OTHERS_ROOM, turn.T @ (spot - here)) for spot in others]
    return [(part, way) for part, way in ways if float(np.linalg.norm(way)) > near]


def _ellipsoid(mass: BodyMass, neighbours: list[tuple[float, Array]], size: float) -> Shape | None:
    """The homogeneous ellipsoid with a body's inertia, its half axes √(5 (B + C - A) / 2m), reduced to fit."""
    if mass.inertia is None or mass.centre is None or not np.any(mass.inertia) or not mass.is_finite:
        return None
    moments, axes = np.linalg.eigh(mass.inertia)
    if moments[1] <= 1e-9 * moments[2] and neighbours:
        return None  # a single moment, for motions in a plane: a ball hides less than a disc across everything
    # A body said by diag(0, 0, J), for motions in a plane, is a disc: what would be negative is thin.
    squares = 2.5 * (moments.sum() - 2 * moments) / float(mass.mass or 1.0)
    halves = np.sqrt(np.maximum(squares, 0.0))
    if not halves.max() > 0:
        return None
    turn = axes * np.sign(np.linalg.det(axes))
    if halves.min() <= FLAT * halves.max() and np.sort(halves)[1] > SLENDER * halves.max():
        sheet = _sheet(mass, halves, turn, neighbours, LEAST * size)
        if sheet is not None:
            return sheet
    room = min((part * float(np.linalg.norm(way)) for part, way in neighbours), default=np.inf)
    thick = np.maximum(halves, min(LEAST * size, room))
    # A disc may be wider where its neighbours lie on its axis than where they lie beside it.
    clear = [part * float(np.linalg.norm(axes.T @ way / thick)) for part, way in neighbours]
    wide = [OTHERS_ROOM * float(np.linalg.norm(way)) / float(thick.max()) for _, way in neighbours]
    halves = np.maximum(halves * min([1.0, *clear, *wide]), min(LEAST * size, room))
    return Ellipsoid(point(mass.centre), point(halves), quaternion_of(turn))


def _sheet(
    mass: BodyMass, halves: Array, turn: Array, neighbours: list[tuple[float, Array]], thick: float
) -> Shape | None:
    """A thin plate, or a disc, for a body whose moments are those of one: I1 + I2 = I3.

    Of the ellipsoid's half axes the plate has √(3/5), the disc √(4/5). Hinges at its edges do not make it smaller;
    joints and neighbours within it do, until they lie at its edge, and where little is left, it is no plate.
    """
    wide = np.sort(halves)[1:]
    is_disc = wide[1] - wide[0] <= 0.02 * wide[1]
    sides = np.maximum(halves * np.sqrt(0.8 if is_disc else 0.6), 0.15 * thick)
    reach = [float(np.abs(turn.T @ way / sides).max()) for _, way in neighbours]
    part = min([1.0, *reach])
    if part < LEFT or mass.centre is None:
        return None
    sides = np.maximum(sides * part, 0.15 * thick)
    if is_disc:
        way = turn[:, int(np.argmin(halves))] * sides.min()
        centre = np.array(mass.centre)
        return Cylinder(point(centre - way), point(centre + way), float(sides.max()))
    return Box(point(mass.centre), point(2 * sides), quaternion_of(turn))
