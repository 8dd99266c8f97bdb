"""Which parameter matters: spreads from tolerances, shares of the variance, influence per cost."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.errors import TorseurError, unknown_name
from torseur.sensitivity.results import Rank, Sensitivities


def ranked(
    found: Sensitivities, criterion: str, tolerances: Mapping[str, float], costs: Mapping[str, float]
) -> tuple[Rank, ...]:
    """Parameters from the most to the least influential; per cost where costs are given."""
    for name in (*tolerances, *costs):
        if name not in found.parameter_names:
            raise TorseurError(unknown_name("parameter", name, found.parameter_names))
    for name, cost in costs.items():
        if not cost > 0.0:
            raise TorseurError(f"the cost of '{name}' is {cost}: expected a positive number.")
    slopes = found[criterion].gradient
    widths = [tolerances.get(p.name, 0.01 * p.scale) for p in found.parameters]
    spreads = [abs(float(slope)) * abs(width) for slope, width in zip(slopes, widths, strict=True)]
    total = sum(spread * spread for spread in spreads) or 1.0
    ranks = [
        Rank(
            parameter.name,
            float(slope),
            float(slope) * parameter.value / 100.0,
            float(width),
            spread,
            spread * spread / total,
            costs.get(parameter.name, 1.0),
            spread / costs.get(parameter.name, 1.0),
        )
        for parameter, slope, width, spread in zip(found.parameters, slopes, widths, spreads, strict=True)
    ]
    return tuple(sorted(ranks, key=lambda rank: -rank.merit))
