"""Combinations of parameters as text a person reads: "arm.Izz + l^2*(hand.mass + tool.mass)"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, jacobian, symbols_of, to_sympy

_SHOWN = 1e-7


def combination_text(meaning: Expr, names: Sequence[str]) -> str:
    """A combination with symbolic factors, in the order of the names; equal factors are taken out together."""
    place = {name: k for k, name in enumerate(names)}
    symbols = sorted((s for s in symbols_of([meaning]) if str(s.name) in place), key=lambda s: place[str(s.name)])
    factors = jacobian([meaning], symbols)
    return sum_text([(_factor_text(factors[0, k]), str(s.name)) for k, s in enumerate(symbols) if (0, k) in factors])


def numeric_combination_text(row: Array, names: Sequence[str], digits: int = 6) -> str:
    """A combination with numbers as factors."""
    shown = [(k, float(x)) for k, x in enumerate(row) if abs(x) > _SHOWN * float(np.max(np.abs(row)))]
    return sum_text([(f"{_round(x):.{digits}g}", names[k]) for k, x in shown])


def _round(x: float) -> float:
    """A number as the simple one it is within rounding."""
    return round(x) if abs(x - round(x)) < 1e-9 else x


def _factor_text(factor: Expr) -> str:
    if factor.is_constant:
        return _number_text(factor)
    import sympy

    text = str(sympy.expand(to_sympy([factor])[0])).replace("**", "^")
    return f"({text})" if " " in text else text


def _number_text(factor: Expr) -> str:
    """A constant as it is, or with the digits that count where rounding left more."""
    text = str(factor)
    return f"{float(factor):.12g}" if len(text) > 14 and "/" not in text else text


def sum_text(terms: Sequence[tuple[str, str]]) -> str:
    """Factors and names as a sum, with ones left out and signs in front."""
    # Terms in order of their first factor, so that one length stands before all that it multiplies.
    by_factor: dict[str, list[str]] = {}
    for factor, name in terms:
        if factor == "0":
            continue
        by_factor.setdefault(factor, []).append(name)
    parts: list[str] = []
    for factor, names in by_factor.items():
        sign, bare = ("-", factor[1:]) if factor.startswith("-") else ("+", factor)
        if bare in ("1", "1.0"):
            parts += [f"{sign} {name}" for name in names]
        else:
            inner = names[0] if len(names) == 1 else f"({' + '.join(names)})"
            parts.append(f"{sign} {bare}*{inner}")
    text = " ".join(parts) or "0"
    return text.removeprefix("+ ") if text.startswith("+") else text.replace("- ", "-", 1)
