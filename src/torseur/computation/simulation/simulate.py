"""`simulate`: from equations to a trajectory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from torseur.computation.simulation.constrained.solver.constrained_setup import at_start, formulation_named
from torseur.computation.simulation.constrained.start.diagnosis import explain_constrained
from torseur.computation.simulation.constrained.start.start_account import Consistent, account_notes, tree_account
from torseur.computation.simulation.constrained.stepping.stepped_motion import stepped_motion
from torseur.computation.simulation.constrained.stepping.stepped_result import SteppedResult
from torseur.computation.simulation.controllers import Control, Controller
from torseur.computation.simulation.events.state_jumps import Jumps
from torseur.computation.simulation.events.state_updates import StateUpdates, acting_together
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.loop.adjusting import SolverSettings
from torseur.computation.simulation.loop.routine_binding import TIME_STEPPING, Binding
from torseur.computation.simulation.model.first_order_form import Model, as_system, system_at_rest, without_switching
from torseur.computation.simulation.model.force_laws import given_laws
from torseur.computation.simulation.model.initial_state import stated_values
from torseur.computation.simulation.model.outputs_and_events import (
    Event,
    Impact,
    Output,
    as_events,
    distinct_impacts,
    is_python,
    output_program,
    outputs_besides_states,
)
from torseur.computation.simulation.model.singular_mass import require_determined
from torseur.computation.simulation.model.system import System, Vector
from torseur.computation.simulation.output.failure import failure_message
from torseur.computation.simulation.output.run_result import Result, columns_of
from torseur.computation.simulation.output.trajectory import Trajectory
from torseur.computation.simulation.problem import (
    Problem,
    Samples,
    Tolerance,
    absolute_tolerance,
    checked_rtol,
    finite_state,
    finite_time,
    kept_of_steps,
    longest_step,
    most_steps,
    sample_times,
)
from torseur.derivation.equations import Equations
from torseur.description.mechanism import Mechanism
from torseur.edges.budgets import NUMBER, require_memory
from torseur.errors import SimulationError, UnsupportedError

USUAL_STEP = 1e-3  # s, of motions in time steps


def simulate(
    model: Model,
    until: float,
    *,
    start: float = 0.0,
    samples: Samples = None,
    initial: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    outputs: Sequence[str | Output] = (),
    events: Sequence[str | Event | Impact] = (),
    laws: Mapping[str, Callable[..., float]] | None = None,
    controllers: Sequence[Controller] = (),
    method: str = "auto",
    formulation: str = "augmented",
    independent: Sequence[str] = (),
    rtol: float = 1e-9,
    atol: Tolerance = None,
    dense: bool = False,
    max_steps: int = 1_000_000,
    max_step: float | None = None,
    backend: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """The motion from `start` to `until` (which may lie before it).

    method      "explicit" (order 8), "radau5" or "radau9" (implicit, for stiff systems), or "auto": explicit, and
                implicit from where the system turns out to be stiff; "time_stepping" for many contacts: steps of
                max_step (1 ms by default), in each of which contacts and friction give impulses
    formulation of constrained systems: "augmented", "partitioned" or "projector"; they give the same motion
    independent coordinates or speeds that the partitioned formulation keeps independent while they are well conditioned
    samples     the times to keep, or how many, evenly spaced; by default every step of the method
    initial     values of states that replace those of the equations; `parameters` likewise. Coordinates and speeds that
                nobody gives follow from the constraints
    outputs     quantities by name, or formulas as texts: "energy", "elbow.force.x", "camber = angle(...)"
    events      likewise; also contacts that rebound (Impact)
    laws        a Python function for each law the equations leave open
    controllers functions of Python that set parameters at a sampling period; compiled code runs between their samples
    rtol, atol  error allowed per step and state: atol + rtol |y|. By default atol is rtol times the largest initial
                magnitude among the states of the same unit, or rtol where these vanish
    dense       keeps the interpolant of every step, so that `state_at` knows any time
    max_step    longest step; by default a tenth of the time span
    progress    is called now and then with the part of the time span that is done

    What was decided on the way (an implicit method, other independent speeds, redundant constraints, outputs that are
    not determined) stands in the trajectory's `notes`.

    Raises SimulationError when the motion ends early; its `trajectory` holds the valid part.
    """
    given = Request(model, start, until, samples, initial, parameters, outputs, events, laws, controllers, method,
                    formulation, independent, rtol, atol, dense, max_steps, max_step, backend, progress)  # fmt: skip
    return given.trajectory()


# Why options are flat outside and a record inside: docs/decisions/0097-options-by-keyword-records-inside.md.
@dataclass(frozen=True, eq=False)
class Request:
    """A motion as it is asked for; `simulate` says what each means."""

    model: Model
    start: float
    until: float
    samples: Samples
    initial: Mapping[str, float] | None
    parameters: Mapping[str, float] | None
    outputs: Sequence[str | Output]
    events: Sequence[str | Event | Impact]
    laws: Mapping[str, Callable[..., float]] | None
    controllers: Sequence[Controller]
    method: str
    formulation: str
    independent: Sequence[str]
    rtol: float
    atol: Tolerance
    dense: bool
    max_steps: int
    max_step: float | None
    backend: str
    progress: Callable[[float], None] | None

    def trajectory(self) -> Trajectory:
        """The motion; what ends it early is raised with the part that is valid."""
        if self.method == TIME_STEPPING:
            return self._in_time_steps()
        system, parameters = self._system(), dict(self.parameters or {})
        wanted = outputs_besides_states(self.outputs, system)
        columns = columns_of(system, wanted)
        # Outputs are read before times: a name that is none is what a user wants to hear of first.
        start, until = finite_time("start", self.start), finite_time("until", self.until)
        require_determined(system, start)
        settings, binding = SolverSettings(system, system.solver_parameters), Binding(system, self.laws)
        updates = StateUpdates(system, settings, binding, self.backend, start, until)
        asked = as_events([event for event in self.events if not isinstance(event, Impact)], system)
        # Compiled formulas first: the loop evaluates them in one block, and calls Python for the rest.
        ordered = tuple(sorted([*asked, *updates.events], key=is_python))
        jumps = Jumps(settings, ordered)
        acts = [updates.sample] if updates.periods else []
        if self.controllers:
            acts.insert(0, Control.of(self.controllers, _mechanism_of(self.model), jumps, start, until).act)
        times = sample_times(self.samples, start, until, len(columns))
        problem = replace(self._problem(system, settings, jumps, times), control=acting_together(acts))
        jumps.begin(start)
        formulas = output_program(wanted, system)
        run = binding.integrator_for(self.method, self.rtol, ordered, self.backend).run(problem)
        result = Result(binding, problem, run, wanted, formulas, columns, jumps, self.backend, self.samples is None,
                        self.dense)  # fmt: skip
        if run.error is not None:
            raise SimulationError(f"{system.name}: {run.error}", result.trajectory()) from run.error.__cause__
        if run.answer not in (memory.DONE, memory.STOPPED):
            raise SimulationError(failure_message(run, problem, system), result.trajectory())
        return replace(result.trajectory(), mechanism=_mechanism_of(self.model), parameters=parameters)

    def _in_time_steps(self) -> Trajectory:
        """The motion by steps of fixed length, with contacts and friction as impulses of each step."""
        full = self._as_system()
        bare = system_on_constraints(without_switching(full), self.laws, self.start, self.formulation)
        times = step_times(self.samples, self.start, self.until, self.max_step, self.dense)
        step = step_length(self.start, self.until, self.max_step)
        wanted = outputs_besides_states(self.outputs, full)
        columns = columns_of(full, wanted)
        require_memory(len(times), NUMBER * (len(columns) + 2 * len(full.states)), f"{len(times)} samples")
        settings, binding = SolverSettings(bare, bare.solver_parameters), Binding(bare, self.laws)
        updates = StateUpdates(bare, settings, binding, self.backend, self.start, self.until)
        asked = as_events([event for event in self.events if not isinstance(event, Impact)], full)
        jumps = Jumps(settings, tuple(sorted([*asked, *updates.events], key=is_python)))
        acts = [updates.sample] if updates.periods else []
        if self.controllers:
            control = Control.of(self.controllers, _mechanism_of(self.model), jumps, self.start, self.until)
            acts.insert(0, control.act)
        motion = stepped_motion(full, binding, self.start, step, checked_rtol(self.rtol), len(times))
        motion = replace(motion, events=jumps.events, backend=self.backend)
        problem = replace(
            self._problem(bare, settings, jumps, times),
            control=acting_together(acts), keep=memory.KEEP_NOTHING, marks=2 * len(motion.names),
        )  # fmt: skip
        jumps.begin(self.start)
        run = motion.integrator().run(problem)
        result = SteppedResult(motion, problem, run, wanted, output_program(wanted, full), columns, jumps)
        if run.error is not None:
            raise SimulationError(f"{full.name}: {run.error}", result.trajectory()) from run.error.__cause__
        if run.answer not in (memory.DONE, memory.STOPPED):
            raise SimulationError(result.failure(), result.trajectory())
        given = dict(self.parameters or {})
        return replace(result.trajectory(), mechanism=_mechanism_of(self.model), parameters=given)

    def _as_system(self) -> System:
        """The system of the model with the contacts that are asked for."""
        impacts = distinct_impacts([event for event in self.events if isinstance(event, Impact)])
        return as_system(self.model, self.parameters, self.initial, impacts)

    def _system(self) -> System:
        """y' = f(t, y, p) of the model, with an initial state on its constraints."""
        return system_on_constraints(self._as_system(), self.laws, self.start, self.formulation, self.independent)

    def _problem(self, system: System, settings: SolverSettings, jumps: Jumps, times: Vector) -> Problem:
        """What the loop needs: the state it starts from, tolerances, limits, and whom it asks on the way."""
        state = np.array(system.initial)
        return Problem(
            initial=finite_state(state, system),
            parameters=settings.parameters,
            start=float(self.start),
            until=float(self.until),
            rtol=checked_rtol(self.rtol),
            atol=absolute_tolerance(self.atol, self.rtol, system, state),
            times=times,
            keep=kept_of_steps(self.samples, self.dense),
            max_steps=most_steps(self.max_steps),
            max_step=longest_step(self.max_step, self.start, self.until),
            directions=jumps.directions,
            limits=jumps.limits,
            contacts=jumps.contacts,
            struck=jumps.struck,
            progress=self.progress,
            repartition=settings.repartition,
            hold=settings.hold,
            let_go=settings.let_go,
            reselect=settings.reselect if settings.has_choice else None,
            jump=jumps.apply,
        )


