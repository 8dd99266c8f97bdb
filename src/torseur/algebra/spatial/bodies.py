"""Inertia of rigid bodies, and transforms from frame to frame.

Everything refers to the origin and axes of one frame; a Transform takes it to another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeVar, overload

import numpy as np

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.spatial.components import (
    Components,
    SixArray,
    array,
    as_rows,
    as_scalar,
    as_vector,
    blocks,
    bracketed,
    differentiate,
    in_sympy,
    is_number,
    latex_column,
    shortened,
    text,
)
from torseur.algebra.spatial.inertia_matrix import central_matrix, symmetric_matrix
from torseur.algebra.spatial.rotation import MatrixTurn, Rotation, about
from torseur.algebra.spatial.screws import EMPTY, Force, Motion, divisor_of, factor_of, listed, require_kind
from torseur.algebra.spatial.vector import (
    NULL,
    ZERO_SYMMETRIC,
    Matrix3,
    Scalar,
    Symmetric3,
    Vec3,
    isotropic,
    point_tensor,
    skew,
)
from torseur.edges.arguments import ArgumentError, explain_methods


@dataclass(frozen=True, slots=True, repr=False)
class Inertia:
    """Mass m, first moment h = m c and inertia matrix I, both at the frame's origin: linear in the parameters."""

    mass: Scalar
    moment: Vec3
    matrix: Symmetric3

    def __add__(self, other: Inertia) -> Inertia:
        require_kind(other, Inertia, "an inertia", "+")
        return self.at_origin(self.mass + other.mass, self.moment + other.moment, self.matrix + other.matrix)

    def __sub__(self, other: Inertia) -> Inertia:
        require_kind(other, Inertia, "an inertia", "-")
        return self.at_origin(self.mass - other.mass, self.moment - other.moment, self.matrix - other.matrix)

    def __mul__(self, factor: Scalar) -> Self:
        factor = factor_of(factor, "an inertia")
        scaled = Symmetric3(*(factor * x for x in self.matrix))
        return self.at_origin(self.mass * factor, self.moment * factor, scaled)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Scalar) -> Self:
        return self * (1 / divisor_of(divisor, "an inertia"))

    def __matmul__(self, motion: Motion) -> Force:
        """Momentum of a motion: (I w + h x v, m v - h x w)."""
        require_kind(motion, Motion, "an inertia", "@")
        #     | I   h̃  | | w |
        #     | h̃ᵀ  m1 | | v |      h = m c, so that nothing divides by a mass that may be zero
        w, v, h = motion.angular, motion.linear, self.moment
        return Force(self.matrix @ w + h.cross(v), v * self.mass + w.cross(h))

    @classmethod
    def at_origin(cls, mass: Scalar, moment: Vec3, matrix: Symmetric3) -> Self:
        """The inertia with this mass, first moment m c and inertia matrix about the origin."""
        return cls(mass, moment, matrix)

    @property
    def spatial_matrix(self) -> SixArray:
        """The 6x6 matrix [[I_O, m c̃], [m c̃ᵀ, m 1]]."""
        h = skew(self.moment)
        return blocks([[Matrix3(self.matrix.rows), h], [h.transpose, Matrix3(isotropic(self.mass).rows)]])

    def kinetic_energy(self, motion: Motion) -> Scalar:
        """½ ξ · I ξ."""
        return motion.dot(self @ motion) / 2

    def derivative(self, by: Any, frame: Motion | None = None) -> Self:
        """Derivative by a symbol or along rates {symbol: rate}; `frame` moves the basis of the components.

        In a basis that moves with ξ:  (dI/dt) = d(components)/dt + ξ ×* I - I ξ ×.
        """
        rates = differentiate([self.mass, *self.moment, *self.matrix], by, "derivative of an inertia")
        own = self.at_origin(rates[0], Vec3(*rates[1:4]), Symmetric3(*rates[4:]))
        if frame is None:
            return own
        carried = self._rate_in_moving_frame(frame)
        return self.at_origin(own.mass, own.moment + carried.moment, own.matrix + carried.matrix)

    def _rate_in_moving_frame(self, frame: Motion) -> Self:
        """ξ ×* I - I ξ ×: the rate of an inertia fixed in a body that moves with ξ."""
        # By the 6x6 products rather than by formulas for each block: it is only asked for by hand, never inside a
        # recursion.
        change = frame.cross_force_matrix @ self.spatial_matrix - self.spatial_matrix @ frame.cross_matrix
        moment = Vec3(change[2][4], change[0][5], change[1][3])  # its upper right block is the tilde of this
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = (row[:3] for row in change[:3])
        return self.at_origin(0, moment, Symmetric3(xx, yy, zz, xy, xz, yz))

    def to_sympy(self) -> Any:
        """The 6x6 matrix in SymPy."""
        import sympy as sp

        return sp.Matrix(6, 6, in_sympy(self.spatial_matrix.ravel()))

    def __repr__(self) -> str:
        rows = ", ".join(listed(row) for row in self.matrix.rows)
        return f"{type(self).__name__}.at_origin({text(self.mass)}, {listed(self.moment)}, [{rows}])"

    def __str__(self) -> str:
        return bracketed(self.spatial_matrix.tolist(), ruled=True)

    def _repr_latex_(self) -> str:
        return latex_column(self.spatial_matrix.tolist())


