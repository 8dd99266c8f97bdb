"""Loops in multiple precision: closure and Jacobian in arb numbers, with dimensions as exact as they were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import Expr, substitute
from torseur.algebra.spatial import Transform
from torseur.derivation.loops.model.dimensions import digits
from torseur.derivation.loops.model.joint_chains import Chain, Element, chain, number_slots
from torseur.derivation.loops.model.loop_model import with_numbers
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.skeleton import BALL, MOVE, TURN
from torseur.description.mechanism import TIME
from torseur.errors import UnsupportedError

# About 126 digits: closure is met to 1e-55, and the square of that, the damping, must still count beside 1.
BITS = 420
# Midpoints of arb only: radii would grow with every step of Newton's method, which forgives rounding.
Number = Any  # flint.arb
Matrix = list[list[Number]]
Vector = list[Number]


def arb_of(value: Any) -> Number:
    """A float, integer, fraction or mpmath number as an arb, exactly."""
    import flint
    import mpmath

    if isinstance(value, mpmath.mpf):
        sign, man, exp, _ = value._mpf_
        return flint.arb((-1 if sign else 1) * int(man)) * flint.arb(2) ** int(exp)
    return flint.arb(value)


@dataclass(frozen=True)
class _Piece:
    """An element of a chain with its numbers: offset, axis, and what moves it."""

    turn: Matrix
    shift: Vector
    axis: Vector
    element: Element


@dataclass
class PreciseLoops:
    """The cycles of a system in arb numbers, at a state that Newton's method improves."""

    system: LoopSystem
    cycles: list[tuple[list[_Piece], Matrix, Vector]]
    x: Vector
    balls: list[Vector]

    def amounts(self) -> dict[int, Number]:
        """The amount of every turn and move, by slot."""
        import mpmath

        table: dict[int, Number] = {}
        symbols = {f.symbol: i for i, f in enumerate(self.system.frame.freedoms) if f.symbol is not None}
        units = self.system.amounts.units
        values: dict[Expr, Any] = {q: _mp(self.x[i]) * mpmath.mpf(float(units[i])) for q, i in symbols.items()}
        for e, edge in enumerate(self.system.frame.edges):
            for k, step in enumerate(edge.steps):
                if step.kind != BALL and step.amount is not None:
                    (amount,) = digits(self.system.frame.mechanism, [step.amount], {**values, TIME: self.system.time})
                    unit = self.system.length if step.kind == MOVE else 1.0
                    table[self._slots[e, k]] = arb_of(amount) / arb_of(unit)
        return table

    @property
    def _slots(self) -> dict[tuple[int, int], int]:
        return number_slots(self.system.frame).step

    def closure(self) -> tuple[Vector, list[Vector]]:
        """(residual, rows over the freedoms): per cycle the rotation's skew part, then the displacement."""
        amounts = self.amounts()
        residual: Vector = []
        rows: list[Vector] = []
        for pieces, turn, shift in self.cycles:
            rotation, position, screws = _walk(pieces, amounts, self.balls)
            position = _sum(position, _times(rotation, shift))
            rotation = _product(rotation, turn)
            residual += _skew_part(rotation) + position
            rows += self._rows(screws)
        return residual, rows

    def _rows(self, screws: dict[int, Vector]) -> list[Vector]:
        """Rows over the freedoms; the derivatives of the amounts in floats are exact for affine joints."""
        import flint

        matrix = self.system.amounts.matrix
        rows = [[flint.arb(0)] * self.system.n for _ in range(6)]
        for slot, screw in screws.items():
            for i in matrix[slot].nonzero()[0]:
                factor = arb_of(float(matrix[slot, i]))
                for r in range(6):
                    rows[r][i] = (rows[r][i] + screw[r] * factor).mid()
        return rows

    def move(self, step: Vector) -> None:
        """Adds a step to the state; balls turn on their near side."""
        self.x = [(x + d).mid() for x, d in zip(self.x, step, strict=True)]
        for b, k in enumerate(self.system.ball_freedoms):
            # A ball's three numbers are increments, spent at once: what holds its place is the quaternion.
            self.x[k : k + 3] = [arb_of(0)] * 3
            # exp(d/2) to first order, made a unit: exact enough, since Newton's next step measures what is left.
            half = [d / 2 for d in step[k : k + 3]]
            self.balls[b] = _normalise(_quaternion_product([arb_of(1), *half], self.balls[b]))


