"""Programs evaluated at single states: by walking the graph the first few times, as a Python function from then on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.algebra.graph import Program
from torseur.computation.codegen import Kernel, compile_program
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError

OFTEN = 4  # evaluations from which translating the program pays


class Evaluator:
    """A program with its number of evaluations so far."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.calls = 0
        self._kernel: Kernel | None = None

    def __call__(self, values: Mapping[str, Sequence[float]]) -> dict[str, Vector]:
        """The outputs in their shapes; refused where one is not a finite number."""
        self.calls += 1
        if self.calls > OFTEN and self._kernel is None:
            self._kernel = compile_program(self.program, "python")
        results = self._walk(values) if self._kernel is None else self._run(self._kernel, values)
        for name, array in results.items():
            if not np.all(np.isfinite(array)):
                raise TorseurError(f"'{name}' of '{self.program.name}' is not finite.")
        return results

    def _walk(self, values: Mapping[str, Sequence[float]]) -> dict[str, Vector]:
        results = self.program.evaluate(values)
        return {
            output.name: np.array([float(x) for x in results[output.name]]).reshape(output.shape)
            for output in self.program.outputs
        }

    @staticmethod
    def _run(kernel: Kernel, values: Mapping[str, Sequence[float]]) -> dict[str, Vector]:
        with np.errstate(all="ignore"):
            return kernel(**{name: np.array(value, dtype=float) for name, value in values.items()})
