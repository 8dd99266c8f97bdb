"""Numbers for the dimensions of a skeleton: floats, or many digits read from the description as it was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import Expr, evaluate, live_nodes, symbols_of
from torseur.algebra.graph.construction.decimals import as_written, is_decimal
from torseur.description.mechanism import TIME, Mechanism
from torseur.errors import MechanismError, UnsupportedError

Values = Mapping[Expr, Any]


def parameter_values(mechanism: Mechanism) -> dict[Expr, Expr]:
    """What the description gives for each parameter, as expressions without symbols."""
    given = {p.symbol: p.value for p in mechanism.parameters if p.value is not None}
    return {symbol: value for symbol, value in given.items() if not symbols_of([value])}


def floats(mechanism: Mechanism, expressions: Sequence[Expr], values: Values) -> list[float]:
    """Expressions as floats, with `values` for the symbols that are not parameters."""
    given = parameter_values(mechanism)
    numbers = dict(zip(given, evaluate(list(given.values()), {}), strict=True))
    bound = {symbol: float(x) for symbol, x in numbers.items()} | dict(values)
    require_values(mechanism, expressions, bound)
    return [float(x) for x in evaluate(list(expressions), bound)]


def digits(mechanism: Mechanism, expressions: Sequence[Expr], values: Values) -> list[Any]:
    """Expressions as mpmath numbers at the present precision; a decimal such as 0.3 is three tenths."""
    given = parameter_values(mechanism)
    numbers = dict(zip(given, _exactly(list(given.values()), {}), strict=True)) | dict(values)
    require_values(mechanism, expressions, numbers)
    return _exactly(expressions, numbers)


def _exactly(expressions: Sequence[Expr], values: Values) -> list[Any]:
    import mpmath

    # 0.3 as a float is 0.299999...: an overconstrained mechanism of such lengths would not close beyond 16 digits.
    decimals = {
        node: mpmath.mpf(fraction.numerator) / fraction.denominator
        for node in live_nodes(expressions)
        if node.is_constant and isinstance(node.value, float)
        for fraction in [as_written(node.value)]
    }
    some = {TIME: mpmath.mpf(0)}  # makes the arithmetic that of mpmath even where nothing else does
    return list(evaluate(list(expressions), {**some, **decimals, **values}))


def fractions(mechanism: Mechanism, expressions: Sequence[Expr]) -> dict[Expr, Fraction]:
    """The decimals among expressions as the fractions they were written as; raises for one that has been rounded."""
    decimals = {n: as_written(n.value) for n in live_nodes(expressions) if n.is_constant and isinstance(n.value, float)}
    for node, fraction in decimals.items():
        if not is_decimal(float(fraction)) and not is_decimal(float(1 / fraction)):
            raise UnsupportedError(
                f"mechanism '{mechanism.name}': the dimension {node.value!r} looks rounded. Write how it is "
                "computed, such as sqrt(53/50), or ask for method 'numeric' or 'precise'."
            )
    return decimals


def require_values(mechanism: Mechanism, expressions: Sequence[Expr], values: Values) -> None:
    """Raises with the name of a dimension that has no number."""
    for node in live_nodes(expressions, values):
        if node.op == "symbol" and node not in values:
            raise MechanismError(
                f"mechanism '{mechanism.name}': '{node.name}' has no value, and the analysis of loops needs numbers. "
                f"Give it one, e.g. mechanism.with_values or param {node.name} = ..."
            )
        if node.op == "apply":
            raise MechanismError(f"mechanism '{mechanism.name}': function '{node.data.name}' has no law.")
