"""The power that drivers bring: joints that depend on time, and speeds declared with a drift."""

from __future__ import annotations

from torseur.algebra.graph import Expr, as_expr, substitute
from torseur.algebra.spatial import Force, Motion, Vec3
from torseur.derivation.dynamics.recursion import inertial_force, link_motions
from torseur.derivation.tree import GROUND, Link, Tree


# Drivers bring power: joints and constraints that depend on time, and speeds declared with a drift. With every relative
# velocity V_J = S v + V_0 the rate of the energy is Q · v + Σ F · V_0 + λ · drift, F being the force that everything
# beyond a joint takes for its inertia and weight, and C v + drift = 0 the constraints.
def power_of_drifts(tree: Tree) -> Expr:
    """Σ F · V_0 over the joints, with v' as symbols; zero where nothing depends on time."""
    drifts = {i: _drift(link) for i, link in enumerate(tree.links)}
    moving = {i: drift for i, drift in drifts.items() if drift is not None}
    if not moving:
        return as_expr(0)
    forces = _forces_beyond(tree)
    return sum((as_expr(drift.dot(forces[i])) for i, drift in moving.items()), as_expr(0))


def _drift(link: Link) -> Motion | None:
    """The relative velocity of a link when its speeds are zero; None when it has none."""
    velocity = link.motion.velocity
    components = [as_expr(c) for c in (*velocity.angular, *velocity.linear)]
    still = substitute(components, {speed: as_expr(0) for speed in link.symbols.moving})
    return None if all(c.is_zero for c in still) else Motion(Vec3(*still[:3]), Vec3(*still[3:]))


def _forces_beyond(tree: Tree) -> list[Force]:
    """For each joint, the force that inertia and weight of everything it carries take."""
    now = tree.at(tree.layout.coordinates, tree.layout.speeds)
    motions = link_motions(now, tree.layout.accelerations, now.gravity)
    total = [inertial_force(link.inertia, motion) for link, motion in zip(now.links, motions, strict=True)]
    for i in tree.inward():
        if tree.parent(i) != GROUND:
            total[tree.parent(i)] = total[tree.parent(i)] + now.links[i].motion.transform.force_to_parent(total[i])
    return total
