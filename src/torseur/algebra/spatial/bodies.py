"""Motion, force, inertia and transform of rigid bodies: the six-dimensional vectors of mechanics.

Everything refers to the origin and axes of one frame; a Transform takes it to another.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.spatial.rotation import Rotation
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
    symmetric,
)


@dataclass(frozen=True, slots=True)
class Motion:
    """Angular velocity and velocity of the origin (or their rates, or a joint's screw)."""

    angular: Vec3
    linear: Vec3

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __mul__(self, factor: Scalar) -> Motion:
        return Motion(self.angular * factor, self.linear * factor)

    def cross(self, other: Motion) -> Motion:
        """Rate of a motion carried along by this one: (w1 x w2, w1 x v2 + v1 x w2)."""
        angular, linear = self.angular, self.linear
        return Motion(angular.cross(other.angular), angular.cross(other.linear) + linear.cross(other.angular))

    def cross_force(self, force: Force) -> Force:
        """Rate of a force carried along by this motion: (w x m + v x f, w x f)."""
        moment = self.angular.cross(force.moment) + self.linear.cross(force.force)
        return Force(moment, self.angular.cross(force.force))

    def dot(self, force: Force) -> Scalar:
        """Power of a force on this motion."""
        return self.angular.dot(force.moment) + self.linear.dot(force.force)


# Constants of exact zeros: what is added to them keeps its own form.
REST = Motion(NULL, NULL)


@dataclass(frozen=True, slots=True)
class Force:
    """Moment at the origin and force."""

    moment: Vec3
    force: Vec3

    def __add__(self, other: Force) -> Force:
        return Force(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Force) -> Force:
        return Force(self.moment - other.moment, self.force - other.force)

    def __neg__(self) -> Force:
        return Force(-self.moment, -self.force)


NO_FORCE = Force(NULL, NULL)


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass m, first moment h = m c and inertia matrix I, both at the frame's origin: linear in the parameters."""

    mass: Scalar
    moment: Vec3
    matrix: Symmetric3

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.moment + other.moment, self.matrix + other.matrix)

    def __matmul__(self, motion: Motion) -> Force:
        """Momentum of a motion: (I w + h x v, m v - h x w)."""
        w, v, h = motion.angular, motion.linear, self.moment
        return Force(self.matrix @ w + h.cross(v), v * self.mass + w.cross(h))


NO_INERTIA = Inertia(0, NULL, ZERO_SYMMETRIC)


def inertia_at(mass: Scalar, centre: Vec3, central: Symmetric3) -> Inertia:
    """The inertia of a body with this mass, mass centre and inertia matrix about the mass centre (Huygens)."""
    return Inertia(mass, centre * mass, central + _point_inertia(mass, centre))


def _point_inertia(mass: Scalar, c: Vec3) -> Symmetric3:
    """Inertia matrix at the origin of a mass at c."""
    xx, yy, zz = mass * (c.x * c.x), mass * (c.y * c.y), mass * (c.z * c.z)
    return Symmetric3(yy + zz, xx + zz, xx + yy, -(mass * (c.x * c.y)), -(mass * (c.x * c.z)), -(mass * (c.y * c.z)))


@dataclass(frozen=True, slots=True)
class Transform:
    """The place of a child frame in its parent frame: position of its origin, rotation of its axes."""

    rotation: Rotation
    position: Vec3

    def motion_to_child(self, motion: Motion) -> Motion:
        """A motion given at the parent's origin and axes, at the child's."""
        turn = self.rotation.to_child
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

    def inertia_to_parent(self, inertia: Inertia) -> Inertia:
        """An inertia given at the child's origin and axes, at the parent's.

        With h' = h + m p / 2:  I + 2 (p·h') 1 - (p h'ᵀ + h' pᵀ).
        """
        # The parallel-axis terms of first and second moment in one: I + p̃ᵀ h̃ + h̃ᵀ p̃ + m p̃ᵀ p̃, whose last term is the
        # first two with m p / 2 for h, so one point tensor does for all.
        p, m = self.position, inertia.mass
        h = self.rotation.to_parent(inertia.moment)
        half = h + p * (m / 2)
        turned = self.rotation.tensor_to_parent(inertia.matrix)
        return Inertia(m, h + p * m, turned + point_tensor(p, half))

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


