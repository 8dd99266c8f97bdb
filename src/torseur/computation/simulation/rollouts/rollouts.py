"""Many motions of one mechanism at once, each in a thread of a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from torseur.algebra.graph import Expr, Input
from torseur.computation.codegen import bake
from torseur.computation.codegen.targets.cuda.rollout.rollout_kernel import CudaRollout, Steps
from torseur.computation.codegen.targets.cuda.rollout.rollout_source import RolloutParts
from torseur.computation.functions.mechanism_functions import PARAMETERS
from torseur.computation.functions.single_precision import in_single_precision
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.outputs_and_events import Event
from torseur.computation.simulation.rollouts.rollout_criteria import RolloutCriteria
from torseur.computation.simulation.rollouts.rollout_programs import RolloutPrograms
from torseur.computation.simulation.rollouts.rollout_switches import PART, shortest_interval
from torseur.computation.simulation.rollouts.watched_rollouts import METHODS
from torseur.derivation.equations import Equations, motion_values
from torseur.derivation.formalisms import derive
from torseur.description.mechanism import Mechanism, require_smooth
from torseur.errors import TorseurError, UnsupportedError, unknown_name

OWN = "varied"
"""The input of parameters that differ from motion to motion."""


class Judged(NamedTuple):
    """Motions with criteria: what was recorded, if anything was asked for, and the criteria."""

    records: Any
    criteria: Any


class Rollouts:
    """A mechanism ready to be moved from many states at once: compiled once, called with any states and parameters.

    method         rk4 or semi_implicit, with fixed steps; dopri5, with its own steps in every motion
    precision      float32, float64, or mixed: single precision but for what is divided by, as the pivots of loops are
    outputs        what is recorded: names of coordinates, speeds and other quantities, or formulas; all states if
                   neither outputs nor criteria are asked for
    sensitivities  parameters and initial values, such as q1(0), by which outputs and criteria are differentiated
    criteria       numbers of a motion: values at its end, integrals, largest and smallest values, values at events and
                   their times; formulas are names or expressions
    stop           an event that ends the motion: Event("q1", direction=-1, stop=True)
    fast_sines     sines from the special function unit, with absolute errors up to 5e-7 and what two units in the last
                   place of the angle make

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
        criteria: Sequence[Criterion] = (),
        stop: Event | None = None,
        fast_sines: bool = False,
    ) -> None:
        equations = derive(model) if isinstance(model, Mechanism) else model
        require_smooth(equations.mechanism, "a rollout on a GPU")
        self.equations = in_single_precision(equations) if precision == "float32" else equations
        self.programs = RolloutPrograms(self.equations, tuple(outputs), tuple(sensitivities), tuple(criteria))
        self.watched = RolloutCriteria(self.programs, stop)
        self.outputs = self.programs.names
        if method not in METHODS:
            raise UnsupportedError(unknown_name("method", method, METHODS))
        self._options = (METHODS[method], precision, fast_sines)
        self._kernels: dict[tuple[tuple[str, ...], bool], CudaRollout] = {}

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
        changes: np.ndarray | None = None,
        rtol: float = 1e-6,
        atol: float | Sequence[float] = 1e-8,
        max_step: float | None = None,
    ) -> Any:
        """Outputs of shape (records, outputs, n) for n initial states q (nq, n) and v (nv, n).

        One column of q, v or changes stands for all motions where parameters tell how many there are.

        every       record each so many steps, and the last; 0 records the last alone
        tau         generalised forces besides the loads, constant along a motion: (nv, n), (nv,) or none
        parameters  numbers, or arrays with one number for each motion
        changes     of the initial states by the sensitivities: (sensitivities, nq + nv, n); by default those of the
                    initial values that are asked for
        rtol, atol  of dopri5, which records at the same times as fixed steps would; atol for all, or for each
                    coordinate, speed and integral
        max_step    longest step of dopri5; by default none but that between records

        With sensitivities the shape is (records, 1 + sensitivities, outputs, n): values, then derivatives. With
        criteria or a stop the result is a pair, records and criteria, (criteria, n) or (1 + sensitivities, criteria,
        n). A motion that could not be continued gives nan, as does a criterion whose event did not happen. NumPy
        arrays come back as NumPy arrays; those on the device stay there.
        """
        n = self._motions(q, v, parameters or {})
        self._check(step, steps, every)
        on_host = isinstance(q, np.ndarray)
        values = self._values(parameters or {}, n)
        tolerances = self._tolerances(atol, values)
        longest = self._longest_step(values, start, step, steps, np.inf if max_step is None else max_step)
        plan = Steps(start, step, int(steps), int(every), rtol, tolerances, longest)
        own = {name: value for name, value in values.items() if np.ndim(value)}
        given = {"tau": tau, PARAMETERS: np.array([x for x in values.values() if not np.ndim(x)], dtype=float)}
        given |= {OWN: np.array(list(own.values()), dtype=float)} if own else {}
        records, judged = self._kernel(tuple(own), tau is not None)(*self._start(q, v, changes), given, plan, n)
        if self.programs.parameters:
            records = records.reshape(len(records), 1 + len(self.programs.parameters), len(self.outputs), n)
        records = records.get() if on_host else records
        if judged is None:
            return records
        judged = judged.transpose(1, 0, 2) if self.programs.parameters else judged[:, 0]
        return Judged(records if self.outputs else None, judged.get() if on_host else judged)

    def _start(self, q: Any, v: Any, changes: np.ndarray | None) -> tuple[Any, Any]:
        if not self.programs.parameters:
            return q, v
        host = [x if isinstance(x, np.ndarray) else x.get() for x in (q, v)]
        return self.programs.start(host[0], host[1], changes)

    def _kernel(self, own: tuple[str, ...], forced: bool) -> CudaRollout:
        """The compiled rollout for parameters of which some differ from motion to motion, with forces or without."""
        if (own, forced) not in self._kernels:
            parts = with_own(
                self.watched.parts if forced else without_generalised_forces(self.watched.parts), self.equations, own
            )
            shared = [g.name for g in parts.programs["motion"].inputs if g.name == PARAMETERS]
            self._kernels[own, forced] = CudaRollout(parts, shared, *self._options)
        return self._kernels[own, forced]

    def _values(self, changes: Mapping[str, Any], n: int) -> dict[str, Any]:
        """Values of all parameters; arrays for those that differ from motion to motion."""
        single = {name: value for name, value in changes.items() if not np.ndim(value)}
        many = {name: np.asarray(value, dtype=float) for name, value in changes.items() if np.ndim(value)}
        for name, array in many.items():
            if name not in self.equations.layout.parameter_names:
                raise TorseurError(unknown_name("parameter", name, self.equations.layout.parameter_names, "rollout: "))
            if array.shape != (n,):
                raise TorseurError(f"rollout: parameter '{name}' has shape {array.shape}, expected ({n},).")
        first = {name: float(array[0]) for name, array in many.items()}
        return {name: many.get(name, value) for name, value in motion_values(self.equations, single | first).items()}

    def _tolerances(self, atol: float | Sequence[float], values: Mapping[str, Any]) -> tuple[float, ...]:
        """Absolute tolerances of the state with its columns and integrals."""
        layout, integrals = self.equations.layout, len(self.programs.integrands)
        states = len(layout.coordinates) + len(layout.speeds)
        if np.ndim(atol) and len(np.asarray(atol)) != states + integrals:
            raise TorseurError(
                f"rollout: atol has {len(np.asarray(atol))} entries, expected one number, or {states} for the states"
                f"{f' and {integrals} for the integrals' * bool(integrals)}."
            )
        own = np.broadcast_to(np.asarray(atol, dtype=float), states + integrals)
        sizes = [abs(float(np.mean(values.get(name, 1.0)))) or 1.0 for name in self.programs.parameters]
        return tuple(self.programs.spread(own[:states], own[states:], sizes).tolist())

    def _longest_step(self, values: Mapping[str, Any], start: float, step: float, steps: int, max_step: float) -> float:
        """The longest step that passes over no pulse; refuses fixed steps that would."""
        layout = self.equations.layout
        parameters = {node: values[name] for name, node in zip(layout.parameter_names, layout.parameters, strict=True)}
        interval = shortest_interval(self.programs.next_switch, parameters, start, start + step * steps)
        if self._options[0].is_adaptive:
            return min(max_step, PART * interval)
        if abs(step) > interval:
            raise TorseurError(
                f"rollout: step is {step:g} s, and the equations switch by time twice within {interval:.4g} s, which "
                f"such steps may pass over. Choose step at most {PART * interval:.4g} s, or method 'dopri5'."
            )
        return max_step

    def _motions(self, q: Any, v: Any, parameters: Mapping[str, Any]) -> int:
        """How many motions there are."""
        layout = self.equations.layout
        lengths = [len(value) for value in parameters.values() if np.ndim(value)]
        n = max([array.shape[1] for array in (q, v) if np.ndim(array) == 2] + lengths, default=1)
        for name, array, size in (("q", q, len(layout.coordinates)), ("v", v, len(layout.speeds))):
            if np.ndim(array) != 2 or array.shape[0] != size or array.shape[1] not in (1, n):
                raise TorseurError(f"rollout: {name} has shape {np.shape(array)}, expected ({size}, {n} states).")
        return n

    def _check(self, step: float, steps: int, every: int) -> None:
        if not (np.isfinite(step) and step != 0.0):
            raise TorseurError(f"rollout: step is {step}, expected a time in seconds that is not zero.")
        if steps < 1 or every < 0:
            raise TorseurError(f"rollout: steps is {steps} and every {every}, expected at least 1 and 0.")
        watched = bool(self.programs.criteria) or self.watched.stop is not None
        adaptive = self._options[0].is_adaptive
        if step < 0.0 and (adaptive or watched):
            raise TorseurError("rollout: dopri5, criteria and stop go forward in time; step is negative.")
        if adaptive and every and steps % every:
            raise TorseurError(f"rollout: every is {every} and must divide steps, {steps}, with dopri5.")


