"""Laws: user functions given by a formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, UndeterminedFunction, as_expr, evaluate, symbol
from torseur.algebra.graph.evaluation import live_nodes
from torseur.errors import MechanismError


@dataclass(frozen=True)
class Law:
    """The definition of a function: name(arguments) = formula. A function without a law stays undetermined."""

    function: UndeterminedFunction
    arguments: tuple[Expr, ...]
    formula: Expr

    @property
    def name(self) -> str:
        return self.function.name


def law(name: str, arguments: Sequence[str], formula: Callable[..., Expr] | Expr, unit: str = "1") -> Law:
    """A law from a formula: an expression of symbols of those names, or a Python function building it."""
    symbols = tuple(symbol(argument) for argument in arguments)
    body = formula if isinstance(formula, Expr) else as_expr(formula(*symbols))
    return Law(UndeterminedFunction(name, len(symbols), unit), symbols, body)


def apply_laws(expressions: Sequence[Expr], laws: Sequence[Law]) -> list[Expr]:
    """The expressions with every function that has a law replaced by its formula."""
    known = {law.name: law for law in laws}
    current = list(expressions)
    for _ in range(len(known) + 1):
        calls = [n for n in live_nodes(current) if n.op == "apply" and n.data.function.name in known]
        if not calls:
            return current
        table = {name: _as_function(law) for name, law in known.items()}
        identity = {n: n for n in live_nodes(current) if n.op == "symbol"}
        current = evaluate(current, identity or {as_expr(0): as_expr(0)}, table)
    raise MechanismError(f"law '{calls[0].data.function.name}' refers to itself.")


def _as_function(definition: Law) -> Callable[..., Expr]:
    def value(*arguments: Expr) -> Expr:
        if len(arguments) != len(definition.arguments):
            raise MechanismError(
                f"law '{definition.name}' takes {len(definition.arguments)} arguments, got {len(arguments)}."
            )
        bindings = dict(zip(definition.arguments, arguments, strict=True))
        (result,) = evaluate([definition.formula], bindings or {as_expr(0): as_expr(0)})
        return as_expr(result)

    return value
