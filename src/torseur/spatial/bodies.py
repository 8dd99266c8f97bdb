"""Motion, force, inertia and transform of rigid bodies: the six-dimensional vectors of mechanics.

Everything refers to the origin and axes of one frame; a Transform takes it to another.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.spatial.rotation import Rotation
from torseur.spatial.value import made_fast
from torseur.spatial.vector import (
    NULL,
    ZERO_SYMMETRIC,
    Matrix3,
    Scalar,
    Symmetric3,
    Vec3,
    point_tensor,
)


@made_fast
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


REST = Motion(NULL, NULL)


@made_fast
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


@made_fast
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


@made_fast
@dataclass(frozen=True, slots=True)
class Transform:
    """The place of a child frame in its parent frame: position of its origin, rotation of its axes."""

    rotation: Rotation
    position: Vec3

    def motion_to_child(self, motion: Motion) -> Motion:
        """A motion given at the parent's origin and axes, at the child's."""
        turn = self.rotation.to_child
        return Motion(turn(motion.angular), turn(motion.linear + motion.angular.cross(self.position)))

    def motion_to_parent(self, motion: Motion) -> Motion:
        """A motion given at the child's origin and axes, at the parent's."""
        angular, linear = self.rotation.to_parent(motion.angular), self.rotation.to_parent(motion.linear)
        return Motion(angular, linear + self.position.cross(angular))

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


@made_fast
@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """The symmetric 6x6 operator from accelerations to forces of a body with its children free to move.

    Blocks: moment = A w + H v, force = Hᵀ w + M v.
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
        return Force(self.angular @ w + self.coupling @ v, self.coupling.transposed @ w + self.linear @ v)
