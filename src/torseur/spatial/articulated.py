"""Operations on articulated inertias."""

from __future__ import annotations

from torseur.spatial.bodies import ArticulatedInertia, Force, Inertia, Transform
from torseur.spatial.vector import Matrix3, Scalar, Symmetric3, Vec3, isotropic, skew, symmetric


def articulated(inertia: Inertia) -> ArticulatedInertia:
    """A rigid body as an articulated one."""
    return ArticulatedInertia(inertia.matrix, skew(inertia.moment), isotropic(inertia.mass))


def without(inertia: ArticulatedInertia, gain: Force, needed: Force) -> ArticulatedInertia:
    """The inertia with one joint freed: A - gain neededᵀ, symmetric because gain is parallel to needed."""
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
    shifted = coupling + _cross_columns(p, Matrix3(linear.rows))
    back = _cross_columns(p, coupling.transposed).rows
    right = [p.cross(row) for row in shifted.rows]  # row i of -(H' p̃)
    total = [b + r for b, r in zip(back, right, strict=True)]
    moved = Symmetric3(total[0].x, total[1].y, total[2].z, total[0].y, total[0].z, total[1].z)
    return ArticulatedInertia(angular + moved, shifted, linear)


def _cross_columns(p: Vec3, matrix: Matrix3) -> Matrix3:
    """p̃ A: the cross product of p with every column."""
    columns = [p.cross(column) for column in matrix.transposed.rows]
    return Matrix3((columns[0], columns[1], columns[2])).transposed
