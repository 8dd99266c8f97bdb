"""Scalar formulas: names and dimensions are settled first, expressions are built when every unit is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from torseur.algebra.graph import Expr, as_expr, constant_value, symbol, symbols_of
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import Vec3
from torseur.description.language.formulas.dimensions import (
    LENGTH,
    MOST_UNKNOWNS,
    NUMBER,
    Dim,
    Exponent,
    dimension_of,
    with_article,
)
from torseur.description.language.formulas.frame_functions import FRAME_FUNCTIONS, FrameFunctionError, frame_call
from torseur.description.language.formulas.language_functions import FUNCTIONS, call_function, combine
from torseur.description.language.formulas.name_scope import Context, Known, Scope
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import in_si
from torseur.errors import TorseurError, UnitError

if TYPE_CHECKING:
    from torseur.description.language.formulas.name_references import References

LONGEST_CONSTANT = 4096
_PLACEHOLDER = symbol("?")


@dataclass(frozen=True)
class Term:
    """A scalar formula understood: its dimension, whether it is made of bare numbers only, how to build it.

    Bare numbers fit any dimension where they stand alone; as factors they are plain numbers.
    """

    node: x.Node
    dimension: Dim
    literal: bool
    build: Callable[[], Expr]


class Formulas:
    """Reads scalar formulas in the scope of a text."""

    def __init__(self, scope: Scope, references: References) -> None:
        self.scope = scope
        self.dimensions = scope.dimensions
        self.references = references
        self._readers: dict[type, Callable[..., Term]] = {
            x.Number: self._number, x.Reference: self._reference, x.Fresh: self._fresh, x.Call: self._call,
            x.Sum: self._sum, x.Product: self._product, x.Negative: self._negative, x.Power: self._power,
            x.Comparison: self._comparison,
        }  # fmt: skip

    def read(self, node: x.Expression, expected: Dim | None, context: Context) -> Term:
        """The formula, checked to have the expected dimension."""
        term = self._any(node, context)
        return self.in_slot(term if expected is None else self.require_dimension(term, expected), context)

    def in_slot(self, term: Term, context: Context) -> Term:
        """The term, which is noted for its slot when it is built."""
        if not context.slot:
            return term

        def build() -> Expr:
            value = term.build()
            self.scope.note_use(term.node, context, [value])
            return value

        return replace(term, build=build)

    def unit(self, node: x.Expression) -> str | None:
        """The unit that a formula after `in` spells; None after noting that it is none."""
        text = self.scope.report.source.text[node.start : node.end]
        try:
            dimension_of(text)
        except UnitError as problem:
            self.scope.fault(node, str(problem))
            return None
        return text

    def _any(self, node: x.Expression, context: Context) -> Term:
        reader = self._readers.get(type(node))
        if reader is None:
            self.scope.fault(node, f"expected a number or a formula, got {self.scope.excerpt(node)}.")
            return self._unreadable(node)
        return reader(node, context)

    def _unreadable(self, node: x.Node) -> Term:
        """Stands for what could not be read, so that reading goes on."""
        return Term(node, self.dimensions.unknown(), False, lambda: _PLACEHOLDER)

    def guard(self, node: x.Node, operation: Callable[[], Expr], literal: bool = False) -> Callable[[], Expr]:
        """The operation, with arithmetic faults noted at the formula; bare numbers must have a value."""

        def build() -> Expr:
            # Faults of values are found when expressions are made, after the reading: they are noted at their formula,
            # and a placeholder lets the rest be built, so that several faults are told at once.
            try:
                return _require_value(operation()) if literal else _require_bound(operation())
            except ZeroDivisionError:
                self.scope.fault(node, f"division by zero in {self.scope.excerpt(node)}.")
            except RecursionError:
                self.scope.fault(node, f"{self.scope.excerpt(node)} is nested too deeply.")
            except OverflowError:
                self.scope.fault(node, f"{self.scope.excerpt(node)} is too large a number.")
            except (ArithmeticError, ValueError, TypeError, TorseurError) as problem:
                self.scope.fault(node, f"{self.scope.excerpt(node)} has no value: {problem}.".replace("..", "."))
            return _PLACEHOLDER

        return build

    def _number(self, node: x.Number, context: Context) -> Term:
        unit = node.unit or "1"
        try:
            dimension = dimension_of(unit)
        except UnitError as problem:
            hint = "A unit is written without spaces; a space before '*' or '/' ends it."
            self.scope.fault(node, str(problem), hint if "*" in unit or "/" in unit else "")
            return self._unreadable(node)
        return Term(node, dimension, node.unit is None, self.guard(node, lambda: in_si(node.text, unit)))

    def _reference(self, node: x.Reference, context: Context) -> Term:
        definition = self.references.definition(node)
        if definition is not None:
            return self.references.scalar_definition(node, definition)
        known = self.references.quantity(node, context)
        if known is None:
            return self._unreadable(node)
        return self.term(node, known)

    def term(self, node: x.Node, known: Known) -> Term:
        """A known quantity as it stands at a place of the text."""
        return Term(node, known.dimension, known.literal, known.build)

    def _fresh(self, node: x.Fresh, context: Context) -> Term:
        if node.arguments is None:
            return self.term(node, self.references.fresh_constant(node, context))
        terms = [self._any(argument, context) for argument in node.arguments]
        function = self.references.fresh_function(node, context)
        return Term(node, function.result, False, lambda: function.build()(*(term.build() for term in terms)))

    def _call(self, node: x.Call, context: Context) -> Term:
        name = node.function.name
        function = self.scope.functions.get(name)
        if function is None and name in FRAME_FUNCTIONS:
            return self._frame_function(node, context)
        terms = [self._any(argument, context) for argument in node.arguments]
        if node.about is not None:
            self.scope.fault(node.about, f"function '{name}' has no 'about'.")
        if function is None:
            return self._known_function(node, name, terms)
        if len(terms) != len(function.arguments):
            self._wrong_count(node, name, len(function.arguments), len(terms))
            return self._unreadable(node)
        for term, wanted in zip(terms, function.arguments, strict=True):
            if wanted is not None:
                self.require_dimension(term, wanted)
        return Term(node, function.result, False, lambda: function.build()(*(term.build() for term in terms)))

    def _frame_function(self, node: x.Call, context: Context) -> Term:
        """An angle between directions, or the distance of points."""
        try:
            call = frame_call(node)
        except FrameFunctionError as problem:
            self.scope.fault(problem.node, str(problem))
            return self._unreadable(node)
        wanted = LENGTH if call.name == "distance" else None
        vectors = [[[(sign, self._any(part, context)) for sign, part in c] for c in vector] for vector in call.vectors]
        for vector in vectors:
            terms = [term for component in vector for _, term in component if not term.literal]
            for term in terms:
                self.require_dimension(term, wanted or terms[0].dimension)

        def build() -> Expr:
            return call.value([Vec3(*(sum(sign * t.build() for sign, t in c) for c in vector)) for vector in vectors])

        return Term(node, wanted or NUMBER, False, self.guard(node, build))

    def _known_function(self, node: x.Call, name: str, terms: list[Term]) -> Term:
        if name not in FUNCTIONS:
            self.scope.unknown(node.function, "function", name, {**FUNCTIONS, **self.scope.functions})
            return self._unreadable(node)
        if len(terms) != FUNCTIONS[name].arity:
            self._wrong_count(node, name, FUNCTIONS[name].arity, len(terms))
            return self._unreadable(node)
        literal = all(term.literal for term in terms)
        dimension = NUMBER if literal else self._function_dimension(node, name, terms)
        build = self.guard(node, lambda: call_function(name, _build(terms)), literal)
        return Term(node, dimension, literal, build)

    def _function_dimension(self, node: x.Call, name: str, terms: list[Term]) -> Dim:
        """The dimension of a known function's value, its arguments checked."""
        rule = FUNCTIONS[name].rule
        if rule == "number":
            for term in terms:
                self.require_dimension(term, NUMBER)
            return NUMBER
        # The condition of `where` has no dimension to share with what it chooses between.
        alike = terms[1:] if name == "where" else terms
        common = self._common(node, alike)
        return {"same": common, "ratio": NUMBER, "root": common.power(Fraction(1, 2))}[rule]

    def require_dimension(self, term: Term, wanted: Dim) -> Term:
        """The term, noted when it has another dimension than the wanted one."""
        if not term.literal and not self.dimensions.equal(term.dimension, wanted):
            kind, got = self.dimensions.in_words(wanted), self.dimensions.in_words(term.dimension)
            excerpt = self.scope.excerpt(term.node)
            self.scope.fault(term.node, f"expected {with_article(kind)}, got {excerpt} ({got}).")
        return term

    def _wrong_count(self, node: x.Call, name: str, wanted: int, got: int) -> None:
        plural = "" if wanted == 1 else "s"
        self.scope.fault(node, f"function '{name}' takes {wanted} argument{plural}, got {got}.")

    def _common(self, node: x.Node, terms: list[Term]) -> Dim:
        """The dimension that terms share; bare numbers take that of the others."""
        measured = [term for term in terms if not term.literal]
        if not measured:
            return NUMBER
        first = measured[0]
        for term in measured[1:]:
            if not self.dimensions.equal(first.dimension, term.dimension):
                parts = [
                    f"{self.scope.excerpt(t.node)} ({self.dimensions.in_words(t.dimension)})" for t in (first, term)
                ]
                self.scope.fault(term.node, f"cannot combine {parts[0]} and {parts[1]}.")
        return first.dimension

    def _sum(self, node: x.Sum, context: Context) -> Term:
        signs = [sign for sign, _ in node.terms]
        terms = [self._any(part, context) for _, part in node.terms]

        def total(parts: list[Expr]) -> Expr:
            result, *others = parts
            for sign, other in zip(signs[1:], others, strict=True):
                result = result + other if sign == "+" else result - other
            return result

        literal = all(term.literal for term in terms)
        return Term(
            node,
            self._common(node, terms),
            literal,
            self.guard(node, lambda: combine(_build(terms), total), literal),
        )

    def _product(self, node: x.Product, context: Context) -> Term:
        signs = [sign for sign, _ in node.factors]
        terms = [self._any(part, context) for _, part in node.factors]
        dimension = NUMBER
        for sign, term in zip(signs, terms, strict=True):
            if not term.literal:
                dimension = dimension.times(term.dimension, 1 if sign == "*" else -1)
            # Each unknown unit is one of the linear equations between exponents: a text must not make that system
            # large.
            if len(dimension.unknowns) > MOST_UNKNOWNS:
                self.scope.fault(node, f"more than {MOST_UNKNOWNS} factors here have no known unit.")
                return self._unreadable(node)

        def total(parts: list[Expr]) -> Expr:
            result, *others = parts
            for sign, other in zip(signs[1:], others, strict=True):
                result = result * other if sign == "*" else result / other
            return result

        literal = all(term.literal for term in terms)
        return Term(
            node,
            dimension,
            literal,
            self.guard(node, lambda: combine(_build(terms), total), literal),
        )

    def _negative(self, node: x.Negative, context: Context) -> Term:
        inside = self._any(node.operand, context)
        return Term(node, inside.dimension, inside.literal, self.guard(node, lambda: -inside.build()))

    def _power(self, node: x.Power, context: Context) -> Term:
        base, exponent = self._any(node.base, context), self._any(node.exponent, context)
        self.require_dimension(exponent, NUMBER)
        literal = base.literal and exponent.literal
        dimension = NUMBER if literal else self._power_dimension(base, exponent, node)
        build = self.guard(node, lambda: call_function("pow", [base.build(), exponent.build()]), literal)
        return Term(node, dimension, literal, build)

    def _power_dimension(self, base: Term, exponent: Term, node: x.Power) -> Dim:
        """The dimension of a power: known exponents multiply, others need a plain number as base."""
        # m^2 is an area and m^(1/2) a root of a length: the exponent must be known as written, before anything is
        # built.
        known = _plain_number(node.exponent) if exponent.literal else None
        if known is not None and not base.literal:
            return base.dimension.power(known)
        self.require_dimension(base, NUMBER)
        return NUMBER

    def _comparison(self, node: x.Comparison, context: Context) -> Term:
        left, right = self._any(node.left, context), self._any(node.right, context)
        self._common(node, [left, right])
        compare: dict[str, Callable[[Expr, Expr], Expr]] = {
            "<": lambda a, b: as_expr(s.less(a, b)), "<=": lambda a, b: as_expr(s.less_equal(a, b)),
            ">": lambda a, b: as_expr(s.less(b, a)), ">=": lambda a, b: as_expr(s.less_equal(b, a)),
        }  # fmt: skip
        operation = compare[node.sign]
        literal = left.literal and right.literal
        return Term(node, NUMBER, literal, self.guard(node, lambda: operation(left.build(), right.build())))