InertiaT = TypeVar("InertiaT", bound=Inertia)
NO_INERTIA = Inertia(0, NULL, ZERO_SYMMETRIC)


def inertia_at(mass: Scalar, centre: Vec3, central: Symmetric3) -> Inertia:
    """The inertia of a body with this mass, mass centre and inertia matrix about the mass centre (Huygens)."""
    return Inertia(mass, centre * mass, central + _point_inertia(mass, centre))


def _point_inertia(mass: Scalar, c: Vec3) -> Symmetric3:
    """Inertia matrix at the origin of a mass at c."""
    xx, yy, zz = mass * (c.x * c.x), mass * (c.y * c.y), mass * (c.z * c.z)
    return Symmetric3(yy + zz, xx + zz, xx + yy, -(mass * (c.x * c.y)), -(mass * (c.x * c.z)), -(mass * (c.y * c.z)))


@explain_methods
class SpatialInertia(Inertia):
    """The inertia of a body from its mass, its mass centre and its inertia matrix about the mass centre.

    As a matrix [[I - m c̃ c̃, m c̃], [m c̃ᵀ, m 1]]: it takes motions to momenta (`I @ xi`), and adds up over bodies.
    """

    __slots__ = ()

    def __init__(self, mass: Scalar, centre: Components, inertia: Any) -> None:
        mass, c = as_scalar(mass, "mass"), as_vector(centre, "mass centre")
        body = inertia_at(mass, c, central_matrix(inertia))
        if is_number(mass) and float(mass) < 0:
            raise ArgumentError(f"mass: {text(mass)} is negative.")
        Inertia.__init__(self, body.mass, body.moment, body.matrix)

    @classmethod
    def at_origin(cls, mass: Scalar, moment: Components, matrix: Any) -> Self:
        """The inertia with this mass, first moment m c and inertia matrix about the origin."""
        made = cls.__new__(cls)
        tensor = matrix if isinstance(matrix, Symmetric3) else symmetric_matrix(matrix)
        Inertia.__init__(made, mass, as_vector(moment, "first moment"), tensor)
        return made

    @property
    def centre(self) -> Vec3:
        """The mass centre."""
        if is_number(self.mass) and self.mass == 0:
            raise ArgumentError("mass centre: a body without mass has none.")
        return self.moment / self.mass


