"""A system bound to the routines: its programs and Python functions as their externals, then compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from torseur.algebra.graph import Program
from torseur.cache import Recent
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine, compile_routine
from torseur.computation.codegen.kernels.program_binding import CallbackSpec
from torseur.computation.codegen.routine import Array, External, Routine, Static, routine
from torseur.computation.simulation.constrained.contacts.contact_events import events_with_contacts
from torseur.computation.simulation.constrained.solved_quantities import events_of_solution, outputs_of_solution
from torseur.computation.simulation.events.time_switches import switches_of_system
from torseur.computation.simulation.implicit.implicit_setup import implicit_externals, implicit_statics
from torseur.computation.simulation.loop.integrate import integrate
from torseur.computation.simulation.loop.integrator import Integrator
from torseur.computation.simulation.model.force_laws import (
    arguments_program,
    call_user_function,
    events_with_laws,
    given_laws,
    law_callback,
    outputs_with_laws,
    rhs_jacobian_with_laws,
    rhs_with_laws,
)
from torseur.computation.simulation.model.outputs_and_events import Event, event_program, is_python
from torseur.computation.simulation.model.system import System, Vector
from torseur.computation.simulation.output.along_motion import outputs_along, settle_along
from torseur.errors import SimulationError, TorseurError, unknown_name

NF: int = Static("NF")  # number of event functions that are formulas

formula_events = External("formula_events", "t: float, y: Array, p: Array, g: Array")
python_events = External("python_events", "t: float, y: Array, p: Array, g: Array")

METHODS = ("auto", "explicit", "radau5", "radau9")
TIME_STEPPING = "time_stepping"  # has a loop of its own, constrained/stepping/
LOOSE = 1e-6  # relative tolerance from which the lower order is the cheaper one

kept_routines: Recent[CompiledRoutine] = Recent(64)


@routine
def mixed_events(t: float, y: Array, p: Array, g: Array) -> None:
    """Event functions: formulas first, then Python functions."""
    formula_events(t, y, p, g)
    python_events(t, y, p, g[NF:])


class Settle:
    """Brings states back on their manifold. It may be pickled: compiled code is made again where it is read."""

    def __init__(
        self,
        statics: dict[str, int],
        externals: dict[str, Any],
        backend: str,
        in_force: tuple[tuple[float, Vector], ...],
    ) -> None:
        self.statics, self.externals, self.backend, self.in_force = statics, externals, backend, in_force
        self._along = compile_once(settle_along, statics, externals, backend)

    def __call__(self, times: Vector, states: Vector) -> Vector:
        result = np.empty_like(states)
        # Constraints in force change where contacts do: each state goes back on those of its own time.
        starts = np.array([start for start, _ in self.in_force])
        forward = len(starts) < 2 or starts[-1] >= starts[0]
        number = np.searchsorted(starts if forward else -starts, times if forward else -times, side="right") - 1
        for k in np.unique(number):
            rows = np.flatnonzero(number == k)
            own, moved = np.ascontiguousarray(states[rows]), np.empty((len(rows), states.shape[1]))
            p = self.in_force[max(k, 0)][1]
            self._along(len(rows), np.ascontiguousarray(times[rows]), own.ravel(), p, moved.ravel())
            result[rows] = moved
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        if any(isinstance(value, CallbackSpec) for value in self.externals.values()):
            raise TorseurError("a dense motion with laws in Python cannot be pickled. Save its samples: motion.save.")
        return Settle, (self.statics, self.externals, self.backend, self.in_force)


class Binding:
    """Compile-time integers and externals of a system with its laws and events."""

    def __init__(self, system: System, laws: Mapping[str, Callable[..., float]] | None) -> None:
        self.system = system
        self.functions = given_laws(system, laws)
        n = len(system.states)
        absent = dict.fromkeys(("NG", "PROJECT", "PARTITIONED", "NS", "NE", "NJ", "HALF", "RIDES", "NU", "NA", "NQ"), 0)
        self.statics = {"N": n, **absent}
        self.externals: dict[str, Any] = {}
        if system.programs is not None:
            self.statics |= system.programs.statics
        if system.constrained is not None:
            self.statics |= {"PROJECT": 2, **system.constrained.statics}
            self.externals |= system.constrained.externals
        elif system.project is not None:
            self.statics["PROJECT"] = 1
            self.externals["project"] = system.project
        self.switches = switches_of_system(system)
        if self.switches.program is not None:
            self.statics["SWITCHES"] = 1
            self.externals["next_switch"] = self.switches.program
        if system.laws:
            self._bind_laws()

    @property
    def contacts(self) -> int:
        """Number of event functions of contacts and friction."""
        constrained = self.system.constrained
        return 0 if constrained is None or constrained.contacts is None else constrained.contacts.watched

    def integrator(self, events: Sequence[Event], backend: str, method: str = "explicit") -> Integrator:
        """The loop compiled for this system; formulas must come first among the events."""
        externals = self.externals | self.derivative() | self._events(events)
        formulas = sum(not is_python(event) for event in events)
        statics = self.statics | {"NG": self.contacts + len(events), "NF": formulas}
        if method != "explicit":
            statics |= implicit_statics(self.system, method)
            externals |= self._jacobian()
        loop = compile_once(integrate, statics, externals, backend)
        return Integrator(loop.call, loop.backend, method)

    def integrator_for(self, method: str, rtol: float, events: Sequence[Event], backend: str) -> Integrator:
        """The loop of a named method; "auto" starts explicitly and goes on implicitly where the system is stiff."""
        if method not in METHODS:
            raise TorseurError(unknown_name("method", method, (*METHODS, TIME_STEPPING)))
        if method != "auto":
            return self.integrator(events, backend, method)
        explicit = self.integrator(events, backend)
        implicit = "radau9" if rtol < LOOSE else "radau5"
        return replace(explicit, when_stiff=lambda: self.integrator(events, backend, implicit))

    def outputs(self, program: Program, times: Vector, states: Vector, p: Vector, backend: str) -> Vector:
        """Formulas evaluated along a motion, one column each."""
        size = len(program.outputs[0])
        bound = self.formulas("outputs", program)
        along = compile_once(outputs_along, self.statics | {"NZ": size}, self.externals | bound, backend)
        result = np.empty((len(times), size))
        along(len(times), times, states.ravel(), p, result.ravel())
        return result

    def settle(
        self, in_force: tuple[tuple[float, Vector], ...], backend: str
    ) -> Callable[[Vector, Vector], Vector] | None:
        """A function that brings states back on their manifold, None when the system has none.

        `in_force` are times with the parameters from there on.
        """
        if not self.statics["PROJECT"]:
            return None
        return Settle(dict(self.statics), dict(self.externals), backend, in_force)

    def _bind_laws(self) -> None:
        system, program = self.system, arguments_program(self.system)
        sizes = {"a": len(program.outputs[0]), "u": len(system.laws)}
        self.statics |= {"NA": sizes["a"], "NU": sizes["u"]}
        self.externals["law_arguments"] = program
        self.externals["law_values"] = CallbackSpec(law_callback(system.laws, self.functions), sizes)

    def derivative(self) -> dict[str, Any]:
        """The right-hand side behind its external, unless the constraints bring it."""
        system = self.system
        if system.constrained is not None:
            return {}
        if not isinstance(system.rhs, Program):
            return {"rhs": self._callback(_derivative_callback(system), "dy", len(system.states))}
        return self._with_laws("rhs", rhs_with_laws, system.rhs)

    def formulas(self, external: str, program: Program) -> dict[str, Any]:
        """Formulas behind their external, by way of the solution of a constrained system where they need it."""
        if set(self.system.solution) & set(program.inputs):
            wrapper = outputs_of_solution if external == "outputs" else events_of_solution
            return {external: wrapper, f"solved_{external}": program}
        wrapper = outputs_with_laws if external == "outputs" else events_with_laws
        return self._with_laws(external, wrapper, program)

    def _jacobian(self) -> dict[str, Any]:
        bound = implicit_externals(self.system)
        program = bound["rhs_jacobian"]
        if not isinstance(program, Program):
            return bound
        return self._with_laws("rhs_jacobian", rhs_jacobian_with_laws, program)

    def _with_laws(self, external: str, wrapper: Routine, program: Program) -> dict[str, Any]:
        """A program behind its external, by way of the laws when the system has some."""
        return {external: wrapper, f"driven_{external}": program} if self.system.laws else {external: program}

    def _events(self, events: Sequence[Event]) -> dict[str, Any]:
        """Event functions: contacts of the system first, then formulas, then Python functions."""
        bound = self._own_events(events)
        if self.contacts:
            if "events" in bound:
                bound["other_events"] = bound.pop("events")
            bound["events"] = events_with_contacts
        return bound

    def _own_events(self, events: Sequence[Event]) -> dict[str, Any]:
        formulas = [event for event in events if not is_python(event)]
        functions = [event for event in events if is_python(event)]
        bound: dict[str, Any] = {}
        if formulas:
            program = event_program(formulas, self.system)
            bound = self.formulas("events", program)
        if functions:
            callback = python_event_callback(functions, self.system)
            if not formulas:
                return {"events": callback}
            bound |= {"formula_events": bound["events"], "python_events": callback, "events": mixed_events}
        return bound

    def _callback(self, function: Callable[..., None], output: str, size: int) -> CallbackSpec:
        sizes = {"y": len(self.system.states), "p": len(self.system.parameters), output: size}
        return CallbackSpec(function, sizes)


def compile_once(
    entry: Routine, statics: Mapping[str, int], externals: Mapping[str, Any], backend: str
) -> CompiledRoutine:
    """The compiled routine; kept for the next time when no Python function is part of it."""
    if any(isinstance(value, CallbackSpec) for value in externals.values()):
        return compile_routine(entry, statics, externals, backend)
    parts = tuple((name, _identity(value)) for name, value in sorted(externals.items()))
    key = (entry, backend, tuple(sorted(statics.items())), parts)
    return kept_routines.get(key, lambda: compile_routine(entry, statics, externals, backend))


def _identity(external: Program | Routine) -> object:
    if isinstance(external, Program):
        return external.digest, tuple((group.name, len(group)) for group in external.inputs)
    return external


def _derivative_callback(system: System) -> Callable[[float, Vector, Vector, Vector], None]:
    """The system's Python function, filling dy in place."""
    function = system.rhs
    assert not isinstance(function, Program)

    def derivative(t: float, y: Vector, p: Vector, dy: Vector) -> None:
        try:
            dy[:] = function(t, y, p)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise SimulationError(f"the right-hand side failed at t = {t:.9g} s: {reason}") from error

    return derivative


def python_event_callback(events: Sequence[Event], system: System) -> CallbackSpec:
    """Event functions of Python behind an external."""
    sizes = {"y": len(system.states), "p": len(system.parameters), "g": len(events)}
    return CallbackSpec(_event_callback(events), sizes)


def _event_callback(events: Sequence[Event]) -> Callable[[float, Vector, Vector, Vector], None]:
    def values(t: float, y: Vector, p: Vector, g: Vector) -> None:
        for k, event in enumerate(events):
            assert callable(event.function)
            g[k] = call_user_function(f"event '{event.name}'", t, event.function, t, y)

    return values
