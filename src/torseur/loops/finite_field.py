"""Dimensions of a mechanism in a finite field: fractions, square roots and exact cosines modulo a prime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torseur.errors import UnsupportedError
from torseur.graph import Expr, evaluate, live_nodes
from torseur.loops.numbers import parameter_values, require_values
from torseur.mechanism import TIME, Mechanism

PRIMES = (43, 37, 61, 59, 53, 47, 41, 67, 71, 73, 79, 83, 89, 97)


class NoSquareRoot(Exception):
    """A square root that a dimension needs does not exist modulo this prime: try another."""


def exact_numbers(mechanism: Mechanism, expressions: Sequence[Expr], time: float) -> list[Any]:
    """Expressions without symbols as exact SymPy numbers; decimals are fractions."""
    import sympy as sp

    given = parameter_values(mechanism)
    known: dict[Expr, Any] = {TIME: sp.Rational(repr(time))}
    for node in live_nodes([*given.values(), *expressions]):
        if node.is_constant and isinstance(node.value, float):
            known[node] = sp.Rational(repr(node.value))
    known.update(zip(given, evaluate(list(given.values()), known), strict=True))
    require_values(mechanism, expressions, known)
    return [sp.sympify(value) for value in evaluate(list(expressions), known)]


def residue(number: Any, prime: int) -> int:
    """An exact number modulo a prime."""
    import sympy as sp

    if number.is_Rational:
        return int(number.p) * pow(int(number.q), -1, prime) % prime
    if isinstance(number, sp.Add):
        return sum(residue(term, prime) for term in number.args) % prime
    if isinstance(number, sp.Mul):
        product = 1
        for factor in number.args:
            product = product * residue(factor, prime) % prime
        return product
    if isinstance(number, sp.Pow) and number.exp.is_Rational:
        return _power(number.base, number.exp, prime)
    simpler = sp.simplify(sp.expand_trig(number))
    if simpler == number or simpler.has(sp.sin, sp.cos, sp.tan):
        raise UnsupportedError(f"the dimension {number} is not algebraic, so it does not exist modulo a prime.")
    return residue(simpler, prime)


def _power(base: Any, exponent: Any, prime: int) -> int:
    if exponent.is_Integer:
        return pow(residue(base, prime), int(exponent), prime)
    if exponent.q != 2 or not base.is_Rational or base < 0:
        raise UnsupportedError(f"the dimension {base}**({exponent}) does not exist modulo a prime.")
    return pow(_root(int(base.p), prime) * pow(_root(int(base.q), prime), -1, prime), int(exponent.p), prime)


def _root(number: int, prime: int) -> int:
    """A square root, the product of those of the prime factors, so that roots of products agree."""
    import sympy as sp

    product = 1
    for factor, times in sp.factorint(number).items():
        root = sp.sqrt_mod(factor, prime) if times % 2 else 1
        if root is None:
            raise NoSquareRoot
        product = product * pow(factor, times // 2, prime) * int(root) % prime
    return product
