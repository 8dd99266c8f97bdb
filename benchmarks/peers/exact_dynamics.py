"""Dynamics of robot files in 100 digits, from their numbers: Newton-Euler, and nothing shared with the package.

Rotations, inertias and gravity enter as the file has them; derivatives are differences over a step of 1e-45. What comes
out is exact for all that a float can tell, whatever the programs that are judged by it do with their constants.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, arb_mat, ctx

BITS = 350
STEP = arb(2) ** -150
GRAVITY = 9.81

Three = list[arb]
Nine = list[Three]

_ZERO: Three = [arb(0)] * 3
_ONE: Nine = [[arb(int(i == j)) for j in range(3)] for i in range(3)]


def _add(*vectors: Three) -> Three:
    return [sum(parts[1:], parts[0]) for parts in zip(*vectors, strict=True)]


def _scaled(a: Three, x: arb) -> Three:
    return [x * c for c in a]


def _cross(a: Three, b: Three) -> Three:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _dot(a: Three, b: Three) -> arb:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _times(matrix: Nine, a: Three) -> Three:
    return [_dot(row, a) for row in matrix]


def _transposed(matrix: Nine) -> Nine:
    return [list(column) for column in zip(*matrix, strict=True)]


def _product(a: Nine, b: Nine) -> Nine:
    columns = _transposed(b)
    return [[_dot(row, column) for column in columns] for row in a]


def _about(axis: Three, angle: arb) -> Nine:
    """The rotation by an angle about an axis of unit length (Rodrigues)."""
    s, c = angle.sin(), angle.cos()
    crossed = _transposed([_cross(axis, e) for e in _ONE])
    return [[c * _ONE[i][j] + s * crossed[i][j] + (1 - c) * axis[i] * axis[j] for j in range(3)] for i in range(3)]


def _numbers(text: str) -> Three:
    return [arb(float(word)) for word in text.split()]


@dataclass(frozen=True)
class Place:
    """A rotation from child to parent axes and the child's origin in the parent."""

    rotation: Nine
    position: Three

    def then(self, other: Place) -> Place:
        moved = _add(self.position, _times(self.rotation, other.position))
        return Place(_product(self.rotation, other.rotation), moved)


HERE = Place(_ONE, _ZERO)


def _origin(element: ElementTree.Element | None) -> Place:
    found = None if element is None else element.find("origin")
    if found is None:
        return HERE
    roll, pitch, yaw = _numbers(found.get("rpy", "0 0 0"))
    turned = _product(_about(_ONE[2], yaw), _product(_about(_ONE[1], pitch), _about(_ONE[0], roll)))
    return Place(turned, _numbers(found.get("xyz", "0 0 0")))


@dataclass(frozen=True)
class Inertia:
    """Mass, its moment and the inertia matrix at the link's origin."""

    mass: arb
    moment: Three
    matrix: Nine

    def force(self, linear: Three, angular: Three) -> tuple[Three, Three]:
        """Force and moment that give a motion vector; of a velocity, the momenta."""
        f = _add(_scaled(linear, self.mass), _cross(angular, self.moment))
        return f, _add(_times(self.matrix, angular), _cross(self.moment, linear))


def _inertia(link: ElementTree.Element) -> Inertia | None:
    given = link.find("inertial")
    if given is None or given.find("mass") is None:
        return None
    mass, place = arb(float(given.find("mass").get("value"))), _origin(given)
    found = given.find("inertia")
    named = {
        k: arb(float(found.get(k, 0)) if found is not None else 0) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    }
    rows = [["ixx", "ixy", "ixz"], ["ixy", "iyy", "iyz"], ["ixz", "iyz", "izz"]]
    own = [[named[k] for k in row] for row in rows]
    turned = _product(place.rotation, _product(own, _transposed(place.rotation)))
    c, far = place.position, _dot(place.position, place.position)
    steiner = [[mass * (far * _ONE[i][j] - c[i] * c[j]) for j in range(3)] for i in range(3)]
    matrix = [[turned[i][j] + steiner[i][j] for j in range(3)] for i in range(3)]
    return Inertia(mass, _scaled(c, mass), matrix)


@dataclass(frozen=True)
class Link:
    """A link, its joint to the parent and the place of its speeds; `kind` is fixed, turning, sliding or free."""

    name: str
    parent: int
    kind: str
    place: Place
    axis: Three
    inertia: Inertia | None
    first: int
    size: int


KINDS = {"revolute": "turning", "continuous": "turning", "prismatic": "sliding", "fixed": "fixed", "floating": "free"}


