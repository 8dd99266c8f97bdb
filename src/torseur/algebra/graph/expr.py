"""Expression nodes, shared when equal and simplified when built.

Two expressions built the same way are the same object, so equality is identity and common subexpressions
cost nothing. Orders among nodes follow their structure (`rank`, `live_nodes`), never the time when they were made:
what a process built before, and has or has not forgotten, cannot be seen in what it prints.
Constants are integers, fractions or floats and are never rounded to a nearby value. Integers and fractions
combine exactly; two float constants combine as Python floats do, so 0.1 + 0.2 is 0.30000000000000004.
Several threads may build at once: they get the same nodes.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from operator import index
from threading import RLock
from typing import Any

from torseur.algebra.graph.construction.rank import CONSTANT, FACTORS, LEAD, LOW, NEG, number_rank, rank_of
from torseur.errors import TorseurError

Number = int | Fraction | float


@dataclass(frozen=True)
class SymbolInfo:
    """What a symbol stands for."""

    name: str
    unit: str = "1"
    meaning: str = ""


# Why a graph of our own: docs/decisions/0059-hand-made-or-library.md.
class Expr:
    """A node of the expression graph: an operation applied to nodes, or a leaf.

    Leaves have `op` "constant" (data: the number), "pi", or "symbol" (data: SymbolInfo). "apply" is an
    undetermined function and "table" a tabulated one, each with its own data. Every other `op` is a row of
    OPERATIONS.

    `rank` decides which operand of a sum or a product stands first. It is a number made of the structure alone, the
    same in every process. `serial` tells nodes of this process apart in the table of nodes, and is no order: it
    depends on what was built before.
    """

    __slots__ = ("__weakref__", "args", "data", "op", "rank", "serial")

    op: str
    args: tuple[Expr, ...]
    data: Any
    rank: int
    serial: int

    @property
    def is_constant(self) -> bool:
        return self.op == "constant"

    @property
    def is_zero(self) -> bool:
        return self is ZERO

    @property
    def value(self) -> Number:
        """The number of a constant node."""
        number: Number = self.data
        return number

    @property
    def name(self) -> str | None:
        """The name of a symbol.

        Names of other values belong to the program that computes them (`Program.labels`): nodes are shared, also by
        mechanisms that call them differently.
        """
        return self.data.name if self.op == "symbol" else None

    def apply_operation(self, name: str, values: tuple[Any, ...]) -> Expr:
        """The operation on scalars of which at least one is a graph expression."""
        return build(name, tuple(map(as_expr, values)))

    def __add__(self, other: ExprLike) -> Expr:
        y = other if other.__class__ is Expr else operand(other)
        return NotImplemented if y is None else add(self, y)

    def __radd__(self, other: ExprLike) -> Expr:
        return NotImplemented if (y := operand(other)) is None else add(y, self)

    def __sub__(self, other: ExprLike) -> Expr:
        y = other if other.__class__ is Expr else operand(other)
        return NotImplemented if y is None else sub(self, y)

    def __rsub__(self, other: ExprLike) -> Expr:
        return NotImplemented if (y := operand(other)) is None else sub(y, self)

    def __mul__(self, other: ExprLike) -> Expr:
        y = other if other.__class__ is Expr else operand(other)
        return NotImplemented if y is None else mul(self, y)

    def __rmul__(self, other: ExprLike) -> Expr:
        return NotImplemented if (y := operand(other)) is None else mul(y, self)

    def __truediv__(self, other: ExprLike) -> Expr:
        y = other if other.__class__ is Expr else operand(other)
        return NotImplemented if y is None else div(self, y)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return NotImplemented if (y := operand(other)) is None else div(y, self)

    def __pow__(self, other: ExprLike) -> Expr:
        return self.apply_operation("pow", (self, other))

    def __rpow__(self, other: ExprLike) -> Expr:
        return self.apply_operation("pow", (other, self))

    def __neg__(self) -> Expr:
        return neg(self)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return self.apply_operation("abs", (self,))

    def __lt__(self, other: ExprLike) -> Expr:
        return self.apply_operation("lt", (self, other))

    def __le__(self, other: ExprLike) -> Expr:
        return self.apply_operation("le", (self, other))

    def __gt__(self, other: ExprLike) -> Expr:
        return self.apply_operation("lt", (other, self))

    def __ge__(self, other: ExprLike) -> Expr:
        return self.apply_operation("le", (other, self))

    def __bool__(self) -> bool:
        if self.op == "constant":
            return bool(self.data)
        raise TorseurError(f"'{self}' has no truth value before it has numbers. Use where(condition, a, b).")

    def __float__(self) -> float:
        if self.op == "constant":
            return float(self.data)
        if self.op == "pi":
            return math.pi
        from torseur.algebra.graph.evaluation import constant_value

        return constant_value(self)

    def __repr__(self) -> str:
        from torseur.algebra.graph.printing import excerpt

        return excerpt(self)

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: object) -> Expr:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from torseur.algebra.graph.construction.pickling import pack, unpack_one

        return unpack_one, (pack([self]),)


_next_serial = count(0, 4).__next__
"""Numbers of nodes, as they are made; their last two bits are left for a kind of operation."""

# Why nodes are held weakly: docs/decisions/0029-nodes-held-weakly.md.
_ref = weakref.ref
_nodes: dict[Any, weakref.ref[Expr]] = {}
_removing = RLock()
_sweep_at = 1 << 17
_new = Expr.__new__
_PAIRS = {"add": 0, "sub": 1, "mul": 2, "div": 3}
_small: dict[int, Expr] = {}
"""The whole numbers that exact zeros, ones and signs in formulas are."""


def intern(op: str, args: tuple[Expr, ...], data: Any = None) -> Expr:
    """The one node with this operation, arguments and data; made if it does not exist."""
    key = (op, data, *[a.serial for a in args])
    reference = _nodes.get(key)
    if reference is not None and (known := reference()) is not None:
        return known
    return _new_node(key, op, args, data, rank_of(op, args, data))


def pair(op: str, x: Expr, y: Expr) -> Expr:
    """`intern` for sums, differences, products and quotients.

    Its key is one integer: half the time of a tuple, which the garbage collector would have to visit.
    """
    # 42 bits for the second serial, its last two for the operation: 10¹² nodes in one process before two keys meet.
    key = x.serial << 42 | y.serial | _PAIRS[op]
    reference = _nodes.get(key)
    if reference is not None and (known := reference()) is not None:
        return known
    first, second = x.rank, y.rank
    rank = (first & LEAD or second & LEAD) | (first * FACTORS[op] ^ second) & LOW
    return _new_node(key, op, (x, y), None, rank)


def opposite(x: Expr) -> Expr:
    """`intern` for a change of sign, with an integer of its own as key."""
    # Negative, as no key of a pair is.
    key = ~x.serial
    reference = _nodes.get(key)
    if reference is not None and (known := reference()) is not None:
        return known
    rank = x.rank
    return _new_node(key, "neg", (x,), None, rank & LEAD | (rank * NEG ^ CONSTANT) & LOW)


def _new_node(key: Any, op: str, args: tuple[Expr, ...], data: Any, rank: int) -> Expr:
    node = _new(Expr)
    node.op = op
    node.args = args
    node.data = data
    node.rank = rank
    node.serial = _next_serial()
    fresh = _ref(node)
    # setdefault is atomic: when two threads build one node at the same time, both get the first.
    return (
        node if _nodes.setdefault(key, fresh) is fresh and len(_nodes) <= _sweep_at else _settle_node(key, node, fresh)
    )


def _settle_node(key: Any, node: Expr, fresh: weakref.ref[Expr]) -> Expr:
    """The node of a key that was occupied, another thread's or ours in place of one that died; or of a full table."""
    if len(_nodes) > _sweep_at:
        forget_unused()
    with _removing:
        while (holder := _nodes.setdefault(key, fresh)) is not fresh:
            known = holder()
            if known is not None:
                return known
            del _nodes[key]
    return node