@explain_methods
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Transform:
    """The place of a child frame in its parent frame: position of its origin, rotation of its axes.

    As a matrix, X takes motions from the parent's origin and axes to the child's, X* = X⁻ᵀ takes forces:

        X = | E      0 |      X* = | E  E r̃ᵀ |     E = Rᵀ takes components to the child's axes,
            | E r̃ᵀ   E |           | 0  E    |     r is the child's origin in the parent's axes.

    `X @ value` is a motion, force, inertia or transform seen from the child; `X.inverse @ value` leads back.
    """

    rotation: Rotation
    position: Vec3

    def __init__(self, rotation: Any, position: Components = NULL) -> None:
        # A Rotation keeps its factors, which save products; anything else is read as a matrix.
        turn = rotation if type(rotation) is Rotation else _rotation(rotation)
        object.__setattr__(self, "rotation", turn)
        object.__setattr__(self, "position", as_vector(position, "position of a frame"))

    @classmethod
    def about(cls, axis: Components, angle: Scalar, position: Components = NULL) -> Transform:
        """The place of a frame turned by an angle (rad) about an axis of its parent."""
        direction, turned = as_vector(axis, "axis"), as_scalar(angle, "angle")
        if all(is_number(x) and x == 0 for x in direction):
            raise ArgumentError("axis: a rotation needs a direction other than [0, 0, 0].")
        # The length of an oblique axis is a root: exact where the angle is an expression.
        if isinstance(turned, Expr):
            direction = Vec3(*(as_expr(x) for x in direction))
        elif not is_number(turned):
            direction = Vec3(*in_sympy(direction))
        return cls(about(direction, turned), position)

    @classmethod
    def at(cls, position: Components) -> Transform:
        """The place of a frame with its parent's axes."""
        return cls(Rotation(), position)

    @overload
    def __matmul__(self, value: Motion) -> Motion: ...
    @overload
    def __matmul__(self, value: Force) -> Force: ...
    @overload
    def __matmul__(self, value: SpatialInertia) -> SpatialInertia: ...
    @overload
    def __matmul__(self, value: Transform) -> Transform: ...
    def __matmul__(self, value: Any) -> Any:
        """What is given at the parent's origin and axes, at the child's."""
        if isinstance(value, Motion):
            return self.motion_to_child(value)
        if isinstance(value, Force):
            return self.force_to_child(value)
        if isinstance(value, Inertia):
            return self.inverse.inertia_to_parent(value)
        if isinstance(value, Transform):
            return value.then(self)
        raise ArgumentError(
            f"a transform @ {type(value).__name__}: expected a Motion, a Force, a SpatialInertia or a Transform."
        )

    @property
    def motion_matrix(self) -> SixArray:
        """X, the 6x6 matrix that takes motions from the parent to the child."""
        E, below = self._blocks()
        return blocks([[E, EMPTY], [below, E]])

    @property
    def force_matrix(self) -> SixArray:
        """X* = X⁻ᵀ, the 6x6 matrix that takes forces from the parent to the child."""
        E, below = self._blocks()
        return blocks([[E, below], [EMPTY, E]])

    def __pow__(self, exponent: int) -> Transform:
        """The place after as many of these one after the other; negative ones lead back."""
        if not isinstance(exponent, int) or isinstance(exponent, bool):
            raise ArgumentError(f"a transform to the power {exponent!r}: expected a whole number.")
        step, place = (self if exponent >= 0 else self.inverse), Transform.at(NULL)
        for _ in range(abs(exponent)):
            place = place.then(step)
        return place

    def velocity(self, by: Any) -> Motion:
        """The motion of the frame in its parent by a symbol, or along rates {symbol: rate}.

        In the parent's axes, ω̃ = R' Rᵀ and v_O = r' + r × ω; `X @ X.velocity(t)` has the frame's own, as
        `derivative(..., frame=...)` takes them.
        """
        turn = self.rotation.matrix
        entries = [*self.position, *(x for row in turn.rows for x in row)]
        rates = differentiate(entries, by, "velocity of a frame")
        rows = [Vec3(*rates[k : k + 3]) for k in (3, 6, 9)]
        # ω̃ = R' Rᵀ is antisymmetric: three of its nine products suffice, (2,1), (0,2) and (1,0).
        x, y, z = turn.rows
        spin = Vec3(*(shortened(rows[k].dot(other)) for k, other in ((2, y), (0, z), (1, x))))
        return Motion.at_point(spin, rates[:3], self.position)

    def _blocks(self) -> tuple[Matrix3, Matrix3]:
        """E and E r̃ᵀ."""
        # E r̃ᵀ column by column: r̃ᵀ = (-r)~.
        to_child = self.rotation.to_child
        columns = [to_child(column) for column in skew(-self.position).transpose.rows]
        return self.rotation.matrix.transpose, Matrix3((columns[0], columns[1], columns[2])).transpose

    def to_sympy(self) -> Any:
        """X in SymPy."""
        import sympy as sp

        return sp.Matrix(6, 6, in_sympy(self.motion_matrix.ravel()))

    def __repr__(self) -> str:
        rows = ", ".join(listed(row) for row in self.rotation.matrix.rows)
        return f"Transform([{rows}], {listed(self.position)})"

    def __str__(self) -> str:
        return bracketed(self.motion_matrix.tolist(), ruled=True)

    def _repr_latex_(self) -> str:
        return latex_column(self.motion_matrix.tolist())

    def motion_to_child(self, motion: Motion) -> Motion:
        """A motion given at the parent's origin and axes, at the child's."""
        turn = self.rotation.to_child
        # v at the child's origin: v_O + ω x r, then both into the child's axes.
        return Motion(turn(motion.angular), turn(motion.linear + motion.angular.cross(self.position)))

    # Forces go with the transpose of motions, which keeps the power V · F the same in every frame.
    def force_to_parent(self, force: Force) -> Force:
        """A force given at the child's origin and axes, at the parent's."""
        pushed = self.rotation.to_parent(force.force)
        return Force(self.rotation.to_parent(force.moment) + self.position.cross(pushed), pushed)

    def force_to_child(self, force: Force) -> Force:
        """A force given at the parent's origin and axes, at the child's."""
        moment = force.moment - self.position.cross(force.force)
        return Force(self.rotation.to_child(moment), self.rotation.to_child(force.force))

    def inertia_to_parent(self, inertia: InertiaT) -> InertiaT:
        """An inertia given at the child's origin and axes, at the parent's.

        With h' = h + m p / 2:  I + 2 (p·h') 1 - (p h'ᵀ + h' pᵀ).
        """
        # The parallel-axis terms of first and second moment in one: I + p̃ᵀ h̃ + h̃ᵀ p̃ + m p̃ᵀ p̃, whose last term is the
        # first two with m p / 2 for h, so one point tensor does for all.
        p, m = self.position, inertia.mass
        h = self.rotation.to_parent(inertia.moment)
        half = h + p * (m / 2)
        turned = self.rotation.tensor_to_parent(inertia.matrix)
        return type(inertia).at_origin(m, h + p * m, turned + point_tensor(p, half))

    def point_to_parent(self, point: Vec3) -> Vec3:
        """A point given in the child frame, in the parent frame."""
        return self.position + self.rotation.to_parent(point)

    def then(self, other: Transform) -> Transform:
        """The place of a grandchild: this, then the other from here."""
        return Transform(self.rotation.then(other.rotation), self.point_to_parent(other.position))

    @property
    def inverse(self) -> Transform:
        """The place of the parent in the child."""
        back = self.rotation.inverse
        return Transform(back, -back.to_parent(self.position))


def _rotation(value: Any) -> Rotation:
    """A rotation from its matrix, whose columns are the child's axes; what is no rotation is refused."""
    rows = as_rows(value, "rotation")
    if all(is_number(x) for row in rows for x in row):
        matrix = array([*rows])
        gap = float(np.max(np.abs(matrix.T @ matrix - np.eye(3))))
        # Matrices typed with ten digits pass; with six they would make bodies shear.
        if gap > 1e-9 or np.linalg.det(matrix) < 0:
            reason = f"its columns are orthonormal to {gap:.1g} only" if gap > 1e-9 else "it reflects (determinant -1)"
            raise ArgumentError(f"rotation: the matrix is not a rotation, {reason}.")
    return Rotation((MatrixTurn(Matrix3(rows)),))


SAME = Transform(Rotation(), NULL)
