"""Random mechanisms over the whole language, as texts; the same seed gives the same text.

A mechanism is drawn in three steps: bodies and joints from the earth outward, in oblique frames off every origin, with values
for all coordinates; then what acts on them; then constraints, each made to hold at these values by the oracle's geometry
(where a loop's second frame lies, how long a string is, how high a wheel stands). Last comes the start: given fully,
partly, or as guesses.

`Wish` says what must occur (a joint kind, a constraint, ...); everything else is left to chance.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from truth.draft import Draft, JointDraft, Unreachable
from truth.drawn_constraints import CONSTRAIN
from truth.drawn_joints import MOTIONS, followed
from truth.drawn_loads import LOAD
from truth.drawn_start import start_items
from truth.drawn_switches import contact, friction, stop
from truth.oracle.dynamics import SingularState
from truth.wrapping import wrapped

KINDS = (
    "fixed", "revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "spherical_quaternion", "planar",
    "free", "free_quaternion", "denavit_hartenberg", "link", "link_quaternion", "complex", "table", "screw", "moving", "moving_frame",
    "follower",
)  # fmt: skip
SPEEDS = ("rates", "combinations", "body")
CONSTRAINTS = ("none", "loop", "redundant", "distance", "gear", "driver", "velocity", "rolling")
LOADS = (
    "none",
    "coordinate",
    "spring",
    "spring_law",
    "bushing",
    "wrench",
    "joint_wrench",
    "sensor",
    "law",
    "state",
    "stop",
    "friction",
    "contact",
)
STARTS = ("full", "partial", "guess")
PARTS = ("none", "part", "mirrored")


@dataclass(frozen=True)
class Wish:
    """What a random mechanism must have."""

    kind: str = "revolute"
    reversed: bool = False
    speeds: str = "rates"
    constraint: str = "none"
    load: str = "none"
    start: str = "full"
    part: str = "none"


def random_wish(rng):
    """A wish left to chance."""
    return Wish(
        rng.choice(KINDS),
        rng.random() < 0.5,
        rng.choice(SPEEDS),
        rng.choice(CONSTRAINTS),
        rng.choice(LOADS),
        rng.choice(STARTS),
        rng.choice(PARTS),
    )


def generate(seed, wish=None):
    """A random mechanism as text; draws that lead nowhere are drawn again."""
    for attempt in range(20):
        try:
            return _drawn(f"torseur {seed} {attempt}", wish)
        except (Unreachable, SingularState):
            continue
    raise Unreachable(f"seed {seed}, {wish}")


def _drawn(seed, wish):
    rng = random.Random(seed)
    wish = wish or random_wish(rng)
    draft = Draft(rng)
    gravity = draft.vector(9) if rng.random() < 0.5 else (0, 0, -9.81)
    draft.statements.append(
        f"param a = {draft.number(0.3, 1.5)} m, k = {draft.number(5, 60)} N/m, m = {draft.number(0.5, 3)} kg ;"
    )
    draft.statements.append(f"gravity = [{gravity[0]:g}, {gravity[1]:g}, {gravity[2]:g}] ;")
    _structure(draft, wish)
    acting = LOAD | {"stop": stop, "friction": friction, "contact": contact}
    acting[wish.load](draft)
    if rng.random() < 0.4:
        LOAD[rng.choice(tuple(LOAD))](draft)
    CONSTRAIN[wish.constraint](draft)
    text = draft.text(start_items(draft, wish))
    return text if wish.part == "none" else wrapped(text, rng, wish.part == "mirrored").text


def _structure(draft, wish):
    """Bodies and joints: the wished kind once, others by chance, in chains and branches."""
    rng = draft.rng
    if wish.constraint == "redundant":
        return _planar_chain(draft, wish)
    kinds = [wish.kind] + [rng.choice(KINDS) for _ in range(rng.choice((0, 1, 1, 2)))]
    if wish.constraint in ("loop", "distance", "velocity", "gear") and len(kinds) < 2:
        kinds.append(rng.choice(KINDS))
    if wish.constraint == "loop":
        kinds.append("free")
    if wish.constraint == "rolling":
        kinds.append("free")
    rng.shuffle(kinds)
    for k, kind in enumerate(kinds):
        parent = rng.choice(["earth", *draft.bodies]) if kind not in ("free", "free_quaternion") else "earth"
        wished = kind == wish.kind
        _add_body(draft)
        back = wish.reversed if wished else rng.random() < 0.4
        speeds = wish.speeds if wished else rng.choice(SPEEDS)
        _join(draft, kind, parent, draft.bodies[-1], f"j{k + 1}", back, speeds)


def _add_body(draft):
    name, rng = f"b{len(draft.bodies) + 1}", draft.rng
    draft.bodies.append(name)
    x, y, z = draft.vector(0.3)
    if rng.random() < 0.3:
        shape = rng.choice(
            (
                "box x = 0.3 m, y = 0.5 m, z = 0.2 m",
                "cylinder radius = 0.2 m, length = 0.5 m",
                "cone radius = 0.3 m, length = 0.4 m",
                "sphere radius = 0.3 m",
                "shell radius = 0.2 m",
            )
        )
        draft.statements.append(
            f"let {name} = body {shape}, mass = {draft.number(0.5, 3)} kg at [{x:g}, {y:g}, {z:g}] m ++ ({draft.number(-2, 2)} || {draft.axis()}) end ;"
        )
        return
    xx, yy = draft.number(0.2, 1), draft.number(0.2, 1)
    zz = round(rng.uniform(abs(xx - yy) + 0.1, xx + yy), 3)
    about = rng.choice(("", "", " about frame")) if (x, y, z) == (0, 0, 0) else ""
    mass = "m" if rng.random() < 0.3 else f"{draft.number(0.5, 3)} kg"
    turn = f" ++ ({draft.number(-2, 2)} || {draft.axis()})" if rng.random() < 0.4 else ""
    where = f"iframe = [{x:g}, {y:g}, {z:g}] m{turn}" if turn else f"centre = [{x:g}, {y:g}, {z:g}] m"
    draft.statements.append(
        f"let {name} = body mass = {mass}, {where}, inertia = diag({xx}, {yy}, {zz}) kg*m^2{about} end ;"
    )


def _join(draft, kind, parent, child, name, back, speeds):
    """One joint; `back` writes it from the new body to the old one."""
    if kind == "follower" and not followed(draft):
        _join(draft, "revolute", "earth", child, name, back, "rates")
        _add_body(draft)
        parent, child, name = child, draft.bodies[-1], f"{name}f"
    coordinates, clause, quaternion, lengths = MOTIONS[kind](draft, name)
    first, second = draft.place(parent), draft.place(child)
    if kind == "denavit_hartenberg":
        first, second = ("earth" if parent == "earth" else f"{parent}.frame"), draft.place(child)
    moved = child
    if back:
        first, second = second, first
        if kind == "denavit_hartenberg":
            first = f"{child}.frame"
        moved = parent
    if kind == "moving_frame":
        # A frame that slides in its body with time or with the joint's own coordinate.
        by = draft.rng.choice((f"{name}a", "1 rad/s * t"))
        first = f"[0.3 m * sin({by}), 0.1 m, {draft.number(-0.3, 0.3)} m * {by}] @ {child if back else parent}"
    word = {
        "spherical_quaternion": "spherical",
        "free_quaternion": "free",
        "link_quaternion": "link",
        "complex": "link",
        "table": "link",
        "moving": "link",
        "moving_frame": "revolute",
        "follower": "link",
    }.get(kind, kind)
    joint = JointDraft(name, moved, coordinates, quaternion, (), lengths)
    told = _speeds(draft, joint, speeds, kind, moved)
    draft.statements.append(
        f"join {first} to {second} as {name} with {word}({', '.join(coordinates)}){clause}{told} end ;"
    )
    draft.joints.append(joint)
    draft.values |= coordinates


def _speeds(draft, joint, speeds, kind, moved):
    """Declared quasi-velocities, where the joint can have them."""
    plain = [c for c in joint.coordinates if c not in joint.quaternion]
    joint.speeds = tuple(f"{c}'" for c in plain) + (
        tuple(f"{joint.name}.w{x}" for x in "xyz") if joint.quaternion else ()
    )
    if speeds == "rates" or not joint.coordinates:
        return ""
    if speeds == "body":
        if moved == "earth" or kind not in ("free", "free_quaternion", "spherical", "spherical_quaternion"):
            return ""
        n = joint.name
        turning = f"{n}p, {n}q, {n}r = rotation in {moved}"
        moving = f"{n}u, {n}v, {n}w = velocity in {moved}, " if kind.startswith("free") else ""
        joint.speeds = (*((f"{n}u", f"{n}v", f"{n}w") if moving else ()), f"{n}p", f"{n}q", f"{n}r")
        return f" speeds {moving}{turning}"
    if joint.quaternion:
        return ""
    names = [f"U{joint.name}{chr(97 + k)}" for k in range(len(plain))]
    formulas = []
    for k, c in enumerate(plain):
        unit = "m" if c in joint.lengths else "rad"
        factor = draft.number(0.5, 2) * draft.rng.choice((-1, 1))
        # A speed that is a rate itself is a case of its own: the product recognises such speeds.
        formula = f"{factor:g}*{c}'" if draft.rng.random() < 0.6 else f"{c}'"
        if k and draft.rng.random() < 0.6:
            other = plain[k - 1]
            to_unit = {("m", "m"): "", ("rad", "rad"): "", ("m", "rad"): " m", ("rad", "m"): " 1/m"}[
                (unit, "m" if other in joint.lengths else "rad")
            ]
            formula += f" + {draft.number(0.2, 1)}{to_unit} * {other}'"
        if draft.rng.random() < 0.3 and c not in joint.lengths:
            formula = f"(1.5 + 0.5*sin({c})) * {c}'" if formula.count("'") == 1 else formula
        formulas.append(formula)
    joint.speeds = tuple(names)
    return " speeds " + ", ".join(f"{n} = {f}" for n, f in zip(names, formulas, strict=True))


def _planar_chain(draft, wish):
    """Three links that turn about parallel oblique axes, to be closed by a fourth: three rows follow from others."""
    axis = draft.axis()
    for k in range(3):
        _add_body(draft)
        parent = "earth" if k == 0 else draft.bodies[-2]
        first = (
            parent if parent == "earth" else f"[{draft.number(0.3, 0.9)}, {draft.number(-0.4, 0.4)}, 0.1] m @ {parent}"
        )
        back = wish.reversed and k == 1
        ends = (f"{draft.bodies[-1]}.frame", first) if back else (first, f"{draft.bodies[-1]}.frame")
        joint = JointDraft(f"j{k + 1}", parent if back else draft.bodies[-1], {f"j{k + 1}a": draft.number(0.3, 1.2)})
        told = _speeds(draft, joint, wish.speeds, "revolute", joint.body)
        draft.statements.append(
            f"join {ends[0]} to {ends[1]} as {joint.name} with revolute({joint.name}a) about {axis}{told} end ;"
        )
        draft.joints.append(joint)
        draft.values |= joint.coordinates
    draft.statements.append(f"(* axis {axis} *)")
