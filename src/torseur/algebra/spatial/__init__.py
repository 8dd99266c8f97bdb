"""Vectors, rotations and the six-dimensional vectors of rigid-body mechanics, for any scalar."""

from torseur.algebra.spatial.articulated_inertia import ArticulatedInertia
from torseur.algebra.spatial.bodies import NO_INERTIA, SAME, Inertia, SpatialInertia, Transform, inertia_at
from torseur.algebra.spatial.dual_bases import coordinates_in, dual_basis
from torseur.algebra.spatial.lie_brackets import bracket, bracket_b, bracket_c
from torseur.algebra.spatial.rotation import (
    AxisTurn,
    MatrixTurn,
    Rotation,
    about,
    from_quaternion,
    quaternion_rate,
    unit,
)
from torseur.algebra.spatial.screws import NO_FORCE, REST, Force, Motion
from torseur.algebra.spatial.vector import (
    NULL,
    UNIT,
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

__all__ = [
    "NO_FORCE",
    "NO_INERTIA",
    "NULL",
    "REST",
    "SAME",
    "UNIT",
    "ZERO_SYMMETRIC",
    "ArticulatedInertia",
    "AxisTurn",
    "Force",
    "Inertia",
    "Matrix3",
    "MatrixTurn",
    "Motion",
    "Rotation",
    "Scalar",
    "SpatialInertia",
    "Symmetric3",
    "Transform",
    "Vec3",
    "about",
    "bracket",
    "bracket_b",
    "bracket_c",
    "coordinates_in",
    "dual_basis",
    "from_quaternion",
    "inertia_at",
    "isotropic",
    "point_tensor",
    "quaternion_rate",
    "skew",
    "symmetric",
    "unit",
]
