"""Vectors, matrices and frames without components, as SymPy matrix expressions with declared properties.

SymPy supplies sums, products, transposes, inverses and traces; this file adds ã (Tilde), a x b (Cross) and
a · b (Dot), and symbols that know what they are: symmetric, skew, rotation, unit, constant in a frame.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sympy import Basic, Expr, Integer, MatrixBase, Symbol, SympifyError, sympify
from sympy.core.symbol import Str
from sympy.matrices.expressions import MatAdd, MatMul, MatrixExpr, MatrixSymbol

from torseur.edges.argument_types import text_of
from torseur.errors import TorseurError

TIME = Symbol("t")
PROPERTIES = ("symmetric", "skew", "rotation", "unit", "constant")


class IntrinsicError(TorseurError):
    """An operation of vector algebra does not fit its operands."""


class Frame(Basic):  # type: ignore[misc]
    """A frame that turns relative to its parent; the frame without parent is the one at rest."""

    def __new__(cls, name: str | Str, parent: Any = None) -> Frame:
        carrier = () if parent is None else (parent,)
        made: Frame = Basic.__new__(cls, Str(str(name)), *carrier)
        return made

    @property
    def name(self) -> str:
        return str(self.args[0])

    @property
    def parent(self) -> Frame | None:
        return self.args[1] if len(self.args) > 1 else None

    @property
    def omega(self) -> Vector:
        """Angular velocity relative to the parent."""
        return vector(f"Omega_{self.name}", frame=self)

    @property
    def rotation(self) -> Matrix:
        """R with (components in the parent) = R (components in this frame)."""
        return matrix(f"R_{self.name}", rotation=True, frame=self)

    def path(self) -> list[Frame]:
        """This frame and those that carry it, outward to the one at rest."""
        return [self, *(self.parent.path() if self.parent is not None else ())]


class _Declared(MatrixSymbol):  # type: ignore[misc]
    """A matrix symbol with properties, a frame and a number of time derivatives among its arguments."""

    def __new__(cls, name: Any, n: Any, m: Any, properties: Any = "", frame: Any = None, dots: Any = 0) -> Any:
        # SymPy rebuilds objects by func(*args): all that tells symbols apart must be among the arguments, and each of
        # them must be a Basic, so texts become Str.
        home = () if frame is None or frame == Str("") else (frame,)
        size = (as_expression(n), as_expression(m))
        return Basic.__new__(cls, Str(str(name)), *size, Str(str(properties)), *(home or (Str(""),)), Integer(dots))

    @property
    def properties(self) -> frozenset[str]:
        return frozenset(str(self.args[3]).split())

    @property
    def frame(self) -> Frame | None:
        """The frame in which its derivative is taken as known."""
        return self.args[4] if isinstance(self.args[4], Frame) else None

    @property
    def dots(self) -> int:
        return int(self.args[5])

    def _sympystr(self, printer: Any) -> str:
        return str(self.name) + "'" * self.dots

    def _latex(self, printer: Any) -> str:
        letter = {0: "{}", 1: r"\dot{{{}}}", 2: r"\ddot{{{}}}"}.get(self.dots, "{}^{{(" + str(self.dots) + ")}}")
        return letter.format(rf"\mathbf{{{printer._deal_with_super_sub(str(self.name))}}}")

    def _eval_transpose(self) -> Any:
        if "symmetric" in self.properties:
            return self
        return -self if "skew" in self.properties else super()._eval_transpose()

    # SymPy asks for these when it builds: R.I is R.T from the start, and never has to be recognised.
    def _eval_inverse(self) -> Any:
        return self.T if "rotation" in self.properties else super()._eval_inverse()


class Vector(_Declared):
    """A vector of space."""


class Matrix(_Declared):
    """A linear map of space."""


@lru_cache(maxsize=1024)  # one object for each symbol: comparing equal ones would follow the chains of their frames
def vector(name: str, *, unit: bool = False, constant: bool = False, frame: Frame | None = None, dots: int = 0) -> Any:
    """A vector symbol; `constant` in its frame, or of unit length."""
    properties = " ".join(word for word, given in (("unit", unit), ("constant", constant)) if given)
    return Vector(name, 3, 1, properties, frame, dots)


def matrix(
    name: str,
    *,
    symmetric: bool = False,
    skew: bool = False,
    rotation: bool = False,
    constant: bool = False,
    frame: Frame | None = None,
) -> Any:
    """A matrix symbol with its declared properties."""
    if symmetric + skew + rotation > 1:
        raise IntrinsicError(f"matrix '{name}': symmetric, skew and rotation exclude each other.")
    given = {"symmetric": symmetric, "skew": skew, "rotation": rotation, "constant": constant}
    return Matrix(name, 3, 3, " ".join(word for word, chosen in given.items() if chosen), frame)


def scale(factor: Any, vector: Any) -> Any:
    """A scalar or a matrix times a vector that is no product itself; `*` would first look for simplifications."""
    return vector if factor == 1 else MatMul(factor, vector)


def _operand(printer: Any, e: Any) -> str:
    """An operand of a cross product, a sum in brackets."""
    text = printer._print(e)
    return f"({text})" if isinstance(e, MatAdd) else str(text)


def as_expression(value: Any) -> Any:
    """A value as an expression of SymPy; no text is, since SymPy would run it as a program."""
    try:
        expression = sympify(value, strict=True)
    except (SympifyError, ValueError):
        expression = None
    if not isinstance(expression, (Expr, MatrixBase)):
        raise IntrinsicError(f"expected a number or an expression of SymPy, got {text_of(value)}.")
    return expression


def _require_vector(value: Any, operation: str) -> Any:
    value = as_expression(value)
    if getattr(value, "shape", None) != (3, 1):
        raise IntrinsicError(
            f"{operation} takes vectors; '{value}' has shape {getattr(value, 'shape', 'of a scalar')}."
        )
    return value


class Tilde(MatrixExpr):  # type: ignore[misc]
    """ã, the matrix with ã b = a x b."""

    def __new__(cls, a: Any) -> Any:
        return Basic.__new__(cls, _require_vector(a, "tilde"))

    @property
    def shape(self) -> tuple[Any, Any]:
        return Integer(3), Integer(3)

    def _eval_transpose(self) -> Any:
        return -self

    def _sympystr(self, printer: Any) -> str:
        return f"tilde({printer._print(self.args[0])})"

    def _latex(self, printer: Any) -> str:
        return rf"\widetilde{{{printer._print(self.args[0])}}}"

    def _entry(self, i: Any, j: Any, **_: Any) -> Any:
        #     | 0   -a3   a2 |
        #     | a3   0   -a1 |
        #     | -a2  a1   0  |
        a = self.args[0]
        rows = [[0, -a[2, 0], a[1, 0]], [a[2, 0], 0, -a[0, 0]], [-a[1, 0], a[0, 0], 0]]
        return as_expression(rows[int(i)][int(j)])


class Cross(MatrixExpr):  # type: ignore[misc]
    """a x b."""

    def __new__(cls, a: Any, b: Any) -> Any:
        return Basic.__new__(cls, _require_vector(a, "a cross product"), _require_vector(b, "a cross product"))

    @property
    def shape(self) -> tuple[Any, Any]:
        return Integer(3), Integer(1)

    def _sympystr(self, printer: Any) -> str:
        return "({} x {})".format(*(_operand(printer, a) for a in self.args))

    def _latex(self, printer: Any) -> str:
        return rf"\left({printer._print(self.args[0])} \times {printer._print(self.args[1])}\right)"

    def _entry(self, i: Any, j: Any, **_: Any) -> Any:
        a, b = self.args
        k, m = (int(i) + 1) % 3, (int(i) + 2) % 3
        return a[k, 0] * b[m, 0] - a[m, 0] * b[k, 0]


class Dot(Expr):  # type: ignore[misc]
    """a · b."""

    is_commutative = True

    def __new__(cls, a: Any, b: Any) -> Any:
        return Basic.__new__(cls, _require_vector(a, "a dot product"), _require_vector(b, "a dot product"))

    def _sympystr(self, printer: Any) -> str:
        return f"dot({printer._print(self.args[0])}, {printer._print(self.args[1])})"

    def _latex(self, printer: Any) -> str:
        return rf"\left({printer._print(self.args[0])} \cdot {printer._print(self.args[1])}\right)"

    def as_explicit(self) -> Any:
        """The sum of products of components."""
        a, b = self.args
        return sum(a[k, 0] * b[k, 0] for k in range(3))
