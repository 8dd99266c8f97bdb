"""Loads as they are written, on what has been drawn so far."""

from __future__ import annotations


def ordinary(draft):
    """Coordinates that a scalar force may act on."""
    return [(j, c) for j in draft.joints for c in j.coordinates if c not in j.quaternion]


def _coordinate_load(draft):
    for joint, c in draft.rng.sample(ordinary(draft), min(2, len(ordinary(draft)))):
        force, unit, stiff = ("force", "N", "N/m") if c in joint.lengths else ("torque", "N*m", "N*m")
        draft.statements.append(f"apply {force} {draft.number(-3, 3)} {unit} * cos(2 rad/s * t) on {c} ;")
        damping = {"N/m": "N*s/m", "N*m": "N*m*s"}[stiff]
        rest = f"{draft.number(-0.3, 0.3)}{' m' if c in joint.lengths else ''}"
        draft.statements.append(
            f"apply spring stiffness = {draft.number(1, 20)} {stiff}, rest = {rest}, damping = {draft.number(0, 2)} {damping} on {c} ;"
        )


def _spring_load(draft):
    first, second = _two_places(draft)
    draft.statements.append(
        f"apply spring stiffness = k, rest = {draft.number(0, 0.5)} m, damping = {draft.number(0, 3)} N*s/m between {first} and {second} ;"
    )


def _spring_law_load(draft):
    first, second = _two_places(draft)
    draft.statements.append(
        f"apply spring law = 0.6 N/m^3 * length^3 + {draft.number(0, 2)} N*s/m * length' between {first} and {second} ;"
    )


def _two_places(draft):
    body = draft.rng.choice(draft.bodies)
    other = draft.rng.choice(["earth", *[b for b in draft.bodies if b != body]])
    return draft.place(body, 0.1), f"[3.1, {draft.number(-1, 1)}, 2.2] m @ {other}"


def _bushing_load(draft):
    body = draft.rng.choice(draft.bodies)
    other = draft.rng.choice(["earth", *[b for b in draft.bodies if b != body]])
    draft.statements.append(
        f"apply bushing stiffness = [20, 30, 15] N/m, torsion = [3, 2, 4] N*m, damping = [1, 2, 0.5] N*s/m, torsion_damping = [0.1, 0.2, 0.3] N*m*s between {draft.place(other)} and {draft.place(body)} ;"
    )


def _wrench_load(draft):
    body, axes = draft.rng.choice(draft.bodies), draft.rng.choice(["earth", *draft.bodies])
    x, y, z = draft.vector(4)
    draft.statements.append(
        f"apply force [{x:g} N, {y:g} N, {z:g} N * cos(3 rad/s * t)], torque [{z:g}, {x:g}, 0.5] N*m in {axes} on {draft.place(body)} ;"
    )


def _joint_wrench_load(draft):
    joint = draft.rng.choice(draft.joints)
    x, y, z = draft.vector(4)
    draft.statements.append(
        f"apply force [{x:g}, {y:g}, {z:g}] N, torque [{y:g}, 1, {x:g}] N*m on joint {joint.name} ;"
    )


def _sensor_load(draft):
    body = draft.rng.choice(draft.bodies)
    draft.statements.append(
        f"apply torque [0, -0.7 N*m*s * {body}.rotation.y, -1.3 N*m*s * {body}.rotation.z] on {body} ;"
    )
    draft.statements.append(
        f"apply force [-2 N*s/m * {body}.velocity.x, 0, -9 N/m * {body}.position.z] on {draft.place(body)} ;"
    )


def _law_load(draft):
    if not ordinary(draft):
        return
    if any(s.startswith("law drag") for s in draft.statements):
        return
    joint, c = draft.rng.choice(ordinary(draft))
    force, unit, rate = ("force", "N", "m/s") if c in joint.lengths else ("torque", "N*m", "rad/s")
    draft.statements.append(f"law drag(v) = {draft.number(0.5, 2)} {unit} * tanh(v / 0.5 {rate}) ;")
    draft.statements.append(f"apply {force} -drag({c}') on {c} ;")


def _state_load(draft):
    """A filter of what a body does, and a memory driven by it and by time; both act on bodies and coordinates."""
    if any(s.startswith("state slow") for s in draft.statements):
        return
    body = draft.rng.choice(draft.bodies)
    draft.statements.append(
        f"state slow = {draft.number(-1, 1)} rad/s, slow' = ({body}.rotation.y - slow)/({draft.number(0.1, 1)} s) ;"
    )
    driven = f"cos(2 rad/s * t) - slow*(1 s/rad) - mind^3 + {body}.position.x/(1 m)"
    draft.statements.append(f"state mind = {draft.number(-1, 1)}, mind' = ({driven})/({draft.number(0.1, 1)} s) ;")
    draft.statements.append(
        f"apply torque [mind*{draft.number(-2, 2)} N*m, -0.4 N*m*s * slow, 0] in {body} on {body} ;"
    )
    for joint, c in draft.rng.sample(ordinary(draft), min(1, len(ordinary(draft)))):
        force, unit = ("force", "N") if c in joint.lengths else ("torque", "N*m")
        draft.statements.append(f"apply {force} {draft.number(-2, 2)} {unit} * (mind + 0.1 s*mind') on {c} ;")


LOAD = {
    "none": lambda draft: None, "coordinate": _coordinate_load, "spring": _spring_load, "spring_law": _spring_law_load,
    "bushing": _bushing_load, "wrench": _wrench_load, "joint_wrench": _joint_wrench_load, "sensor": _sensor_load,
    "law": _law_load, "state": _state_load,
}  # fmt: skip
