"""Keyframes: states that a model offers to start from."""

from __future__ import annotations

import math

from torseur.algebra.spatial import Transform, Vec3, from_quaternion
from torseur.description.mechanism import HERE
from torseur.description.readers.attribute_numbers import number_list
from torseur.description.readers.mjcf.mjcf_scene import Axis, Scene
from torseur.description.readers.rigid_placement import place_of
from torseur.description.readers.xml_document import Element, RobotFileError
from torseur.errors import unknown_name


def read_keyframe(root: Element, scene: Scene) -> None:
    """Sets the initial state from the keyframe that the user names, by name or number."""
    wanted = scene.assembly.options.keyframe
    if wanted is None:
        return
    keys = [key for group in root.all("keyframe") for key in group.children if key.tag == "key"]
    names = {key.text("name") or str(k): key for k, key in enumerate(keys)}
    names |= {str(k): key for k, key in enumerate(keys) if str(k) not in names}
    if wanted not in names:
        raise RobotFileError(unknown_name("keyframe", wanted, names, f"{root.file}: "))
    _start_from(names[wanted], scene)


def _start_from(key: Element, scene: Scene) -> None:
    key.used = True
    positions, speeds = number_list(key, "qpos"), number_list(key, "qvel")
    coordinates = [q.name for axis in scene.order for q in axis.joint.coordinates]
    if positions is not None:
        if len(positions) != len(coordinates):
            raise key.fault(f"qpos has {len(positions)} numbers; this model has {len(coordinates)} coordinates.")
        scene.assembly.initial |= dict(zip(coordinates, positions, strict=True))
    if speeds is not None:
        _set_speeds(key, speeds, scene)
    if positions is not None or speeds is not None:
        for axis in scene.order:
            if axis.kind == "free" and axis.child in scene.aligned:
                _from_principal_axes(key, axis, scene, positions is not None, speeds is not None)


def _from_principal_axes(key: Element, axis: Axis, scene: Scene, has_place: bool, has_speeds: bool) -> None:
    """The state of an aligned free body, which a keyframe gives of its mass centre and principal axes, as that of its
    frame.

    X_WB = X_WI X_BI⁻¹; with w and v of the principal frame turned into the body's axes, v_B = v_I - w × r_BI.
    """
    if not scene.aligned[axis.child]:
        raise key.fault(
            f"the free joint '{axis.joint.name}' is aligned, so that keyframes are of the principal axes of "
            f"'{axis.child}', which the file does not write. Give it <inertial> with diaginertia, or align=\"false\"."
        )
    body = next(body for body in scene.assembly.bodies if body.name == axis.child)
    inside = place_of(body.iframe or HERE)
    initial, names = scene.assembly.initial, [q.name for q in axis.joint.coordinates]
    if has_place:
        given = [initial[name] for name in names]
        there = Transform(from_quaternion(*_unit(given[3:])), Vec3(*given[:3]))
        scene.assembly.start_at(axis.joint, there.then(inside.inverse))
    if has_speeds:
        parts = [f"{axis.joint.name}.{letter}" for letter in ("vx", "vy", "vz", "wx", "wy", "wz")]
        moves, turns = (Vec3(*(initial[name] for name in parts[k : k + 3])) for k in (0, 3))
        spin = inside.rotation.to_parent(turns)
        # Without a place in the keyframe the velocity was turned into the body's own axes already.
        speed = (inside.rotation.to_parent(moves) if has_place else moves) - spin.cross(inside.position)
        initial |= dict(zip(parts, [float(c) for c in (*speed, *spin)], strict=True))


def _unit(quaternion: list[float]) -> list[float]:
    size = math.hypot(*quaternion)
    return [1.0, 0.0, 0.0, 0.0] if size == 0.0 else [c / size for c in quaternion]


def _set_speeds(key: Element, speeds: tuple[float, ...], scene: Scene) -> None:
    count = sum(_freedoms(axis) for axis in scene.order)
    if len(speeds) != count:
        raise key.fault(f"qvel has {len(speeds)} numbers; this model has {count} speeds.")
    start = 0
    for axis in scene.order:
        values = speeds[start : start + _freedoms(axis)]
        start += _freedoms(axis)
        scene.assembly.initial |= _speeds_of(axis, values, scene)


def _freedoms(axis: Axis) -> int:
    return {"free": 6, "ball": 3}.get(axis.kind, 1)


def _speeds_of(axis: Axis, values: tuple[float, ...], scene: Scene) -> dict[str, float]:
    name = axis.joint.name
    if axis.kind not in ("free", "ball"):
        return {f"{axis.joint.coordinates[0].name}'": values[0]}
    if axis.kind == "ball":
        return {f"{name}.w{letter}": value for letter, value in zip("xyz", values, strict=True)}
    # MuJoCo has a free body's velocity along the world's axes, its rotation along its own; here both are its own.
    quaternion = [scene.assembly.initial.get(q.name, 0.0) for q in axis.joint.coordinates[3:]]
    turned = from_quaternion(*(quaternion if any(quaternion) else (1.0, 0.0, 0.0, 0.0)))
    own = [*turned.to_child(Vec3(*values[:3])), *values[3:]]
    return dict(zip([f"{name}.{letter}" for letter in ("vx", "vy", "vz", "wx", "wy", "wz")], own, strict=True))
