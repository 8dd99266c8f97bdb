"""Algebra of vectors, matrices, quaternions and frames without components, over SymPy's matrix expressions.

Importing this folder imports SymPy, so the rest of the package imports it where it is used.
"""

from torseur.algebra.intrinsic.moving_frames import (
    Composition,
    angular_velocity,
    change_of_frame,
    composed_acceleration,
    composed_velocity,
    derivative,
)
from torseur.algebra.intrinsic.normal_form import normal_form
from torseur.algebra.intrinsic.operators import (
    TIME,
    Cross,
    Dot,
    Frame,
    IntrinsicError,
    Matrix,
    Tilde,
    Vector,
    matrix,
    vector,
)
from torseur.algebra.intrinsic.quaternion_numbers import Quaternion, product_of_numbers
from torseur.algebra.intrinsic.quaternions import Mixed, Symbolic, quaternion
from torseur.algebra.intrinsic.zero_test import Verdict, is_zero
from torseur.edges.arguments import explain_names

__all__ = [
    "TIME",
    "Composition",
    "Cross",
    "Dot",
    "Frame",
    "IntrinsicError",
    "Matrix",
    "Mixed",
    "Quaternion",
    "Symbolic",
    "Tilde",
    "Vector",
    "Verdict",
    "angular_velocity",
    "change_of_frame",
    "composed_acceleration",
    "composed_velocity",
    "derivative",
    "is_zero",
    "matrix",
    "normal_form",
    "product_of_numbers",
    "quaternion",
    "vector",
]

explain_names(globals())