def forget_unused() -> None:
    """Forgets nodes that nobody holds, so that a long session does not grow."""
    global _sweep_at
    with _removing:
        for key, reference in _nodes.copy().items():
            if reference() is None and _nodes.get(key) is reference:
                del _nodes[key]
        # Twice what is left: sweeps cost a constant time per node that is made, however long the session.
        _sweep_at = max(1 << 17, 2 * len(_nodes))


def constant(value: Number) -> Expr:
    """A constant node. Whole floats are stored as integers: the same number, recognised as 0 or 1."""
    if type(value) is not int:
        value = _plain(value)
    # Floats that are not whole stand for themselves, as integers stand for other nodes. Fractions, which may equal
    # them, hash slowly when they have many digits.
    key: Any = value
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        key = ("constant", value.__class__, value)
    elif not isinstance(value, float):
        key = (value.numerator, value.denominator)
    reference = _nodes.get(key)
    if reference is not None and (known := reference()) is not None:
        return known
    return _new_node(key, "constant", (), value, number_rank(value))


def _plain(value: Number) -> Number:
    """The number as an int, a Fraction that is not whole, or a float that is not whole."""
    if isinstance(value, float):
        value = float(value)
        if not math.isfinite(value):
            raise TorseurError(f"a constant must be finite, got {value}.")
        return int(value) if value.is_integer() and abs(value) < 2.0**53 else value
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    try:
        return index(value)
    except TypeError:
        raise TorseurError(f"expected a real number, got {type(value).__name__} ({value!r}).") from None


