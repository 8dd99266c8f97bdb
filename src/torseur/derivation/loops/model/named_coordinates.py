"""Between the user's coordinates by name and the states of the loop analysis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial import from_quaternion
from torseur.algebra.spatial.rotation_arrays import turn_about
from torseur.derivation.loops.model.dimensions import floats
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.skeleton import BALL, TURN, resolve_in
from torseur.description.mechanism import Joint
from torseur.errors import MechanismError, unknown_name

SAME_TURN = 1e-6  # of the entries of a rotation matrix


def initial_coordinates(system: LoopSystem) -> dict[str, float]:
    """The initial values of coordinates in the description (SI); rates are not among them."""
    mechanism = system.frame.mechanism
    known = {c.name for joint in mechanism.joints for c in joint.coordinates}
    given = [(name, value) for name, value in mechanism.initial if name in known]
    values = floats(mechanism, resolve_in(mechanism, [value for _, value in given]), {})
    return {name: value for (name, _), value in zip(given, values, strict=True)}


def state_at(system: LoopSystem, values: Mapping[str, float]) -> State:
    """The state with these coordinates (SI); what is missing is zero, quaternions unturned."""
    known = [c.name for joint in system.frame.mechanism.joints for c in joint.coordinates]
    for name in values:
        if name not in known:
            raise MechanismError(unknown_name("coordinate", name, known))
    state = system.start()
    for i, freedom in enumerate(system.frame.freedoms):
        if freedom.symbol is not None:
            state.x[0, i] = values.get(freedom.name, 0.0) / system.amounts.units[i]
    for b, joint in enumerate(balls(system)):
        state.balls[0, b] = _ball_rotation(joint, values)
    return state


def coordinates_at(system: LoopSystem, state: State, given: Mapping[str, float] | None = None) -> dict[str, float]:
    """The coordinates of a state (one lane) by name, in SI; angles of balls are those of their joint.

    Two triples of angles, and more where axes align, turn a ball the same way: `given` ones that do are kept.
    """
    values: dict[str, float] = {}
    for i, freedom in enumerate(system.frame.freedoms):
        if freedom.symbol is not None:
            values[freedom.name] = float(state.x[0, i] * system.amounts.units[i])
    for b, joint in enumerate(balls(system)):
        named = _ball_coordinates(joint, state.balls[0, b])
        # Compared as rotations, whatever angles were given.
        if given is not None and np.abs(_ball_rotation(joint, given) - state.balls[0, b]).max() <= SAME_TURN:
            named = {name: given.get(name, value) for name, value in named.items()}
        values.update(named)
    return values


def wrap_angles(system: LoopSystem, values: Mapping[str, float]) -> dict[str, float]:
    """The coordinates with angles that only turn bodies brought to within half a turn of zero."""
    counted = {f.name for f in system.frame.freedoms if f.symbol is not None} - _turning_only(system)
    return {
        name: value if name in counted else float((value + np.pi) % (2 * np.pi) - np.pi)
        for name, value in values.items()
    }


def _turning_only(system: LoopSystem) -> set[str]:
    """Coordinates that are the angle of one turn and nothing else, with no constraint counting their turns."""
    # A gear or a screw counts whole turns: its angles must not be wrapped.
    if system.relations or not system.amounts.is_affine:
        return set()
    kinds: dict[int, list[str]] = {}
    for edge in system.frame.edges:
        for step in edge.steps:
            for i in step.freedoms:
                kinds.setdefault(i, []).append(step.kind)
    plain = [i for i, own in kinds.items() if own == [TURN] and system.amounts.units[i] == 1.0]
    return {system.frame.freedoms[i].name for i in plain}


def balls(system: LoopSystem) -> list[Joint]:
    """The joints of the balls, in order."""
    mechanism = system.frame.mechanism
    return [mechanism.joint(e.joint) for e in system.frame.edges for step in e.steps if step.kind == BALL]


def _turning(joint: Joint) -> list[tuple[Array, str]]:
    """(axis, coordinate) of the last three rotations of a joint that are a ball."""
    turns = [m for m in joint.motions if m.kind == "rotation"][-3:]
    names = {c.symbol: c.name for c in joint.coordinates}
    axes = [np.array([float(c) for c in m.axis]) for m in turns]
    return [(a / np.linalg.norm(a), names[m.amount]) for a, m in zip(axes, turns, strict=True)]


def _quaternion_names(joint: Joint) -> list[str]:
    return [c.name for c in joint.coordinates][-4:]


def _is_quaternion(joint: Joint) -> bool:
    return any(m.kind == "quaternion" for m in joint.motions)


def _ball_rotation(joint: Joint, values: Mapping[str, float]) -> Array:
    if _is_quaternion(joint):
        q = [values.get(name, float(k == 0)) for k, name in enumerate(_quaternion_names(joint))]
        return np.array([list(row) for row in from_quaternion(*q).matrix.rows], float)
    total = np.eye(3)
    for axis, name in _turning(joint):
        total = total @ turn_about(axis, np.array(values.get(name, 0.0)))
    return total


def _ball_coordinates(joint: Joint, rotation: Array) -> dict[str, float]:
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_matrix(rotation)
    if _is_quaternion(joint):
        x, y, z, w = turned.as_quat()
        return dict(zip(_quaternion_names(joint), map(float, (w, x, y, z)), strict=True))
    turning = _turning(joint)
    # In gimbal lock one of the angles is free; SciPy sets it to zero and warns, which is no fault of the user's.
    angles = turned.as_davenport(np.array([axis for axis, _ in turning]), "intrinsic", suppress_warnings=True)
    return {name: float(angle) for (_, name), angle in zip(turning, angles, strict=True)}
