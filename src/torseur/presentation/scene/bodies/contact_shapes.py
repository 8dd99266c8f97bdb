"""What bodies touch with and on: the shapes of contacts, planes that are no floor, and hilly ground."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.graph import Expr, evaluate, symbols_of
from torseur.derivation.tree import resolve
from torseur.description.mechanism import EARTH_NAME, Contact, Frame, Rolling
from torseur.description.mechanism.contacts import GROUND_X, GROUND_Y
from torseur.presentation.scene.bodies.body_places import Places
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.bodies.drawn_shapes import wheel
from torseur.presentation.scene.bodies.guesses.tracks import frame_about
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Box, Capsule, Ellipsoid, Mesh, Point, Shape, Sphere

MARGIN = 0.35  # of the typical length: by how much ground goes on beyond what touches it
FARTHEST = 12.0  # typical lengths that ground reaches from where a motion starts
THIN = 0.03  # of the typical length: a plane
HILLS = 48  # lines of a height field each way


def contacts_of(places: Places) -> list[Contact]:
    """The contacts of a mechanism, without stops, friction and updates."""
    return [one for one in places.numbers.tree.mechanism.contacts if isinstance(one, Contact)]


def touching_shapes(places: Places, body: str) -> list[Shape]:
    """The shapes with which a body touches others, each once however many it touches."""
    shapes: dict[object, list[Shape]] = {}
    for one in contacts_of(places):
        if one.frame.body == body:
            shapes.setdefault((one.shape, one.frame, one.sizes), list(_shape(places, one)))
        if one.ground.body == body and one.ground_radius is not None:
            place, radius = places.place(one.ground), places.numbers.value(one.ground_radius)
            if place is not None and radius:
                shapes.setdefault((one.ground, one.ground_radius), [Sphere(point(place.position), radius)])
    return [shape for group in shapes.values() for shape in group]


def _shape(places: Places, contact: Contact) -> Iterator[Shape]:
    place = places.place(contact.frame)
    known = {name: places.numbers.value(value) for name, value in contact.sizes}
    sizes = {name: value for name, value in known.items() if value}
    if place is None or len(sizes) < len(known):
        return
    at, turn = np.array(point(place.position)), rotation_matrix(place.rotation, 1)[0]
    half = 0.5 * sizes.get("length", 0.0) * turn[:, 2]
    match contact.shape:
        case "sphere":
            yield Sphere(point(at), sizes["radius"])
        case "capsule":
            yield Capsule(point(at - half), point(at + half), sizes["radius"])
        case "box":
            yield Box(point(at), (sizes["x"], sizes["y"], sizes["z"]), quaternion_of(turn))
        case "ellipsoid":
            yield Ellipsoid(point(at), (sizes["x"], sizes["y"], sizes["z"]), quaternion_of(turn))
        case "disc":
            yield from wheel(at, turn, sizes["radius"], 0.06 * sizes["radius"])
        case "torus":
            yield from wheel(at, turn, sizes["radius"] + sizes["tyre"], 2 * sizes["tyre"])


def fills(shapes: Sequence[Shape], centre: Point | None) -> bool:
    """Whether one of the shapes of a contact holds a mass centre, so that it is what the body looks like."""
    return centre is not None and any(_holds(shape, np.array(centre)) for shape in shapes)


def _holds(shape: Shape, spot: Array) -> bool:
    if isinstance(shape, Capsule):
        start, end = np.array(shape.start), np.array(shape.end)
        way = end - start
        along = float(np.clip((spot - start) @ way / (way @ way), 0.0, 1.0))
        return bool(np.linalg.norm(spot - start - along * way) <= shape.radius)
    if isinstance(shape, (Sphere, Box, Ellipsoid)):
        # The ball inside is enough: a mass centre near the surface has its own mark.
        inside = shape.radius if isinstance(shape, Sphere) else min(shape.size) * (0.5 if isinstance(shape, Box) else 1)
        return bool(np.linalg.norm(spot - np.array(shape.centre)) <= inside)
    return False


def level_planes(places: Places, up: Array) -> list[float]:
    """The heights of the planes on the earth that lie level, which the page's floor can show, the lowest first."""
    levels = []
    for one in _touches(places):
        place, normal = places.place(one.ground), _normal(places, one)
        if one.ground.body == EARTH_NAME and place is not None and normal is not None and normal @ up > 1 - 1e-6:
            levels.append(float(np.array(point(place.position)) @ up))
    return sorted(levels)


@dataclass(frozen=True)
class _Touch:
    """Something that touches a ground: its frame, the ground's, and how far it reaches from its frame."""

    frame: Frame
    ground: Frame
    normal: tuple[Expr, ...] | None
    height: Expr | None
    reach: float


