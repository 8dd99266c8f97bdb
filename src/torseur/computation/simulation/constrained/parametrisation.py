"""One mechanism in several parametrisations: the same motion from different coordinates.

joint      coordinates of the joints that carry bodies; joints that close loops are equations without coordinates
complete   coordinates of all joints
cartesian  position and orientation (quaternion) of every body; all joints are equations

The strict one, independent coordinates only, is in reduced.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.spatial import Rotation
from torseur.computation.simulation.constrained.reduced_model import reduced_model
from torseur.derivation.dynamics import pose, velocity
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import EARTH, Body, Joint, Mechanism, free, motor
from torseur.errors import TorseurError, unknown_name

KINDS = ("joint", "complete", "cartesian")


def parametrised(mechanism: Mechanism, kind: str) -> Mechanism:
    """The mechanism with other coordinates, starting in the same state."""
    if kind not in KINDS:
        raise TorseurError(unknown_name("parametrisation", kind, KINDS))
    if kind == "joint":
        return mechanism
    return _complete(mechanism) if kind == "complete" else _cartesian(mechanism)


def _complete(mechanism: Mechanism) -> Mechanism:
    """Coordinates of loop joints are kept where a load refers to them, so each gets one that is zero."""
    kept = [
        motor(f"none along {coordinate.name}", joint.name, coordinate.name, 0)
        for joint in build_tree(mechanism).loops
        for coordinate in joint.coordinates
    ]
    return replace(mechanism, loads=(*mechanism.loads, *kept), initial=_start(mechanism))


def _start(mechanism: Mechanism) -> tuple[tuple[str, Expr], ...]:
    """The whole state in which the mechanism starts: with more coordinates, what nobody gave would follow otherwise."""
    model = reduced_model(mechanism)
    layout, y = model.numbers.equations.layout, model.state({})
    names = [*layout.coordinate_names, *layout.speed_names]
    return tuple((name, as_expr(value)) for name, value in zip(names, y.tolist(), strict=True))


def _cartesian(mechanism: Mechanism) -> Mechanism:
    initial = _places(mechanism)
    free_joints = [_free(body) for body in mechanism.bodies]
    loops = [replace(joint, role="loop") for joint in mechanism.joints]
    start = tuple((name, as_expr(value)) for name, value in initial.items())
    return replace(mechanism, joints=(*free_joints, *loops), initial=start)


def _free(body: Body) -> Joint:
    names = [f"{body.name}.{c}" for c in ("x", "y", "z", "q0", "q1", "q2", "q3")]
    return replace(free(f"{body.name} freely", EARTH, body, *names, angles="quaternion"), role="tree")


def _places(mechanism: Mechanism) -> dict[str, float]:
    """Position, orientation and velocities of every body at the start."""
    model = reduced_model(mechanism)
    equations, y = model.numbers.equations, model.state({})
    named = dict(zip(equations.layout.parameter_names, model.numbers.parameters.tolist(), strict=True))
    tree = equations.tree.with_parameters(named)
    q, v = np.split(y, [model.numbers.coordinates])
    initial: dict[str, float] = {}
    for body in mechanism.bodies:
        place, motion = pose(tree, body.frame, q.tolist()), velocity(tree, body.frame, q.tolist(), v.tolist())
        linear = place.rotation.to_parent(motion.linear)
        initial |= {f"{body.name}.{c}": float(x) for c, x in zip("xyz", place.position, strict=True)}
        quaternion = _quaternion(place.rotation)
        initial |= {f"{body.name}.q{k}": float(x) for k, x in enumerate(quaternion)}
        initial |= {f"{body.name}.{c}'": float(x) for c, x in zip("xyz", linear, strict=True)}
        initial |= {f"{body.name} freely.w{c}": float(x) for c, x in zip("xyz", motion.angular, strict=True)}
    return initial


def _quaternion(rotation: Rotation) -> list[float]:
    """Scalar first, from the largest of its four squares."""
    r = np.array([[float(x) for x in row] for row in rotation.matrix.rows])
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
