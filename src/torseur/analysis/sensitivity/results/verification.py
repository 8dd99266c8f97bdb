"""The self-check: derivatives against central differences of order six, from motions alone.

Each difference is taken with several steps; the one that agrees best with its neighbour counts, so that neither
truncation nor the noise of the integrator decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from torseur.analysis.sensitivity.model.varied_parameters import Varied
from torseur.analysis.sensitivity.results.sensitivities import Response
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError

STEPS = (4e-3, 1e-3, 2.5e-4)  # in units of the parameter
NOTHING = 1e-6  # relative change of a criterion per relative change of a parameter that counts as none
WEIGHTS = ((1, 45.0), (2, -9.0), (3, 1.0))  # of the central difference of order six, over 60


Shifted: TypeAlias = Callable[[Varied, float], list[Vector]]
"""Values of the criteria after a parameter has been shifted by a step."""


@dataclass(frozen=True)
class Agreement:
    """How derivatives by one parameter agree with differences, in units of the largest of each criterion.

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
    values_after_shift: Shifted,
) -> tuple[Agreement, ...]:
    """How far derivatives and differences are apart."""
    comparisons = []
    for column, parameter in enumerate(varied):
        try:
            comparisons.append(_agreement(column, parameter, responses, values_after_shift))
        except TorseurError as problem:
            comparisons.append(Agreement(parameter.name, float("nan"), float("nan"), str(problem)))
    return tuple(comparisons)


def _agreement(
    column: int,
    parameter: Varied,
    responses: Sequence[Response],
    values_after_shift: Shifted,
) -> Agreement:
    derivatives = [response.slopes[:, column] for response in responses]
    least = [NOTHING * np.abs(response.values).max(initial=0.0) / parameter.scale for response in responses]
    candidates = [_difference(parameter, step * parameter.scale, values_after_shift) for step in STEPS]
    # Large steps are truncated, small ones noisy: where two neighbours agree best, both errors are least.
    apart = [_apart(a, b, derivatives, least) for a, b in pairwise(candidates)]
    best = int(np.argmin(apart))
    difference = min(_apart(one, derivatives, derivatives, least) for one in candidates[best : best + 2])
    return Agreement(parameter.name, difference, apart[best])


def _difference(parameter: Varied, step: float, values_after_shift: Shifted) -> list[Vector]:
    total: list[Vector] | None = None
    for k, weight in WEIGHTS:
        ahead, behind = values_after_shift(parameter, k * step), values_after_shift(parameter, -k * step)
        part = [weight * (a - b) / (60.0 * step) for a, b in zip(ahead, behind, strict=True)]
        total = part if total is None else [a + b for a, b in zip(total, part, strict=True)]
    assert total is not None
    return total


def _apart(a: Sequence[Vector], b: Sequence[Vector], derivatives: Sequence[Vector], least: Sequence[float]) -> float:
    """The largest difference in units of the largest derivative, at least `least`, over all criteria."""
    worst = 0.0
    for x, y, derivative, smallest in zip(a, b, derivatives, least, strict=True):
        size = max(np.abs(derivative).max(initial=0.0), smallest)
        if size > 0.0:
            worst = max(worst, float(np.abs(x - y).max() / size))
    return worst
