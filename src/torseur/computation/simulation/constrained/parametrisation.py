"""One mechanism in several parametrisations: the same motion from different coordinates.

joint      coordinates of the joints that carry bodies; joints that close loops are equations without coordinates
complete   coordinates of all joints; those that close loops are equations with coordinates
planar     position and angle of every body in the plane that all joints move in; all joints are equations
cartesian  position and orientation (quaternion) of every body; all joints are equations

The strict one, independent coordinates only, is in reduced.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, as_expr
from torseur.computation.simulation.constrained.reduced_model import reduced_by_rank
from torseur.derivation.dynamics import pose, velocity
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.poses import body_poses
from torseur.derivation.loops.reasons.motion_groups import generated_algebra, motion_group
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import EARTH, Body, Frame, Joint, Mechanism, free, motor, placement, planar
from torseur.description.mechanism.frames import Turn, turn
from torseur.errors import TorseurError, UnsupportedError, unknown_name

KINDS = ("joint", "complete", "planar", "cartesian")
_NOTHING = 1e-12


def parametrised(mechanism: Mechanism, kind: str) -> Mechanism:
    """The mechanism with other coordinates, starting in the same state."""
    if kind not in KINDS:
        raise TorseurError(unknown_name("parametrisation", kind, KINDS))
    if kind == "joint":
        return mechanism
    return {"complete": _complete, "planar": _planar, "cartesian": _cartesian}[kind](mechanism)


def _complete(mechanism: Mechanism) -> Mechanism:
    """Every joint as it is in the tree, carrying or closing; a closing one keeps its coordinates."""
    # Coordinates of a closing joint are in the state where a load refers to them, so each gets one that is zero. With
    # the roles said, such a load does not move the cut to another joint.
    closing = {joint.name: joint for joint in build_tree(mechanism).loops}
    kept = [
        motor(f"none along {coordinate.name}", joint.name, coordinate.name, 0)
        for joint in closing.values()
        for coordinate in joint.coordinates
    ]
    joints = tuple(replace(j, role="loop" if j.name in closing else "tree") for j in mechanism.joints)
    return replace(mechanism, joints=joints, loads=(*mechanism.loads, *kept), initial=_start(mechanism))


def _start(mechanism: Mechanism) -> tuple[tuple[str, Expr], ...]:
    """The whole state in which the mechanism starts: with more coordinates, what nobody gave would follow otherwise."""
    model = reduced_by_rank(mechanism)
    layout, y = model.numbers.equations.layout, model.state({})
    names = [*layout.coordinate_names, *layout.speed_names]
    return tuple((name, as_expr(value)) for name, value in zip(names, y.tolist(), strict=True))


def _planar(mechanism: Mechanism) -> Mechanism:
    """Three coordinates per body; raises where joints leave the plane."""
    normal = _normal(mechanism)
    along, start = _frame_along(normal), dict[str, float]()
    joints: list[Joint] = []
    for name, body in _start_of_bodies(mechanism).items():
        # R = A Rz(θ) C⁻¹: A takes z to the normal, C is how the body lies in the plane, none where its z is the normal.
        lies = _frame_along(body.rotation.T @ normal)
        turned = along.T @ body.rotation @ lies
        x, y, height = along.T @ body.position
        near = Frame(EARTH.body, placement([float(c) for c in normal * height], *_turns(along)))
        names = [f"{name}.{c}" for c in ("x", "y", "angle")]
        joint = planar(f"{name} in the plane", near, Frame(name, placement((0, 0, 0), *_turns(lies))), *names)
        joints.append(replace(joint, role="tree"))
        rates = (*(along.T @ body.linear)[:2], normal @ body.angular)
        start |= dict(zip(names, (x, y, float(np.arctan2(turned[1, 0], turned[0, 0]))), strict=True))
        start |= {f"{q}'": float(rate) for q, rate in zip(names, rates, strict=True)}
    loops = [replace(joint, role="loop") for joint in mechanism.joints]
    initial = tuple((name, as_expr(float(value))) for name, value in start.items())
    return replace(mechanism, joints=(*joints, *loops), initial=initial)


def _normal(mechanism: Mechanism) -> Array:
    """The normal of the plane that all bodies move in."""
    system = loop_system(mechanism)
    screws = np.vstack([rows.T for rows in body_poses(system, closed_state(system, None)).screws.values()])
    algebra = generated_algebra(screws[np.any(np.abs(screws) > _NOTHING, axis=1)])
    group = motion_group(algebra)
    if group.kind != "planar":
        raise UnsupportedError(
            f"mechanism '{mechanism.name}': its joints allow {group.text}, not motions in one plane only. 'cartesian' "
            "takes position and orientation of every body in space."
        )
    normal: Array = np.linalg.svd(algebra[:, :3])[2][0]
    cleaned = np.where(np.abs(normal) < _NOTHING, 0.0, normal)
    return cleaned if cleaned[int(np.argmax(np.abs(cleaned)))] > 0 else -cleaned


def _frame_along(direction: Array) -> Array:
    """A rotation that takes z to a direction, the nearest one; none where it is z."""
    axis = np.array([-direction[1], direction[0], 0.0])
    sine, cosine = float(np.linalg.norm(axis)), float(direction[2])
    if sine < _NOTHING:
        return np.diag([1.0, 1.0, 1.0] if cosine > 0 else [1.0, -1.0, -1.0])
    return _rotation_about(axis / sine, float(np.arctan2(sine, cosine)))


def _rotation_about(axis: Array, angle: float) -> Array:
    """The matrix of a rotation about a unit axis (Rodrigues)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix: Array = np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    return matrix


