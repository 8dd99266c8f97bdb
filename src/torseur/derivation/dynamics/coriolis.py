"""The Coriolis matrix C with C v the centrifugal and Coriolis forces and M' - 2 C skew-symmetric."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.spatial import REST, Force, Inertia, Motion, Scalar
from torseur.derivation.dynamics.kinematics import link_velocities
from torseur.derivation.tree import Snapshot, Tree


def coriolis_matrix(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar | None = None
) -> list[list[Scalar]]:
    """C(q, v) by bodies: C = Σ Jᵀ (I J' + B J), where B(I, V) = ½ (V x* I + I V x + (I V) x̄*).

    J' is the rate of the body Jacobian's components in the body's frame. B is skew, which makes M' - 2 C skew
    (Echeandia and Wensing 2021, written there in fixed axes).
    """
    now = tree.at(q, v, t)
    links, velocities = now.links, link_velocities(now)
    n = len(tree.layout.speeds)
    # C is not unique: any matrix with the same C v would do for dynamics. This one also makes M' - 2 C skew, which
    # passivity-based control needs.
    matrix: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for i in tree.outward():
        columns = _columns(now, i)
        forces = {
            k: links[i].inertia @ rate + _bracket(links[i].inertia, velocities[i], screw)
            for k, (screw, rate) in columns.items()
        }
        for j, (screw, _) in columns.items():
            for k, force in forces.items():
                matrix[j][k] = matrix[j][k] + screw.dot(force)
    return matrix


def _columns(now: Snapshot, link: int) -> dict[int, tuple[Motion, Motion]]:
    """The columns of a link's Jacobian and their rates, in the link's frame.

    A screw fixed in ancestor j, seen from link i, changes at the rate (V_j - V_i) x screw, plus its own rate in j.
    """
    tree, links = now.tree, now.links
    columns: dict[int, tuple[Motion, Motion]] = {}
    for j in reversed(tree.path(link)):
        joint = links[j].motion
        columns = {
            k: (joint.transform.motion_to_child(screw), joint.transform.motion_to_child(rate))
            for k, (screw, rate) in columns.items()
        }
        # Seen from a frame that moves at V_J, what stands still changes at -V_J x screw, which is screw x V_J.
        columns = {k: (screw, rate + screw.cross(joint.velocity)) for k, (screw, rate) in columns.items()}
        for k, screw, rate in zip(tree.links[j].slots, joint.screws, joint.screw_rates, strict=True):
            # A speed that moves several joints on the way has the sum of their screws.
            before = columns.get(k, (REST, REST))
            columns[k] = (before[0] + screw, before[1] + rate)
    return columns


def _bracket(inertia: Inertia, velocity: Motion, screw: Motion) -> Force:
    """B(I, V) s = ½ (V x* (I s) + I (V x s) + s x* (I V))."""
    total = velocity.cross_force(inertia @ screw) + screw.cross_force(inertia @ velocity)
    total = total + inertia @ velocity.cross(screw)
    return Force(total.moment / 2, total.force / 2)
