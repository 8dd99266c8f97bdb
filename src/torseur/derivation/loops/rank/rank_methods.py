"""Ways to decide the rank on the closed configurations; the user chooses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from torseur.derivation.loops.configuration import ClosedConfiguration
from torseur.derivation.loops.loop_report import RankFinding
from torseur.derivation.loops.rank.exact_loops import admissible_rank, generic_rank, polynomial_loops
from torseur.derivation.loops.rank.modular_rank import modular_rank
from torseur.derivation.loops.rank.numerical_rank import NumericalRank
from torseur.derivation.loops.rank.precise_rank import precise_rank
from torseur.errors import UnsupportedError

_ENOUGH_POINTS = 5


def numeric_finding(numeric: NumericalRank) -> RankFinding:
    """By singular values in floating point."""
    values = numeric.singular_values
    last = f"{values[numeric.rank - 1]:.0e}" if numeric.rank else "none"
    following = f"{values[numeric.rank]:.0e}" if numeric.rank < len(values) else "none"
    support = f"relative singular values {last} | {following}"
    if not numeric.is_clear:
        support += ", near a singular configuration: ask for method 'precise'"
    return RankFinding("singular values", numeric.rank, support)


def _precise(here: ClosedConfiguration) -> RankFinding:
    try:
        precise = precise_rank(here.system, here.state)
    except UnsupportedError as reason:
        return RankFinding("multiple precision", None, str(reason))
    support = (
        f"closure met to 1e{precise.residual:.0f} in {precise.steps} steps, pivots 1e{precise.last_pivot:.0f} | "
        f"1e{precise.next_pivot:.0f}{', singular configurations' if precise.is_singular else ''}"
    )
    if precise.rank is None:
        support += ": the dimensions are known to rounding only, or the configuration is not reached"
    return RankFinding("multiple precision", precise.rank, support)


def _modular(here: ClosedConfiguration) -> RankFinding:
    try:
        modular = modular_rank(here.system, here.rng)
    except UnsupportedError as reason:
        return RankFinding("points modulo a prime", None, str(reason), here=False)
    met = ", ".join(f"{count} of rank {rank}" for rank, count in sorted(modular.points.items()))
    # A single point may lie on a component of lower dimension: fewer than five of them decide nothing.
    rank = modular.rank if sum(modular.points.values()) >= _ENOUGH_POINTS else None
    return RankFinding("points modulo a prime", rank, f"prime {modular.prime}, points: {met}", here=False)


def _exact(here: ClosedConfiguration) -> RankFinding:
    """Exact ranks are over the tree's coordinates; the coordinates left out of it follow from them."""
    try:
        loops = polynomial_loops(here.system.frame.mechanism, Fraction(repr(here.system.time)))
        closed = admissible_rank(loops)
    except UnsupportedError as reason:
        return RankFinding("exact algebra", None, str(reason), here=False)
    left_out = here.system.n - loops.size
    support = f"{closed} over the {loops.size} coordinates of the tree, {generic_rank(loops)} where they are free"
    return RankFinding("exact algebra", closed + left_out, support, here=False)


def _numeric(here: ClosedConfiguration) -> RankFinding:
    return numeric_finding(here.rank)


METHODS: dict[str, Callable[[ClosedConfiguration], RankFinding]] = {
    "numeric": _numeric,
    "precise": _precise,
    "modular": _modular,
    "exact": _exact,
}
