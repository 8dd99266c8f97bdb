"""Forward dynamics: articulated bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.spatial import REST, Force, Motion, Scalar
from torseur.algebra.spatial.articulated_inertia import articulated_inertia, articulated_to_parent, eliminate_screw
from torseur.derivation.dynamics.inverse_dynamics import Wrenches, bias
from torseur.derivation.dynamics.mass_matrix import mass_matrix
from torseur.derivation.dynamics.mass_matrix_factors import eliminate, moving_inertia, scale_force, wheel_inertias
from torseur.derivation.dynamics.recursion import inertial_force, link_motions
from torseur.derivation.tree import GROUND, Snapshot, Tree
from torseur.derivation.tree.transformations.limb_batching import sum_over_copies


@dataclass(frozen=True)
class _Elimination:
    """One joint eliminated: vdot = (u - gains · A) once the parent brings the acceleration A."""

    free: tuple[Scalar, ...]
    gains: tuple[Force, ...]


# Why the forces at rest come first: docs/decisions/0005-forward-dynamics-from-forces-at-rest.md.
def forward_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Wrenches | None = None,
    t: Scalar | None = None,
) -> list[Scalar]:
    """Accelerations vdot under the generalised forces τ in state (q, v): M vdot = τ - c - g + Σ Jᵀ F.

    Featherstone's articulated bodies. The forces at vdot = 0 come from the Newton-Euler recursion, so what is left is
    linear in the accelerations and needs no velocity: inward, each joint is eliminated; outward, accelerations follow.
    """
    if tree.is_coupled:
        return _accelerate_coupled(tree, q, v, tau, wrenches, t)
    now = tree.at(q, v, t)
    # At vdot = 0 all velocity terms are in these forces; the articulated recursion below has none.
    still = link_motions(now, [0] * len(tree.layout.speeds), now.gravity)
    forces = [inertial_force(link.inertia, motion) for link, motion in zip(now.links, still, strict=True)]
    for i, wrench in (wrenches or {}).items():
        forces[i] = forces[i] - wrench
    return _accelerate(now, _eliminate(now, forces, tau))


def _accelerate_coupled(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Wrenches | None,
    t: Scalar | None,
) -> list[Scalar]:
    """Accelerations from M vdot = τ - b, where a speed moves several joints.

    A joint that follows another cannot be eliminated when its turn comes: its acceleration is known with the leader's.
    """
    rest = bias(tree, q, v, wrenches, t)
    factors = eliminate(tree, mass_matrix(tree, q, t))
    return factors.solve([push - b for push, b in zip(tau, rest, strict=True)])


def _eliminate(now: Snapshot, forces: list[Force], tau: Sequence[Scalar]) -> list[_Elimination]:
    tree, links = now.tree, now.links
    inertias = [articulated_inertia(link.inertia) for link in links]
    eliminations: list[_Elimination] = [_Elimination((), ())] * len(links)
    # A rotor resists the speed that it follows, and touches nothing else: it joins the pivot of that speed.
    rotors, tau = wheel_inertias(now), list(tau)
    for i in sorted(tree.wheels):
        (k,), (screw,) = tree.links[i].slots, links[i].motion.screws
        # What it feels at vdot = 0, from the motion of its carrier and from wrenches, resists its speed.
        tau[k] = tau[k] - screw.dot(forces[i])
    for i in tree.inward():
        if i in tree.wheels:
            continue
        motion, parent = links[i].motion, tree.parent(i)
        inertia, force, free, gains = inertias[i], forces[i], [], []
        # The screws of a joint one after the other, as joints of one freedom with massless bodies between them: no
        # matrix to invert.
        for k, screw in zip(tree.links[i].slots, motion.screws, strict=True):
            push, needed = tau[k], inertia @ screw
            inverse = 1 / moving_inertia(screw.dot(needed) + rotors.get(k, 0), tree, i)
            gain = scale_force(needed, inverse)
            rest = push - screw.dot(force)
            free.append(rest * inverse)
            gains.append(gain)
            inertia = eliminate_screw(inertia, gain, needed)
            # What a joint that moves freely passes on: f + (U / D) (τ - S · f).
            force = force + scale_force(gain, rest)
        eliminations[i] = _Elimination(tuple(free), tuple(gains))
        if parent != GROUND:
            carried = articulated_to_parent(motion.transform, inertia), motion.transform.force_to_parent(force)
            inertia, force = sum_over_copies(tree.links[i].copies, carried)
            inertias[parent], forces[parent] = inertias[parent] + inertia, forces[parent] + force
    return eliminations


def _accelerate(now: Snapshot, eliminations: Sequence[_Elimination]) -> list[Scalar]:
    tree, links = now.tree, now.links
    accelerations: list[Motion] = []
    vdot: list[Scalar] = [0] * len(tree.layout.speeds)
    for i in tree.outward():
        if i in tree.wheels:
            accelerations.append(REST)  # nothing hangs on a wheel
            continue
        motion, parent = links[i].motion, tree.parent(i)
        acceleration = REST if parent == GROUND else motion.transform.motion_to_child(accelerations[parent])
        solved = []
        joint = eliminations[i]
        # In the opposite order: the screw eliminated last stands nearest to the parent.
        for screw, free, gain in reversed(list(zip(motion.screws, joint.free, joint.gains, strict=True))):
            # v' = (τ - S · p) / D - (U / D) · A.
            rate = free - acceleration.dot(gain)
            acceleration = acceleration + screw * rate
            solved.append(rate)
        accelerations.append(acceleration)
        vdot[tree.links[i].v] = reversed(solved)
    return vdot
