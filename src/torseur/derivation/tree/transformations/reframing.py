"""Frames turned for computing: joints that turn about z, placed by turns about x and z.

Where bodies are placed at odd angles, a rotation matrix of nine entries stands between them. Along the joints' axes,
as Denavit and Hartenberg choose frames, one turn about x and the joint's own about z are enough. Forces along joints,
energies and momenta do not depend on the frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import atan2, cos, hypot, sin

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import (
    NULL,
    UNIT,
    AxisTurn,
    Inertia,
    Matrix3,
    MatrixTurn,
    Motion,
    Rotation,
    Transform,
    Vec3,
)
from torseur.derivation.tree.tree import GROUND, Link, Tree, instantiate

# Why a small rotation is kept: docs/decisions/0021-small-rotations-are-kept.md.
CLEAN = 1e-15
"""Entries of rotation matrices this close to 0, 1 or -1 are these: what rounding leaves of right angles."""

WORTH_WHILE = 0.8
"""Part of the work of rotations that must be left at most: a little less of it does not pay for lost zeros."""

_SAME = Matrix3(UNIT)
_PROBE = 0.7


# What rotated frames gain, robot by robot: docs/decisions/0013-frames-along-joint-axes.md.
def reframe(tree: Tree) -> Tree:
    """The tree in frames along its joints' axes, if rotations become much shorter; else the tree itself."""
    # A lower bound first: it needs no new frames.
    if _least_work(tree) > WORTH_WHILE * _work(tree):
        return tree
    turned = _Frames(tree).result()
    return turned if _work(turned) <= WORTH_WHILE * _work(tree) else tree


def _work(tree: Tree) -> int:
    """Operations to turn one vector through every joint."""
    factors = [factor for link in tree.links for factor in link.motion.transform.rotation.factors]
    return sum(_operations(factor) for factor in factors)


def _least_work(tree: Tree) -> int:
    """The same with nothing left but the turns of joints that have one coordinate."""
    single = [len(link.motion.screws) == 1 for link in tree.links]
    others = [link.motion.transform.rotation.factors for link, one in zip(tree.links, single, strict=True) if not one]
    turning = [
        link for link, one in zip(tree.links, single, strict=True) if one and link.motion.transform.rotation.factors
    ]
    return 6 * len(turning) + sum(_operations(factor) for factors in others for factor in factors)


def _operations(factor: AxisTurn | MatrixTurn) -> int:
    if isinstance(factor, AxisTurn):
        return 0 if _is_simple(factor.cosine) and _is_simple(factor.sine) else 6
    entries = [entry for row in factor.matrix.rows for entry in row]
    return sum(0 if _is_simple(entry) else 2 for entry in entries)


def _is_simple(value: object) -> bool:
    node = as_expr(value)
    return node.is_constant and node.value in (-1, 0, 1)


class _Frames:
    """For each link the rotation K from its old axes to the new ones: old components = K new components."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.turns: list[Matrix3] = []
        self.links: list[Link] = []
        self.revolute = [_revolute(link) for link in tree.links]

    def result(self) -> Tree:
        for i, link in enumerate(self.tree.links):
            before = _SAME if link.parent == GROUND else self.turns[link.parent]
            revolute = self.revolute[i]
            if revolute is None:
                self._keep(link, before)
            else:
                self._turn(i, link, before, *revolute)
        places = {name: self._in_new_frame(place) for name, place in self.tree.places.items()}
        return replace(self.tree, links=tuple(self.links), places=places)

    def _keep(self, link: Link, before: Matrix3) -> None:
        """A link in its own axes, seen from its parent's new ones."""
        # Its own axes stay: joints other than revolute ones have no single axis to turn them to.
        back = _rotation(before.transpose)
        seen = Transform(back, NULL)
        self.turns.append(_SAME)
        motion = replace(link.motion, transform=seen.then(link.motion.transform))
        self.links.append(replace(link, motion=motion, base=seen.then(link.base)))

    def _turn(self, i: int, link: Link, before: Matrix3, place: Matrix3, axis: Vec3) -> None:
        """A revolute joint about z: R = Rz(a) Rx(b) Rz(q + c), c such that the next joint needs no a."""
        direction = before.transpose @ (place @ axis)
        across = hypot(direction.x, direction.y)
        # Rz(a) Rx(b) takes z to (sin a sin b, -cos a sin b, cos b): a and b are the angles of the joint's direction.
        a, b = (atan2(direction.x, -direction.y) if across > CLEAN else 0.0), atan2(across, direction.z)
        start = _product(_turn_matrix(2, a), _turn_matrix(0, b))
        # Old axes of the link = K new ones: K = Pᵀ K_before Rz(a) Rx(b), all at q = 0.
        frame = _product(place.transpose, before, start)
        c = self._next_turn(i, frame)
        frame = _product(frame, _turn_matrix(2, c))
        self.turns.append(frame)
        q = link.symbols.coordinates[0] + c
        turns = (*_factors(2, a), *_factors(0, b), AxisTurn(2, s.cos(q), s.sin(q)))
        position = before.transpose @ link.motion.transform.position
        z, back = UNIT[2], _rotation(frame.transpose)
        motion = replace(
            link.motion,
            transform=Transform(Rotation(turns), position),
            screws=(Motion(z, NULL),),
            velocity=Motion(z * link.symbols.speeds[0], NULL),
        )
        self.links.append(replace(link, motion=motion, inertia=_inertia(link.inertia, back), base=link.base))

    def _next_turn(self, i: int, frame: Matrix3) -> float:
        """The turn about z that spares the first joint this link carries its own."""
        for link, revolute in zip(self.tree.links, self.revolute, strict=True):
            if link.parent == i and revolute is not None:
                place, axis = revolute
                direction = frame.transpose @ (place @ axis)
                return atan2(direction.x, -direction.y) if hypot(direction.x, direction.y) > CLEAN else 0.0
        return 0.0

    def _in_new_frame(self, place: tuple[int, Transform, Transform]) -> tuple[int, Transform, Transform]:
        """Where a body is in the new frame of its link."""
        link, reference, centre = place
        if link == GROUND or self.turns[link] is _SAME:
            return place
        seen = Transform(_rotation(self.turns[link].transpose), NULL)
        return link, seen.then(reference), seen.then(centre)


