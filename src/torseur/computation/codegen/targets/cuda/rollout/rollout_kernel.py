"""Rollouts on the GPU: many motions of one mechanism at once, each in its own thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torseur.computation.codegen.kernels.kernel import PREPARED, compile_program
from torseur.computation.codegen.targets.cuda.cuda_kernel import TYPES, by_value, suffix_of
from torseur.computation.codegen.targets.cuda.rollout.rollout_source import (
    CHANGING,
    RolloutMethod,
    RolloutParts,
    rollout_source,
    split_together,
)
from torseur.computation.codegen.targets.cuda.tuning import FAST_SINES, Launchable, cupy, run_all

LONGEST = 3e38
"""No limit, as a number that single precision knows."""
SMALLEST = 1e-37
"""The smallest tolerance that single precision knows: a state that stays zero is not divided by zero."""


@dataclass(frozen=True)
class Steps:
    """When states are recorded, and how exactly adaptive steps follow; `atol` for each entry of the state."""

    start: float
    length: float
    number: int
    every: int
    rtol: float
    atol: tuple[float, ...]
    longest: float = np.inf

    @property
    def records(self) -> int:
        return self.number // self.every + (self.number % self.every != 0) if self.every else 1


class CudaRollout:
    """Motions from many initial states: what is recorded of them, and what is taken for criteria.

    parameters  inputs that hold for all motions; what depends on them alone is computed once, on the host
    """

    def __init__(
        self,
        parts: RolloutParts,
        parameters: Sequence[str],
        method: RolloutMethod,
        precision: str,
        fast_sines: bool = False,
    ) -> None:
        suffix = suffix_of(precision)
        self._type, self._fine = TYPES[suffix]
        self._prepare = None
        if parameters:
            prepare, programs = split_together(parts.programs, parameters)
            self._prepare = compile_program(prepare)
            parts = replace(parts, programs=programs)
        self.inputs = [group for group in parts.programs["motion"].inputs if group.name not in CHANGING]
        self.source = rollout_source(parts, suffix, method)
        observe, watch = parts.programs.get("observe"), parts.watch
        self._seen = 0 if observe is None else sum(len(output) for output in observe.outputs)
        self._judged = None if watch is None else (watch.criteria, watch.width)
        self._cupy = cupy()
        self._kernel = Launchable(self.source, [FAST_SINES] if fast_sines else [])

    def __call__(self, q: Any, v: Any, others: Mapping[str, Any], steps: Steps, n: int) -> tuple[Any, Any]:
        """What was recorded, of shape (records, seen, n), and criteria (criteria, value or change, n) or None.

        One column of q and v stands for all motions.
        """
        xp, kind = self._cupy, self._type
        q0, v0 = (xp.ascontiguousarray(xp.broadcast_to(xp.asarray(x, dtype=kind), (len(x), n))) for x in (q, v))
        out = xp.empty((steps.records, self._seen, n), dtype=kind)
        judged = None if self._judged is None else xp.empty((*self._judged, n), dtype=kind)
        # A kernel without constants takes one integer in their place: its signature must not end with a comma.
        constants = [self._constant(group.name, others, n) for group in self.inputs] or [np.int32(0)]
        results = [out if self._seen else xp.empty(1, dtype=kind), *([] if judged is None else [judged])]
        numbers = (kind(steps.start), kind(steps.length), np.int64(steps.number), np.int64(steps.every or steps.number))
        longest = min(steps.longest, LONGEST)
        limits = (
            kind(steps.rtol),
            xp.asarray(np.maximum(steps.atol, SMALLEST), dtype=kind),
            kind(longest),
            np.int64(n),
        )
        run_all([self._kernel], (q0, v0, *constants, *results, *numbers, *limits), n)
        return out, judged

    def _constant(self, name: str, others: Mapping[str, Any], n: int) -> Any:
        if name == PREPARED:
            assert self._prepare is not None
            given = [np.asarray(others[group.name], dtype=float) for group in self._prepare.program.inputs]
            return by_value(self._prepare(*given)[PREPARED].astype(self._fine))
        value = self._cupy.asarray(others[name], dtype=self._type)
        wide = value if value.ndim == 2 else self._cupy.broadcast_to(value[:, None], (len(value), n))
        return self._cupy.ascontiguousarray(wide)
