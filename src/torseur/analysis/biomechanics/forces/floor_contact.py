"""Human36 on a rigid floor: four points of contact under each foot, and what they exert in a simulated motion.

with_feet        heel, both balls and toe of each foot touch the floor y = 0, with Coulomb's friction
floor_outputs    what `simulate` is asked for beside the coordinates
floor_motion     the motion with its accelerations, as any other motion of a person
floor_reactions  the reaction on each foot, Σ F and Σ p × F over its points, as force plates record it
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import ExprLike
from torseur.analysis.biomechanics.forces.foot_loads import sole_points
from torseur.analysis.biomechanics.forces.ground_reaction import FEET, Reaction
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, coordinate_names
from torseur.computation.simulation import Trajectory
from torseur.description.mechanism import EARTH, Contact, Frame, Mechanism, contact, plane
from torseur.errors import MechanismError, RecordingError

POINTS = ("heel", "lateral_ball", "medial_ball", "toe")
# The pressure along y, and friction along x and z: the directions across (0, 1, 0), in their order.
PARTS = {"multiplier": (0, 1, 0), "friction.multiplier.first": (1, 0, 0), "friction.multiplier.second": (0, 0, 1)}


def with_feet(person: Mechanism, *, friction: ExprLike = 0.8, restitution: ExprLike = 0) -> Mechanism:
    """A Human36 whose feet touch the floor y = 0 in four points each: contacts `r_foot_heel` to `l_foot_toe`.

    The points move with the lengths of the person's parameters.
    """
    floor = plane(EARTH, (0, 1, 0))
    contacts = [
        contact(_name(foot, k), "point", point, friction=friction, restitution=restitution, ground=floor)
        for foot in FEET
        for k, point in enumerate(_sole_frames(person, foot))
    ]
    return replace(person, contacts=(*person.contacts, *contacts))


def floor_outputs(person: Mechanism) -> list[str]:
    """The outputs of a simulation that `floor_motion` and `floor_reactions` read."""
    accelerations = [f"{name}''" for name in coordinate_names(person)]
    return [*accelerations, *(f"{owner}.{part}" for owner, _ in _touching(person) for part in PARTS)]


def floor_motion(person: Mechanism, simulated: Trajectory) -> JointMotion:
    """The motion of a simulated person. In time steps, accelerations are means over the step that ends there."""
    names = coordinate_names(person)
    q, v, vdot = (np.stack([_column(simulated, name + mark) for name in names], axis=1) for mark in ("", "'", "''"))
    return JointMotion(simulated.time, names, q, v, vdot, (f"simulated by {simulated.name}",))


def floor_reactions(person: Mechanism, simulated: Trajectory) -> dict[str, Reaction]:
    """What the floor exerts on each foot, the sum over its points of contact."""
    body = BodyInMotion(person, floor_motion(person, simulated))
    none = np.zeros((len(simulated.time), 3))
    total = {foot: Reaction(none, none) for foot in FEET}
    for owner, touching in _touching(person):
        # A multiplier is minus the force along its direction.
        parts = [np.outer(_column(simulated, f"{owner}.{part}"), along) for part, along in PARTS.items()]
        force = -np.sum(parts, axis=0)
        place, _ = body.place(touching.frame)
        total[touching.frame.body] = total[touching.frame.body] + Reaction(force, np.cross(place, force))
    return total


def _touching(person: Mechanism) -> Iterator[tuple[str, Contact]]:
    known = {entry.name: entry for entry in person.contacts if isinstance(entry, Contact)}
    for foot in FEET:
        for k in range(len(POINTS)):
            if _name(foot, k) not in known:
                raise MechanismError(
                    f"'{person.name}' has no contact '{_name(foot, k)}'. Give it feet first: with_feet(person)."
                )
            yield _name(foot, k), known[_name(foot, k)]


def _sole_frames(person: Mechanism, foot: str) -> list[Frame]:
    bodies, sizes = {b.name: b for b in person.bodies}, {p.name: p.symbol for p in person.parameters}
    wanted = (f"{foot}_length", "ankle_height", "height")
    if foot not in bodies or any(name not in sizes for name in wanted):
        raise MechanismError(
            f"'{person.name}' is no Human36: expected a body '{foot}' and parameters {', '.join(wanted)}."
        )
    return [bodies[foot].frame.at(point) for point in sole_points(foot, sizes)]


def _name(foot: str, number: int) -> str:
    return f"{foot}_{POINTS[number]}"


def _column(simulated: Trajectory, name: str) -> Array:
    if name not in [column.name for column in simulated.columns]:
        raise RecordingError(
            f"the motion has no column '{name}': simulate with outputs=biomechanics.floor_outputs(person)."
        )
    return simulated[name]
