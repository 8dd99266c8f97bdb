"""Inertia of a body whose children are free to move: articulated-body recursion (Featherstone 2008, chapter 7)."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.spatial.bodies import Inertia, Transform
from torseur.algebra.spatial.screws import Force, Motion
from torseur.algebra.spatial.vector import Matrix3, Scalar, Symmetric3, Vec3, isotropic, skew, symmetric


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
    #     | A'  H' |   | 1  p̃ | | A   H | | 1   0 |
    #     | H'ᵀ M  | = | 0  1 | | Hᵀ  M | | p̃ᵀ  1 |      all in the parent's axes already
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