def precise_loops(system: LoopSystem, state: State) -> PreciseLoops:
    """The loops of a system at a state (one lane), in the precision that flint and mpmath are in."""
    if system.relations or not system.amounts.is_affine:
        raise UnsupportedError("multiple precision covers joints whose motions are affine in their coordinates, "
                               "without further constraints.")  # fmt: skip
    mechanism = system.frame.mechanism

    def numbers(expressions: Sequence[Expr]) -> list[Any]:
        return digits(mechanism, substitute(list(expressions), {TIME: system.time}), {})

    edges = with_numbers(system.frame, numbers)
    slots = number_slots(system.frame)
    cycles = [_cycle(chain(edges, slots, cycle.passages), system.length) for cycle in system.cycles]
    balls = [_quaternion(state.balls[0, b].tolist()) for b in range(len(system.ball_freedoms))]
    return PreciseLoops(system, cycles, [arb_of(float(v)) for v in state.x[0]], balls)


def _cycle(whole: Chain, length: float) -> tuple[list[_Piece], Matrix, Vector]:
    pieces = [_Piece(*_place(e.before, length), [arb_of(c) for c in e.axis], e) for e in whole.elements]
    return pieces, *_place(whole.last, length)


def _place(transform: Transform, length: float) -> tuple[Matrix, Vector]:
    rows = [[arb_of(c) for c in row] for row in transform.rotation.matrix.rows]
    return rows, [arb_of(c) / arb_of(length) for c in transform.position]


def _walk(pieces: list[_Piece], amounts: dict[int, Number],
          balls: list[Vector]) -> tuple[Matrix, Vector, dict[int, Vector]]:  # fmt: skip
    """Rotation and position at the end of a chain, and the screws of its elements by slot."""
    one, zero = arb_of(1), arb_of(0)
    rotation: Matrix = [[one if i == j else zero for j in range(3)] for i in range(3)]
    position: Vector = [zero] * 3
    screws: dict[int, Vector] = {}
    for piece in pieces:
        e = piece.element
        # Offset first, then the screw, then the motion: an axis is not changed by the turn about it.
        position = _sum(position, _times(rotation, piece.shift))
        rotation = _product(rotation, piece.turn)
        axis = _times(rotation, piece.axis)
        if e.screw:
            signed = [c * e.sign for c in axis]
            # Angular part, then the velocity of the point at the loop's origin: (a, p × a) for a turn, (0, a) for a
            # move.
            screws[e.slot] = signed + _cross(position, signed) if e.screw == TURN else [zero] * 3 + signed
        if e.motion == TURN:
            rotation = _product(rotation, _about(piece.axis, amounts[e.index] * e.sign))
        elif e.motion == MOVE:
            position = _sum(position, [c * amounts[e.index] * e.sign for c in axis])
        elif e.motion == BALL:
            turned = _matrix(balls[e.index])
            rotation = _product(rotation, turned if e.sign > 0 else [list(c) for c in zip(*turned, strict=True)])
    return rotation, position, screws


def _mp(value: Number) -> Any:
    """An arb's midpoint as an mpmath number."""
    import mpmath

    man, exp = value.mid().man_exp()
    return mpmath.mpf(int(man)) * mpmath.mpf(2) ** int(exp)


def _about(u: Vector, angle: Number) -> Matrix:
    c, s = angle.cos().mid(), angle.sin().mid()
    x, y, z = u
    t = 1 - c
    return [[c + t * x * x, t * x * y - s * z, t * x * z + s * y],
            [t * x * y + s * z, c + t * y * y, t * y * z - s * x],
            [t * x * z - s * y, t * y * z + s * x, c + t * z * z]]  # fmt: skip


def _times(a: Matrix, v: Vector) -> Vector:
    return [(r[0] * v[0] + r[1] * v[1] + r[2] * v[2]).mid() for r in a]


def _product(a: Matrix, b: Matrix) -> Matrix:
    return [[(r[0] * b[0][j] + r[1] * b[1][j] + r[2] * b[2][j]).mid() for j in range(3)] for r in a]


def _sum(a: Vector, b: Vector) -> Vector:
    return [(p + q).mid() for p, q in zip(a, b, strict=True)]


def _cross(a: Vector, b: Vector) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _skew_part(r: Matrix) -> Vector:
    return [(r[2][1] - r[1][2]) / 2, (r[0][2] - r[2][0]) / 2, (r[1][0] - r[0][1]) / 2]


def _quaternion(rows: list[list[float]]) -> Vector:
    import numpy as np

    from torseur.algebra.spatial.rotation_arrays import logarithm

    vector = logarithm(np.array(rows))
    angle = float(np.linalg.norm(vector))
    axis = vector / angle if angle else vector
    # In floats: these are starting values, which Newton's method improves in all digits.
    half = angle / 2
    return _normalise([arb_of(float(np.cos(half))), *(arb_of(float(np.sin(half) * c)) for c in axis)])


def _normalise(q: Vector) -> Vector:
    size = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt()
    return [(c / size).mid() for c in q]


def _quaternion_product(p: Vector, q: Vector) -> Vector:
    a, b, c, d = p
    e, f, g, h = q
    return [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e]  # fmt: skip


def _matrix(q: Vector) -> Matrix:
    w, x, y, z = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]  # fmt: skip
