"""The self-check: slopes against central differences of order six, from motions alone.

Each difference is taken with several steps; the one that agrees best with its neighbour counts, so that neither
truncation nor the noise of the integrator decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from torseur.errors import TorseurError
from torseur.sensitivity.parameters import Varied
from torseur.sensitivity.results import Response
from torseur.simulation.system import Vector

STEPS = (4e-3, 1e-3, 2.5e-4)  # in units of the parameter
NOTHING = 1e-6  # relative change of a criterion per relative change of a parameter that counts as none
WEIGHTS = ((1, 45.0), (2, -9.0), (3, 1.0))  # of central differences, over 60


@dataclass(frozen=True)
class Agreement:
    """How slopes by one parameter agree with differences, in units of the largest slope of each criterion.

    `reason` says why there was nothing to compare with, such as a start that the changed constraints forbid.
    """

    parameter: str
    difference: float
    resolution: float
    reason: str = ""

    @property
    def is_good(self) -> bool:
        """Within what the differences themselves can tell."""
        return self.difference <= max(20.0 * self.resolution, 1e-6)


def agreements(
    varied: Sequence[Varied],
    responses: Sequence[Response],
    shifted: Callable[[Varied, float], list[Vector]],
) -> tuple[Agreement, ...]:
    """How far slopes and differences are apart; `shifted` gives the values of the criteria after a shift."""
    found = []
    for column, parameter in enumerate(varied):
        try:
            found.append(_agreement(column, parameter, responses, shifted))
        except TorseurError as problem:
            found.append(Agreement(parameter.name, float("nan"), float("nan"), str(problem)))
    return tuple(found)


def _agreement(
    column: int, parameter: Varied, responses: Sequence[Response], shifted: Callable[[Varied, float], list[Vector]]
) -> Agreement:
    slopes = [response.slopes[:, column] for response in responses]
    least = [NOTHING * np.abs(response.values).max(initial=0.0) / parameter.scale for response in responses]
    candidates = [_difference(parameter, step * parameter.scale, shifted) for step in STEPS]
    apart = [_apart(a, b, slopes, least) for a, b in pairwise(candidates)]
    best = int(np.argmin(apart))
    difference = min(_apart(one, slopes, slopes, least) for one in candidates[best : best + 2])
    return Agreement(parameter.name, difference, apart[best])


def _difference(parameter: Varied, step: float, shifted: Callable[[Varied, float], list[Vector]]) -> list[Vector]:
    total: list[Vector] | None = None
    for k, weight in WEIGHTS:
        ahead, behind = shifted(parameter, k * step), shifted(parameter, -k * step)
        part = [weight * (a - b) / (60.0 * step) for a, b in zip(ahead, behind, strict=True)]
        total = part if total is None else [a + b for a, b in zip(total, part, strict=True)]
    assert total is not None
    return total


def _apart(a: Sequence[Vector], b: Sequence[Vector], slopes: Sequence[Vector], least: Sequence[float]) -> float:
    """The largest difference in units of the largest slope, over all criteria; slopes below `least` count as that."""
    worst = 0.0
    for x, y, slope, smallest in zip(a, b, slopes, least, strict=True):
        size = max(np.abs(slope).max(initial=0.0), smallest)
        if size > 0.0:
            worst = max(worst, float(np.abs(x - y).max() / size))
    return worst
