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


def rollout(
    model: Equations | Mechanism,
    q: Any,
    v: Any,
    *,
    step: float,
    steps: int,
    tau: Any = None,
    start: float = 0.0,
    every: int = 0,
    method: str = "rk4",
    parameters: Mapping[str, float] | None = None,
    precision: str = "float32",
) -> Any:
    """States after `steps` steps, of shape (records, nq + nv, n), for n initial states q (nq, n) and v (nv, n).

    every      keep each so many steps, and the last; 0 keeps the last alone
    method     rk4 or semi_implicit
    tau        generalised forces besides the loads, constant along a motion: (nv, n), (nv,) or none
    precision  float32 or float64

    Laws of the mechanism are compiled in. NumPy arrays come back as NumPy arrays; arrays on the device stay there.
    """
    equations = derive(model) if isinstance(model, Mechanism) else model
    _check(equations, step, steps, every)
    program = program_of(equations, ["rates", "forward_dynamics"])
    live = tuple(group.name for group in program.inputs if group.name == PARAMETERS)
    run = CudaRollout(program, live, method, precision)
    values = list(motion_values(equations, parameters or {}).values())
    forces = np.zeros(len(equations.layout.speeds)) if tau is None else tau
    found = run(q, v, {"tau": forces}, values, start, step, int(steps), int(every))
    return found.get() if isinstance(q, np.ndarray) else found


def _check(equations: Equations, step: float, steps: int, every: int) -> None:
    if equations.undetermined:
        names = ", ".join(node.data.name for node in equations.undetermined)
        raise UnsupportedError(f"rollout: no formula is given for {names}; a GPU cannot call Python functions.")
    if not (np.isfinite(step) and step != 0.0):
        raise TorseurError(f"rollout: step is {step}, expected a time in seconds that is not zero.")
    if steps < 1 or every < 0:
        raise TorseurError(f"rollout: steps is {steps} and every {every}, expected at least 1 and 0.")
