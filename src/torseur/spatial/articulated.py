"""Operations on articulated inertias."""

from __future__ import annotations

from torseur.spatial.bodies import ArticulatedInertia, Force, Inertia, Transform
from torseur.spatial.vector import Matrix3, Symmetric3, Vec3, isotropic, skew


def articulated(inertia: Inertia) -> ArticulatedInertia:
    """A rigid body as an articulated one."""
    return ArticulatedInertia(inertia.matrix, skew(inertia.moment), isotropic(inertia.mass))


def without(inertia: ArticulatedInertia, gain: Force, needed: Force) -> ArticulatedInertia:
    """The inertia with one joint freed: A - gain neededᵀ, symmetric because gain is parallel to needed."""
    return ArticulatedInertia(
        inertia.angular - _symmetric_outer(gain.moment, needed.moment),
        inertia.coupling - Matrix3((
            needed.force * gain.moment.x, needed.force * gain.moment.y, needed.force * gain.moment.z,
        )),
        inertia.linear - _symmetric_outer(gain.force, needed.force),
    )  # fmt: skip


def _symmetric_outer(a: Vec3, b: Vec3) -> Symmetric3:
    """a bᵀ for parallel vectors."""
    return Symmetric3(a.x * b.x, a.y * b.y, a.z * b.z, a.x * b.y, a.x * b.z, a.y * b.z)


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
