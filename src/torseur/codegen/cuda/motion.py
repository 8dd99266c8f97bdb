"""Rollouts on the GPU: many motions of one mechanism at once, each in its own thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.codegen.cuda.kernel import TYPES, by_value, suffix_of
from torseur.codegen.cuda.rollout import rollout_source
from torseur.codegen.cuda.tuning import FAST_SINES, Launchable, cupy, run_all
from torseur.codegen.kernel import PREPARED, compile_program
from torseur.graph.program import Program


@dataclass(frozen=True)
class Steps:
    """When states are recorded, and how exactly adaptive steps follow the motion."""

    start: float
    length: float
    number: int
    every: int
    rtol: float = 1e-6
    atol: float = 1e-8

    @property
    def records(self) -> int:
        return self.number // self.every + (self.number % self.every != 0) if self.every else 1


class CudaRollout:
    """A program of rates and accelerations integrated from many initial states, and a program of what is recorded.

    settle      changes of a state after each step, or none
    parameters  inputs that hold for all motions; what depends on them alone is computed once, on the host
    """

    def __init__(
        self,
        motion: Program,
        observe: Program,
        settle: Program | None,
        parameters: Sequence[str],
        method: str,
        precision: str,
        fast_sines: bool = False,
    ) -> None:
        suffix = suffix_of(precision)
        self._type, self._fine = TYPES[suffix]
        self._prepare = None
        programs = [program for program in (motion, observe, settle) if program is not None]
        if parameters:
            prepare, programs = split_together(programs, parameters)
            self._prepare = compile_program(prepare)
        self.inputs = programs[0].inputs
        self.source = rollout_source(programs, suffix, method)
        self._seen = sum(len(output) for output in observe.outputs)
        self._cupy = cupy()
        self._kernel = Launchable(self.source, [FAST_SINES] if fast_sines else [])

    def __call__(self, q: Any, v: Any, others: Mapping[str, Any], steps: Steps) -> Any:
        """What was recorded, of shape (records, seen, n), on the device."""
        xp, kind = self._cupy, self._type
        q0, v0 = (xp.ascontiguousarray(xp.asarray(x, dtype=kind)) for x in (q, v))
        n = q0.shape[1]
        out = xp.empty((steps.records, self._seen, n), dtype=kind)
        constants = [self._constant(g.name, others, n) for g in self.inputs if g.name not in ("t", "q", "v")]
        numbers = (kind(steps.start), kind(steps.length), np.int64(steps.number), np.int64(steps.every or steps.number))
        limits = (kind(steps.rtol), kind(steps.atol), np.int64(n))
        run_all([self._kernel], (q0, v0, *(constants or [np.int32(0)]), out, *numbers, *limits), n)
        return out

    def _constant(self, name: str, others: Mapping[str, Any], n: int) -> Any:
        if name == PREPARED:
            assert self._prepare is not None
            given = [np.asarray(others[group.name], dtype=float) for group in self._prepare.program.inputs]
            return by_value(self._prepare(*given)[PREPARED].astype(self._fine))
        value = self._cupy.asarray(others[name], dtype=self._type)
        wide = value if value.ndim == 2 else self._cupy.broadcast_to(value[:, None], (len(value), n))
        return self._cupy.ascontiguousarray(wide)


def split_together(programs: Sequence[Program], parameters: Sequence[str]) -> tuple[Program, list[Program]]:
    """What depends on parameters only, computed once for programs with the same inputs, and those after it."""
    both = Program("all", programs[0].inputs, tuple(output for program in programs for output in program.outputs))
    prepare, rest = both.split(tuple(parameters), PREPARED)
    outputs = iter(rest.outputs)
    return prepare, [Program(p.name, rest.inputs, tuple(next(outputs) for _ in p.outputs)) for p in programs]
