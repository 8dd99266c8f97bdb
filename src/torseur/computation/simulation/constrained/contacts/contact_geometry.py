"""Contact of convex shapes: gaps and sliding speeds from support functions.

A convex body has h(n) = max n·x over its points x; its lowest point above a plane of normal n is -∇h(-n), and its gap
n·c - h(-n) for a centre c. All shapes here are symmetric, h(-n) = h(n). What slides is the body's own point there:
nothing else is said of rolling, of whatever smooth shape.

Corners and ends are shapes of their own: a box has eight points, a capsule two spheres. Beside a sphere a broad shape
touches with its nearest point (nearest_points.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph import Expr, as_expr, gradient, substitute, symbol
from torseur.algebra.graph.scalar import sqrt
from torseur.algebra.spatial import Transform, Vec3, unit
from torseur.computation.simulation.constrained.contacts.friction_rows import LEAST_SQUARE
from torseur.computation.simulation.constrained.contacts.nearest_points import nearest_point
from torseur.derivation.dynamics.loads.frames_in_motion import MovingFrames
from torseur.derivation.equations import Equations
from torseur.derivation.loops.closure.dimension_conditions import known_values
from torseur.derivation.loops.closure.directions import across
from torseur.derivation.loops.closure.joint_closure import relative_pose
from torseur.derivation.loops.closure.rolling import slip_velocity
from torseur.derivation.tree import resolve
from torseur.description.mechanism import Bound, Contact, DryFriction
from torseur.description.mechanism.contacts import GROUND_X, GROUND_Y

BROAD = ("box", "disc", "torus", "ellipsoid")  # shapes that touch a sphere with whatever of them is nearest
TURNS = 4  # times that a point on a height field and its normal are found from each other

_NORMAL = tuple(symbol(f"normal {axis} of a support", "1") for axis in "xyz")


def contact_elements(equations: Equations, contact: Contact) -> list[Bound | DryFriction]:
    """The bounds of a contact and their friction, in the symbols of the layout."""
    elements: list[Bound | DryFriction] = []
    seen: set[tuple[Expr, ...]] = set()
    for suffix, centre, support in _parts(contact):
        name = contact.name + suffix
        if contact.ground_radius is not None and contact.shape in BROAD:
            gap, slips = _gap_of_nearest(equations, contact, contact.ground_radius)
        else:
            gap, slips = _gap_and_slips(equations, contact, centre, support)
        # In a plane mechanism corners lie behind each other: one carries what all of them would share.
        if (gap, *slips) in seen:
            continue
        seen.add((gap, *slips))
        elements.append(Bound(name, gap, contact.restitution))
        mu, static = contact.coefficient, contact.static
        if slips and not (mu.is_zero and static is None):  # what cannot slide has nothing to rub
            elements.append(DryFriction(f"{name}.friction", slips, as_expr(0), mu, on=name, static=static))
    return elements


def _parts(contact: Contact) -> list[tuple[str, Vec3, Expr]]:
    """Smooth parts of a shape: a suffix of their names, their centre in the frame, and their support function."""
    size = dict(contact.sizes)
    x, y, z = _NORMAL
    length, across_axis = sqrt(x * x + y * y + z * z), sqrt(x * x + y * y)
    here, nothing = Vec3(as_expr(0), as_expr(0), as_expr(0)), as_expr(0)
    if contact.ground_radius is not None and contact.shape in BROAD:
        return [("", here, nothing)]  # one point alone is nearest to a sphere, of whatever part it is
    if contact.shape == "box":
        corners = [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
        half = [size[axis] / 2 for axis in "xyz"]
        return [(f".{k}", Vec3(*(s * h for s, h in zip(corner, half, strict=True))), nothing)
                for k, corner in enumerate(corners, 1)]  # fmt: skip
    if contact.shape == "capsule":
        ends = [(".1", -size["length"] / 2), (".2", size["length"] / 2)]
        return [(suffix, Vec3(as_expr(0), as_expr(0), end), size["radius"] * length) for suffix, end in ends]
    if contact.shape == "point":
        support = nothing
    elif contact.shape == "ellipsoid":
        support = sqrt(sum(((size[a] * n) * (size[a] * n) for a, n in zip("xyz", _NORMAL, strict=True)), nothing))
    elif contact.shape == "sphere":
        support = size["radius"] * length
    else:  # a disc is a torus without a tyre
        support = size["radius"] * across_axis + size.get("tyre", nothing) * length
    return [("", here, as_expr(support))]


def _gap_and_slips(
    equations: Equations, contact: Contact, centre: Vec3, support: Expr
) -> tuple[Expr, tuple[Expr, ...]]:
    tree = equations.tree
    now = tree.at(tree.layout.coordinates, tree.layout.speeds)
    frames = MovingFrames(now)
    place = relative_pose(now, contact.ground, contact.frame)
    offset = place.rotation.to_parent(centre)
    at = place.position + offset
    if contact.ground_radius is not None:
        distance = sqrt(at.dot(at))
        radius = dict(contact.sizes).get("radius", as_expr(0))
        along = at * (as_expr(1) / distance)
        slip = slip_velocity(frames[contact.frame], frames[contact.ground], place, offset - along * radius)
        slips = _moving([as_expr(tangent.dot(slip)) for tangent in _across(along)])
        return as_expr(distance - radius - contact.ground_radius), slips
    if contact.height is not None:
        (height,) = resolve(tree.mechanism, dict(tree.definitions), [contact.height])
        gap, normal, lowest = _on_heights(height, support, place, at)
        slip = slip_velocity(frames[contact.frame], frames[contact.ground], place, offset + lowest)
        return gap, _moving([as_expr(tangent.dot(slip)) for tangent in _across(normal)])
    assert contact.normal is not None
    normal = unit(Vec3(*contact.normal))
    height, lowest = _support(support, place, normal)
    gap = normal.dot(at) - height
    slip = slip_velocity(frames[contact.frame], frames[contact.ground], place, offset + lowest)
    tangents = across([Vec3(*contact.normal)], known_values(tree))
    slips = _moving([as_expr(tangent.vector.dot(slip)) for tangent in tangents])
    return as_expr(gap), slips


def _gap_of_nearest(equations: Equations, contact: Contact, radius: Expr) -> tuple[Expr, tuple[Expr, ...]]:
    """Gap and sliding speeds of a shape beside a sphere, at its point that is nearest to the sphere's centre."""
    tree = equations.tree
    now = tree.at(tree.layout.coordinates, tree.layout.speeds)
    frames, place = MovingFrames(now), relative_pose(now, contact.ground, contact.frame)
    centre = place.rotation.to_child(place.position * as_expr(-1))
    point, skin = nearest_point(contact.shape, dict(contact.sizes), centre)
    way = centre - point
    distance = sqrt(way.dot(way) + LEAST_SQUARE)
    towards = way * (as_expr(1) / distance)
    arm = place.rotation.to_parent(point + towards * skin)
    slip = slip_velocity(frames[contact.frame], frames[contact.ground], place, arm)
    along = place.rotation.to_parent(towards) * as_expr(-1)
    return as_expr(distance - skin - radius), _moving([as_expr(t.dot(slip)) for t in _across(along)])


