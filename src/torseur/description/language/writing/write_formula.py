"""Expressions as formulas that read back to the same expression, with every dimension consistent.

Units are not part of expressions, so each number is written with the unit that its place asks for: `9.81 * m` where
a force is expected becomes `9.81 m/s^2 * m`. Where no number can carry it, a factor `1 unit` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from torseur.algebra.graph import PI, Expr, UndeterminedFunction, as_expr
from torseur.description.language.formulas.dimensions import NUMBER, Dim
from torseur.description.language.formulas.language_functions import FUNCTIONS
from torseur.description.language.writing.expression_dimensions import Sizes, constant_exponent, first_known
from torseur.description.language.writing.words import measured_text, name_text, number_in
from torseur.description.mechanism.units import si_name
from torseur.errors import UnsupportedError

COMPARISON, SUM, SIGN, PRODUCT, MEASURED, POWER, ATOM = range(7)
_SIGNS = {"lt": " < ", "le": " <= "}
_QUARTERS = (1, 2, 3, 4, 6, 12)
_NUMBER_STARTS = ("-", "(-", *"0123456789")


@dataclass(frozen=True)
class Piece:
    """Text of a formula, how tightly it binds, and whether it ends with a unit."""

    text: str
    level: int
    measured: bool = False

    def at(self, level: int) -> Piece:
        """The piece, in brackets unless it binds at least so tightly."""
        return self if self.level >= level else Piece(f"({self.text})", ATOM)


NameOf = Callable[[Expr], str | None]


@dataclass
class Formulas:
    """Writes expressions.

    `laws` gives the dimensions of the arguments of functions that have a law, `aliases` the expressions that go by a
    name and its dimension.
    """

    laws: Mapping[UndeterminedFunction, Sequence[Dim]]
    sizes: Sizes
    aliases: Mapping[Expr, tuple[str, Dim]]

    def write(self, node: Expr, want: Dim | None = None, names: NameOf = lambda node: None) -> str:
        """The formula, of the wanted dimension; names are asked from `names` first."""
        self.sizes.check_size(node)
        return _Writer(self, names).piece(node, want).text


class _Writer:
    """One formula in one context of names."""

    def __init__(self, formulas: Formulas, names: NameOf) -> None:
        self.laws, self.sizes, self.aliases, self.names = formulas.laws, formulas.sizes, formulas.aliases, names
        self._written: dict[tuple[Expr, Dim | None], Piece] = {}

    def piece(self, node: Expr, want: Dim | None) -> Piece:
        """The node with the wanted dimension, or its own when none is asked for."""
        # Expressions share parts: without this a shared one would be written as often as it has ways to it.
        key = (node, want)
        if key not in self._written:
            self._written[key] = self._piece(node, want)
        return self._written[key]

    def _piece(self, node: Expr, want: Dim | None) -> Piece:
        alias = self.aliases.get(node)
        if alias is not None:
            return self._convert(Piece(alias[0], ATOM), alias[1], alias[1] if want is None else want)
        natural = self.sizes.natural(node)
        if natural is None:
            return self._literal(node, want)
        target = natural if want is None else want
        if node.op in ("add", "sub"):
            return self._sum(node, target)
        by_sign = {"neg": self._negative, "mul": self._product, "div": self._quotient, "pow": self._power}
        if node.op in by_sign:
            return by_sign[node.op](node, target)
        if node.op in _SIGNS:
            return self._convert(self._comparison(node), NUMBER, target)
        if node.op in ("symbol", "apply", "table"):
            return self._convert(self._name(node), natural, target)
        return self._function(node, target)

    def _convert(self, piece: Piece, dimension: Dim, want: Dim) -> Piece:
        """The piece times 1 of the unit that is missing, if any."""
        missing = want.times(dimension, -1)
        if missing.base == NUMBER.base:
            return piece
        return Piece(f"{piece.at(PRODUCT).text} * 1 {_unit(missing)}", PRODUCT, measured=True)

    # Numbers

    def _literal(self, node: Expr, want: Dim | None) -> Piece:
        """Bare numbers: alone with their unit, otherwise as a formula that fits any dimension."""
        if node.is_constant:
            return _constant(node, "1" if want is None else _unit(want))
        if want is not None and want == NUMBER and (degrees := _degrees(node)) is not None:
            return degrees
        if node.op == "pi":
            return Piece("pi", ATOM)
        if node.op in ("add", "sub"):
            return self._sum(node, None)
        if node.op == "neg":
            return self._negative(node, None)
        if node.op == "mul":
            return self._plain_product(node)
        if node.op == "div":
            return self._plain_quotient(node)
        if node.op == "pow":
            return self._plain_power(node)
        if node.op in _SIGNS:
            return self._comparison(node)
        return Piece(f"{node.op}({', '.join(self.piece(a, None).text for a in node.args)})", ATOM)

    # Sums

    def _sum(self, node: Expr, want: Dim | None) -> Piece:
        signs: list[tuple[str, Expr]] = []
        while node.op in ("add", "sub"):
            left, right, sign = self._addends(node)
            signs.append((sign, right))
            node = left
        text = self.piece(node, want).at(SUM).text
        measured = False
        for sign, term in reversed(signs):
            piece = self.piece(term, want).at(SIGN if sign == "+" else PRODUCT)
            text, measured = f"{text} {sign} {piece.text}", piece.measured
        return Piece(text, SUM, measured)

    def _addends(self, node: Expr) -> tuple[Expr, Expr, str]:
        """(left, right, sign) of a sum, written so that fewest brackets are needed."""
        left, right = node.args
        if node.op == "sub":
            return left, right, "-"
        if left.is_constant:
            value = left.value
            return right, as_expr(abs(value)), "-" if value < 0 else "+"
        left, right = self._order_arguments(node, ("add", "sub"))
        return left, right, "+"

    def _order_arguments(self, node: Expr, chain: tuple[str, ...]) -> tuple[Expr, Expr]:
        """The two arguments of a commutative operation: the nested one first, then names, then by their text."""
        # Products and sums are built from the left: the nested one first gives the same expression without brackets.
        nested = [a.op in chain for a in node.args]
        if nested[0] != nested[1]:
            return (node.args[0], node.args[1]) if nested[0] else (node.args[1], node.args[0])
        pieces = [self.piece(a, None) for a in node.args]
        keys = [(p.level != ATOM, p.text) for p in pieces]
        return (node.args[0], node.args[1]) if keys[0] <= keys[1] else (node.args[1], node.args[0])

    def _negative(self, node: Expr, want: Dim | None) -> Piece:
        operand = node.args[0]
        inside = self.piece(operand, want).at(PRODUCT)
        # -1/m reads as (-1)/m, which is another expression than -(1/m).
        scaled = operand.op == "mul" and operand.args[0].is_constant and not operand.args[1].is_constant
        if inside.text.startswith(_NUMBER_STARTS) and not scaled:
            inside = inside.at(ATOM)
        return Piece(f"-{inside.text}", SIGN, inside.measured)

    # Products

    def _product(self, node: Expr, want: Dim) -> Piece:
        if not node.args[0].is_constant:
            return self._convert(self._plain_product(node), self._natural(node), want)
        factor, rest = node.args
        unit = _unit(want.times(self._natural(rest), -1))
        # t / 0.1 s reads better than 10 1/s * t, where both are the same number.
        if unit.startswith("1/") and (quotient := self._over_time(node, want)) is not None:
            return quotient
        return _scale(factor.value, unit, self.piece(rest, None))

    def _over_time(self, node: Expr, want: Dim) -> Piece | None:
        """t / 0.1 s in place of 10 1/s * t, where that is the same number."""
        factor, rest = node.args
        if not 1e-9 < abs(float(factor.value)) < 1e9:
            return None
        inverse = float(f"{1 / float(factor.value):.6g}")
        divisor = as_expr(1 / factor.value if isinstance(factor.value, Fraction) else inverse)
        if divisor.is_zero or isinstance(divisor.value, Fraction) or rest / divisor is not node:
            return None
        unit = _unit(self._natural(rest).times(want, -1))
        left = self.piece(rest, None).at(PRODUCT)
        return Piece(f"{left.text} / {measured_text(divisor.value, unit)}", PRODUCT, measured=True)

    def _plain_product(self, node: Expr) -> Piece:
        if node.args[0].is_constant:
            return _scale(node.args[0].value, "1", self.piece(node.args[1], None))
        raised = _as_power(node)
        if raised is not None:
            return Piece(f"{self.piece(raised[0], None).at(ATOM).text}^{raised[1]}", POWER)
        factors: list[Expr] = []
        while node.op == "mul" and _as_power(node) is None and not node.args[0].is_constant:
            left, right = self._order_arguments(node, ("mul",))
            factors.append(right)
            node = left
        result = self.piece(node, None).at(PRODUCT)
        for factor in reversed(factors):
            result = _times(result, self.piece(factor, None).at(MEASURED))
        return result

    def _quotient(self, node: Expr, want: Dim) -> Piece:
        top, bottom = node.args
        if not top.is_constant:
            return self._convert(self._plain_quotient(node), self._natural(node), want)
        divisor = self.piece(bottom, None)
        unit = _unit(want.times(self._natural(bottom)))
        return _over(_constant(top, unit), divisor.at(MEASURED))

    def _plain_quotient(self, node: Expr) -> Piece:
        return _over(self.piece(node.args[0], None).at(PRODUCT), self.piece(node.args[1], None).at(MEASURED))

    def _power(self, node: Expr, want: Dim) -> Piece:
        return self._convert(self._plain_power(node), self._natural(node), want)

    def _plain_power(self, node: Expr) -> Piece:
        base, exponent = node.args
        known = constant_exponent(node)
        inside = self.piece(base, None if known is not None else NUMBER).at(ATOM)
        return Piece(
            f"{inside.text}^{self.piece(exponent, None if known is not None else NUMBER).at(ATOM).text}", POWER
        )

    def _natural(self, node: Expr) -> Dim:
        return self.sizes.natural(node) or NUMBER

    # Names and functions

    def _name(self, node: Expr) -> Piece:
        name = self.names(node)
        if node.op == "symbol":
            return Piece(name_text(node.data.name) if name is None else name, ATOM)
        if (node.op == "apply" and any(node.data.orders)) or (node.op == "table" and node.data.order):
            raise UnsupportedError(
                f"the derivative '{node.data.name}' of a function cannot be written in a description."
            )
        function = node.data.function if node.op == "apply" else node.data.table
        return Piece(f"{name or name_text(function.name)}({self.arguments(node)})", ATOM)

    def arguments(self, node: Expr) -> str:
        """The arguments of a function in the dimensions its law asks for."""
        wants: Sequence[Dim | None] = (None,) * len(node.args)
        if node.op == "apply" and node.data.function in self.laws:
            wants = self.laws[node.data.function]
        return ", ".join(self.piece(a, want).text for a, want in zip(node.args, wants, strict=True))

    def _comparison(self, node: Expr) -> Piece:
        common = first_known(self.sizes.natural(a) for a in node.args)
        left, right = (self.piece(a, common).at(SUM) for a in node.args)
        return Piece(f"{left.text}{_SIGNS[node.op]}{right.text}", COMPARISON, right.measured)

    def _function(self, node: Expr, want: Dim) -> Piece:
        rule = FUNCTIONS[node.op].rule
        wants: list[Dim | None] = [NUMBER] * len(node.args)
        result = NUMBER
        if rule == "ratio":
            wants = [first_known(self.sizes.natural(a) for a in node.args)] * len(node.args)
        elif rule in ("same", "root"):
            result = want
            wants = [want if rule == "same" else want.power(2)] * len(node.args)
        if node.op == "where":
            wants[0] = None
        arguments = ", ".join(self.piece(a, w).text for a, w in zip(node.args, wants, strict=True))
        return self._convert(Piece(f"{node.op}({arguments})", ATOM), result, want)


def _unit(dimension: Dim) -> str:
    return si_name(dimension.exponents)


def _constant(node: Expr, unit: str) -> Piece:
    value = node.value
    if value < 0:
        inside = _constant(as_expr(-value), unit)
        return Piece(f"-{inside.text}", SIGN, inside.measured)
    measured = unit != "1" and value != 0
    if isinstance(value, Fraction):
        return Piece(measured_text(value, unit), PRODUCT)
    return Piece(measured_text(value, unit), MEASURED if measured else ATOM, measured)


def _scale(factor: int | float | Fraction, unit: str, rest: Piece) -> Piece:
    """factor unit * rest, a fraction p/q as p * rest / q."""
    if not isinstance(factor, Fraction):
        return _times(Piece(measured_text(factor, unit), MEASURED, unit != "1"), rest.at(MEASURED))
    top = rest.at(PRODUCT)
    if factor.numerator != 1 or unit != "1":
        top = _times(Piece(measured_text(factor.numerator, unit), MEASURED, unit != "1"), rest.at(MEASURED))
    return _over(top, Piece(str(factor.denominator), ATOM))


def _times(left: Piece, right: Piece) -> Piece:
    sign = " * " if left.measured or right.measured else "*"
    return Piece(f"{left.text}{sign}{right.text}", PRODUCT, right.measured)


def _over(left: Piece, right: Piece) -> Piece:
    sign = " / " if left.measured or right.measured else "/"
    return Piece(f"{left.text}{sign}{right.text}", PRODUCT, right.measured)


def _as_power(node: Expr) -> tuple[Expr, int] | None:
    """(base, n) when the node is what base^n builds, n at least 2."""
    base, exponent = _base_and_exponent(node)
    # Powers are kept as products; written as a power they must build the very same products.
    if exponent < 2 or exponent > 64 or base**exponent is not node:
        return None
    return base, exponent


def _base_and_exponent(node: Expr) -> tuple[Expr, int]:
    exponent = 1
    while node.op == "mul" and node.args[0] is node.args[1]:
        node, exponent = node.args[0], 2 * exponent
    if node.op == "mul" and exponent == 1 and not node.args[0].is_constant:
        first, second = (_base_and_exponent(a) for a in node.args)
        if first[0] is second[0]:
            return first[0], first[1] + second[1]
    return node, exponent


def _degrees(node: Expr) -> Piece | None:
    """A multiple of pi as a simple fraction of pi, else in degrees when those read back exactly."""
    if node.op != "mul" or node.args[1] is not PI:
        return None
    factor = node.args[0].value
    if not isinstance(factor, float) and Fraction(factor).denominator in _QUARTERS:
        return None
    text = number_in(node, "deg")
    return None if text is None else Piece(f"{text} deg", MEASURED, measured=True)
