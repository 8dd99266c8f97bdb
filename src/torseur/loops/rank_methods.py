"""Ways to decide the rank on the closed configurations; the user chooses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from torseur.errors import UnsupportedError
from torseur.loops.exact import admissible_rank, generic_rank, polynomial_loops
from torseur.loops.modular_rank import modular_rank
from torseur.loops.precise_rank import precise_rank
from torseur.loops.rank import NumericalRank
from torseur.loops.report import RankFinding
from torseur.loops.spot import Spot

_ENOUGH_POINTS = 5


def numeric_finding(found: NumericalRank) -> RankFinding:
    """By singular values in floating point."""
    values = found.singular_values
    last = f"{values[found.rank - 1]:.0e}" if found.rank else "none"
    following = f"{values[found.rank]:.0e}" if found.rank < len(values) else "none"
    support = f"relative singular values {last} | {following}"
    if not found.is_clear:
        support += ", near a singular configuration: ask for method 'precise'"
    return RankFinding("singular values", found.rank, support)


def _precise(here: Spot) -> RankFinding:
    try:
        found = precise_rank(here.system, here.state)
    except UnsupportedError as reason:
        return RankFinding("multiple precision", None, str(reason))
    support = (
        f"closure met to 1e{found.residual:.0f} in {found.steps} steps, pivots 1e{found.last_pivot:.0f} | "
        f"1e{found.next_pivot:.0f}{', singular configurations' if found.is_singular else ''}"
    )
    if found.rank is None:
        support += ": the dimensions are known to rounding only, or the configuration is not reached"
    return RankFinding("multiple precision", found.rank, support)


def _modular(here: Spot) -> RankFinding:
    try:
        found = modular_rank(here.system, here.rng)
    except UnsupportedError as reason:
        return RankFinding("points modulo a prime", None, str(reason), here=False)
    met = ", ".join(f"{count} of rank {rank}" for rank, count in sorted(found.points.items()))
    rank = found.rank if sum(found.points.values()) >= _ENOUGH_POINTS else None
    return RankFinding("points modulo a prime", rank, f"prime {found.prime}, points: {met}", here=False)


def _exact(here: Spot) -> RankFinding:
    """Exact ranks are over the tree's coordinates; the coordinates left out of it follow from them."""
    try:
        loops = polynomial_loops(here.system.frame.mechanism, Fraction(repr(here.system.time)))
    except UnsupportedError as reason:
        return RankFinding("exact algebra", None, str(reason), here=False)
    closed = admissible_rank(loops)
    left_out = here.system.n - loops.size
    support = f"{closed} over the {loops.size} coordinates of the tree, {generic_rank(loops)} where they are free"
    return RankFinding("exact algebra", closed + left_out, support, here=False)


def _numeric(here: Spot) -> RankFinding:
    return numeric_finding(here.rank)


METHODS: dict[str, Callable[[Spot], RankFinding]] = {
    "numeric": _numeric,
    "precise": _precise,
    "modular": _modular,
    "exact": _exact,
}
