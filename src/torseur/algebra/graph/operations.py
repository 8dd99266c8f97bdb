"""The one table of operations: value, derivative, cost and spelling per language.

Everything that must know what an operation is (evaluation, differentiation, counting, code
generation, SymPy) reads this table; adding an operation is adding a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torseur.algebra.graph import scalar as s

if TYPE_CHECKING:
    from torseur.algebra.graph.expr import Expr

Partials = Callable[["Expr"], tuple[Any, ...]]
_WRITTEN = ("python", "c", "cpp", "fortran", "matlab", "sympy")  # JAX is spelled as NumPy is, in the column "python"


@dataclass(frozen=True)
class Operation:
    """One row: an operation of fixed arity on scalars.

    `partials(node)` gives the derivative of the node by each argument; `kind` is the column of the
    operation count it belongs to; `cost` is in multiplications; `spelling` has `{0}`, `{1}`, ... for
    arguments, which are names or numbers.
    """

    name: str
    arity: int
    value: Callable[..., Any]
    partials: Partials
    kind: str
    cost: float
    spelling: dict[str, str] = field(repr=False)
    commutative: bool = False


def _function(
    name: str,
    value: Callable[..., Any],
    partials: Partials,
    cost: float,
    arity: int = 1,
    kind: str = "function",
    commutative: bool = False,
    **spelling: str,
) -> Operation:
    """A function that most languages call by its own name."""
    arguments = ", ".join(f"{{{i}}}" for i in range(arity))
    typed = ", ".join(f"double {{{i}}}" for i in range(arity))
    call = f"{name}({arguments})"
    plain = dict.fromkeys(_WRITTEN, call)
    spellings = plain | {"llvm": f"call double @{name}({typed})"} | spelling
    return Operation(name, arity, value, partials, kind, cost, spellings, commutative)


def _infix(
    name: str,
    sign: str,
    llvm: str,
    value: Callable[..., Any],
    partials: Partials,
    kind: str,
    cost: float = 1.0,
    commutative: bool = False,
) -> Operation:
    text = f"{{0}} {sign} {{1}}"
    lanes = f"{{0}} {'.' if sign in '*/' else ''}{sign} {{1}}"
    spelling = dict.fromkeys(_WRITTEN, text) | {"matlab": lanes, "llvm": f"{llvm} double {{0}}, {{1}}"}
    return Operation(name, 2, value, partials, kind, cost, spelling, commutative)


def _comparison(name: str, sign: str, llvm: str, value: Callable[..., Any]) -> Operation:
    spelling = {
        "python": f"({{0}} {sign} {{1}}) * 1.0",
        "c": f"({{0}} {sign} {{1}}) ? 1.0 : 0.0",
        "cpp": f"({{0}} {sign} {{1}}) ? T(1) : T(0)",
        "fortran": f"merge(1.0_dp, 0.0_dp, {{0}} {sign} {{1}})",
        "matlab": f"double({{0}} {sign} {{1}})",
        "sympy": f"{{0}} {sign} {{1}}",
        "llvm": f"fcmp {llvm} double {{0}}, {{1}}",
    }
    # Derivative 0: the jump itself is no function. Events find and handle it.
    return Operation(name, 2, value, lambda n: (0, 0), "comparison", 1.0, spelling)


def _power_partials(node: Expr) -> tuple[Any, ...]:
    base, exponent = node.args
    # Not by the product rule with zero derivatives: log of a negative base is undefined even where its factor is zero.
    by_base = 0 if base.is_constant else exponent * base ** (exponent - 1)
    by_exponent = 0 if exponent.is_constant else node * s.log(base)
    return by_base, by_exponent


def _extremum_partials(node: Expr) -> tuple[Any, ...]:
    a, b = node.args
    # At a tie the first operand has the whole derivative; half to each would be a derivative of neither branch.
    first = a <= b if node.op == "min" else b <= a
    return s.where(first, 1, 0), s.where(first, 0, 1)


def _cofunction(x: Expr) -> Any:
    """√(1 - x²): the cosine of the angle whose sine is x."""
    return s.sqrt(1 - x * x)


def _atan2_partials(node: Expr) -> tuple[Any, ...]:
    y, x = node.args
    square = x * x + y * y
    return x / square, -y / square


_OPERATIONS = (
    _infix("add", "+", "fadd", lambda a, b: a + b, lambda n: (1, 1), "addition", commutative=True),
    _infix("sub", "-", "fsub", lambda a, b: a - b, lambda n: (1, -1), "addition"),
    _infix(
        "mul", "*", "fmul", lambda a, b: a * b, lambda n: (n.args[1], n.args[0]), "multiplication", commutative=True
    ),
    # Partial derivatives use the node itself where they can (-n / b, 1 + n², n): it is computed already, so a
    # derivative costs no second division, root or exponential.
    _infix("div", "/", "fdiv", lambda a, b: a / b, lambda n: (1 / n.args[1], -n / n.args[1]), "division", cost=4.0),
    Operation(
        "neg",
        1,
        lambda a: -a,
        lambda n: (-1,),
        "negation",
        0.5,
        dict.fromkeys(_WRITTEN, "-{0}") | {"llvm": "fneg double {0}"},
    ),
    # MATLAB's own square root, logarithm, inverse sine and cosine, and power leave the real numbers in silence.
    _function(
        "sqrt",
        s.sqrt,
        lambda n: (1 / (2 * n),),
        5.0,
        kind="square root",
        matlab="real_sqrt({0})",
        llvm="call double @llvm.sqrt.f64(double {0})",
    ),
    _function("sin", s.sin, lambda n: (s.cos(n.args[0]),), 15.0, kind="trigonometric"),
    _function("cos", s.cos, lambda n: (-s.sin(n.args[0]),), 15.0, kind="trigonometric"),
    _function("tan", s.tan, lambda n: (1 + n * n,), 20.0, kind="trigonometric"),
    _function(
        "asin", s.asin, lambda n: (1 / _cofunction(n.args[0]),), 20.0, python="arcsin({0})", matlab="real_asin({0})"
    ),
    _function(
        "acos", s.acos, lambda n: (-1 / _cofunction(n.args[0]),), 20.0, python="arccos({0})", matlab="real_acos({0})"
    ),
    _function("atan", s.atan, lambda n: (1 / (1 + n.args[0] * n.args[0]),), 20.0, python="arctan({0})"),
    _function("atan2", s.atan2, _atan2_partials, 25.0, arity=2, python="arctan2({0}, {1})"),
    _function("sinh", s.sinh, lambda n: (s.cosh(n.args[0]),), 20.0),
    _function("cosh", s.cosh, lambda n: (s.sinh(n.args[0]),), 20.0),
    _function("tanh", s.tanh, lambda n: (1 - n * n,), 20.0),
    _function("exp", s.exp, lambda n: (n,), 15.0),
    _function("log", s.log, lambda n: (1 / n.args[0],), 15.0, matlab="real_log({0})"),
    # The base may be a negative number, which binds less tightly than a power.
    _function(
        "pow",
        s.power,
        _power_partials,
        30.0,
        arity=2,
        python="({0}) ** {1}",
        sympy="({0}) ** {1}",
        fortran="({0}) ** {1}",
        matlab="real_pow({0}, {1})",
    ),
    _function(
        "abs",
        s.absolute,
        lambda n: (s.sign(n.args[0]),),
        1.0,
        c="fabs({0})",
        sympy="Abs({0})",
        llvm="call double @llvm.fabs.f64(double {0})",
    ),
    _function(
        "sign",
        s.sign,
        lambda n: (0,),
        2.0,
        c="(({0} > 0.0) - ({0} < 0.0)) * 1.0",
        cpp="({0} > T(0)) ? T(1) : ({0} < T(0)) ? T(-1) : T(0)",
        fortran="merge(1.0_dp, 0.0_dp, {0} > 0.0_dp) - merge(1.0_dp, 0.0_dp, {0} < 0.0_dp)",
        llvm="call double @torseur_sign(double {0})",
    ),
    _function(
        "min",
        s.minimum,
        _extremum_partials,
        1.0,
        arity=2,
        kind="comparison",
        commutative=True,
        python="minimum({0}, {1})",
        c="({0} <= {1} ? {0} : {1})",
        cpp="({0} <= {1} ? {0} : {1})",
        sympy="Min({0}, {1})",
        llvm="call double @torseur_min(double {0}, double {1})",
    ),
    _function(
        "max",
        s.maximum,
        _extremum_partials,
        1.0,
        arity=2,
        kind="comparison",
        commutative=True,
        python="maximum({0}, {1})",
        c="({0} >= {1} ? {0} : {1})",
        cpp="({0} >= {1} ? {0} : {1})",
        sympy="Max({0}, {1})",
        llvm="call double @torseur_max(double {0}, double {1})",
    ),
    # Fortran's own floor is an integer, which overflows.
    _function(
        "floor",
        s.floor,
        lambda n: (0,),
        2.0,
        fortran="aint({0}) - merge(1.0_dp, 0.0_dp, {0} < aint({0}))",
        llvm="call double @llvm.floor.f64(double {0})",
    ),
    _comparison("lt", "<", "olt", s.less),
    _comparison("le", "<=", "ole", s.less_equal),
    _function(
        "both",
        s.both,
        lambda n: (0, 0),
        1.0,
        arity=2,
        kind="comparison",
        commutative=True,
        python="{0} * {1}",
        c="{0} * {1}",
        cpp="{0} * {1}",
        fortran="{0} * {1}",
        matlab="{0} .* {1}",
        sympy="And({0}, {1})",
        llvm="fmul double {0}, {1}",
    ),
    _function(
        "invert",
        s.invert,
        lambda n: (0,),
        1.0,
        kind="comparison",
        python="1.0 - {0}",
        c="1.0 - {0}",
        cpp="T(1) - {0}",
        fortran="1.0_dp - {0}",
        matlab="1 - {0}",
        sympy="Not({0})",
        llvm="fsub double 1.0, {0}",
    ),
    _function(
        "where",
        s.where,
        lambda n: (0, s.where(n.args[0], 1, 0), s.where(n.args[0], 0, 1)),
        1.0,
        arity=3,
        kind="comparison",
        python="where({0}, {1}, {2})",
        c="({0} != 0.0 ? {1} : {2})",
        cpp="({0} != T(0) ? {1} : {2})",
        fortran="merge({1}, {2}, {0} /= 0.0_dp)",
        sympy="Piecewise(({1}, {0}), ({2}, True))",
        llvm="call double @torseur_where(double {0}, double {1}, double {2})",
    ),
)

OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _OPERATIONS}
