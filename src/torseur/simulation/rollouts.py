"""Many motions of one mechanism at once, with fixed steps, on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torseur.codegen.cuda.motion import CudaRollout
from torseur.equations import Equations, motion_values, program_of
from torseur.equations.functions import PARAMETERS
from torseur.errors import TorseurError, UnsupportedError
from torseur.formalisms import derive
from torseur.mechanism import Mechanism


class Rollouts:
    """A mechanism ready to be moved from many states at once: compiled once, called with any states and parameters.

    method     rk4 or semi_implicit, with fixed steps
    precision  float32 or float64

    Laws of the mechanism are compiled in.
    """

    def __init__(self, model: Equations | Mechanism, method: str = "rk4", precision: str = "float32") -> None:
        self.equations = derive(model) if isinstance(model, Mechanism) else model
        if self.equations.undetermined:
            names = ", ".join(node.data.name for node in self.equations.undetermined)
            raise UnsupportedError(f"rollout: no formula is given for {names}; a GPU cannot call Python functions.")
        program = program_of(self.equations, ["rates", "forward_dynamics"])
        live = tuple(group.name for group in program.inputs if group.name == PARAMETERS)
        self._run = CudaRollout(program, live, method, precision)

    def __call__(
        self,
        q: Any,
        v: Any,
        *,
        step: float,
        steps: int,
        tau: Any = None,
        start: float = 0.0,
        every: int = 0,
        parameters: Mapping[str, float] | None = None,
    ) -> Any:
        """States after `steps` steps, of shape (records, nq + nv, n), for n initial states q (nq, n) and v (nv, n).

        every  keep each so many steps, and the last; 0 keeps the last alone
        tau    generalised forces besides the loads, constant along a motion: (nv, n), (nv,) or none

        NumPy arrays come back as NumPy arrays; arrays on the device stay there.
        """
        self._check(q, v, step, steps, every)
        values = list(motion_values(self.equations, parameters or {}).values())
        forces = np.zeros(len(self.equations.layout.speeds)) if tau is None else tau
        found = self._run(q, v, {"tau": forces}, values, start, step, int(steps), int(every))
        return found.get() if isinstance(q, np.ndarray) else found

    def _check(self, q: Any, v: Any, step: float, steps: int, every: int) -> None:
        layout = self.equations.layout
        for name, array, size in (("q", q, len(layout.coordinates)), ("v", v, len(layout.speeds))):
            if np.ndim(array) != 2 or array.shape[0] != size or array.shape[1] != q.shape[1]:
                raise TorseurError(f"rollout: {name} has shape {np.shape(array)}, expected ({size}, states).")
        if not (np.isfinite(step) and step != 0.0):
            raise TorseurError(f"rollout: step is {step}, expected a time in seconds that is not zero.")
        if steps < 1 or every < 0:
            raise TorseurError(f"rollout: steps is {steps} and every {every}, expected at least 1 and 0.")


def rollout(
    model: Equations | Mechanism, q: Any, v: Any, *, method: str = "rk4", precision: str = "float32", **options: Any
) -> Any:
    """Motions from many states, compiled for this one call; `Rollouts` says what the arguments are."""
    return Rollouts(model, method, precision)(q, v, **options)
