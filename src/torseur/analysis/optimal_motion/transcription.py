"""Motion as equations between states at grid points: x' = f(x, u), forces u piecewise linear over steps of length h.

Matrices have one column per grid point. The equations are zero when the motion follows the method's rule; their errors
are of order h², h⁴ and h⁴ (Betts, Practical Methods for Optimal Control, 2010, chapter 4; Hairer, Nørsett and Wanner,
Solving Ordinary Differential Equations I, 1993, chapter II).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Rates = Callable[[Any, Any], Any]
"""x' of many columns at once: f(x, u)."""


@dataclass(frozen=True)
class Transcribed:
    """The equations, and the integral of a cost over the motion in the rule that goes with them."""

    equations: Any
    cost: Any


def trapezoidal(rates: Rates, cost: Rates, x: Any, u: Any, h: Any) -> Transcribed:
    """x₊ - x = h/2 (f + f₊)."""
    f, c = rates(x, u), cost(x, u)
    equations = x[:, 1:] - x[:, :-1] - h / 2 * (f[:, 1:] + f[:, :-1])
    return Transcribed(equations, _total(h / 2 * (c[:, 1:] + c[:, :-1])))


def hermite_simpson(rates: Rates, cost: Rates, x: Any, u: Any, h: Any) -> Transcribed:
    """x₊ - x = h/6 (f + 4 f_m + f₊), where the state in the middle is that of the cubic through both ends."""
    f, c = rates(x, u), cost(x, u)
    middle = (x[:, 1:] + x[:, :-1]) / 2 + h / 8 * (f[:, :-1] - f[:, 1:])
    force = (u[:, 1:] + u[:, :-1]) / 2
    equations = x[:, 1:] - x[:, :-1] - h / 6 * (f[:, :-1] + 4 * rates(middle, force) + f[:, 1:])
    return Transcribed(equations, _total(h / 6 * (c[:, :-1] + 4 * cost(middle, force) + c[:, 1:])))


def multiple_shooting(rates: Rates, cost: Rates, x: Any, u: Any, h: Any) -> Transcribed:
    """Each interval is one step of Runge and Kutta's method of order four, and ends where the next begins."""
    end, total = _runge_kutta(rates, cost, x[:, :-1], u[:, :-1], u[:, 1:], h)
    return Transcribed(x[:, 1:] - end, _total(total))


def _runge_kutta(rates: Rates, cost: Rates, x: Any, first: Any, last: Any, h: Any) -> tuple[Any, Any]:
    """The state after one step, and the integral of the cost over it."""
    middle = (first + last) / 2
    k1, c1 = rates(x, first), cost(x, first)
    k2, c2 = rates(x + h / 2 * k1, middle), cost(x + h / 2 * k1, middle)
    k3, c3 = rates(x + h / 2 * k2, middle), cost(x + h / 2 * k2, middle)
    k4, c4 = rates(x + h * k3, last), cost(x + h * k3, last)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), h / 6 * (c1 + 2 * c2 + 2 * c3 + c4)


def _total(row: Any) -> Any:
    """The sum of a row of costs."""
    import casadi

    return casadi.sum2(row)


METHODS: dict[str, Callable[..., Transcribed]] = {
    "trapezoidal": trapezoidal,
    "hermite-simpson": hermite_simpson,
    "multiple shooting": multiple_shooting,
}