def symbol(name: str, unit: str = "1", meaning: str = "") -> Expr:
    """A symbol with its unit and meaning."""
    return intern("symbol", (), SymbolInfo(name, unit, meaning))


def as_expr(value: Any) -> Expr:
    """The value as a node; raises for what is not a number."""
    result = operand(value)
    if result is None:
        raise TorseurError(f"expected a number or an expression, got {type(value).__name__} ({value!r}).")
    return result


def operand(value: Any) -> Expr | None:
    """The value as a node, or None when it is not a number."""
    if value.__class__ is Expr:
        return value
    if value.__class__ is int and value in _small:
        return _small[value]
    if isinstance(value, (int, float, Fraction)):
        return constant(value)
    if isinstance(value, Symbolic):
        return value.__expr__()
    if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:
        return constant(value.item())
    return None


class Symbolic:
    """A named thing that computes like its symbol: `2 * m1` for a parameter m1."""

    def __expr__(self) -> Expr:
        raise TypeError(f"{type(self).__name__} does not say which symbol it stands for")

    def __add__(self, other: Any) -> Expr:
        return self.__expr__() + as_expr(other)

    def __radd__(self, other: Any) -> Expr:
        return as_expr(other) + self.__expr__()

    def __sub__(self, other: Any) -> Expr:
        return self.__expr__() - as_expr(other)

    def __rsub__(self, other: Any) -> Expr:
        return as_expr(other) - self.__expr__()

    def __mul__(self, other: Any) -> Expr:
        return self.__expr__() * as_expr(other)

    def __rmul__(self, other: Any) -> Expr:
        return as_expr(other) * self.__expr__()

    def __truediv__(self, other: Any) -> Expr:
        return self.__expr__() / as_expr(other)

    def __rtruediv__(self, other: Any) -> Expr:
        return as_expr(other) / self.__expr__()

    def __pow__(self, other: Any) -> Expr:
        return self.__expr__() ** as_expr(other)

    def __rpow__(self, other: Any) -> Expr:
        return as_expr(other) ** self.__expr__()

    def __neg__(self) -> Expr:
        return -self.__expr__()

    def __pos__(self) -> Expr:
        return self.__expr__()

    def __abs__(self) -> Expr:
        return abs(self.__expr__())

    def __lt__(self, other: Any) -> Expr:
        return self.__expr__() < as_expr(other)

    def __le__(self, other: Any) -> Expr:
        return self.__expr__() <= as_expr(other)

    def __gt__(self, other: Any) -> Expr:
        return self.__expr__() > as_expr(other)

    def __ge__(self, other: Any) -> Expr:
        return self.__expr__() >= as_expr(other)


ExprLike = Expr | Symbolic | int | float | Fraction


def _add_function(kind: Any, name: str, operation: str) -> None:
    setattr(kind, name, lambda self, *more: build(operation, (as_expr(self), *map(as_expr, more))))


# NumPy calls the method of its own name on what it does not know: np.sin(x), and each entry of np.sin(array of nodes).
_NUMPY = {name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt")}
_NUMPY |= {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "__floor__": "floor"}
for _name, _operation in _NUMPY.items():
    _add_function(Expr, _name, _operation)
    _add_function(Symbolic, _name, _operation)

_small |= {number: constant(number) for number in range(-2, 3)}
ZERO, ONE, TWO = _small[0], _small[1], _small[2]
PI = intern("pi", ())

# Last, because these modules need the nodes defined above.
from torseur.algebra.graph.construction.arithmetic import add, div, mul, neg, sub  # noqa: E402
from torseur.algebra.graph.construction.folding import build  # noqa: E402
