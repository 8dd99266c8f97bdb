"""`sensitivity`: from a model and criteria to their derivatives by the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from torseur.analysis.sensitivity.criteria.criteria import as_criteria, read_criterion
from torseur.analysis.sensitivity.criteria_derivatives import (
    SINGULAR,
    by_adjoint,
    by_continuous_adjoint,
    by_direct,
    from_basis,
)
from torseur.analysis.sensitivity.events.jumps import Jump
from torseur.analysis.sensitivity.extended_loop import MOST_BYTES, Course
from torseur.analysis.sensitivity.method_choice import Choice, choose_method, require_steps
from torseur.analysis.sensitivity.model.preparation import prepare
from torseur.analysis.sensitivity.model.varied_parameters import Requested, Varied
from torseur.analysis.sensitivity.results.sensitivities import Sensitivities
from torseur.analysis.sensitivity.results.verification import against_shorter_steps
from torseur.analysis.sensitivity.results.verification import verify as verify_result
from torseur.analysis.sensitivity.second_order.hessians import with_hessians
from torseur.analysis.sensitivity.sensitivity_study import Study
from torseur.computation.simulation.loop.routine_binding import TIME_STEPPING
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.first_order_form import Model
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.problem import Samples, Tolerance, finite_time, sample_times
from torseur.computation.simulation.simulate import step_length
from torseur.errors import TorseurError, UnsupportedError


def sensitivity(
    model: Model,
    criteria: str | Criterion | Sequence[str | Criterion],
    parameters: Requested | None = None,
    *,
    until: float,
    start: float = 0.0,
    samples: Samples = None,
    integral: bool = False,
    method: str = "auto",
    second_order: bool = False,
    verify: bool | None = None,
    values: Mapping[str, float] | None = None,
    initial: Mapping[str, float] | None = None,
    from_equilibrium: bool = False,
    jumps: Sequence[Jump | Impact] = (),
    laws: Mapping[str, Callable[..., object]] | None = None,
    rtol: float = 1e-9,
    atol: Tolerance = None,
    max_steps: int = 1_000_000,
    max_step: float | None = None,
    integrator: str = "auto",
    memory: float = MOST_BYTES,
    backend: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> Sensitivities:
    """How criteria of a motion change with parameters of the mechanism.

    criteria     formulas in the names of the mechanism, such as "kinetic_energy" or "arm.position.x^2", or Criterion
                 objects; `integral` makes integrals of plain formulas
    parameters   names of parameters ("m1"), of initial values ("q1(0)"), of constants without a name ("arm.mass",
                 "gravity.y", "grip[3]" for a point of a table); "l=l1+r2" varies both together. By default all
                 parameters of the mechanism
    samples      times, or how many, at which derivatives are wanted; by default the end only
    method       "direct", "adjoint" (of the integrator's own steps), "continuous_adjoint", or "auto", the cheaper one
    second_order adds the Hessian of each criterion, at the end
    verify       by default one more motion, with all parameters changed at once, is compared with the derivatives;
                 True compares each parameter by itself, at many motions each, and False nothing: `agreement` and
                 `trusted` of the result. In time steps both compare with the derivatives of steps half as long
    values       of parameters that replace those of the mechanism; `initial` likewise of coordinates and speeds
    from_equilibrium  starts at the equilibrium, which moves with the parameters, with `initial` values replaced there
    jumps        changes of the state where a formula changes sign (Jump), and contacts that rebound (Impact), whose
                 "restitution" or "NAME.restitution" may be among the parameters
    integrator   "explicit", "radau5" or "radau9" (implicit, for stiff motions), or "auto": explicit, and implicit from
                 where the motion turns out to be stiff; "time_stepping": steps of max_step (1 ms by default) for many
                 contacts, whose derivatives have an error of first order in the step
    memory       bytes that the adjoint may keep of the motion; beyond them parts of it are computed twice
    """
    start, until = finite_time("start", start), finite_time("until", until)
    for entry in jumps:
        if not isinstance(entry, Jump | Impact):
            raise TorseurError(f"a jump is a Jump or an Impact, not {entry!r}.")
    impacts, own = [j for j in jumps if isinstance(j, Impact)], [j for j in jumps if isinstance(j, Jump)]
    # From equilibrium, `initial` replaces values of the state found there; the search starts without it.
    given = {} if from_equilibrium else initial or {}
    in_steps = integrator == TIME_STEPPING
    if in_steps:
        require_steps(method, second_order, bool(own), from_equilibrium)
    ready = prepare(model, parameters, values or {}, given, laws or {}, start, impacts, in_steps)
    if from_equilibrium:
        ready = replace(ready, initial=initial or {})
    wanted = as_criteria(criteria, integral)
    times = np.array([until]) if samples is None else sample_times(samples, start, until, 8)
    course = Course(start, until, times, rtol, atol, max_steps, max_step, backend, memory, progress, integrator)
    read = tuple(read_criterion(c, ready.switching or ready.system) for c in wanted)
    study = Study(ready, read, course, tuple(own), from_equilibrium)
    result = _answer(study, method, second_order)
    return _verify(study, result, verify)


def _answer(study: Study, method: str, second_order: bool) -> Sensitivities:
    """The derivatives, by the method asked for or the cheaper one."""
    if study.in_steps:
        choice = Choice("direct", "in time steps")
    else:
        choice = choose_method(method, study.routines, len(study.criteria), len(study.course.times))
    result = _by(study, choice)
    if second_order:
        _refuse_friction(study)
        result = replace(result, responses=with_hessians(study, result.responses))
    return replace(result, notes=(*study.variation.system.notes, *study.notes(result.responses), *result.notes))


def _refuse_friction(study: Study) -> None:
    programs = study.variation.system.programs
    if programs is not None and programs.friction:
        raise UnsupportedError(
            f"friction '{programs.friction[0].name}': second derivatives do not cover dry friction. First ones do."
        )


def _by(study: Study, choice: Choice) -> Sensitivities:
    if choice.method == "direct" or study.course.until == study.course.start:
        return by_direct(study, choice)
    if len(study.course.times) > 1:
        return from_basis(study, choice)
    return by_adjoint(study, choice) if choice.method == "adjoint" else by_continuous_adjoint(study, choice)


def _verify(study: Study, result: Sensitivities, each: bool | None) -> Sensitivities:
    """The result with what differences of motions say of it; of time steps, what steps half as long say."""
    if study.in_steps:
        if each is False or not result.responses:
            return result
        course = study.course
        halved = replace(course, max_step=0.5 * step_length(course.start, course.until, course.max_step), progress=None)
        return against_shorter_steps(result, by_direct(replace(study, course=halved), Choice("direct", "")))
    # Differences lose digits to the tolerance of the motions that they are made of.
    tight = replace(study.course, rtol=max(1e-2 * study.course.rtol, 1e-13), progress=None)

    def values_after_shift(parameter: Varied, step: float, tightly: bool) -> list[Vector]:
        ready = study.ready.with_shift(parameter, step)
        read = tuple(read_criterion(c.criterion, ready.system) for c in study.criteria)
        course = tight if tightly else replace(study.course, progress=None)
        shifted = by_direct(replace(study, ready=ready, criteria=read, course=course), Choice("direct", ""))
        doubts.extend(note for note in shifted.notes if note == SINGULAR)
        return [response.values for response in shifted.responses]

    doubts: list[str] = []
    verified = verify_result(result, values_after_shift, study.course.rtol, each, lambda: bool(doubts))
    return verified if verified.trusted else replace(verified, notes=(*verified.notes, *dict.fromkeys(doubts)))
