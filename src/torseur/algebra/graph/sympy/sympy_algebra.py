"""SymPy sums, products and powers with every digit kept.

SymPy collects like terms when it builds, which is exact for rational numbers but rounds floats. These functions
let SymPy collect, except where two numbers of which one is a float would be combined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any


def sum_of(terms: Sequence[Any]) -> Any:
    """The sum of SymPy expressions."""
    from sympy import Add

    flat = [part for term in terms for part in Add.make_args(term)]
    # 0.1 x + 0.2 x would be collected to 0.30000000000000004 x, whose digits nobody wrote.
    split = [part.as_coeff_Mul() for part in flat]
    rounded = {rest for number, rest in split if number.is_Float}
    alike = Counter(rest for _, rest in split if rest in rounded)
    return _build(Add, flat, collect=all(times == 1 for times in alike.values()))


def negative_of(term: Any) -> Any:
    """-term; a sum changes the sign of its terms, as everywhere in SymPy."""
    from sympy import Add, Integer

    if term.is_Add:
        return sum_of([negative_of(part) for part in Add.make_args(term)])
    return product_of([Integer(-1), term])


def product_of(factors: Sequence[Any]) -> Any:
    """The product of SymPy expressions; a number stays in front of a sum."""
    from sympy import Mul

    flat = [part for factor in factors for part in Mul.make_args(factor)]
    others = [part for part in flat if not part.is_Number]
    if _powers_stay_apart(others):
        return Mul(*flat, evaluate=False)
    number, *parts = _collect(others)
    numbers = [part for part in (*flat, number) if part.is_Number and part != 1]
    if any(n.is_Float for n in numbers) and sum(abs(n) != 1 for n in numbers) > 1:
        return Mul(*numbers, *parts, evaluate=False)
    # Multiplying the numbers alone is exact; with the parts, SymPy would distribute them over a sum.
    front = [Mul(*numbers)] if numbers and Mul(*numbers) != 1 else []
    return Mul(*front, *parts, evaluate=False)


def _collect(factors: Sequence[Any]) -> list[Any]:
    """A number, then the factors in SymPy's order with the powers of one base as one.

    Rational powers are collected here: SymPy would ask of each sum in a denominator whether it is infinite.
    """
    from sympy import Mul

    exponents: dict[Any, Any] = {}
    rest = []
    for factor in factors:
        base, exponent = factor.as_base_exp()
        if exponent.is_Rational and not base.is_Number:
            exponents[base] = exponents.get(base, 0) + exponent
        else:
            rest.append(factor)
    powers = [power_of(base, exponent) for base, exponent in exponents.items() if exponent != 0]
    if any(power.is_Mul for power in powers):
        return _collect([part for power in (*powers, *rest) for part in Mul.make_args(power)])
    number, remainder = _build(Mul, rest).as_coeff_Mul()
    return [number, *_order([*powers, *(part for part in Mul.make_args(remainder) if part != 1)])]


def _order(parts: list[Any]) -> list[Any]:
    """SymPy's order of factors; as they come where comparing them would go too deep."""
    from sympy import Basic

    try:
        return sorted(parts, key=cmp_to_key(Basic.compare))
    except RecursionError:
        return parts


def power_of(base: Any, exponent: Any) -> Any:
    """base to the power exponent; SymPy takes apart only bases that are numbers, products or powers."""
    from sympy import Mul, Pow

    if exponent == 1:
        return base
    if any(part.is_Float or _has_float(part.as_base_exp()[1]) for part in Mul.make_args(base)):
        return Pow(base, exponent, evaluate=False)
    if base.is_Mul and exponent.is_Integer:
        return product_of([power_of(part, exponent) for part in base.args])
    if base.is_Pow and exponent.is_Integer and base.exp.is_Rational and not base.base.is_Number:
        return power_of(base.base, base.exp * exponent)
    composed = exponent.is_Number if base.is_Number else base.is_Mul or base.as_base_exp()[1] != 1
    return _build(Pow, [base, exponent], collect=composed and not _has_float(exponent))


def lattice_of(kind: Any, parts: Sequence[Any], ordered: bool) -> Any:
    """Max, Min or And of the parts, nested ones merged.

    SymPy orders the parts by counting their leaves, shared ones again and again: `ordered` asks for that.
    """
    flat = [part for value in parts for part in (value.args if isinstance(value, kind) else (value,))]
    if ordered:
        return kind(*flat, evaluate=False)
    from sympy import Basic

    # What SymPy's own constructor sets besides; without it comparing two of them fails.
    result = Basic.__new__(kind, *flat)
    result._argset = frozenset(flat)
    return result


def piecewise_of(cases: Sequence[tuple[Any, Any]]) -> Any:
    """Piecewise of (value, condition), built without the search through all conditions that SymPy makes."""
    from sympy import Basic, Piecewise
    from sympy.functions.elementary.piecewise import ExprCondPair

    return Basic.__new__(Piecewise, *[Basic.__new__(ExprCondPair, value, holds) for value, holds in cases])


def _powers_stay_apart(factors: Sequence[Any]) -> bool:
    """Whether powers of one base would add float exponents, or enter each case of a Piecewise."""
    from sympy import Piecewise

    powers = [factor.as_base_exp() for factor in factors]
    delicate = {base for base, exponent in powers if isinstance(base, Piecewise) or _has_float(exponent)}
    return any(times > 1 for times in Counter(base for base, _ in powers if base in delicate).values())


def _has_float(exponent: Any) -> bool:
    """Whether a float stands where SymPy would combine it: as a term or the factor of a term."""
    from sympy import Add

    return any(term.as_coeff_Mul()[0].is_Float for term in Add.make_args(exponent))


def _build(kind: Any, args: Sequence[Any], collect: bool = True) -> Any:
    """The SymPy object; left as it stands where SymPy's own questions about it would go too deep."""
    if collect:
        try:
            return kind(*args)
        except RecursionError:
            pass
    return kind(*args, evaluate=False)
