"""Random mechanisms over the whole language, as texts; the same seed gives the same text.

A mechanism is drawn in three steps: bodies and joints from the earth outward, in oblique frames off every origin, with values
for all coordinates; then what acts on them; then constraints, each made to hold at these values by the oracle's geometry
(where a loop's second frame lies, how long a string is, how high a wheel stands). Last comes the start: given fully,
partly, or as guesses.

`Wish` says what must occur (a joint kind, a constraint, ...); everything else is left to chance.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from torseur.description.language import parse
from truth.oracle import Model, assembled, with_speeds
from truth.oracle.constraints import linear_rows, residuals
from truth.oracle.constraints import rows as rows_of
from truth.oracle.dynamics import SingularState, independent_rows
from truth.oracle.start import placed_state

DATA = Path(__file__).parent / "data"
KINDS = (
    "fixed", "revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "spherical_quaternion", "planar",
    "free", "free_quaternion", "denavit_hartenberg", "link", "link_quaternion", "complex", "table", "screw", "moving", "moving_frame",
)  # fmt: skip
SPEEDS = ("rates", "combinations", "body")
CONSTRAINTS = ("none", "loop", "redundant", "distance", "gear", "driver", "velocity", "rolling")
LOADS = ("none", "coordinate", "spring", "spring_law", "bushing", "wrench", "joint_wrench", "sensor", "law")
STARTS = ("full", "partial", "guess")


@dataclass(frozen=True)
class Wish:
    """What a random mechanism must have."""

    kind: str = "revolute"
    reversed: bool = False
    speeds: str = "rates"
    constraint: str = "none"
    load: str = "none"
    start: str = "full"


def random_wish(rng):
    """A wish left to chance."""
    return Wish(
        rng.choice(KINDS),
        rng.random() < 0.5,
        rng.choice(SPEEDS),
        rng.choice(CONSTRAINTS),
        rng.choice(LOADS),
        rng.choice(STARTS),
    )


class Unreachable(Exception):
    """The drawn values do not lead onto the constraints, or to a place where they determine the motion."""


@dataclass
class JointDraft:
    """A joint while it is written: coordinates with values, the speeds that its motion is told by, turning ones."""

    name: str
    body: str
    coordinates: dict
    quaternion: tuple = ()
    speeds: tuple = ()
    lengths: tuple = ()


@dataclass
class Draft:
    """A mechanism while it is written."""

    rng: random.Random
    statements: list = field(default_factory=list)
    joints: list = field(default_factory=list)
    bodies: list = field(default_factory=list)
    values: dict = field(default_factory=dict)

    def text(self, start=()):
        init = [f"init {', '.join(start)} ;"] if start else []
        return "\n".join([*self.statements, *init]) + "\n"

    def number(self, low, high, digits=2):
        """A short number; now and then one of the special values behind which faults hide."""
        if self.rng.random() < 0.12 and low <= 0 <= high:
            return 0.0
        return round(self.rng.uniform(low, high), digits)

    def vector(self, size):
        return [self.number(-size, size) for _ in range(3)]

    def axis(self):
        """A direction, often oblique, never of unit length by design."""
        if self.rng.random() < 0.3:
            return self.rng.choice(("[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]", "[0, 0, -1]", "[0, 0.6, 0.8]"))
        while True:
            v = self.vector(1)
            if sum(c * c for c in v) > 0.2:
                return f"[{v[0]:g}, {v[1]:g}, {v[2]:g}]"

    def place(self, body, plain=0.25):
        """A frame of a body, mostly off its origin and turned."""
        if self.rng.random() < plain:
            return "earth" if body == "earth" else f"{body}.frame"
        x, y, z = self.vector(0.6)
        turn = "" if self.rng.random() < 0.3 else f" ++ ({self.number(-2, 2)} || {self.axis()})"
        return f"[{x:g}, {y:g}, {z:g}] m{turn} @ {body}"


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
    _LOADS[wish.load](draft)
    if rng.random() < 0.4:
        _LOADS[rng.choice(LOADS)](draft)
    _constrain(draft, wish)
    return draft.text(_start(draft, wish))


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
    coordinates, clause, quaternion, lengths = _MOTIONS[kind](draft, name)
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


# ------------------------------------------------------------------------------------------------------------------
# Kinds of joints: (coordinates with values, clauses, quaternion's names, coordinates that are lengths)


def _fixed(draft, n):
    return {}, "", (), ()


def _revolute(draft, n):
    return {f"{n}a": draft.number(-2, 2)}, f" about {draft.axis()}", (), ()


def _prismatic(draft, n):
    return {f"{n}s": draft.number(-0.5, 0.5)}, f" along {draft.axis()}", (), (f"{n}s",)


def _helical(draft, n):
    return {f"{n}a": draft.number(-2, 2)}, f" about {draft.axis()}, pitch = {draft.number(-0.2, 0.2)} m", (), ()


def _cylindrical(draft, n):
    return {f"{n}a": draft.number(-2, 2), f"{n}s": draft.number(-0.5, 0.5)}, f" about {draft.axis()}", (), (f"{n}s",)


def _universal(draft, n):
    return {f"{n}a": draft.number(-1, 1), f"{n}b": draft.number(-1, 1)}, " about [1, 0, 0.3] then [0.2, 1, 0]", (), ()


def _angles(draft, n):
    order = draft.rng.choice(("zxz", "xyz", "zyx", "yzx", "bryant", "xyx"))
    middle = draft.number(0.5, 1.2) if order in ("zxz", "xyx") else draft.number(-0.6, 0.6)
    return {f"{n}a": draft.number(-1, 1), f"{n}b": middle, f"{n}c": draft.number(-1, 1)}, f" angles {order}"


def _unit_quaternion(draft, n):
    e = np.array([1.0, *(draft.number(-0.7, 0.7) for _ in range(3))])
    return {f"{n}e{k}": float(x) for k, x in enumerate(e / np.linalg.norm(e))}


def _spherical(draft, n):
    coordinates, clause = _angles(draft, n)
    return coordinates, clause, (), ()


def _spherical_quaternion(draft, n):
    e = _unit_quaternion(draft, n)
    return e, " angles quaternion", tuple(e), ()


def _planar(draft, n):
    return (
        {f"{n}x": draft.number(-0.5, 0.5), f"{n}y": draft.number(-0.5, 0.5), f"{n}a": draft.number(-2, 2)},
        "",
        (),
        (f"{n}x", f"{n}y"),
    )


def _shifts(draft, n):
    return {f"{n}{x}": draft.number(-0.5, 0.5) for x in "xyz"}


def _free(draft, n):
    shifts = _shifts(draft, n)
    coordinates, clause = _angles(draft, n)
    return shifts | coordinates, clause, (), tuple(shifts)


def _free_quaternion(draft, n):
    shifts, e = _shifts(draft, n), _unit_quaternion(draft, n)
    return shifts | e, " angles quaternion", tuple(e), tuple(shifts)


def _denavit_hartenberg(draft, n):
    a, alpha, r = draft.number(-0.5, 0.5), draft.number(-2, 2), draft.number(-0.5, 0.5)
    if draft.rng.random() < 0.5:
        return {f"{n}a": draft.number(-2, 2)}, f" a = {a} m, alpha = {alpha}, r = {r} m, theta = {n}a + 0.2", (), ()
    return (
        {f"{n}s": draft.number(-0.5, 0.5)},
        f" a = {a} m, alpha = {alpha}, r = {n}s + {r} m, theta = 0.3",
        (),
        (f"{n}s",),
    )


def _link(draft, n):
    coordinates = {f"{n}a": draft.number(-2, 2), f"{n}s": draft.number(-0.5, 0.5)}
    first, second = f"dof1 = {n}a || {draft.axis()}", f"dof2 = {n}s along {draft.axis()}"
    if draft.rng.random() < 0.5:
        first, second = f"dof1 = {n}s along {draft.axis()}", f"dof2 = {n}a || {draft.axis()}"
    third = draft.rng.choice(("", f", dof3 = 0.4 || {draft.axis()}", ", dof3 = [0.1, 0, -0.2] m"))
    return coordinates, f" {first}, {second}{third}", (), (f"{n}s",)


def _link_quaternion(draft, n):
    e = _unit_quaternion(draft, n)
    return (
        {f"{n}s": draft.number(-0.5, 0.5)} | e,
        f" dof1 = {n}s along {draft.axis()}, dof2 = quaternion",
        tuple(e),
        (f"{n}s",),
    )


def _complex(draft, n):
    q = f"{n}a"
    c = draft.number(0.1, 0.4)
    return (
        {q: draft.number(-1, 1)},
        f" dof1 = [{c} m * sin({q}), 0, a * {q}^2 / 5], dof2 = 1.3*{q} + {c}*{q}^3 || {draft.axis()}",
        (),
        (),
    )


def _table(draft, n):
    q, name = f"{n}a", f"t{n}"
    order = draft.rng.choice((3, 5))
    points = ", ".join(f"[{x}, {draft.number(-0.4, 0.4)}]" for x in (-3, -2, -1, 0, 1, 2, 3))
    draft.statements.append(f"table {name} in m order {order} = {points} ;")
    return {q: draft.number(-1, 1)}, f" dof1 = {name}({q}) along {draft.axis()}, dof2 = {q} || {draft.axis()}", (), ()


def _screw(draft, n):
    return {f"{n}s": draft.number(-0.15, 0.15)}, ' table "screw.csv"', (), (f"{n}s",)


def _moving(draft, n):
    q = f"{n}a"
    return (
        {q: draft.number(-1, 1)},
        f" dof1 = {q} + {draft.number(0.1, 0.5)}*sin(2 rad/s * t) || {draft.axis()}, dof2 = [0.3 m/s * t, 0, 0.2 m * cos(3 rad/s * t)]",
        (),
        (),
    )


_MOTIONS = {
    "fixed": _fixed, "revolute": _revolute, "prismatic": _prismatic, "helical": _helical, "cylindrical": _cylindrical,
    "universal": _universal, "spherical": _spherical, "spherical_quaternion": _spherical_quaternion, "planar": _planar,
    "free": _free, "free_quaternion": _free_quaternion, "denavit_hartenberg": _denavit_hartenberg, "link": _link,
    "link_quaternion": _link_quaternion, "complex": _complex, "table": _table, "screw": _screw, "moving": _moving,
    "moving_frame": _revolute,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------------
# Loads


def _ordinary(draft):
    """Coordinates that a scalar force may act on."""
    return [(j, c) for j in draft.joints for c in j.coordinates if c not in j.quaternion]


def _coordinate_load(draft):
    for joint, c in draft.rng.sample(_ordinary(draft), min(2, len(_ordinary(draft)))):
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
    if not _ordinary(draft):
        return
    if any(s.startswith("law drag") for s in draft.statements):
        return
    joint, c = draft.rng.choice(_ordinary(draft))
    force, unit, rate = ("force", "N", "m/s") if c in joint.lengths else ("torque", "N*m", "rad/s")
    draft.statements.append(f"law drag(v) = {draft.number(0.5, 2)} {unit} * tanh(v / 0.5 {rate}) ;")
    draft.statements.append(f"apply {force} -drag({c}') on {c} ;")


_LOADS = {
    "none": lambda draft: None, "coordinate": _coordinate_load, "spring": _spring_load, "spring_law": _spring_law_load,
    "bushing": _bushing_load, "wrench": _wrench_load, "joint_wrench": _joint_wrench_load, "sensor": _sensor_load,
    "law": _law_load,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------------
# Constraints, made to hold


def _model(draft):
    """The oracle's model of what is written so far, and its state at the drawn values."""
    model = Model(parse(draft.text(), directory=DATA))
    return model, assembled(model, draft.values)


