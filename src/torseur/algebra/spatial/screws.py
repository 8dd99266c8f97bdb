"""Motions and forces: the six-dimensional vectors of two spaces, dual by the power (course notes on spatial algebra).

Everything refers to the origin and axes of one frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torseur.algebra.spatial.components import (
    Components,
    SixArray,
    array,
    as_vector,
    blocks,
    bracketed,
    differentiate,
    in_sympy,
    latex_column,
    text,
)
from torseur.algebra.spatial.vector import NULL, Matrix3, Scalar, Vec3, skew
from torseur.edges.arguments import ArgumentError, explain_methods


@explain_methods
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Motion:
    """Angular velocity and velocity of the origin (or their rates, or a joint's screw).

    Components are numbers, expressions or SymPy's: Motion([0, 0, 1], [0.2, 0, 0]). Sums, differences and products by
    scalars are those of vectors; `cross` and `cross_force` are × and ×*, `dot` is the power of a force.
    """

    angular: Vec3
    linear: Vec3

    def __init__(self, angular: Components, linear: Components) -> None:
        object.__setattr__(self, "angular", as_vector(angular, "angular part of a motion"))
        object.__setattr__(self, "linear", as_vector(linear, "linear part of a motion"))

    @classmethod
    def at_point(cls, angular: Components, linear: Components, point: Components) -> Motion:
        """The motion of a body that turns at ω and whose point P moves at v_P: v_O = v_P + OP × ω."""
        w, v, p = as_vector(angular, "angular"), as_vector(linear, "linear"), as_vector(point, "point")
        return cls(w, v + p.cross(w))

    @classmethod
    def revolute(cls, axis: Components, point: Components = NULL) -> Motion:
        """The screw of a turn about an axis through a point: (u, p × u)."""
        return cls.at_point(axis, NULL, point)

    @classmethod
    def prismatic(cls, axis: Components) -> Motion:
        """The screw of a slide along an axis: (0, u)."""
        return cls(NULL, axis)

    def __add__(self, other: Motion) -> Motion:
        require_kind(other, Motion, "a motion", "+")
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __radd__(self, other: Any) -> Motion:
        # sum() starts from 0.
        return self if isinstance(other, int) and other == 0 else self + other

    def __sub__(self, other: Motion) -> Motion:
        require_kind(other, Motion, "a motion", "-")
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Motion:
        return Motion(-self.angular, -self.linear)

    def __mul__(self, factor: Scalar) -> Motion:
        factor = factor_of(factor, "a motion")
        return Motion(self.angular * factor, self.linear * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Scalar) -> Motion:
        divisor = divisor_of(divisor, "a motion")
        return Motion(self.angular / divisor, self.linear / divisor)

    def cross(self, other: Motion) -> Motion:
        """Rate of a motion carried along by this one: (w1 x w2, w1 x v2 + v1 x w2)."""
        require_kind(other, Motion, "a motion", "x", "; for a force there is cross_force (x*)")
        angular, linear = self.angular, self.linear
        #     | w̃  0 | | w2 |
        #     | ṽ  w̃ | | v2 |
        return Motion(angular.cross(other.angular), angular.cross(other.linear) + linear.cross(other.angular))

    def cross_force(self, force: Force) -> Force:
        """Rate of a force carried along by this motion: (w x m + v x f, w x f)."""
        require_kind(force, Force, "a motion", "x*", "; for a motion there is cross (x)")
        moment = self.angular.cross(force.moment) + self.linear.cross(force.force)
        return Force(moment, self.angular.cross(force.force))

    def dot(self, force: Force) -> Scalar:
        """Power of a force on this motion."""
        require_kind(force, Force, "a motion", ".", "; motions are multiplied by forces alone, which gives their power")
        # Angular with moment, linear with force: the dual pairing, which no choice of origin or axes changes. A product
        # of two motions would depend on both, and is refused.
        return self.angular.dot(force.moment) + self.linear.dot(force.force)

    def velocity_at(self, point: Components) -> Vec3:
        """Velocity of the body's point that is at P: v_P = v_O + ω × OP."""
        return self.linear + self.angular.cross(as_vector(point, "point"))

    def derivative(self, by: Any, frame: Motion | None = None) -> Motion:
        """Derivative by a symbol or along rates {symbol: rate}; `frame` moves the basis of the components.

        In a basis that moves with ξ:  (ds/dt) = d(components)/dt + ξ × s.
        """
        rates = differentiate([*self.angular, *self.linear], by, "derivative of a motion")
        own = Motion(rates[:3], rates[3:])
        return own if frame is None else own.seen_from_rest(self, frame)

    def seen_from_rest(self, vector: Motion, frame: Motion) -> Motion:
        """Rate of `vector` whose components change at this rate in a basis that moves with `frame`."""
        return self + frame.cross(vector)

    def classical(self, velocity: Motion) -> Motion:
        """Of a spatial acceleration: ω' and the acceleration r'' of the body's point at O, v_O' + ω × v_O."""
        # A spatial acceleration follows the point of space, not of the body:
        # docs/decisions/0004-classical-accelerations.md.
        require_kind(velocity, Motion, "an acceleration", "classical")
        return Motion(self.angular, self.linear + velocity.angular.cross(velocity.linear))

    def spatial(self, velocity: Motion) -> Motion:
        """Of a classical acceleration (ω', r''): the spatial one, ξ' = (ω', r'' + r' × ω)."""
        require_kind(velocity, Motion, "an acceleration", "spatial")
        return Motion(self.angular, self.linear + velocity.linear.cross(velocity.angular))

    @property
    def vector(self) -> SixArray:
        """The six components (ω, v_O): floats, or expressions."""
        return array([*self.angular, *self.linear])

    @property
    def cross_matrix(self) -> SixArray:
        """The 6x6 matrix of ξ ×:  [[ω̃, 0], [ṽ, ω̃]]."""
        w, v = skew(self.angular), skew(self.linear)
        return blocks([[w, EMPTY], [v, w]])

    @property
    def cross_force_matrix(self) -> SixArray:
        """The 6x6 matrix of ξ ×*:  [[ω̃, ṽ], [0, ω̃]], less the transpose of that of ξ ×."""
        w, v = skew(self.angular), skew(self.linear)
        return blocks([[w, v], [EMPTY, w]])

    def to_sympy(self) -> Any:
        """The column in SymPy."""
        return _column(self.vector)

    def __repr__(self) -> str:
        return f"Motion({listed(self.angular)}, {listed(self.linear)})"

    def __str__(self) -> str:
        return bracketed([[x] for x in (*self.angular, *self.linear)], ruled=True)

    def _repr_latex_(self) -> str:
        return latex_column([*self.angular, *self.linear])

    __array_ufunc__ = None  # NumPy numbers on the left of * leave the product to us


@explain_methods
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Force:
    """Moment at the origin and force.

    Components are numbers, expressions or SymPy's: Force([0, 0, 5], [10, 0, 0]).
    """

    moment: Vec3
    force: Vec3

    def __init__(self, moment: Components, force: Components) -> None:
        object.__setattr__(self, "moment", as_vector(moment, "moment of a force"))
        object.__setattr__(self, "force", as_vector(force, "resultant of a force"))

    @classmethod
    def at_point(cls, moment: Components, force: Components, point: Components) -> Force:
        """The force f at P with the moment m_P: m_O = m_P + OP × f."""
        m, f, p = as_vector(moment, "moment"), as_vector(force, "force"), as_vector(point, "point")
        return cls(m + p.cross(f), f)

    def __add__(self, other: Force) -> Force:
        require_kind(other, Force, "a force", "+")
        return Force(self.moment + other.moment, self.force + other.force)

    def __radd__(self, other: Any) -> Force:
        # sum() starts from 0.
        return self if isinstance(other, int) and other == 0 else self + other

    def __sub__(self, other: Force) -> Force:
        require_kind(other, Force, "a force", "-")
        return Force(self.moment - other.moment, self.force - other.force)

    def __neg__(self) -> Force:
        return Force(-self.moment, -self.force)

    def __mul__(self, factor: Scalar) -> Force:
        factor = factor_of(factor, "a force")
        return Force(self.moment * factor, self.force * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Scalar) -> Force:
        divisor = divisor_of(divisor, "a force")
        return Force(self.moment / divisor, self.force / divisor)

    def dot(self, motion: Motion) -> Scalar:
        """Power of this force on a motion."""
        require_kind(
            motion, Motion, "a force", ".", "; forces are multiplied by motions alone, which gives their power"
        )
        return motion.dot(self)

    def moment_at(self, point: Components) -> Vec3:
        """Moment at a point P: m_P = m_O - OP × f."""
        return self.moment - as_vector(point, "point").cross(self.force)

    def derivative(self, by: Any, frame: Motion | None = None) -> Force:
        """Derivative by a symbol or along rates {symbol: rate}; in a basis that moves with `frame` ξ, ξ ×* f more."""
        rates = differentiate([*self.moment, *self.force], by, "derivative of a force")
        own = Force(rates[:3], rates[3:])
        return own if frame is None else own.seen_from_rest(self, frame)

    def seen_from_rest(self, vector: Force, frame: Motion) -> Force:
        """Rate of `vector` whose components change at this rate in a basis that moves with `frame`."""
        return self + frame.cross_force(vector)

    @property
    def vector(self) -> SixArray:
        """The six components (m_O, f): floats, or expressions."""
        return array([*self.moment, *self.force])

    def to_sympy(self) -> Any:
        """The column in SymPy."""
        return _column(self.vector)

    def __repr__(self) -> str:
        return f"Force({listed(self.moment)}, {listed(self.force)})"

    def __str__(self) -> str:
        return bracketed([[x] for x in (*self.moment, *self.force)], ruled=True)

    def _repr_latex_(self) -> str:
        return latex_column([*self.moment, *self.force])

    __array_ufunc__ = None


# Constants of exact zeros: what is added to them keeps its own form.
REST = Motion(NULL, NULL)
NO_FORCE = Force(NULL, NULL)
EMPTY = Matrix3((NULL, NULL, NULL))


def require_kind(value: Any, kind: type, own: str, sign: str, hint: str = "") -> None:
    """Refuses an operand of another kind: motions and forces are vectors of two different spaces."""
    if not isinstance(value, kind):
        raise ArgumentError(f"{own} {sign} {type(value).__name__}: expected a {kind.__name__}{hint}.")


def factor_of(value: Any, own: str) -> Scalar:
    """A scalar to multiply by; vectors and texts are refused."""
    # Of what is no scalar only the usual slips are known here: algorithms multiply by numbers of any library.
    if isinstance(value, _NO_SCALARS):
        raise ArgumentError(f"{own} times {type(value).__name__}: expected a number or an expression.")
    return value


def divisor_of(value: Any, own: str) -> Scalar:
    """A scalar to divide by; the number 0 is refused."""
    if isinstance(value, int | float) and value == 0:
        raise ArgumentError(f"{own} is divided by 0.")
    return factor_of(value, own)


_NO_SCALARS = (str, bool, list, tuple, dict, set, type(None), Vec3, Motion, Force)


def listed(vector: Vec3) -> str:
    return f"[{', '.join(text(x) for x in vector)}]"


def _column(entries: SixArray) -> Any:
    import sympy as sp

    return sp.Matrix(in_sympy(entries))