SAME = Transform(Rotation(), NULL)


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """The symmetric 6x6 operator from accelerations to forces of a body with its children free to move.

    By blocks:

        | moment |   | A   H | | w |
        |        | = |       | |   |
        | force  |   | Hᵀ  M | | v |
    """

    angular: Symmetric3
    coupling: Matrix3
    linear: Symmetric3

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            self.angular + other.angular, self.coupling + other.coupling, self.linear + other.linear
        )

    def __sub__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            self.angular - other.angular, self.coupling - other.coupling, self.linear - other.linear
        )

    def __matmul__(self, motion: Motion) -> Force:
        w, v = motion.angular, motion.linear
        return Force(self.angular @ w + self.coupling @ v, self.coupling.transpose @ w + self.linear @ v)


def articulated_inertia(inertia: Inertia) -> ArticulatedInertia:
    """A rigid body as an articulated one."""
    return ArticulatedInertia(inertia.matrix, skew(inertia.moment), isotropic(inertia.mass))


def eliminate_screw(inertia: ArticulatedInertia, gain: Force, needed: Force) -> ArticulatedInertia:
    """The inertia with one screw S freed: A - U Uᵀ / D with U = A S (needed) and U / D (gain), D = Sᵀ U.

    Symmetric because gain is parallel to needed (Featherstone 2008, chapter 7).
    """
    # gain_i needed_j = needed_i gain_j: where the gain is exactly 1, along the joint itself, no product is left.
    moment, force = _Parallel(gain.moment, needed.moment), _Parallel(gain.force, needed.force)
    coupling = [[_product(moment, i, force, j) for j in range(3)] for i in range(3)]
    return ArticulatedInertia(
        inertia.angular - _symmetric_outer(moment),
        inertia.coupling - Matrix3((Vec3(*coupling[0]), Vec3(*coupling[1]), Vec3(*coupling[2]))),
        inertia.linear - _symmetric_outer(force),
    )


class _Parallel:
    """A gain and the force it is parallel to, by components."""

    def __init__(self, gain: Vec3, needed: Vec3) -> None:
        self.gain, self.needed = (*gain,), (*needed,)


def _product(a: _Parallel, i: int, b: _Parallel, j: int) -> Scalar:
    """gain_i needed_j, which is needed_i gain_j: written with the gain that is one, along the joint, where one is."""
    return a.needed[i] * b.gain[j] if _is_one(b.gain[j]) else a.gain[i] * b.needed[j]


def _is_one(value: Scalar) -> bool:
    return bool(getattr(value, "is_constant", False) and value == 1)


def _symmetric_outer(a: _Parallel) -> Symmetric3:
    """gain neededᵀ."""
    return symmetric([[_product(a, i, a, j) if j >= i else 0 for j in range(3)] for i in range(3)])


def articulated_to_parent(transform: Transform, inertia: ArticulatedInertia) -> ArticulatedInertia:
    """The inertia at the parent's origin and axes.

    Rotated, then shifted by p:  H' = H + p̃ M,  A' = A + p̃ Hᵀ - H' p̃.
    """
    rotation, p = transform.rotation, transform.position
    angular = rotation.tensor_to_parent(inertia.angular)
    coupling = rotation.matrix_to_parent(inertia.coupling)
    linear = rotation.tensor_to_parent(inertia.linear)
    # Only the upper triangle of A' is computed: it is symmetric though its two terms are not.
    shifted = coupling + _cross_columns(p, Matrix3(linear.rows))
    back = _cross_columns(p, coupling.transpose).rows
    right = [p.cross(row) for row in shifted.rows]  # row i of -(H' p̃)
    total = [b + r for b, r in zip(back, right, strict=True)]
    moved = Symmetric3(total[0].x, total[1].y, total[2].z, total[0].y, total[0].z, total[1].z)
    return ArticulatedInertia(angular + moved, shifted, linear)


def _cross_columns(p: Vec3, matrix: Matrix3) -> Matrix3:
    """p̃ A: the cross product of p with every column."""
    columns = [p.cross(column) for column in matrix.transpose.rows]
    return Matrix3((columns[0], columns[1], columns[2])).transpose
