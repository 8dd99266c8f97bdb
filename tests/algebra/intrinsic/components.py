"""Intrinsic expressions computed: earth components as graph expressions of the state, to check what is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.intrinsic.operators import Cross, Dot, IntrinsicError, Matrix, Tilde, Vector
from torseur.algebra.spatial import NULL, Symmetric3, Vec3

if TYPE_CHECKING:
    from torseur.derivation.equations.intrinsic.balance import IntrinsicEquations


class Components:
    """Values of symbols: those of the catalogue, and those the definitions give."""

    def __init__(self, level: IntrinsicEquations) -> None:
        level.balances  # names the masses and loads  # noqa: B018
        self.known: dict[Any, Any] = dict(level.catalogue.components)
        self.definitions = {one.symbol: one.expression for one in level.definitions}

    def of(self, e: Any) -> Any:
        """A vector as Vec3, a scalar as Expr."""
        if e not in self.known:
            self.known[e] = self._computed(e)
        return self.known[e]

    def _computed(self, e: Any) -> Any:
        from sympy import Add, Mul
        from sympy.matrices import expressions as m

        if e in self.definitions:
            return self.of(self.definitions[e])
        match e:
            case Cross():
                return self.of(e.args[0]).cross(self.of(e.args[1]))
            case Dot():
                return as_expr(self.of(e.args[0]).dot(self.of(e.args[1])))
            case Tilde() | Vector() | Matrix():
                raise IntrinsicError(f"'{e}' has no components: it is an unknown of the equations.")
            case m.ZeroMatrix():
                return NULL
            case m.MatAdd() | Add():
                first, *rest = (self.of(a) for a in e.args)
                return sum(rest, first)
            case m.MatMul() | Mul():
                return self._product([self.of(a) for a in e.args])
        return self._number(e)

    def _product(self, factors: list[Any]) -> Any:
        total = factors[-1]
        for factor in reversed(factors[:-1]):
            total = factor @ total if isinstance(factor, Symmetric3) else _times(total, factor)
        return total

    def _number(self, e: Any) -> Expr:
        if e.is_Pow and e.exp.is_Integer:
            return as_expr(self.of(e.base)) ** int(e.exp)
        if e.is_Rational:
            return as_expr(int(e.p)) / int(e.q)
        if e.is_Float:
            return as_expr(float(e))
        raise IntrinsicError(f"'{e}' has no value here.")


def _times(value: Any, factor: Any) -> Any:
    return value * factor if isinstance(value, Vec3) else factor * value
