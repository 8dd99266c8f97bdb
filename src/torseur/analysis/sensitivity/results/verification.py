"""Whether derivatives hold: against differences of motions, which know nothing of how they were computed.

By default one more motion is computed, with all parameters changed at once in a direction that is random but always the
same; only where it does not fit are more of them asked. On request every parameter is compared by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from torseur.analysis.sensitivity.model.varied_parameters import Varied
from torseur.analysis.sensitivity.results.sensitivities import Response, Sensitivities
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError

STEPS = (4e-3, 1e-3, 2.5e-4)  # in units of the parameter
NOTHING = 1e-6  # relative change of a criterion per relative change of a parameter that counts as none
WEIGHTS = ((1, 45.0), (2, -9.0), (3, 1.0))  # of the central difference of order six, over 60
SECOND_WEIGHTS = ((1, 270.0), (2, -27.0), (3, 2.0))  # of that of second derivatives, over 180; -490 in the middle
AGREES = 1e-6  # difference in units of the derivative that is none
TOGETHER = "all parameters together"
HALF_STEPS = "steps half as long"
BY_STEPS = 0.05  # part of the largest by which derivatives may change with steps half as long
STEP = 0.2  # of the one motion more, in units of √rtol
CURVED_STEP = 1.0  # of it where Hessians are known, in units of ∛rtol: they show in its square
STRAIGHT = 0.1  # part of the first-order effects below which second-order ones count as small
CURVED = 0.01  # difference from a Hessian, in units of it, that the one motion more may leave
LARGEST = 3e-4  # relative change of a parameter with little influence in the one motion more
KNOWN = 2.0  # how well its difference is known, in units of √rtol, or of ∛rtol² where Hessians are known


Shifted: TypeAlias = Callable[[Varied, float, bool], list[Vector]]
"""Values of the criteria after a parameter has been shifted by a step; at a tighter tolerance if asked for."""


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
        return self.difference <= max(20.0 * self.resolution, AGREES)

    def document(self) -> dict[str, object]:
        """Everything as plain data; there are no numbers where nothing could be compared."""
        numbers = {"difference": self.difference, "resolution": self.resolution}
        known = {name: None if np.isnan(x) else x for name, x in numbers.items()}
        return {"parameter": self.parameter, **known, "reason": self.reason, "agrees": self.is_good}


def verify(
    result: Sensitivities,
    values_after_shift: Shifted,
    rtol: float,
    each: bool | None,
    is_delicate: Callable[[], bool] = lambda: False,
) -> Sensitivities:
    """The result with what differences say: of each parameter if asked for, by default along one direction.

    After the first motion `is_delicate` says whether it met anything near which derivatives lose digits.
    """
    if each is False or not result.responses:
        return result
    if each:
        agreement = agreements(result.parameters, result.responses, values_after_shift)
    else:
        agreement = (along_one_direction(result.parameters, result.responses, values_after_shift, rtol, is_delicate),)
    wrong = [a for a in agreement if not a.is_good]
    return replace(
        result,
        agreement=agreement,
        trusted=result.trusted and not wrong,
        notes=(*result.notes, *map(_note, wrong)),
    )


def against_shorter_steps(result: Sensitivities, shorter: Sensitivities) -> Sensitivities:
    """The result of a motion in time steps beside that of steps half as long: what they leave is of first order.

    Differences of such motions say little: what happens within a step happens at its end there, whatever changes.
    """
    scales = np.array([parameter.scale for parameter in result.parameters])
    apart = [
        float(np.abs((a.derivatives - b.derivatives) * scales).max(initial=0.0))
        / max(float(np.abs(b.derivatives * scales).max(initial=0.0)), NOTHING * b.size, 1e-300)
        for a, b in zip(result.responses, shorter.responses, strict=True)
    ]
    agreement = Agreement(HALF_STEPS, max(apart, default=0.0), BY_STEPS / 20.0)
    notes = result.notes
    if not agreement.is_good:
        notes = (*notes, (
            f"Not to be trusted: with steps half as long the derivatives differ by {agreement.difference:.1e} of the "
            "largest. Shorten max_step."
        ))  # fmt: skip
    return replace(result, agreement=(agreement,), trusted=result.trusted and agreement.is_good, notes=notes)


def _note(agreement: Agreement) -> str:
    name = agreement.parameter if agreement.parameter == TOGETHER else f"'{agreement.parameter}'"
    if agreement.reason:
        return f"Not checked: {name} could not be changed: {agreement.reason}"
    return (
        f"Not to be trusted: differences with {name} changed are {agreement.difference:.1e} away from the derivatives, "
        f"in units of the largest, and known to {agreement.resolution:.1e}."
    )


def agreements(
    varied: Sequence[Varied],
    responses: Sequence[Response],
    values_after_shift: Shifted,
) -> tuple[Agreement, ...]:
    """How far derivatives and differences are apart, parameter by parameter."""
    comparisons = []
    for column, parameter in enumerate(varied):
        alone = _Direction(parameter, np.eye(len(varied))[column], responses, values_after_shift)
        comparisons.append(alone.agreement(alone.first_order))
    return tuple(comparisons)


# Why one motion, and one-sided: docs/decisions/0072-one-motion-checks-derivatives.md.
def along_one_direction(
    varied: Sequence[Varied],
    responses: Sequence[Response],
    values_after_shift: Shifted,
    rtol: float,
    is_delicate: Callable[[], bool],
) -> Agreement:
    """How far the derivatives are apart from a difference along all parameters, in units of all their effects."""
    # One-sided, because the motion at the start of the difference is there already. What is left is the tolerance of
    # both motions over the step, and the step times a curvature: least at √rtol. Where Hessians are known, curvature is
    # no error but what is asked for: its own error is the tolerance over the square of the step, and the step times a
    # third derivative, least at ∛rtol.
    is_curved = all(response.hessian is not None for response in responses)
    power = 1 / 3 if is_curved else 1 / 2
    step = (CURVED_STEP if is_curved else STEP) * rtol**power
    weights = _weights(varied, responses, step)
    direction = _Direction(_combination(varied, weights), weights, responses, values_after_shift)
    reason = ""
    for signed in (step, -step):
        try:
            difference, of_hessians = direction.one_sided(signed, is_curved)
        except TorseurError as problem:
            reason = str(problem)
            continue
        quick = Agreement(TOGETHER, difference, KNOWN * rtol ** (1 - power))
        if quick.is_good and of_hessians < CURVED and not is_delicate():
            return quick
        first = direction.agreement(direction.first_order)
        return direction.agreement(direction.second_order) if first.is_good and is_curved else first
    return Agreement(TOGETHER, float("nan"), float("nan"), reason)


def _weights(varied: Sequence[Varied], responses: Sequence[Response], step: float) -> Vector:
    """How much each parameter changes with a unit step along the direction; weak ones more, so that they show."""
    scales = np.array([parameter.scale for parameter in varied])
    influences = np.zeros(len(varied))
    for response in responses:
        effects = np.abs(response.derivatives).max(axis=0, initial=0.0) * scales
        influences = np.maximum(influences, effects / max(effects.max(initial=0.0), 1e-300))
    raised = np.clip(1.0 / np.maximum(influences, 1e-300), 1.0, max(1.0, LARGEST / step))
    random = np.random.default_rng(0)
    return np.asarray(random.choice([-1.0, 1.0], len(varied)) * random.uniform(0.5, 1.0, len(varied)) * raised * scales)


def _combination(varied: Sequence[Varied], weights: Vector) -> Varied:
    """All parameters as one, whose scale is the step along it that changes one of them by its own size."""
    constants: dict[int, float] = {}
    starts: dict[int, float] = {}
    for parameter, weight in zip(varied, weights.tolist(), strict=True):
        for sums, members in ((constants, parameter.constants), (starts, parameter.starts)):
            for slot, own in members:  # groups may share a slot
                sums[slot] = sums.get(slot, 0.0) + weight * own
    relative = max(abs(weight) / parameter.scale for parameter, weight in zip(varied, weights.tolist(), strict=True))
    return Varied(TOGETHER, 1.0 / relative, constants=tuple(constants.items()), starts=tuple(starts.items()))


@dataclass(frozen=True, eq=False)
class _Direction:
    """Derivatives and differences along one direction; `weights` are what a unit step changes of each parameter."""

    parameter: Varied
    weights: Vector
    responses: Sequence[Response]
    values_after_shift: Shifted

    def one_sided(self, step: float, is_curved: bool) -> tuple[float, float]:
        """How far derivatives are from the difference between the motion and one a step ahead, and Hessians alone."""
        shifted = self.values_after_shift(self.parameter, step, False)
        # Hessians are those of the last time.
        times = slice(-1, None) if is_curved else slice(None)
        secants, expected = [], []
        for values, response in zip(shifted, self.responses, strict=True):
            curvature = self.weights @ response.hessian @ self.weights if response.hessian is not None else 0.0
            secants.append((values - response.values)[times] / step)
            expected.append((response.derivatives @ self.weights + 0.5 * step * curvature)[times])
        apart = _apart(secants, expected, self._sizes())
        if not is_curved:
            return apart, 0.0
        return apart, _apart(secants, expected, self._curved_sizes(STRAIGHT)) * 2.0 / abs(step)

    def _curved_sizes(self, share: float = 1.0) -> list[float]:
        """All second-order effects of a unit step on each criterion, or a share of the first-order ones."""
        known = [response.hessian for response in self.responses if response.hessian is not None]
        sizes = [float(np.sqrt(np.sum((hessian * np.outer(self.weights, self.weights)) ** 2))) for hessian in known]
        return [max(size, share * least) for size, least in zip(sizes, self._sizes(), strict=True)]

    def agreement(self, order: Callable[[], tuple[list[list[Vector]], list[Vector], list[float]]]) -> Agreement:
        """How far derivatives of an order are from central differences, and these from each other."""
        try:
            candidates, expected, sizes = order()
        except TorseurError as problem:
            return Agreement(self.parameter.name, float("nan"), float("nan"), str(problem))
        # Large steps are truncated, small ones noisy: where two neighbours agree best, both errors are least.
        apart = [_apart(a, b, sizes) for a, b in pairwise(candidates)]
        best = int(np.argmin(apart))
        difference = min(_apart(one, expected, sizes) for one in candidates[best : best + 2])
        return Agreement(self.parameter.name, difference, apart[best])

    def first_order(self) -> tuple[list[list[Vector]], list[Vector], list[float]]:
        """Differences of order six for each of the steps, what they should be, and sizes of it."""
        expected = [response.derivatives @ self.weights for response in self.responses]
        return [self._differences(step * self.parameter.scale) for step in STEPS], expected, self._sizes()

    def second_order(self) -> tuple[list[list[Vector]], list[Vector], list[float]]:
        """The same of second derivatives, at the last time."""
        known = [response.hessian for response in self.responses if response.hessian is not None]
        hessians = [hessian * np.outer(self.weights, self.weights) for hessian in known]
        expected = [np.array([h.sum()]) for h in hessians]
        differences = [self._second_differences(step * self.parameter.scale) for step in STEPS]
        return differences, expected, self._curved_sizes()

    def _sizes(self) -> list[float]:
        """All effects of a unit step on each criterion, whatever their signs, or what counts as none."""
        return [
            float(
                max(
                    np.sqrt(np.sum((response.derivatives * self.weights) ** 2, axis=1)).max(initial=0.0),
                    NOTHING * response.size / self.parameter.scale,
                )
            )
            for response in self.responses
        ]

    def _differences(self, step: float) -> list[Vector]:
        pairs = [(w / (60.0 * step), self._values(k * step), self._values(-k * step)) for k, w in WEIGHTS]
        return [
            np.asarray(sum(w * (ahead[c] - behind[c]) for w, ahead, behind in pairs)) for c in range(len(pairs[0][1]))
        ]

    def _second_differences(self, step: float) -> list[Vector]:
        middle = self._values(0.0)
        pairs = [(w, self._values(k * step), self._values(-k * step)) for k, w in SECOND_WEIGHTS]
        return [
            np.asarray(sum(w * (ahead[c] + behind[c]) for w, ahead, behind in pairs) - 490.0 * middle[c])[-1:]
            / (180.0 * step**2)
            for c in range(len(middle))
        ]

    def _values(self, step: float) -> list[Vector]:
        return self.values_after_shift(self.parameter, step, True)


def _apart(a: Sequence[Vector], b: Sequence[Vector], sizes: Sequence[float]) -> float:
    """The largest difference in units of the sizes, over all criteria."""
    differences = [np.abs(x - y).max(initial=0.0) for x, y in zip(a, b, strict=True)]
    return max((float(d / size) for d, size in zip(differences, sizes, strict=True) if size > 0.0), default=0.0)
