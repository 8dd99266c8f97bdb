"""Where a body's mass centre is in its link, and its inertia there."""

from __future__ import annotations

from torseur.mechanism import Body
from torseur.spatial import Inertia, Vec3
from torseur.tree import Tree
from torseur.tree.constants import body_inertia
from torseur.tree.definitions import resolved


def placed_inertia(tree: Tree, body: Body) -> tuple[Inertia, Vec3]:
    """The inertia of a body at the origin of its link, and the place of its mass centre.

    A body described by numbers or by solids has its mass centre in its inertial frame; one described by both has it
    where the first moment says.
    """
    _, place, frame = tree.places[body.name]
    inertia: Inertia = resolved(tree.mechanism, tree.definitions, place.inertia_to_parent(body_inertia(body)))
    if body.solids and (body.mass is not None or body.inertia is not None):
        return inertia, inertia.moment * (1 / inertia.mass)
    return inertia, frame.position
