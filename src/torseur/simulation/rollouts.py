"""Many motions of one mechanism at once, each in a thread of a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from torseur.codegen.cuda.motion import CudaRollout, Steps
from torseur.equations import Equations, motion_values
from torseur.equations.functions import PARAMETERS
from torseur.errors import TorseurError, unknown_name
from torseur.formalisms import derive
from torseur.graph import Expr
from torseur.mechanism import Mechanism
from torseur.simulation.rollout_programs import RolloutPrograms


class Rollouts:
    """A mechanism ready to be moved from many states at once: compiled once, called with any states and parameters.

    method         rk4 or semi_implicit, with fixed steps; dopri5, with its own steps in every motion
    precision      float32, float64, or mixed: single precision but for what is divided by, as the pivots of loops are
    outputs        what is recorded: names of coordinates, speeds and other quantities, or formulas; all states if none
    sensitivities  parameters and initial values, such as q1(0), by which outputs are differentiated
    fast_sines     sines from the special function unit, with absolute errors up to 5e-7

    Laws of the mechanism are compiled in. Closed loops are kept closed: every step ends with a way back to them.
    """

    def __init__(
        self,
        model: Equations | Mechanism,
        method: str = "rk4",
        precision: str = "float32",
        *,
        outputs: Sequence[str | Expr] = (),
        sensitivities: Sequence[str] = (),
        fast_sines: bool = False,
    ) -> None:
        self.equations = derive(model) if isinstance(model, Mechanism) else model
        self.programs = RolloutPrograms(self.equations, tuple(outputs), tuple(sensitivities))
        self.outputs = self.programs.names
        self._options = (method, precision, fast_sines)
        self._kernels: dict[bool, CudaRollout] = {}

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
        parameters: Mapping[str, Any] | None = None,
        rtol: float = 1e-6,
        atol: float = 1e-8,
    ) -> Any:
        """Outputs of shape (records, outputs, n) for n initial states q (nq, n) and v (nv, n).

        every       record each so many steps, and the last; 0 records the last alone
        tau         generalised forces besides the loads, constant along a motion: (nv, n), (nv,) or none
        parameters  numbers, or arrays with one number for each motion
        rtol, atol  of dopri5, which records at the same times as fixed steps would

        With sensitivities the shape is (records, 1 + sensitivities, outputs, n): values, then derivatives. A motion
        that could not be continued gives nan. NumPy arrays come back as NumPy arrays; those on the device stay there.
        """
        self._check(q, v, step, steps, every)
        on_host = isinstance(q, np.ndarray)
        states = self._start(q, v)
        values = self._values(parameters or {}, q.shape[1])
        forces = np.zeros(len(self.equations.layout.speeds)) if tau is None else tau
        plan = Steps(start, step, int(steps), int(every), rtol, atol)
        kernel = self._kernel(any(np.ndim(value) for value in values))
        out = kernel(*states, {"tau": forces, PARAMETERS: _stacked(values, q.shape[1])}, plan)
        if self.programs.parameters:
            out = out.reshape(len(out), 1 + len(self.programs.parameters), len(self.outputs), -1)
        return out.get() if on_host else out

    def _start(self, q: Any, v: Any) -> tuple[Any, Any]:
        if not self.programs.parameters:
            return q, v
        host = [x if isinstance(x, np.ndarray) else x.get() for x in (q, v)]
        return self.programs.start(*host)

    def _kernel(self, own_parameters: bool) -> CudaRollout:
        """The compiled rollout; with parameters of its own for each motion, or the same for all."""
        if own_parameters not in self._kernels:
            has = any(group.name == PARAMETERS for group in self.programs.inputs)
            shared = (PARAMETERS,) if has and not own_parameters else ()
            programs = self.programs
            self._kernels[own_parameters] = CudaRollout(
                programs.motion, programs.observe, programs.settle, shared, *self._options
            )
        return self._kernels[own_parameters]

    def _values(self, changes: Mapping[str, Any], n: int) -> list[Any]:
        """Values of all parameters; arrays for those that differ from motion to motion."""
        single = {name: value for name, value in changes.items() if not np.ndim(value)}
        many = {name: np.asarray(value, dtype=float) for name, value in changes.items() if np.ndim(value)}
        for name, array in many.items():
            if name not in self.equations.layout.parameter_names:
                raise TorseurError(unknown_name("parameter", name, self.equations.layout.parameter_names, "rollout: "))
            if array.shape != (n,):
                raise TorseurError(f"rollout: parameter '{name}' has shape {array.shape}, expected ({n},).")
        first = {name: float(array[0]) for name, array in many.items()}
        return [many.get(name, value) for name, value in motion_values(self.equations, single | first).items()]

    def _check(self, q: Any, v: Any, step: float, steps: int, every: int) -> None:
        layout = self.equations.layout
        for name, array, size in (("q", q, len(layout.coordinates)), ("v", v, len(layout.speeds))):
            if np.ndim(array) != 2 or array.shape[0] != size or array.shape[1] != q.shape[1]:
                raise TorseurError(f"rollout: {name} has shape {np.shape(array)}, expected ({size}, states).")
        if not (np.isfinite(step) and step != 0.0):
            raise TorseurError(f"rollout: step is {step}, expected a time in seconds that is not zero.")
        if steps < 1 or every < 0:
            raise TorseurError(f"rollout: steps is {steps} and every {every}, expected at least 1 and 0.")
        if self._options[0] == "dopri5" and (step < 0.0 or (every and steps % every)):
            raise TorseurError("rollout: dopri5 goes forward in time, and `every` must divide `steps`.")


def _stacked(values: Sequence[Any], n: int) -> np.ndarray:
    """Parameters as (parameters,) or, where some differ, (parameters, n)."""
    if not any(np.ndim(value) for value in values):
        return np.array(values, dtype=float)
    return np.array([np.broadcast_to(value, n) for value in values], dtype=float)


def rollout(
    model: Equations | Mechanism, q: Any, v: Any, *, method: str = "rk4", precision: str = "float32", **options: Any
) -> Any:
    """Motions from many states, compiled for this one call; `Rollouts` says what the arguments are."""
    return Rollouts(model, method, precision)(q, v, **options)