def _written(vector, unit=" m"):
    return f"[{', '.join(f'{float(x):.17g}' for x in vector)}]{unit}"


def _frame_text(place, body):
    """A frame of a body by its numeric place in it: offset and one turn about an axis, with all digits."""
    R = place.rotation.value[0]
    angle = float(np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1)))
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    turn = f" ++ ({angle:.17g} || {_written(axis, '')})" if angle > 1e-12 else ""
    return f"{_written(place.position.value[0])}{turn} @ {body}"


def _constrain(draft, wish):
    _CONSTRAINTS[wish.constraint](draft)


def _loop(draft):
    """One more joint, between two bodies that are joined already, closed at the drawn values."""
    body = draft.bodies[-1] if len(draft.bodies) > 1 else draft.bodies[0]
    free = [j.body for j in draft.joints if len(j.speeds) == 6 and j.body != "earth"]
    body = free[0] if free else body
    other = draft.rng.choice([b for b in ["earth", *draft.bodies] if b != body])
    kind = draft.rng.choice(
        (
            "revolute",
            "spherical",
            "universal",
            "cylindrical",
            "planar",
            "prismatic",
            "spherical_quaternion",
            "link",
            "complex",
            "helical",
            "fixed",
        )
    )
    _close(draft, kind, other, body, "loop")