def _build(terms: list[Term]) -> list[Expr]:
    return [term.build() for term in terms]


def _plain_number(node: x.Expression) -> Exponent | None:
    """The exact value of a small number as written: 2, -1, 1/2, 0.5; None for anything else."""
    if isinstance(node, x.Negative):
        inside = _plain_number(node.operand)
        return None if inside is None else -inside
    if isinstance(node, x.Product) and [sign for sign, _ in node.factors] == ["*", "/"]:
        top, bottom = (_plain_number(part) for _, part in node.factors)
        return None if top is None or not bottom else Fraction(top) / bottom
    if isinstance(node, x.Number) and node.unit is None and len(node.text) <= 6 and "e" not in node.text.lower():
        return Fraction(node.text)
    return None


def _require_value(value: Expr) -> Expr:
    """A formula of bare numbers that has a finite value: log(0) has none."""
    broken = not value.is_constant and _PLACEHOLDER in symbols_of([value])
    if not value.is_constant and not broken and not math.isfinite(constant_value(value)):
        raise OverflowError
    return _require_bound(value)


def _require_bound(value: Expr) -> Expr:
    """The value, unless an exact constant in it has grown beyond any use."""
    # Two levels are enough: longer formulas were looked at while their parts were built.
    for node in (value, *value.args, *(inner for part in value.args for inner in part.args)):
        if node.is_constant and not isinstance(node.value, float):
            exact = Fraction(node.value)
            if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > LONGEST_CONSTANT:
                raise ValueError("the number is too large")
    return value
