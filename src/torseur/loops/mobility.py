"""Finite mobility: how many of the infinitesimal motions can be followed for a finite distance.

The closed configurations near a closed one are probed. Where they keep their distance in every direction, all
motions are finite. Where they lose the same directions everywhere, those are infinitesimal only. Where the probes
land on configurations of higher rank, this one is singular, and the branches through it are followed one by one. A
number is given only when probes, second order and continuation agree; otherwise the mobility is undecided.
"""

from __future__ import annotations

from dataclasses import replace

from torseur.loops.branching import branching
from torseur.loops.probing import SCALE, smooth
from torseur.loops.rank import numerical_rank
from torseur.loops.spot import Branch, Mobility, Spot, spot

_DEPTH = 2
_LOW_THRESHOLD = 1e-9


def mobility(here: Spot) -> Mobility:
    """Rank, infinitesimal and finite mobility at a closed configuration.

    So near to a singular configuration that the rank is not clear, both readings must agree on the finite mobility.
    """
    found = examined(here)
    if here.rank.is_clear:
        return found
    jacobian = here.system.linearised(here.state)[1][0]
    other = examined(Spot(here.system, here.state, numerical_rank(jacobian, _LOW_THRESHOLD), here.rng))
    if found.finite == other.finite:
        return found
    return replace(found, finite=None, reason="too near to a singular configuration to tell; move away or onto it")


def examined(here: Spot, scale: float = SCALE, depth: int = _DEPTH) -> Mobility:
    """The mobility where the rank is clear, probed at a scale; branches are followed to a depth."""
    rank, motions, k = here.rank.rank, here.rank.motions, here.count
    if k == 0:
        return Mobility(rank, 0, 0, rank, "no motion at first order", motions)
    if rank == here.system.rows:
        return Mobility(rank, k, k, rank, "all closure equations are independent here", motions)
    found = smooth(here, scale)
    if found is not None:
        return found
    if depth == 0:
        return Mobility(rank, k, None, rank, "singular all along a branch", motions)
    return branching(here, lambda there, distance: examined(there, distance / 30, depth - 1))


__all__ = ["Branch", "Mobility", "Spot", "mobility", "spot"]