def _turns(matrix: Array) -> tuple[Turn, ...]:
    """A rotation matrix as a turn about its axis; nothing for no rotation."""
    q0, *vector = _quaternion(matrix)
    size = float(np.linalg.norm(vector))
    if size < _NOTHING:
        return ()
    return (turn(2 * float(np.arctan2(size, q0)), [float(c) / size for c in vector]),)


def _cartesian(mechanism: Mechanism) -> Mechanism:
    initial = _places(mechanism)
    free_joints = [_free(body) for body in mechanism.bodies]
    loops = [replace(joint, role="loop") for joint in mechanism.joints]
    start = tuple((name, as_expr(value)) for name, value in initial.items())
    return replace(mechanism, joints=(*free_joints, *loops), initial=start)


def _free(body: Body) -> Joint:
    names = [f"{body.name}.{c}" for c in ("x", "y", "z", "q0", "q1", "q2", "q3")]
    return replace(free(f"{body.name} freely", EARTH, body, *names, angles="quaternion"), role="tree")


@dataclass(frozen=True)
class _BodyState:
    """Position, orientation, velocity and angular velocity of a body in the earth's axes; the latter in its own too."""

    position: Array
    rotation: Array
    linear: Array
    angular: Array
    own_angular: Array


def _start_of_bodies(mechanism: Mechanism) -> dict[str, _BodyState]:
    """Every body as it starts."""
    model = reduced_by_rank(mechanism)
    equations, y = model.numbers.equations, model.state({})
    named = dict(zip(equations.layout.parameter_names, model.numbers.parameters.tolist(), strict=True))
    tree = equations.tree.with_parameters(named)
    q, v = np.split(y, [model.numbers.coordinates])
    states: dict[str, _BodyState] = {}
    for body in mechanism.bodies:
        place, motion = pose(tree, body.frame, q.tolist()), velocity(tree, body.frame, q.tolist(), v.tolist())
        rotation = np.array([[float(x) for x in row] for row in place.rotation.matrix.rows])
        own, linear = (np.array([float(c) for c in vector]) for vector in (motion.angular, motion.linear))
        position = np.array([float(c) for c in place.position])
        states[body.name] = _BodyState(position, rotation, rotation @ linear, rotation @ own, own)
    return states


def _places(mechanism: Mechanism) -> dict[str, float]:
    """Position, orientation and velocities of every body at the start."""
    initial: dict[str, float] = {}
    for name, body in _start_of_bodies(mechanism).items():
        initial |= {f"{name}.{c}": float(x) for c, x in zip("xyz", body.position, strict=True)}
        initial |= {f"{name}.q{k}": float(x) for k, x in enumerate(_quaternion(body.rotation))}
        initial |= {f"{name}.{c}'": float(x) for c, x in zip("xyz", body.linear, strict=True)}
        initial |= {f"{name} freely.w{c}": float(x) for c, x in zip("xyz", body.own_angular, strict=True)}
    return initial


def _quaternion(r: Array) -> list[float]:
    """Of a rotation matrix, scalar first, from the largest of its four squares."""
    squares = np.array([1 + np.trace(r), *(1 + 2 * r[k, k] - np.trace(r) for k in range(3))])
    largest = int(np.argmax(squares))
    size = np.sqrt(squares[largest])
    products = np.array([
        [squares[0], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
        [r[2, 1] - r[1, 2], squares[1], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
        [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], squares[2], r[1, 2] + r[2, 1]],
        [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], squares[3]],
    ])  # fmt: skip
    answer: list[float] = (products[largest] / (2 * size)).tolist()
    return answer