def _revolute(link: Link) -> tuple[Matrix3, Vec3] | None:
    """The rotation of a link at q = 0 and the axis it turns about by the whole of q, if these are numbers."""
    motion, symbols = link.motion, link.symbols
    if len(motion.screws) != 1 or len(symbols.coordinates) != 1 or symbols.speeds != symbols.natural:
        return None
    screw = [as_expr(x) for x in (*motion.screws[0].angular, *motion.screws[0].linear, *motion.transform.position)]
    still = [as_expr(x) for x in (*motion.screws[0].linear, *motion.bias.angular, *motion.bias.linear)]
    if not all(x.is_constant for x in screw) or not all(x.is_zero for x in still):
        return None
    axis, q = Vec3(*[float(x) for x in screw[:3]]), symbols.coordinates[0]
    # Whether R(q) is a turn by q is read from two values of q; a joint with another law fails at the second.
    place, moved = (_numbers(motion.transform.rotation, {q: value}) for value in (0.0, _PROBE))
    if place is None or moved is None or abs(axis.dot(axis) - 1) > 8 * CLEAN:
        return None
    return (_clean(place), axis) if _is_turn(_product(place.transpose, moved), axis) else None


def _is_turn(matrix: Matrix3, axis: Vec3) -> bool:
    """Whether a rotation is that by the probing angle about an axis."""
    # A vector across the axis must turn by the angle; one along it tells nothing.
    probe = next(unit for unit in UNIT if abs(unit.dot(axis)) < _PROBE)
    across = axis.cross(probe)
    wanted = across * cos(_PROBE) + axis.cross(across) * sin(_PROBE)
    rest = matrix @ across - wanted
    return float(rest.dot(rest)) < 1e-20


def _numbers(rotation: Rotation, values: Mapping[Expr, float]) -> Matrix3 | None:
    """The matrix of a rotation at some values, if these make it one of numbers."""
    rows = instantiate(rotation, {q: as_expr(value) for q, value in values.items()}).matrix.rows
    entries = [as_expr(entry) for row in rows for entry in row]
    if not all(entry.is_constant for entry in entries):
        return None
    a, b, c = (Vec3(*[float(entry) for entry in entries[3 * k : 3 * k + 3]]) for k in range(3))
    return Matrix3((a, b, c))


def _product(*matrices: Matrix3) -> Matrix3:
    total = matrices[0]
    for other in matrices[1:]:
        a, b, c = (total @ column for column in other.transpose.rows)
        total = Matrix3((a, b, c)).transpose
    return _clean(total)


def _turn_matrix(axis: int, angle: float) -> Matrix3:
    return Rotation((AxisTurn(axis, cos(angle), sin(angle)),)).matrix


def _factors(axis: int, angle: float) -> list[AxisTurn]:
    """A constant turn; none at all when there is none. The cosine of 1e-8 is 1, but its sine is not 0."""
    c, sn = (_snap(x) for x in (cos(angle), sin(angle)))
    return [] if c == 1 and sn == 0 else [AxisTurn(axis, c, sn)]


def _rotation(matrix: Matrix3) -> Rotation:
    """The rotation of a matrix; none at all for that of no rotation."""
    same = all(x == y for a, b in zip(matrix.rows, UNIT, strict=True) for x, y in zip(a, b, strict=True))
    return Rotation() if same else Rotation((MatrixTurn(matrix),))


def _inertia(inertia: Inertia, turn: Rotation) -> Inertia:
    return Inertia(inertia.mass, turn.to_parent(inertia.moment), turn.tensor_to_parent(inertia.matrix))


def _clean(matrix: Matrix3) -> Matrix3:
    a, b, c = (Vec3(*[_snap(entry) for entry in row]) for row in matrix.rows)
    return Matrix3((a, b, c))


def _snap(x: float) -> float | int:
    near = round(x)
    return near if abs(x - near) <= CLEAN else x
