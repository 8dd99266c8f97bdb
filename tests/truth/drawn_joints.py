"""Kinds of joints as they are written: coordinates with values, clauses, names of a quaternion, coordinates that are lengths."""

from __future__ import annotations

import numpy as np


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


def followed(draft):
    """Coordinates that another joint may follow: of joints told by their rates, not part of a quaternion."""
    return [
        (j, c)
        for j in draft.joints
        for c in j.coordinates
        if c not in j.quaternion and all(speed.endswith("'") for speed in j.speeds)
    ]


def _follower(draft, n):
    """A gear, a mimic joint or a cam: motions by other joints' coordinates."""
    motions = []
    for k in range(draft.rng.choice((1, 1, 2))):
        j, c = draft.rng.choice(followed(draft))
        ratio = draft.number(0.3, 2) * draft.rng.choice((-1, 1))
        per = " 1/m" if c in j.lengths else ""
        law = draft.rng.choice((f"{ratio:g}{per}*{c} + 0.2", f"{ratio:g}*sin(1.3{per}*{c})"))
        if draft.rng.random() < 0.5:
            motions.append(f"dof{k + 1} = {law} || {draft.axis()}")
        else:
            motions.append(f"dof{k + 1} = 0.4 m * ({law}) along {draft.axis()}")
    return {}, f" {', '.join(motions)}", (), ()


MOTIONS = {
    "fixed": _fixed, "revolute": _revolute, "prismatic": _prismatic, "helical": _helical, "cylindrical": _cylindrical,
    "universal": _universal, "spherical": _spherical, "spherical_quaternion": _spherical_quaternion, "planar": _planar,
    "free": _free, "free_quaternion": _free_quaternion, "denavit_hartenberg": _denavit_hartenberg, "link": _link,
    "link_quaternion": _link_quaternion, "complex": _complex, "table": _table, "screw": _screw, "moving": _moving,
    "moving_frame": _revolute, "follower": _follower,
}  # fmt: skip