def _close(draft, kind, other, body, name, axis=None):
    coordinates, clause, _, _ = _MOTIONS[kind](draft, name)
    if axis:
        clause = f" about {axis}"
    first = draft.place(other) if not axis else f"[0.9, 0.1, 0.2] m @ {other}"
    word = {"spherical_quaternion": "spherical", "complex": "link"}.get(kind, kind)
    # The joint is first hung on a body of its own, whose place tells where the second frame must lie.
    probe = [
        *draft.statements,
        "let probe = body mass = 1 kg, centre = 0, inertia = 0 end ;",
        f"join {first} to probe.frame as {name} with {word}({', '.join(coordinates)}){clause} end ;",
    ]
    model = Model(parse("\n".join(probe), directory=DATA))
    curves = model.curves(assembled(model, draft.values | coordinates))
    seen = curves.body_place(body).inverse.then(curves.body_place("probe"))
    draft.statements.append(
        f"join {first} to {_frame_text(seen, body)} as {name} with {word}({', '.join(coordinates)}){clause}, role = loop end ;"
    )


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


def _redundant(draft):
    axis = draft.statements.pop() if draft.statements[-1].startswith("(* axis") else None
    for k, statement in enumerate(draft.statements):
        if statement.startswith("(* axis"):
            axis = draft.statements.pop(k)
            break
    _close(draft, "revolute", "earth", draft.bodies[-1], "loop", axis.removeprefix("(* axis ").removesuffix(" *)"))