def ground_shapes(places: Places, body: str, up: Array, with_floor: bool = False) -> Iterator[Shape]:
    """Ground of a body as far as something touches it: planes other than the floor, and height fields.

    The floor as well where the page shows none: it has none of what is seen flat.
    """
    floor = [] if with_floor else level_planes(places, up)[:1]
    groups: dict[object, list[_Touch]] = {}
    for one in _touches(places):
        if one.ground.body == body:
            groups.setdefault((one.ground, one.normal, one.height), []).append(one)
    for group in groups.values():
        place, normal = places.place(group[0].ground), _normal(places, group[0])
        if place is None:
            continue
        at, base = np.array(point(place.position)), rotation_matrix(place.rotation, 1)[0]
        if group[0].height is not None:
            yield from _hills(places, group, at, base)
        elif normal is not None:
            level = body == EARTH_NAME and normal @ up > 1 - 1e-6 and floor and abs(float(at @ up) - floor[0]) < 1e-9
            if not level:
                yield from _plane(places, group, at, normal)


def _touches(places: Places) -> Iterator[_Touch]:
    """What touches grounds: shapes of contacts, and wheels that roll."""
    for one in contacts_of(places):
        if one.ground_radius is None:
            yield _Touch(one.frame, one.ground, one.normal, one.height, _reach(places, one))
    for rolling in places.numbers.tree.mechanism.constraints:
        if isinstance(rolling, Rolling):
            sizes = [places.numbers.value(r) for r in (rolling.radius, rolling.tyre_radius) if r is not None]
            yield _Touch(rolling.wheel, rolling.on, rolling.normal, None, sum(size or 0.0 for size in sizes))


def _normal(places: Places, contact: _Touch) -> Array | None:
    """The normal of a plane in the axes of the body that it lies on."""
    place = places.place(contact.ground)
    values = [places.numbers.value(c) for c in contact.normal or ()]
    if place is None or not values or None in values:
        return None
    normal = np.array(values, dtype=float)
    return np.asarray(rotation_matrix(place.rotation, 1)[0] @ (normal / np.linalg.norm(normal)))


def _footprint(places: Places, group: Sequence[_Touch]) -> Array:
    """Where what touches a ground goes, in the frame of the body that it lies on, no farther than makes a picture."""
    spots = []
    for one in group:
        shape, ground = places.path(one.frame), places.path(Frame(one.ground.body))
        if shape is not None and ground is not None:
            way = np.einsum("tji,tj->ti", ground[1], shape[0] - ground[0])
            spots.append(way[np.linalg.norm(way - way[0], axis=1) <= FARTHEST * places.size])
    return np.concatenate(spots) if spots else np.zeros((0, 3))


def _plane(places: Places, group: Sequence[_Touch], at: Array, normal: Array) -> Iterator[Shape]:
    """A thin plate along the way of what touches it."""
    spots = _footprint(places, group)
    if not len(spots):
        return
    flat = spots - np.outer((spots - at) @ normal, normal)
    turn = frame_about(normal)
    way = flat - flat.mean(axis=0)
    if np.ptp(way, axis=0).max() > 1e-6 * places.size:
        along = np.linalg.svd(way, full_matrices=False)[2][0]
        turn = np.stack([along, np.cross(normal, along), normal], axis=1)
    local = flat @ turn
    low, high = local.min(axis=0)[:2], local.max(axis=0)[:2]
    margin = MARGIN * places.size + max((one.reach for one in group), default=0.0)
    size, thick = high - low + 2 * margin, THIN * places.size
    middle = turn[:, :2] @ ((low + high) / 2) + normal * (float(at @ normal) - thick / 2)
    yield Box(point(middle), (float(size[0]), float(size[1]), thick), quaternion_of(turn), shade=0.9)


def _hills(places: Places, group: Sequence[_Touch], at: Array, base: Array) -> Iterator[Shape]:
    """A height field as triangles, as far as something goes over it."""
    numbers, spots = places.numbers, (_footprint(places, group) - at) @ base
    heights = [one.height for one in group[:1] if one.height is not None]
    resolved = resolve(numbers.tree.mechanism, numbers.tree.definitions, heights)
    known = {**numbers.by_symbol, GROUND_X: 0.0, GROUND_Y: 0.0}
    if not len(spots) or any(x not in known for x in symbols_of(resolved)):
        return
    margin = MARGIN * places.size + max(2 * one.reach for one in group)
    sides = [np.linspace(spots[:, k].min() - margin, spots[:, k].max() + margin, HILLS) for k in (0, 1)]
    x, y = np.meshgrid(*sides, indexing="ij")
    z = np.broadcast_to(evaluate(resolved, {**numbers.by_symbol, GROUND_X: x, GROUND_Y: y})[0], x.shape)
    vertices = at + np.stack([x, y, z], axis=-1).reshape(-1, 3) @ base.T
    corner = (np.arange(HILLS - 1)[:, None] * HILLS + np.arange(HILLS - 1)).ravel()
    # Two triangles of each square, anticlockwise seen from above: its first corner, x further, the opposite, y further.
    near, far, opposite, aside = corner, corner + HILLS, corner + HILLS + 1, corner + 1
    triangles = np.concatenate([np.stack([near, far, opposite], axis=1), np.stack([near, opposite, aside], axis=1)])
    yield Mesh(vertices, triangles, shade=0.9)


def _reach(places: Places, contact: Contact) -> float:
    return max((places.numbers.value(value) or 0.0 for _, value in contact.sizes), default=0.0)
