"""Rollouts on the GPU: many motions of one mechanism at once, each in its own thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from torseur.codegen.cuda.kernel import OPTIONS, PRECISIONS, by_value, cupy
from torseur.codegen.cuda.rollout import rollout_source
from torseur.codegen.cuda.tuning import Launch, tuned
from torseur.codegen.kernel import PREPARED, compile_program
from torseur.errors import TorseurError, unknown_name
from torseur.graph.program import Program


class CudaRollout:
    """A program of rates and accelerations, integrated with fixed steps for many initial states."""

    def __init__(self, program: Program, parameters: tuple[str, ...], method: str, precision: str) -> None:
        if precision not in PRECISIONS:
            raise TorseurError(unknown_name("precision", precision, PRECISIONS))
        self._suffix, self._type = PRECISIONS[precision]
        prepare, self.program = program.split(parameters, PREPARED) if parameters else (None, program)
        self._prepare = compile_program(prepare) if prepare is not None else None
        self.source = rollout_source(self.program, self._suffix, method)
        self._cupy = cupy()
        self._functions: dict[Launch, Any] = {}

    def __call__(
        self, q: Any, v: Any, others: dict[str, Any], parameters: Any, start: float, step: float, steps: int, every: int
    ) -> Any:
        """States of shape (records, nq + nv, n) on the device."""
        xp, kind = self._cupy, self._type
        q0, v0 = (xp.ascontiguousarray(xp.asarray(x, dtype=kind)) for x in (q, v))
        n = q0.shape[1]
        records = steps // every + (steps % every != 0) if every else 1
        out = xp.empty((records, len(q0) + len(v0), n), dtype=kind)
        constants = [self._constant(group.name, others, parameters, n) for group in self.program.inputs
                     if group.name not in ("t", "q", "v")]  # fmt: skip
        numbers = (kind(start), kind(step), np.int64(steps), np.int64(every), np.int64(n))
        arguments = (q0, v0, *(constants or [np.int32(0)]), out, *numbers)

        def run(launch: Launch) -> None:
            self._function(launch)((-(-n // launch.block),), (launch.block,), arguments)

        run(tuned(self.source, n, xp, run) or Launch())
        return out

    def _constant(self, name: str, others: dict[str, Any], parameters: Any, n: int) -> Any:
        if name == PREPARED:
            assert self._prepare is not None
            return by_value(self._prepare(np.asarray(parameters, dtype=float))[PREPARED].astype(self._type))
        value = self._cupy.asarray(others[name], dtype=self._type)
        wide = value if value.ndim == 2 else self._cupy.broadcast_to(value[:, None], (len(value), n))
        return self._cupy.ascontiguousarray(wide)

    def _function(self, launch: Launch) -> Any:
        if launch not in self._functions:
            module = self._cupy.RawModule(code=self.source, options=(*OPTIONS, launch.option))
            self._functions[launch] = module.get_function(f"kernels_rollout_{self._suffix}")
        return self._functions[launch]
