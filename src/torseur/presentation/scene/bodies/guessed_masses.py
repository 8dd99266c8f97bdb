"""Guesses at what the mass of a body looks like: its ellipsoid of inertia, a box that slides, a ball."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torseur.presentation.scene.bodies.body_masses import BodyMass
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of
from torseur.presentation.scene.orientation import rotation
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Box, Ellipsoid, Shape, Sphere

if TYPE_CHECKING:
    from torseur.presentation.scene.bodies.body_shapes import Pictures

ROD, BALL, LEAST, SLIDER = 0.022, 0.075, 0.02, 0.17  # parts of the typical length
BEAD = 0.03  # of the extent of the wire it slides on
OWN_ROOM, OTHERS_ROOM = 0.42, 0.6  # parts of the way to own joints and to other bodies that a guessed mass may fill


def guessed_mass(pictures: Pictures, body: str) -> Shape:
    """The mass of a body to scale, where that hides neither its joints nor its neighbours."""
    mass, size = pictures.masses[body], pictures.size
    room, centre = _room(pictures, body), point(mass.centre or pictures.start(body))
    solid = _ellipsoid(mass, _neighbours(pictures, body), size)
    if solid is not None:
        return solid
    if _slides_on_earth(pictures, body):
        return Box(centre, (_slider(pictures),) * 3)
    led = pictures.curve_to(body)
    if led is not None:  # a bead is thicker than its wire
        return Sphere(centre, min(BEAD * float(np.linalg.norm(np.ptp(led.points, axis=0))), BALL * size))
    radius = min(BALL * size * _share(pictures, mass.mass or 0.0), 0.7 * room)
    return Sphere(centre, max(radius, 1.3 * ROD * size))


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
    room = min((part * float(np.linalg.norm(way)) for part, way in neighbours), default=np.inf)
    thick = np.maximum(halves, min(LEAST * size, room))
    # A disc may be wider where its neighbours lie on its axis than where they lie beside it.
    clear = [part * float(np.linalg.norm(axes.T @ way / thick)) for part, way in neighbours]
    wide = [OTHERS_ROOM * float(np.linalg.norm(way)) / float(thick.max()) for _, way in neighbours]
    halves = np.maximum(halves * min([1.0, *clear, *wide]), min(LEAST * size, room))
    turn = axes * np.sign(np.linalg.det(axes))
    return Ellipsoid(point(mass.centre), point(halves), quaternion_of(turn))