class ExactRobot:
    """The robot of a URDF text with joints in a given order; a free base comes first, with speeds in its own axes."""

    def __init__(self, text: str, joints: Sequence[str], free: bool) -> None:
        ctx.prec = BITS
        root = ElementTree.fromstring(text)
        links = {link.get("name"): link for link in root.findall("link")}
        carried = {joint.find("child").get("link"): joint for joint in root.findall("joint")}
        base = next(name for name in links if name not in carried)
        self.size = 6 * free + len(joints)
        first = {name: 6 * free + k for k, name in enumerate(joints)}
        kind, size = ("free", 6) if free else ("fixed", 0)
        self.links = [Link(base, -1, kind, HERE, _ZERO, _inertia(links[base]), 0, size)]
        self._add_children(base, links, carried, first)

    def _add_children(self, parent: str, links: dict, carried: dict, first: dict[str, int]) -> None:
        number = next(i for i, link in enumerate(self.links) if link.name == parent)
        for child, joint in carried.items():
            if joint.find("parent").get("link") != parent:
                continue
            kind = KINDS[joint.get("type")]
            axis = _numbers(joint.find("axis").get("xyz", "1 0 0")) if joint.find("axis") is not None else _ONE[0]
            unit = _scaled(axis, 1 / _dot(axis, axis).sqrt())
            size = 0 if kind == "fixed" else 1
            start = first[joint.get("name")] if size else 0
            made = Link(child, number, kind, _origin(joint), unit, _inertia(links[child]), start, size)
            self.links.append(made)
            self._add_children(child, links, carried, first)

    def places(self, q: np.ndarray) -> list[Place]:
        """Where links are in their parents; a free base has three coordinates and a unit quaternion, scalar first."""
        free = self.links[0].kind == "free"
        amounts = [arb(float(x)) for x in ([*[0] * 6, *q[7:]] if free else q)]
        found = [self._place(link, amounts[link.first] if link.size else arb(0)) for link in self.links]
        return [_free_place(q), *found[1:]] if free else found

    @staticmethod
    def _place(link: Link, amount: arb) -> Place:
        if link.kind == "turning":
            return link.place.then(Place(_about(link.axis, amount), _ZERO))
        if link.kind == "sliding":
            return link.place.then(Place(_ONE, _scaled(link.axis, amount)))
        return link.place

    def moved(self, places: list[Place], k: int, h: arb) -> list[Place]:
        """A displacement along one speed."""
        i = next(i for i, link in enumerate(self.links) if link.first <= k < link.first + link.size)
        link, found = self.links[i], list(places)
        if link.kind == "free":
            way = _ONE[k % 3]
            found[i] = places[i].then(Place(_ONE, _scaled(way, h)) if k < 3 else Place(_about(way, h), _ZERO))
        else:
            found[i] = places[i].then(self._place(replace(link, place=HERE), h))
        return found

    def inverse_dynamics(self, places: list[Place], v: list[arb], vdot: list[arb]) -> list[arb]:
        """Newton-Euler in link axes; the world accelerates upward in place of gravity."""
        rest: tuple[Three, ...] = (_ZERO, _ZERO, [arb(0), arb(0), arb(GRAVITY)], _ZERO)
        moving, forces = [], []
        for link, place in zip(self.links, places, strict=True):
            given = rest if link.parent < 0 else moving[link.parent]
            moving.append(self._motion(link, place, given, v, vdot))
            forces.append(self._force(link, moving[-1]))
        tau = [arb(0)] * self.size
        for i in range(len(self.links) - 1, -1, -1):
            link, (force, moment) = self.links[i], forces[i]
            for k, part in enumerate(self._along(link, force, moment)):
                tau[link.first + k] = part
            if link.parent >= 0:
                f = _times(places[i].rotation, force)
                n = _add(_times(places[i].rotation, moment), _cross(places[i].position, f))
                forces[link.parent] = (_add(forces[link.parent][0], f), _add(forces[link.parent][1], n))
        return tau

    def _motion(self, link: Link, place: Place, given: tuple[Three, ...], v: list[arb], vdot: list[arb]):
        """Velocity and acceleration of a link's origin, and its rotation, in its axes."""
        back = _transposed(place.rotation)
        speed, turn, rise, spin = given
        moved = [
            _times(back, _add(speed, _cross(turn, place.position))),
            _times(back, turn),
            _times(back, _add(rise, _cross(spin, place.position))),
            _times(back, spin),
        ]
        (linear, angular), (pushed, spun) = self._screw(link, v), self._screw(link, vdot)
        total = _add(moved[0], linear), _add(moved[1], angular)
        # The acceleration as the derivative of the velocity's components: v x (velocity in the joint) is added.
        rise = _add(moved[2], pushed, _cross(total[1], linear), _cross(total[0], angular))
        return total[0], total[1], rise, _add(moved[3], spun, _cross(total[1], angular))

    @staticmethod
    def _screw(link: Link, values: list[arb]) -> tuple[Three, Three]:
        own = values[link.first : link.first + link.size]
        if link.kind == "free":
            return own[:3], own[3:]
        if link.kind == "fixed":
            return _ZERO, _ZERO
        along = _scaled(link.axis, own[0])
        return (_ZERO, along) if link.kind == "turning" else (along, _ZERO)

    @staticmethod
    def _force(link: Link, motion: tuple[Three, ...]) -> tuple[Three, Three]:
        if link.inertia is None:
            return _ZERO, _ZERO
        speed, turn, rise, spin = motion
        p, h = link.inertia.force(speed, turn)
        f, n = link.inertia.force(rise, spin)
        return _add(f, _cross(turn, p)), _add(n, _cross(turn, h), _cross(speed, p))

    @staticmethod
    def _along(link: Link, force: Three, moment: Three) -> list[arb]:
        if link.kind == "free":
            return [*force, *moment]
        if link.kind == "fixed":
            return []
        return [_dot(link.axis, moment if link.kind == "turning" else force)]

    def mass_matrix(self, places: list[Place]) -> arb_mat:
        """Column by column: forces that accelerate one coordinate, less those at rest."""
        rest = [arb(0)] * self.size
        held = self.inverse_dynamics(places, rest, rest)
        columns = [self.inverse_dynamics(places, rest, _unit(self.size, k)) for k in range(self.size)]
        return arb_mat([[columns[j][i] - held[i] for j in range(self.size)] for i in range(self.size)])

    def by_state(self, places: list[Place], v: list[arb], vdot: list[arb]) -> tuple[arb_mat, arb_mat]:
        """Derivatives of inverse dynamics by displacements along the speeds, and by the speeds."""
        by_q, by_v = [], []
        for k in range(self.size):
            there, back = (self.inverse_dynamics(self.moved(places, k, h), v, vdot) for h in (STEP, -STEP))
            by_q.append([(a - b) / (2 * STEP) for a, b in zip(there, back, strict=True)])
            way = _unit(self.size, k)
            faster, slower = ([x + h * e for x, e in zip(v, way, strict=True)] for h in (STEP, -STEP))
            there, back = (self.inverse_dynamics(places, w, vdot) for w in (faster, slower))
            by_v.append([(a - b) / (2 * STEP) for a, b in zip(there, back, strict=True)])
        return _by_columns(by_q), _by_columns(by_v)