def _distance(draft):
    body = draft.bodies[-1]
    other = draft.rng.choice(["earth", *[b for b in draft.bodies if b != body]])
    first, second = draft.place(body), f"[2.1, {draft.number(-1, 1)}, 1.2] m @ {other}"
    draft.statements.append(f"constrain distance {first} to {second} = 1 m as string ;")
    model = Model(parse(draft.text(), directory=DATA))
    state = _tree_state(model, draft)
    position, _ = residuals(model, state)
    draft.statements[-1] = f"constrain distance {first} to {second} = {1 + float(position[-1]):.17g} m as string ;"


def _tree_state(model, draft):
    """The state at the drawn values, whether constraints hold or not."""
    return placed_state(model, draft.values)


def _gear(draft):
    pairs = _ordinary(draft)
    if len(pairs) < 2:
        return
    (first, a), (second, b) = draft.rng.sample(pairs, 2)
    ratio = draft.number(0.5, 2) * draft.rng.choice((-1, 1))
    unit = {(True, True): "", (False, False): "", (True, False): " m", (False, True): " 1/m"}[
        (a in first.lengths, b in second.lengths)
    ]
    offset = draft.values[a] - ratio * draft.values[b]
    last = f"{offset:.17g}{' m' if a in first.lengths else ''}"
    draft.statements.append(f"constrain 0 = {a} - {ratio:g}{unit} * {b} - ({last}) as gear ;")


def _driver(draft):
    if not _ordinary(draft):
        return
    joint, c = draft.rng.choice(_ordinary(draft))
    unit = " m" if c in joint.lengths else ""
    draft.statements.append(
        f"constrain {c} = {draft.values[c]:.17g}{unit} + {draft.number(0.1, 0.4)}{unit} * sin({draft.number(1, 3)} rad/s * t) as motor ;"
    )


def _velocity(draft):
    pairs = _ordinary(draft)
    if len(pairs) < 2:
        return
    (first, a), (second, b) = draft.rng.sample(pairs, 2)
    unit = {(True, True): "", (False, False): "", (True, False): " m", (False, True): " 1/m"}[
        (a in first.lengths, b in second.lengths)
    ]
    angle = next((c for j, c in pairs if c not in j.lengths), None)
    factor = f"(1.2 + sin({angle}))" if angle else "1.7"
    draft.statements.append(f"constrain 0 = {factor} * {a}' - {draft.number(0.5, 2)}{unit} * {b}' as knife_edge ;")


