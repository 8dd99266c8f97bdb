"""Whether an expression of vectors and matrices is zero: by its normal form, or at random exact points.

The normal form proves a zero. Where it is not zero, the expression is computed with exact random components of the
declared properties (rational rotations, unit vectors, symmetric matrices): one value that differs from zero proves
that the expression is not zero, and `POINTS` values that are all zero leave a chance below 1e-20 of an error.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import lcm
from typing import Any

from torseur.algebra.intrinsic.normal_form import expand
from torseur.algebra.intrinsic.operators import Cross, Dot, IntrinsicError, Matrix, Tilde, Vector, as_expression

# Schwartz and Zippel: a polynomial of degree D that is not zero vanishes at one such point with a chance of at most D /
# (2 LARGEST). Three points leave (D / 2e9)³, below 1e-20 for every degree up to 400.
POINTS = 3
LARGEST = 10**9


@dataclass(frozen=True)
class Verdict:
    """Whether an expression is zero, and how that is known: "normal form", "a point" or "random points"."""

    zero: bool
    by: str

    def __bool__(self) -> bool:
        return self.zero


# Why in two stages: docs/decisions/0049-zero-test-in-two-stages.md.
def is_zero(expression: Any, seed: int = 1) -> Verdict:
    """Whether the expression vanishes for all vectors and matrices with the declared properties."""
    if not expand(expression):
        return Verdict(True, "normal form")
    chance, parts = random.Random(seed), _parts_of_angles(expression)
    for _ in range(POINTS):
        if any(entry != 0 for entry in value_at(expression, Point(chance, parts))):
            return Verdict(False, "a point")
    return Verdict(True, "random points")


def _parts_of_angles(expression: Any) -> int:
    """The least common denominator of the factors of angles: 6 where there are cos(q/2) and sin(q/3)."""
    import sympy

    circular = as_expression(expression).atoms(sympy.sin, sympy.cos)
    terms = [term for f in circular for term in sympy.Add.make_args(sympy.expand(f.args[0]))]
    factors = [term.as_coeff_Mul()[0] for term in terms]
    return lcm(*(int(factor.q) for factor in factors if factor.is_Rational))


class Point:
    """Exact random components for every symbol, drawn when first asked for; `parts` of an angle are its smallest."""

    def __init__(self, chance: random.Random, parts: int = 1) -> None:
        self.chance, self.parts = chance, parts
        self.known: dict[Any, Any] = {}

    def of(self, symbol: Any) -> Any:
        if symbol not in self.known:
            self.known[symbol] = self._draw(symbol)
        return self.known[symbol]

    def number(self) -> Any:
        import sympy

        return sympy.Rational(self.chance.randint(-LARGEST, LARGEST), self.chance.randint(1, LARGEST))

    def _draw(self, symbol: Any) -> Any:
        import sympy

        if isinstance(symbol, Vector):
            return self._unit() if "unit" in symbol.properties else sympy.Matrix([self.number() for _ in range(3)])
        if isinstance(symbol, Matrix):
            return self._matrix(symbol.properties)
        return self.number()

    def _unit(self) -> Any:
        """A rational point of the sphere, by stereographic projection."""
        import sympy

        # All rational points but the pole, each from one (u, v): what is true of these polynomials is true of the
        # sphere.
        u, v = self.number(), self.number()
        square = u**2 + v**2
        return sympy.Matrix([2 * u, 2 * v, square - 1]) / (square + 1)

    def _matrix(self, properties: frozenset[str]) -> Any:
        import sympy

        free = sympy.Matrix(3, 3, [self.number() for _ in range(9)])
        if "symmetric" in properties:
            return free + free.T
        if "skew" in properties:
            return free - free.T
        # No singular 1 - A: a skew A has imaginary eigenvalues. Half turns are left out, which are a set without
        # volume.
        if "rotation" in properties:  # Cayley: (1 - A)⁻¹ (1 + A) of a skew A
            skew = free - free.T
            return (sympy.eye(3) - skew).inv() * (sympy.eye(3) + skew)
        return free

    def circle(self, angle: Any) -> tuple[Any, Any]:
        """Cosine and sine of an angle as a rational point of the circle."""
        import sympy

        cosine, sine = sympy.S.One, sympy.S.Zero
        for term in sympy.Add.make_args(sympy.expand(angle)):
            c, s = self._turn(term)
            cosine, sine = cosine * c - sine * s, sine * c + cosine * s
        return cosine, sine

    def _turn(self, term: Any) -> tuple[Any, Any]:
        """Cosine and sine of a multiple of one angle, by powers of its smallest part."""
        import sympy

        # Not drawn for each angle anew: q and 2 q, or q1, q2 and q1 + q2, would be points that nothing ties together,
        # and sin 2q - 2 sin q cos q would be taken to differ from zero.
        factor, angle = term.as_coeff_Mul()
        multiple = factor * self.parts
        if not multiple.is_Integer or angle is sympy.pi:
            raise IntrinsicError(
                f"the angle '{term}' has no exact value at a point; expected symbols with rational factors."
            )
        u = self.of(("half", angle))
        c, s = (1 - u**2) / (1 + u**2), 2 * u / (1 + u**2)
        cosine, sine = sympy.S.One, sympy.S.Zero
        for _ in range(abs(int(multiple))):
            cosine, sine = cosine * c - sine * s, sine * c + cosine * s
        return cosine, sine if multiple > 0 else -sine


def value_at(expression: Any, point: Point) -> Any:
    """The components at a point, as an exact SymPy matrix (of one entry for a scalar)."""
    import sympy

    value = _value(as_expression(expression), point)
    return value if isinstance(value, sympy.MatrixBase) else sympy.Matrix([value])


def _value(e: Any, point: Point) -> Any:
    import sympy
    from sympy.matrices import expressions as m

    match e:
        # The same components wherever a symbol occurs: `point` keeps what it has drawn.
        case Vector() | Matrix():
            return point.of(e)
        case Tilde():
            return _skew(_value(e.args[0], point))
        case Cross():
            return _skew(_value(e.args[0], point)) * _value(e.args[1], point)
        case Dot():
            return _value(e.args[0], point).dot(_value(e.args[1], point))
        case m.Transpose():
            return _value(e.args[0], point).T
        case m.Inverse():
            return _value(e.args[0], point).inv()
        case m.Trace():
            return _value(e.args[0], point).trace()
        case m.MatPow():
            return _value(e.args[0], point) ** int(e.args[1])
        case m.Identity():
            return sympy.eye(3)
        case m.ZeroMatrix():
            return sympy.zeros(*map(int, e.shape))
    if isinstance(e, m.MatrixExpr | sympy.Add | sympy.Mul):
        return _combine(e, [_value(a, point) for a in e.args])
    return _scalar(e, point)


def _combine(e: Any, parts: list[Any]) -> Any:
    """A sum or product of values; a product with a scalar of one entry is a multiple."""
    from sympy import Add
    from sympy.matrices.expressions import MatAdd

    total = parts[0]
    for part in parts[1:]:
        total = total + part if isinstance(e, MatAdd | Add) else total * part
    return total


def _scalar(e: Any, point: Point) -> Any:
    import sympy

    if e.is_Rational:
        return e
    if isinstance(e, sympy.cos | sympy.sin):
        return point.circle(e.args[0])[isinstance(e, sympy.sin)]
    if e.is_Pow and e.exp.is_Integer:
        return _value(e.base, point) ** e.exp
    # Derivatives and undetermined functions are as free as symbols: nothing is known that ties them to others.
    if e.is_Symbol or isinstance(e, sympy.Derivative | sympy.Function):
        return point.of(e)
    raise IntrinsicError(f"'{e}' has no exact value at a point; expected rational numbers, symbols, sines and cosines.")


def _skew(a: Any) -> Any:
    import sympy

    x, y, z = a
    return sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