def _on_heights(height: Expr, support: Expr, place: Transform, at: Vec3) -> tuple[Expr, Vec3, Vec3]:
    """Gap above z = h(x, y), its normal, and the lowest point from the centre, all in the axes of the ground.

    The point of the body that is lowest along the normal is where that normal belongs: they are found in turn, each
    time nearer by the curvature of the ground times the size of the shape. A point is where it is.
    """
    slopes = gradient(height, [GROUND_X, GROUND_Y])
    point = at
    for _ in range(TURNS):
        here = {GROUND_X: as_expr(point.x), GROUND_Y: as_expr(point.y)}
        z, *along = substitute([height, *slopes], here)
        normal = unit(Vec3(-along[0], -along[1], as_expr(1)))
        _, lowest = _support(support, place, normal)
        if at + lowest == point:
            break
        point = at + lowest
    (z,) = substitute([height], {GROUND_X: as_expr(point.x), GROUND_Y: as_expr(point.y)})
    return as_expr((point.z - z) * normal.z), normal, lowest


def _across(normal: Vec3) -> tuple[Vec3, Vec3]:
    """Two directions across a normal that moves, which turn with it.

    A rotation takes a fixed direction to the normal and its sides along; that is without a singularity but for the
    normal against that direction, which is chosen out of the way of the axes. In a plane the axis of the plane is one.
    """
    zero, one = as_expr(0), as_expr(1)
    axes = (Vec3(one, zero, zero), Vec3(zero, one, zero), Vec3(zero, zero, one))
    for axis in axes:
        if as_expr(axis.dot(normal)).is_zero:
            return axis.cross(normal), axis
    pole = Vec3(*(as_expr(k) / 25 for k in (9, 12, 20)))
    sides = Vec3(as_expr(-4) / 5, as_expr(3) / 5, zero), Vec3(*(as_expr(k) / 25 for k in (-12, -16, 15)))
    middle = (pole + normal) * (one / (one + pole.dot(normal)))
    first, second = (side - middle * side.dot(normal) for side in sides)
    return first, second


def _support(support: Expr, place: Transform, normal: Vec3) -> tuple[Expr, Vec3]:
    """h and the lowest point from the centre, in the axes of the ground."""
    own = place.rotation.to_child(normal)
    values = {n: as_expr(component) for n, component in zip(_NORMAL, own, strict=True)}
    height, *gradient_of_support = substitute([support, *gradient(support, list(_NORMAL))], values)
    return height, place.rotation.to_parent(Vec3(*gradient_of_support)) * as_expr(-1)


def _moving(slips: Sequence[Expr]) -> tuple[Expr, ...]:
    """Components of the sliding velocity without those that are zero in a plane mechanism."""
    return tuple(slip for slip in slips if not slip.is_zero)