def _rolling(draft):
    """A wheel on an oblique plane: a free body whose height follows."""
    wheel = (
        next(j for j in draft.joints if len(j.speeds) == 6 and j.body != "earth")
        if any(len(j.speeds) == 6 and j.body != "earth" for j in draft.joints)
        else None
    )
    body = wheel.body if wheel else draft.bodies[-1]
    tyre = draft.rng.choice(("", " tyre 0.1 m"))
    ground = draft.rng.choice(("earth", "[0.2, -0.1, 0.3] m ++ (0.2 || [1, 0.5, 0]) @ earth"))
    draft.statements.append(
        f"constrain rolling {draft.place(body)} radius 0.4 m{tyre} on {ground} normal {draft.rng.choice(('[0, 0, 1]', '[0.1, -0.2, 2]'))} as wheel ;"
    )


_CONSTRAINTS = {
    "none": lambda draft: None, "loop": _loop, "redundant": _redundant, "distance": _distance, "gear": _gear,
    "driver": _driver, "velocity": _velocity, "rolling": _rolling,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------------
# The start


def _start(draft, wish):
    """`init` items: all values on the constraints; or those of independent coordinates and speeds; or guesses."""
    model = Model(parse(draft.text(), directory=DATA))
    guessed = tuple(draft.values) if wish.constraint == "rolling" else ()
    state = assembled(model, draft.values, guessed=guessed)
    speeds = {name: draft.number(-1.5, 1.5) for joint in draft.joints for name in joint.speeds}
    state = with_speeds(model, state, speeds)
    if max(np.max(np.abs(part), initial=0) for part in residuals(model, state)) > 1e-10:
        raise Unreachable("the constraints cannot be met near the drawn values")
    curves = model.curves(state)
    places = {c: float(state.coordinates[c]) for j in draft.joints for c in j.coordinates}
    rates = {name: float(np.ravel(np.broadcast_to(curves[name].value, (1,)))[0]) for name in speeds}
    constrained = wish.constraint != "none"
    units = {c: " m" for j in draft.joints for c in j.lengths}
    if wish.start == "full" or not constrained:
        items = [f"{c} = {x:.17g}{units.get(c, '')}" for c, x in places.items()]
        if wish.start != "full":
            # In a tree, what is not given starts at zero: some values are left out (a quaternion only as a whole).
            left = [j.name for j in draft.joints if draft.rng.random() < 0.3]
            items = [
                f"{c} = {places[c]:.17g}{units.get(c, '')}"
                for j in draft.joints
                if j.name not in left
                for c in j.coordinates
            ]
        return items + [
            f"{name} = {x:.17g}" for name, x in rates.items() if wish.start == "full" or draft.rng.random() < 0.6
        ]
    # Velocity constraints leave positions free: they count for speeds only.
    everything, holonomic = _constraint_rows(model, state)
    kept = _independent(model, state, [s for j in draft.joints for s in j.speeds], everything)
    moves = [s for j in draft.joints for s in _natural(j)]
    placed = _independent(model, state, moves, holonomic)
    items = []
    for j in draft.joints:
        turned = all(f"{j.name}.w{x}" in placed for x in "xyz")
        for c in j.coordinates:
            value = f"{places[c]:.17g}{units.get(c, '')}"
            if turned if c in j.quaternion else f"{c}'" in placed:
                items.append(f"{c} = {value}")
            elif wish.start == "guess":
                shift = 0 if c in j.quaternion else draft.number(-0.01, 0.01, 4)
                items.append(f"{c} about {places[c] + shift:.6g}{units.get(c, '')}")
    return items + [f"{name} = {rates[name]:.17g}" for name in rates if name in kept]


def _natural(joint):
    plain = [f"{c}'" for c in joint.coordinates if c not in joint.quaternion]
    return plain + ([f"{joint.name}.w{x}" for x in "xyz"] if joint.quaternion else [])


def _constraint_rows(model, state):
    """All constraint rows, and those of position."""
    matrix, *_ = linear_rows(model, state)
    of_position = [k for k, row in enumerate(rows_of(model.curves(state))) if not row.of_velocity]
    return matrix, matrix[of_position]


def _independent(model, state, names, matrix):
    """Speeds that, with the constraints, determine all others."""
    rows = list(matrix[independent_rows(matrix)])
    still = model.curves(state.moving(0 * state.velocities))
    moving = model.curves(state, np.eye(model.size), np.zeros(model.size))
    kept = []
    for name in names:
        rest = np.ravel(np.broadcast_to(still[name].value, (1,)))[0]
        row = np.broadcast_to(moving[name].value, (model.size,)) - rest
        if len(independent_rows(np.array([*rows, row]))) > len(rows):
            rows.append(row)
            kept.append(name)
    return kept
