"""Derivatives in moving frames, change of frame, composition of velocities and of accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torseur.algebra.intrinsic.operators import (
    TIME,
    Cross,
    Dot,
    Frame,
    IntrinsicError,
    Matrix,
    Tilde,
    Vector,
    as_expression,
)


def angular_velocity(frame: Frame, reference: Frame) -> Any:
    """ω of a frame relative to a reference: the sum along the frames between them."""
    from sympy.matrices.expressions import ZeroMatrix

    inner, outer = _apart(frame, reference)
    # ω(frame / reference): what lies on the way in adds up, what lies on the way out is taken off; vectors without
    # components need no rotation for that.
    total = ZeroMatrix(3, 1)
    for one in inner:
        total = total + one.omega
    for one in outer:
        total = total - one.omega
    return total


def change_of_frame(frame: Frame, reference: Frame) -> Any:
    """The rotation that takes components in a frame to components in a reference."""
    from sympy.matrices.expressions import Identity

    inner, outer = _apart(frame, reference)
    # R = R_outerᵀ ... R_inner: first up to the frame that carries both, by each frame's own rotation, then down again.
    total = Identity(3)
    for one in inner:
        total = one.rotation * total
    for one in reversed(outer):
        total = one.rotation.T * total
    return total


def _apart(frame: Frame, reference: Frame) -> tuple[list[Frame], list[Frame]]:
    """The frames on either way to the nearest one that carries both."""
    inner, outer = frame.path(), reference.path()
    shared = [one for one in inner if one in outer]
    if not shared:
        raise IntrinsicError(f"frames '{frame.name}' and '{reference.name}' have no frame in common that carries both.")
    return inner[: inner.index(shared[0])], outer[: outer.index(shared[0])]


def derivative(expression: Any, frame: Frame) -> Any:
    """d/dt of an expression as seen in a frame: a vector known in another frame adds ω x itself."""
    import sympy
    from sympy.matrices import expressions as m

    e = as_expression(expression)
    match e:
        case Vector():
            return _of_vector(e, frame)
        case Matrix():
            return _of_matrix(e, frame)
        case m.MatAdd() | m.MatMul() | sympy.Add() | sympy.Mul() | Cross() | Dot():
            return _leibniz(e, frame)
        case Tilde() | m.Transpose() | m.Trace():
            return e.func(derivative(e.args[0], frame))
        # From A A⁻¹ = 1: A' A⁻¹ + A (A⁻¹)' = 0.
        case m.Inverse():
            return -e * derivative(e.args[0], frame) * e
        case m.Identity() | m.ZeroMatrix():
            return m.ZeroMatrix(*e.shape)
        case sympy.Pow() if e.base.has(Dot):
            return e.exp * e.base ** (e.exp - 1) * derivative(e.base, frame)
    if isinstance(e, m.MatrixExpr):
        raise IntrinsicError(f"'{e}' has no derivative here; write powers of matrices as products.")
    return sympy.diff(e, TIME)


def _of_vector(v: Any, frame: Frame) -> Any:
    from sympy.matrices.expressions import ZeroMatrix

    # Bour's formula: (dv/dt)_frame = (dv/dt)_home + ω(home / frame) x v.
    home = _home(v)
    constant = "constant" in v.properties
    own = ZeroMatrix(3, 1) if constant else Vector(v.name, 3, 1, "", home, v.dots + 1)
    turning = angular_velocity(home, frame)
    return own if turning == ZeroMatrix(3, 1) else own + _crosses(turning, v)


def _crosses(turning: Any, v: Any) -> Any:
    """ω x v, a term for each part of ω; a vector crossed with itself is left out."""
    from sympy.matrices.expressions import MatAdd, ZeroMatrix

    parts = [part for part in (turning.args if isinstance(turning, MatAdd) else (turning,)) if part != v]
    return MatAdd(*(Cross(part, v) for part in parts)).doit(deep=False) if parts else ZeroMatrix(3, 1)


def _of_matrix(a: Any, frame: Frame) -> Any:
    """R' = ω̃ R for a rotation to the parent; a tensor constant in its frame changes by ω̃ A - A ω̃."""
    home = _home(a)
    # A matrix of components, not a tensor: its entries change alike for whoever looks, so `frame` plays no part.
    if "rotation" in a.properties:
        return Tilde(home.omega) * a
    if "constant" not in a.properties:
        raise IntrinsicError(f"matrix '{a.name}' changes in an unknown way; declare it constant in a frame.")
    turning = Tilde(angular_velocity(home, frame))
    return turning * a - a * turning


def _home(symbol: Any) -> Frame:
    if symbol.frame is None:
        raise IntrinsicError(f"'{symbol.name}' belongs to no frame; say in which one it is known: frame=...")
    home: Frame = symbol.frame
    return home


def _leibniz(e: Any, frame: Frame) -> Any:
    import sympy
    from sympy.matrices.expressions import MatAdd

    if isinstance(e, MatAdd | sympy.Add):
        return e.func(*(derivative(a, frame) for a in e.args)).doit(deep=False)
    total = None
    for k, factor in enumerate(e.args):
        # The product rule factor by factor, their order kept: matrices do not commute. SymPy's zero matrices have
        # shapes, so zero is recognised by comparing with a multiple of itself.
        change = derivative(factor, frame)
        if change == 0 or change == change * 0:
            continue
        term = e.func(*e.args[:k], change, *e.args[k + 1 :])
        total = term if total is None else total + term
    return e * 0 if total is None else total


@dataclass(frozen=True)
class Composition:
    """A velocity or acceleration by its parts: of the point in the moving frame, of the frame, and Coriolis'."""

    relative: Any
    transport: Any
    coriolis: Any = None

    @property
    def total(self) -> Any:
        whole = self.relative + self.transport
        return whole if self.coriolis is None else whole + self.coriolis


def composed_velocity(place: Any, origin: Any, moving: Frame, reference: Frame) -> Composition:
    """v of a point at `place` from the origin of a moving frame, itself at `origin` in the reference."""
    omega = angular_velocity(moving, reference)
    return Composition(derivative(place, moving), derivative(origin, reference) + Cross(omega, place))


def composed_acceleration(place: Any, origin: Any, moving: Frame, reference: Frame) -> Composition:
    """a = a_relative + [a(O) + ω' x OM + ω x (ω x OM)] + 2 ω x v_relative."""
    omega = angular_velocity(moving, reference)
    relative = derivative(place, moving)
    # Transport and Coriolis terms are made from the definition, not by differentiating the composed velocity twice, so
    # that each part of the theorem can be shown by itself.
    drive = derivative(derivative(origin, reference), reference)
    turning = Cross(derivative(omega, reference), place) + Cross(omega, Cross(omega, place))
    return Composition(derivative(relative, moving), drive + turning, 2 * Cross(omega, relative))
