"""What each joint forbids at a configuration, as rows on the velocities of the two bodies it joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.closure.directions import direction_name
from torseur.derivation.loops.model.cycles import Passage
from torseur.derivation.loops.model.joint_chains import chain, number_slots, stack_chains, walk
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.poses import Poses, body_poses
from torseur.derivation.loops.model.skeleton import Edge

_RELATIVE = 1e-9


@dataclass(frozen=True)
class JointRow:
    """One forbidden motion of a joint: what it is called, and the wrench (moment at the earth's origin, force)."""

    joint: int
    name: str
    wrench: Array


def joint_rows(system: LoopSystem, state: State) -> tuple[list[JointRow], Array]:
    """(rows, A): everything the joints forbid, and the matrix of it over the velocities of all bodies (6 each)."""
    poses = body_poses(system, state)
    edges = system.edges
    rows = [row for k in range(len(edges)) for row in _forbidden(system, edges, state, poses, k)]
    bodies = {body.name: b for b, body in enumerate(system.frame.mechanism.bodies)}
    # Row r says wrench · (V_end - V_start) = 0; the earth has no columns.
    matrix = np.zeros((len(rows), 6 * len(bodies)))
    for r, row in enumerate(rows):
        edge = system.frame.edges[row.joint]
        for body, sign in ((edge.end, 1.0), (edge.start, -1.0)):
            if body in bodies:
                matrix[r, 6 * bodies[body] : 6 * bodies[body] + 6] += sign * row.wrench
    return rows, matrix


def _forbidden(system: LoopSystem, edges: Sequence[Edge], state: State, poses: Poses, k: int) -> list[JointRow]:
    """Unit wrenches that do no work on a joint's motions: couples and forces along readable directions."""
    # A wrench does no work on the joint's motions: reciprocal to its screws. Pure couples and forces are looked for
    # first, because a user can read them; what these leave (screw joints, coupled motions) is mixed.
    point, angular, linear = joint_motions(system, state, poses, k)
    zero = np.zeros(3)
    axis = _line(angular)
    pure = [("rotation about", couple, zero) for couple in readable(_across(angular), axis)]
    pure += [("translation along", zero, force) for force in readable(_across(linear), axis)]
    mixed = _coupled_wrenches(angular, linear, pure)
    return [
        JointRow(k, f"{what} {_name(couple + force)}", np.concatenate([couple + np.cross(point, force), force]))
        for what, couple, force in [*pure, *mixed]
    ]


def _name(direction: Array) -> str:
    return direction_name([float(c) for c in np.round(direction, 4)])


def _line(vectors: Array) -> Array | None:
    """The direction that all vectors have in common, if they have one."""
    if not len(vectors):
        return None
    _, values, right = np.linalg.svd(vectors)
    alone = values[0] > _RELATIVE and np.all(values[1:] < _RELATIVE * values[0])
    return right[0] if alone else None


def joint_screws(system: LoopSystem, state: State, k: int, poses: Poses) -> Array:
    """Screws of a joint's freedoms (freedoms, 6), at the earth's origin and in its axes."""
    point, angular, linear = joint_motions(system, state, poses, k)
    return np.concatenate([angular, linear - np.cross(angular, point)], axis=1)


def joint_motions(system: LoopSystem, state: State, poses: Poses, k: int) -> tuple[Array, Array, Array]:
    """(a point of the joint, angular velocities and velocities there per freedom), in the earth's axes."""
    edges = system.edges
    edge = edges[k]
    chains = stack_chains([chain(edges, number_slots(system.frame), [Passage(k, True)])], system.length)
    walked = walk(chains, system.amounts.values(state.x), state.balls)
    own = [i for i, f in enumerate(system.frame.freedoms) if f.joint == edge.joint]
    screws = system.rows_by_freedom(chains, walked[2], state)[0, 0][:, own].T
    turn, shift = poses.rotation[edge.start], poses.position[edge.start]
    first = edge.steps[0].before if edge.steps else edge.last
    local = np.array([float(c) for c in first.position]) / system.length
    # Screws come at the start body's origin; the point moves at v + w x point.
    angular = screws[:, :3] @ turn.T
    linear = (screws[:, 3:] + np.cross(screws[:, :3], local)) @ turn.T
    return turn @ local + shift, angular, linear


def _across(vectors: Array) -> Array:
    """An orthonormal basis (rows) of what is orthogonal to all vectors."""
    if not len(vectors):
        return np.eye(3)
    _, values, right = np.linalg.svd(vectors)
    rank = int(np.sum(values > _RELATIVE * max(float(values[0]), 1.0)))
    return right[rank:]


def readable(space: Array, axis: Array | None = None) -> list[Array]:
    """A basis of a space of vectors along an axis and along the earth's axes where possible."""
    if len(space) == 3 and axis is not None and np.max(np.abs(axis)) < 1 - _RELATIVE:
        return [_with_positive_largest(axis), *readable(_across(axis[None]))]
    if len(space) == 3:
        return list(np.eye(3))
    if len(space) == 2:
        normal = np.cross(space[0], space[1])
        near = np.eye(3)[int(np.argmin(np.abs(normal)))]
        first = near - normal * (normal @ near)
        first = first / np.linalg.norm(first)
        return [_with_positive_largest(first), _with_positive_largest(np.cross(normal, first))]
    return [_with_positive_largest(vector) for vector in space]


def _with_positive_largest(vector: Array) -> Array:
    """The vector with its largest component positive, exact zeros cleaned."""
    cleaned = np.where(np.abs(vector) < _RELATIVE, 0.0, vector)
    return cleaned if cleaned[int(np.argmax(np.abs(cleaned)))] > 0 else -cleaned


def _coupled_wrenches(
    angular: Array, linear: Array, pure: list[tuple[str, Array, Array]]
) -> list[tuple[str, Array, Array]]:
    """Wrenches with a force and a couple that complete the pure ones (for screws and coupled motions)."""
    motions = np.concatenate([angular, linear], axis=1)
    known = np.array([np.concatenate([couple, force]) for _, couple, force in pure]).reshape(-1, 6)
    _, values, right = np.linalg.svd(np.concatenate([motions, known]))
    rank = int(np.sum(values > _RELATIVE * max(float(values[0]), 1.0))) if len(values) else 0
    return [("coupled motion along", vector[:3], vector[3:]) for vector in right[rank:]]