def _mechanism_of(model: Model) -> Mechanism | None:
    return model if isinstance(model, Mechanism) else model.mechanism if isinstance(model, Equations) else None


def initial_account(
    model: Model, parameters: Mapping[str, float] | None = None, initial: Mapping[str, float] | None = None
) -> Consistent | None:
    """Where a motion starts, what each value comes from and what was forced; None for a system that is no mechanism."""
    system = as_system(model, parameters, initial, ())
    if system.constrained is None:
        if system.programs is None:
            return None
        equations = system.programs.equations
        exact, guesses = stated_values(equations.mechanism, initial or {})
        return Consistent(np.array(system.initial), (), tree_account(equations, system.initial, exact, guesses))
    functions = dict(zip([law.name for law in system.laws], given_laws(system, None), strict=True))
    return at_start(system.constrained, np.array(system.values), functions, 0.0, np.array(system.initial))[1]


def system_on_constraints(
    system: System,
    laws: Mapping[str, Callable[..., float]] | None,
    start: float,
    formulation: str,
    independent: Sequence[str] = (),
) -> System:
    """The system with an initial state on its constraints."""
    chosen = formulation_named(formulation)  # a name that is none is refused where nothing needs it, too
    if system.constrained is None:
        return system
    functions = dict(zip([law.name for law in system.laws], given_laws(system, laws), strict=True))
    constrained = replace(system.constrained, formulation=chosen)
    values, state = np.array(system.values), np.array(system.initial)
    ready, found = at_start(constrained, values, functions, start, state, independent)
    assert ready.numbers is not None and ready.usual is not None
    if not system.states:  # nothing moves: the constraints hold at the start, and there is nothing to solve for
        return replace(system_at_rest(system), notes=found.notes)
    explain = partial(explain_constrained, ready.numbers, ready.usual)
    scales = system.scales
    if ready.numbers.play is not None and scales is None:  # a play is no size of the motion
        scales = tuple(system.state_scales(state).tolist())
    return replace(
        system,
        constrained=ready,
        initial=tuple(found.y.tolist()),
        notes=(*account_notes(found.account), *found.notes),
        explain=explain,
        scales=scales,
    )


def step_length(start: float, until: float, max_step: float | None) -> float:
    """The longest time step: what is given, or a millisecond, and no more than a tenth of the time span."""
    longest = longest_step(None, start, until)
    return min(USUAL_STEP, longest) if max_step is None else longest_step(max_step, start, until)


def step_times(samples: Samples, start: float, until: float, max_step: float | None, dense: bool) -> Vector:
    """The times to keep: those asked for, or the ends of all steps."""
    if until < start:
        raise UnsupportedError("method='time_stepping' goes forward in time: impacts cannot be undone.")
    if dense:
        raise UnsupportedError(
            "method='time_stepping' knows states at the ends of its steps alone: ask for samples instead of dense=True."
        )
    if samples is not None:
        return sample_times(samples, start, until)
    count = math.ceil((until - start) / step_length(start, until, max_step) * (1.0 - 1e-9)) if until > start else 0
    require_memory(count, 2 * NUMBER, f"{count} steps")
    return np.linspace(start, until, count + 1)
