"""Controllers and filters: signals with a memory."""

from __future__ import annotations

from math import factorial

from torseur.algebra.graph import ExprLike, as_expr
from torseur.algebra.graph.scalar import maximum, minimum, where
from torseur.description.elements.element import Element
from torseur.description.mechanism.quantities import State
from torseur.errors import MechanismError

MOST_ORDER = 10


def first_order_filter(name: str, signal: ExprLike, time: ExprLike, unit: str = "1", start: float = 0.0) -> Element:
    """y' = (u - y)/T: a signal that follows another with the time constant T (s); `output` is y."""
    y = State(name, unit, "filtered signal")
    return Element(name, y.symbol, {y: (as_expr(signal) - y) / time}, {name: start})


def second_order_filter(
    name: str, signal: ExprLike, frequency: ExprLike, damping: ExprLike = 0.7071067811865476, unit: str = "1"
) -> Element:
    """y'' + 2 ζ ω y' + ω² y = ω² u, with ω in rad/s; `output` is y."""
    y, rate = State(name, unit, "filtered signal"), State(f"{name}.rate", f"{unit}/s" if unit != "1" else "1/s")
    w = as_expr(frequency)
    return Element(name, y.symbol, {y: rate.symbol, rate: w * w * (as_expr(signal) - y) - 2 * damping * w * rate})


def pade_delay(name: str, signal: ExprLike, delay: ExprLike, order: int = 3, unit: str = "1") -> Element:
    """u(t - τ) by Padé's approximation of exp(-s τ): right in phase up to about ω τ = order, in size at all ω.

    exp(-x) ≈ Σ c_k (-x)^k / Σ c_k x^k with c_k = (2n - k)! n! / ((2n)! k! (n - k)!), as a chain of n states.
    """
    if not 1 <= order <= MOST_ORDER:
        raise MechanismError(f"delay '{name}': its order is {order}, expected 1 to {MOST_ORDER}.")
    c = [factorial(2 * order - k) / (factorial(k) * factorial(order - k)) for k in range(order + 1)]
    a = [as_expr(value / c[order]) for value in c[:order]]
    chain = [State(f"{name}.{k + 1}", unit, "memory of a delay") for k in range(order)]
    u, sign = as_expr(signal), (-1) ** order
    last = u - sum((a[k] * chain[k] for k in range(order)), as_expr(0))
    rates = [*(state.symbol for state in chain[1:]), last]
    output = sign * u + sum((((-1) ** k - sign) * a[k] * chain[k] for k in range(order)), as_expr(0))
    states = {state: as_expr(rate / delay) for state, rate in zip(chain, rates, strict=True)}
    return Element(name, as_expr(output), states)


def pid(
    name: str,
    error: ExprLike,
    proportional: ExprLike,
    integral: ExprLike = 0,
    derivative: ExprLike = 0,
    *,
    filter_time: ExprLike | None = None,
    limit: ExprLike | None = None,
    unit: str = "1",
) -> Element:
    """P e + I ∫e + D e', the derivative of the error filtered by `filter_time`; `unit` is that of the error.

    With a `limit` the output stays within ±limit, and the integral rests while it would only lead further beyond.
    """
    e, states = as_expr(error), {}
    output = as_expr(proportional) * e
    if not as_expr(derivative).is_zero:
        if filter_time is None:
            raise MechanismError(f"controller '{name}': its derivative needs a filter_time, or a rate in the error.")
        smooth = State(f"{name}.filtered", unit, "filtered error")
        states[smooth] = (e - smooth) / filter_time
        output = output + derivative * states[smooth]
    if as_expr(integral).is_zero:
        free, total = output, None
    else:
        total = State(f"{name}.integral", f"{unit}*s" if unit != "1" else "s", "integral of the error")
        free = output + integral * total
    bounded = free if limit is None else as_expr(minimum(maximum(free, -as_expr(limit)), limit))
    if total is not None:
        outward = integral * e * free > 0
        resting = where(outward, where((free - bounded) * (free - bounded) > 0, 0, e), e)
        states[total] = e if limit is None else as_expr(resting)
    return Element(name, as_expr(bounded), states)
