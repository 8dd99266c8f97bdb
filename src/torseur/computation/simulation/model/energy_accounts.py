"""Energies of single bodies, powers of single loads and joints, and orientations, by the name of what has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import Rotation, Vec3
from torseur.computation.simulation.model.system import Quantity
from torseur.derivation.dynamics.loads.load_wrenches import generalised_by, spring_state
from torseur.derivation.dynamics.loads.sensor_values import law_values
from torseur.derivation.tree.body_constants import body_inertia
from torseur.derivation.tree.definitions import resolve_structure
from torseur.description.mechanism import AppliedWrench, PointSpring

if TYPE_CHECKING:
    from torseur.computation.simulation.model.named_quantities import NamedQuantities

Named = tuple[Quantity, Expr]


def body_kinetic_energy(asked: NamedQuantities, name: str) -> Named:
    """½ m v² + ω · m c × v + ½ ω · J ω, all at the body's own frame and in its axes."""
    inertia, frame = _inertia(asked, name), asked.frames_in_motion[asked.equations.mechanism.body(name).frame]
    to_body = frame.place.rotation.to_child
    v, w = to_body(frame.velocity.linear), to_body(frame.velocity.angular)
    energy = inertia.mass * v.dot(v) / 2 + w.cross(inertia.moment).dot(v) + w.dot(inertia.matrix @ w) / 2
    return Quantity(f"{name}.kinetic_energy", "J", f"kinetic energy of {name}"), as_expr(energy)


def body_potential_energy(asked: NamedQuantities, name: str) -> Named:
    """-m g · r(G), zero where the mass centre is at the earth's origin."""
    inertia, frame = _inertia(asked, name), asked.frames_in_motion[asked.equations.mechanism.body(name).frame]
    moment = frame.place.position * inertia.mass + frame.place.rotation.to_parent(inertia.moment)
    energy = -asked.frames_in_motion.now.gravity.dot(moment)
    return Quantity(f"{name}.potential_energy", "J", f"weight's potential energy of {name}"), as_expr(energy)


def _inertia(asked: NamedQuantities, name: str) -> Any:
    """Mass, first moment and inertia of a body in terms of the parameters."""
    tree = asked.equations.tree
    inertia = body_inertia(tree.mechanism.body(name))
    return resolve_structure(tree.mechanism, tree.definitions, inertia)


def load_power(asked: NamedQuantities, name: str) -> Named:
    """Q · v of one load: what it gives to all bodies that it acts on."""
    tree, layout = asked.equations.tree, asked.equations.layout
    forces = generalised_by(tree.at(layout.coordinates, layout.speeds), name)
    power = sum((as_expr(f) * v for f, v in zip(forces, layout.speeds, strict=True)), as_expr(0))
    return Quantity(f"{name}.power", "W", f"power of {name}"), power


def joint_power(asked: NamedQuantities, name: str) -> Named:
    """F · v + M · ω of the reaction on the child, along the motion of the child against the parent.

    An ideal joint passes on no power but that of what drives, springs or brakes it.
    """
    joint = asked.equations.mechanism.joint(name)
    parent, child = asked.frames_in_motion[joint.parent], asked.frames_in_motion[joint.child]
    to_child = child.place.rotation.to_child
    at_child = parent.velocity.linear + parent.velocity.angular.cross(child.place.position - parent.place.position)
    slide = to_child(child.velocity.linear - at_child)
    turn = to_child(child.velocity.angular - parent.velocity.angular)
    along = [*slide, *turn]
    before = dict(asked.undetermined)
    parts = [asked[f"{name}.{kind}.{axis}"] for kind in ("force", "moment") for axis in "xyz"]
    # What redundancy leaves open acts where nothing slides or turns: it has no power.
    asked.undetermined = before
    power = sum((effort * as_expr(v) for (_, effort), v in zip(parts, along, strict=True)), as_expr(0))
    return Quantity(f"{name}.power", "W", f"power that joint {name} brings in"), power


def spring_length(asked: NamedQuantities, name: str) -> Named:
    length, _ = _spring(asked, name)
    return Quantity(f"{name}.length", "m", f"distance between the ends of {name}"), as_expr(length)


def spring_tension(asked: NamedQuantities, name: str) -> Named:
    _, tension = _spring(asked, name)
    return Quantity(f"{name}.tension", "N", f"force with which {name} pulls its ends together"), as_expr(tension)


def applied_component(asked: NamedQuantities, name: str, kind: str, axis: str) -> Named:
    """A component, in earth axes, of the force or moment that an applied load exerts on its body."""
    frames = asked.frames_in_motion
    load = next(x for x in asked.equations.mechanism.loads if x.name == name and isinstance(x, AppliedWrench))
    own = Vec3(*law_values(frames.now, frames, load.force if kind == "force" else load.moment))
    in_earth = frames[load.axes].place.rotation.to_parent(own)
    unit = "N" if kind == "force" else "N*m"
    return Quantity(f"{name}.{kind}.{axis}", unit, f"{kind} of {name}"), as_expr(getattr(in_earth, axis))


def _spring(asked: NamedQuantities, name: str) -> tuple[Any, Any]:
    tree, layout = asked.equations.tree, asked.equations.layout
    load = next(x for x in tree.mechanism.loads if x.name == name and isinstance(x, PointSpring))
    return spring_state(tree.at(layout.coordinates, layout.speeds), load)


def quaternion_of(rotation: Rotation) -> tuple[Any, Any, Any, Any]:
    """The unit quaternion (w, x, y, z) of a rotation, with the largest component positive.

    Shepperd: whichever of trace and diagonal is largest is under the root, so that nothing small is divided by.
    Shepperd, S. W. (1978): Quaternion from rotation matrix. Journal of Guidance and Control 1, 223-224.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (list(row) for row in rotation.matrix.rows)
    cases = [
        (xx + yy + zz, (1 + xx + yy + zz, zy - yz, xz - zx, yx - xy), 0),
        (xx, (zy - yz, 1 + xx - yy - zz, xy + yx, zx + xz), 1),
        (yy, (xz - zx, xy + yx, 1 - xx + yy - zz, yz + zy), 2),
        (zz, (yx - xy, zx + xz, yz + zy, 1 - xx - yy + zz), 3),
    ]
    best, result = cases[0][0], _over_leading(*cases[0][1:])
    for size, terms, own in cases[1:]:
        here = _over_leading(terms, own)
        larger = s.less(best, size)
        result = tuple(s.where(larger, a, b) for a, b in zip(here, result, strict=True))
        best = s.maximum(best, size)
    w, x, y, z = result
    return w, x, y, z


def _over_leading(terms: tuple[Any, ...], own: int) -> tuple[Any, ...]:
    """4 q_k q over 2 q_k, with 4 q_k² kept away from zero where another case is chosen."""
    root = 2 * s.sqrt(s.maximum(terms[own], 0.25))
    return tuple(term / root for term in terms)