def _unit(size: int, k: int) -> list[arb]:
    return [arb(int(i == k)) for i in range(size)]


def _by_columns(columns: list[list[arb]]) -> arb_mat:
    return arb_mat([list(row) for row in zip(*columns, strict=True)])


def _free_place(q: np.ndarray) -> Place:
    w, x, y, z = (arb(float(c)) for c in q[3:7])
    long = (w * w + x * x + y * y + z * z).sqrt()
    w, x, y, z = w / long, x / long, y / long, z / long
    rotation = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return Place(rotation, [arb(float(c)) for c in q[:3]])


def exact_values(robot: ExactRobot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, list[np.ndarray]]:
    """The five functions at one state, rounded to floats; the third argument is vdot, or tau of forward dynamics."""
    ctx.prec = BITS
    state, speeds, third = robot.places(q), [arb(float(x)) for x in v], [arb(float(x)) for x in a]
    M = robot.mass_matrix(state)
    bias = robot.inverse_dynamics(state, speeds, [arb(0)] * robot.size)
    found = {
        "inverse dynamics": [_floats([[x] for x in robot.inverse_dynamics(state, speeds, third)])],
        "mass matrix": [_floats(M.table())],
        "d inverse dynamics": [_floats(m.table()) for m in robot.by_state(state, speeds, third)],
    }
    try:
        inverse = M.inv()
    except ZeroDivisionError:
        return found
    vdot = inverse * arb_mat([[t - b] for t, b in zip(third, bias, strict=True)])
    by_q, by_v = robot.by_state(state, speeds, [row[0] for row in vdot.table()])
    found["forward dynamics"] = [_floats(vdot.table())]
    found["d forward dynamics"] = [_floats((-inverse * m).table()) for m in (by_q, by_v)] + [_floats(inverse.table())]
    return found


def _floats(rows: Sequence[Sequence[arb]]) -> np.ndarray:
    return np.array([[float(x.mid()) for x in row] for row in rows])