def without_generalised_forces(parts: RolloutParts) -> RolloutParts:
    """The programs without generalised forces besides the loads."""
    programs = {}
    for name, program in parts.programs.items():
        zeros = {group.name: [0.0] * len(group) for group in program.inputs if group.name == "tau"}
        programs[name] = bake(program, zeros)
    return replace(parts, programs=programs)


def with_own(parts: RolloutParts, equations: Equations, own: Sequence[str]) -> RolloutParts:
    """The programs with the parameters that differ from motion to motion as an input of their own."""
    if not own:
        return parts
    layout = equations.layout
    nodes = dict(zip(layout.parameter_names, layout.parameters, strict=True))
    chosen = Input(OWN, tuple(nodes[name] for name in own))
    shared = Input(PARAMETERS, tuple(node for name, node in nodes.items() if name not in own))
    programs = {}
    for name, program in parts.programs.items():
        kept = [group for group in program.inputs if group.name != PARAMETERS]
        inputs = (*kept, *([shared] if len(shared) else []), chosen)
        programs[name] = replace(program, inputs=inputs)
    return replace(parts, programs=programs)


def rollout(
    model: Equations | Mechanism, q: Any, v: Any, *, method: str = "rk4", precision: str = "float32", **options: Any
) -> Any:
    """Motions from many states, compiled for this one call; `Rollouts` says what the arguments are."""
    return Rollouts(model, method, precision)(q, v, **options)
