"""Conversion and folding: typed nodes from typed operands, computed at once when the operands are constants."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from torseur.computation.codegen.routine.intrinsics import BY_NAME
from torseur.computation.codegen.routine.nodes import (
    Binary,
    Compare,
    Const,
    Convert,
    Expression,
    Intrinsic,
    Logic,
    Number,
    Power,
    Select,
    Unary,
)
from torseur.computation.codegen.routine.routine_language import Kind

# Python's own operators fold constants, so that a folded expression has the value that the untranslated routine has.
# // and % round towards minus infinity; targets whose division truncates (C, LLVM) have helpers for them.
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
# Seven products cost less than a call of pow; each adds half a unit in the last place to the error.
LARGEST_EXPANDED_POWER = 8
_PYTHON_TYPE: dict[Kind, Callable[[Any], Number]] = {Kind.FLOAT: float, Kind.INT: int, Kind.BOOL: bool}


def constant(value: Number) -> Const:
    """The node of a compile-time number."""
    if isinstance(value, bool):
        return Const(value, Kind.BOOL)
    return Const(int(value), Kind.INT) if isinstance(value, int) else Const(float(value), Kind.FLOAT)


def convert(node: Expression, kind: Kind) -> Expression:
    """The value in another scalar type, as Python's float(), int() and bool() give it."""
    if node.kind is kind:
        return node
    if isinstance(node, Const):
        return Const(_PYTHON_TYPE[kind](node.value), kind)
    return Convert(node, kind)


def common_kind(a: Expression, b: Expression) -> Kind:
    """Type in which two numbers meet: float if one is, else int."""
    return Kind.FLOAT if Kind.FLOAT in (a.kind, b.kind) else Kind.INT


def arithmetic(op: str, a: Expression, b: Expression) -> Expression:
    """a op b for + - * / // %, constants folded. Division of constants by zero raises ZeroDivisionError."""
    kind = Kind.FLOAT if op == "/" else common_kind(a, b)
    if isinstance(a, Const) and isinstance(b, Const):
        return constant(ARITHMETIC[op](a.value, b.value))
    a, b = convert(a, kind), convert(b, kind)
    # Of integers only: 0.0 + x and 0.0 * x are not x and 0.0 for a signed zero or NaN, on which integrators rely.
    if kind is Kind.INT and (short := _integer_identity(op, a, b)) is not None:
        return short
    return Binary(op, a, b, kind)


def _integer_identity(op: str, a: Expression, b: Expression) -> Expression | None:
    """0 + i, i + 0, 1 * i and 0 * i, which unrolled loops make by the dozen."""
    if op in "+-" and b == Const(0, Kind.INT):
        return a
    if op == "+" and a == Const(0, Kind.INT):
        return b
    if op == "*" and Const(1, Kind.INT) in (a, b):
        return b if a == Const(1, Kind.INT) else a
    return None


def compare(op: str, a: Expression, b: Expression) -> Expression:
    kind = common_kind(a, b)
    if isinstance(a, Const) and isinstance(b, Const):
        return constant(COMPARISONS[op](a.value, b.value))
    return Compare(op, convert(a, kind), convert(b, kind))


def negate(a: Expression) -> Expression:
    if isinstance(a, Const):
        return constant(-a.value)
    kind = common_kind(a, a)
    return Unary("neg", convert(a, kind), kind)


def invert(a: Expression) -> Expression:
    """Logical not; numbers count as true when they are not zero."""
    if isinstance(a, Const):
        return constant(not a.value)
    return Unary("not", convert(a, Kind.BOOL), Kind.BOOL)


def logic(op: str, a: Expression, b: Expression) -> Expression:
    """a and b, a or b for booleans; a compile-time left side decides at once."""
    if isinstance(a, Const):
        # The left side alone may decide: `x and False` still has to evaluate x, in which a call may stand.
        return b if bool(a.value) == (op == "and") else a
    return Logic(op, a, b)


def select(condition: Expression, a: Expression, b: Expression) -> Expression:
    """a if condition else b in their common type."""
    kind = a.kind if a.kind is b.kind else common_kind(a, b)
    if isinstance(condition, Const):
        return convert(a if condition.value else b, kind)
    return Select(condition, convert(a, kind), convert(b, kind), kind)


def intrinsic(name: str, *arguments: Expression) -> Expression:
    """A function of the intrinsic table on floats. Constants outside its domain raise ValueError."""
    row = BY_NAME[name]
    if all(isinstance(a, Const) for a in arguments):
        return constant(row.value(*[a.value for a in arguments if isinstance(a, Const)]))
    return Intrinsic(name, tuple(convert(a, Kind.FLOAT) for a in arguments), row.returns)


def absolute(a: Expression) -> Expression:
    if isinstance(a, Const):
        return constant(abs(a.value))
    if a.kind is Kind.FLOAT:
        return intrinsic("fabs", a)
    return Intrinsic("abs", (convert(a, Kind.INT),), Kind.INT)


# fmin and fmax of C would drop a NaN, and an integrator that takes the largest of its errors would not see a failed
# one.
def extremum(name: str, a: Expression, b: Expression) -> Expression:
    """min or max of two numbers; the first wins when they are equal or not comparable, as in Python."""
    if isinstance(a, Const) and isinstance(b, Const):
        return constant((min if name == "min" else max)(a.value, b.value))
    kind = common_kind(a, b)
    return Intrinsic(name, (convert(a, kind), convert(b, kind)), kind)


def power(a: Expression, b: Expression) -> Expression | None:
    """a ** b: small whole exponents become products, others pow; None for a whole base with an unknown exponent."""
    if isinstance(a, Const) and isinstance(b, Const):
        return constant(a.value**b.value)
    # As products on every target: C libraries disagree about pow in its last digit, and none is as fast.
    if isinstance(b, Const) and float(b.value).is_integer() and abs(b.value) <= LARGEST_EXPANDED_POWER:
        return _whole_power(a, int(b.value))
    if a.kind is not Kind.FLOAT and b.kind is not Kind.FLOAT:
        return None  # int or float, as the exponent's sign says in Python: no type at translation
    return intrinsic("pow", a, b)


def _whole_power(a: Expression, n: int) -> Expression:
    kind = common_kind(a, a)
    if n < 0:
        return arithmetic("/", constant(1.0), _whole_power(a, -n))
    if n == 0:
        return convert(constant(1), kind)
    return convert(a, kind) if n == 1 else Power(convert(a, kind), n, kind)
