"""Rank on the closed configurations in multiple precision: polish, then eliminate with complete pivoting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.rank.precise_loops import BITS, PreciseLoops, precise_loops

_DECIMALS = 55  # closure is met to 1e-55
# Pivots above 1e-12 count, those below 1e-20 do not; one in between leaves the rank open.
_RANK_DECADE = -12.0
_UNCLEAR_DECADE = -20.0


@dataclass(frozen=True)
class PreciseRank:
    """Rank, and what supports it: decades of the pivots around the cut, decade of the closure's residual, steps taken.

    `rank` is None when the closure cannot be met beyond rounding (rounded dimensions) or a pivot is unclear.
    """

    rank: int | None
    last_pivot: float
    next_pivot: float
    residual: float
    steps: int
    is_singular: bool


def precise_rank(system: LoopSystem, state: State) -> PreciseRank:
    """The rank at the closed configuration nearest to a state, with about a hundred digits."""
    import flint
    import mpmath

    # Both keep their precision for the whole process: it is given back, or others compute in it.
    with flint.ctx.workprec(BITS), mpmath.workprec(BITS):
        residual, steps, rows = _polish(precise_loops(system, state))
        pivots = sorted(_pivots(rows), reverse=True)
    count = sum(p > _RANK_DECADE for p in pivots)
    # -200 stands for no pivot at all: below anything that 126 digits hold.
    following = pivots[count] if count < len(pivots) else -200.0
    last = pivots[count - 1] if count else 0.0
    # Near a singular configuration pivots shrink with the distance to it, which converges linearly.
    met = residual < -_DECIMALS / 2
    clear = following < _UNCLEAR_DECADE and met
    # Where the configuration is regular, pivots that are none are as small as the closure's residual; at a singular one
    # they are of the order of its root.
    return PreciseRank(count if clear else None, last, following, residual, steps, following > -_DECIMALS + 10)


def _polish(loops: PreciseLoops) -> tuple[float, int, list[list[Any]]]:
    """(decade of the residual, steps, Jacobian) after d = -Jᵀ (J Jᵀ + λ)⁻¹ r with λ = |r|²."""
    import flint

    history: list[float] = []
    for step in range(200):
        residual, rows = loops.closure()
        square = sum((r * r for r in residual), flint.arb(0)).mid()
        history.append(_decade(square) / 2)
        # Rounded dimensions of an overconstrained mechanism: the residual stops falling above 1e-16.
        slow = step > 8 and history[-1] > history[-4] - 0.05
        if history[-1] < -_DECIMALS or slow:
            break
        loops.move(_newton(rows, residual, square))
    return history[-1], len(history), rows


def _newton(rows: list[list[Any]], residual: list[Any], square: Any) -> list[Any]:
    import flint

    jacobian = flint.arb_mat(rows)
    normal = jacobian * jacobian.transpose()
    # J Jᵀ is singular wherever loops are redundant: the floor is what keeps it solvable in the last step.
    damping = max(square, flint.arb(10) ** (-2 * _DECIMALS))
    for i in range(len(rows)):
        normal[i, i] = normal[i, i] + damping
    solved = normal.solve(flint.arb_mat([[r] for r in residual]), algorithm="approx")
    step = jacobian.transpose() * solved
    return [-(step[i, 0].mid()) for i in range(step.nrows())]


def _decade(value: Any) -> float:
    """log10 of a positive arb, -200 for zero."""
    import math

    if not value > 0:
        return -200.0
    man, exp = value.mid().man_exp()
    return float(math.log10(abs(int(man))) + int(exp) * math.log10(2))


def _pivots(rows: list[list[Any]]) -> list[float]:
    """Decades of the pivots of an elimination with complete pivoting."""
    # Complete pivoting reveals the rank in decades of pivots; singular values in this precision would cost far more.
    left = [[x.mid() for x in row] for row in rows]
    pivots = []
    while left and left[0]:
        size, i, j = max((abs(x), i, j) for i, row in enumerate(left) for j, x in enumerate(row))
        pivots.append(_decade(size))
        if not size > 0:
            break
        pivot = left.pop(i)
        left = [_eliminate(row, pivot, j) for row in left]
    return pivots


def _eliminate(row: list[Any], pivot: list[Any], j: int) -> list[Any]:
    factor = (row[j] / pivot[j]).mid()
    return [(x - factor * p).mid() for k, (x, p) in enumerate(zip(row, pivot, strict=True)) if k != j]
