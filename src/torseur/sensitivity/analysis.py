"""`sensitivity`: from a model and criteria to their slopes by the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from torseur.errors import TorseurError
from torseur.sensitivity.by_adjoint import by_adjoint, by_continuous_adjoint, from_basis
from torseur.sensitivity.by_direct import by_direct
from torseur.sensitivity.choice import Choice, chosen
from torseur.sensitivity.course import MOST_BYTES, Course
from torseur.sensitivity.criteria import as_criteria, read_criterion
from torseur.sensitivity.hessians import with_hessians
from torseur.sensitivity.jumps import Jump
from torseur.sensitivity.parameters import Requested, Varied
from torseur.sensitivity.preparation import prepare
from torseur.sensitivity.results import Response, Sensitivities
from torseur.sensitivity.study import Study
from torseur.sensitivity.verification import Agreement, agreements
from torseur.simulation.criterion import Criterion
from torseur.simulation.from_equations import Model
from torseur.simulation.problem import Samples, Tolerance, finite_time, sample_times
from torseur.simulation.requests import Impact
from torseur.simulation.system import Vector


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
    verify: bool = False,
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
    samples      times, or how many, at which slopes are wanted; by default the end only
    method       "direct", "adjoint" (of the integrator's own steps), "continuous_adjoint", or "auto", the cheaper one
    second_order adds the Hessian of each criterion, at the end
    verify       compares the slopes with differences of motions: `agreement` of the result
    values       of parameters that replace those of the mechanism; `initial` likewise of coordinates and speeds
    from_equilibrium  starts at the equilibrium, which moves with the parameters, with `initial` values replaced there
    jumps        changes of the state where a formula changes sign (Jump), and contacts that rebound (Impact), whose
                 "restitution" or "NAME.restitution" may be among the parameters
    integrator   "explicit", "radau5" or "radau9" (implicit, for stiff motions), or "auto": explicit, and implicit from
                 where the motion turns out to be stiff
    memory       bytes that the adjoint may keep of the motion; beyond them parts of it are computed twice
    """
    start, until = finite_time("start", start), finite_time("until", until)
    for entry in jumps:
        if not isinstance(entry, Jump | Impact):
            raise TorseurError(f"a jump is a Jump or an Impact, not {entry!r}.")
    impacts, own = [j for j in jumps if isinstance(j, Impact)], [j for j in jumps if isinstance(j, Jump)]
    given = {} if from_equilibrium else initial or {}
    ready = prepare(model, parameters, values or {}, given, laws or {}, start, impacts)
    if from_equilibrium:
        ready = replace(ready, initial=initial or {})
    wanted = as_criteria(criteria, integral)
    times = np.array([until]) if samples is None else sample_times(samples, start, until)
    course = Course(start, until, times, rtol, atol, max_steps, max_step, backend, memory, progress, integrator)
    study = Study(ready, tuple(read_criterion(c, ready.system) for c in wanted), course, tuple(own), from_equilibrium)
    found = _answer(study, method, second_order)
    return replace(found, agreement=_verified(study, found.responses)) if verify else found


def _answer(study: Study, method: str, second_order: bool) -> Sensitivities:
    """The slopes, by the method asked for or the cheaper one."""
    choice = chosen(method, study.routines, len(study.criteria), len(study.course.times))
    found = _by(study, choice)
    if second_order:
        found = replace(found, responses=with_hessians(study, found.responses))
    before = (*study.variation.system.notes, *study.unfree(), *study.stepped(), *study.untouched(found.responses))
    return replace(found, notes=(*before, *found.notes))


def _by(study: Study, choice: Choice) -> Sensitivities:
    if choice.method == "direct" or study.course.until == study.course.start:
        return by_direct(study, choice)
    if len(study.course.times) > 1:
        return from_basis(study, choice)
    return by_adjoint(study, choice) if choice.method == "adjoint" else by_continuous_adjoint(study, choice)


def _verified(study: Study, responses: Sequence[Response]) -> tuple[Agreement, ...]:
    """How the slopes agree with differences of motions at a tighter tolerance."""
    tight = replace(study.course, rtol=max(1e-2 * study.course.rtol, 1e-13))

    def shifted(parameter: Varied, step: float) -> list[Vector]:
        moved = study.ready.shifted(parameter, step)
        ready = replace(moved, varied=())
        read = tuple(read_criterion(c.criterion, ready.system) for c in study.criteria)
        moved_study = replace(study, ready=ready, criteria=read, course=tight)
        return [response.values for response in by_direct(moved_study, Choice("direct", "")).responses]

    return agreements(study.variation.varied, responses, shifted)
