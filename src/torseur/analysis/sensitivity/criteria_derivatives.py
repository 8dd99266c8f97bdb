"""Derivatives of criteria by each method, and whether these numbers mean something: how much small errors grow."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from torseur.analysis.sensitivity.adjoint.continuous_adjoint import ContinuousAdjoint, basis
from torseur.analysis.sensitivity.adjoint.discrete_adjoint import record_motion
from torseur.analysis.sensitivity.criteria.criteria_at_events import Instant
from torseur.analysis.sensitivity.direct.direct_method import Tangents
from torseur.analysis.sensitivity.extended_loop import Course
from torseur.analysis.sensitivity.method_choice import Choice
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.results.sensitivities import Response, Sensitivities
from torseur.analysis.sensitivity.sensitivity_study import Study
from torseur.computation.simulation.model.system import Vector
from torseur.errors import SimulationError, UnsupportedError


def by_direct(study: Study, choice: Choice) -> Sensitivities:
    """All criteria from one integration of states and tangents."""
    tangents, jumps = study.tangents()
    states = len(study.variation.states)
    values, derivatives = _observe_values(study, tangents)
    table = {c.label: (tangents.times, values[:, k], derivatives[:, k]) for k, c in enumerate(study.values)}
    for k, criterion in enumerate(study.integrals):
        table[criterion.label] = (tangents.times, tangents.x[:, states + k], tangents.u[:, states + k])
    table |= _at_instants(study, tangents, jumps)
    responses = [study.response(criterion, *table[criterion.label]) for criterion in study.criteria]
    notes, trusted = remarks(growth_of_tangents(study.variation, tangents.u), tangents.times, study.course.rtol)
    notes = (
        *tangents.run.notes,
        *study.search_notes(tangents.run, jumps),
        *notes,
        *((SINGULAR,) if tangents.passes_singularity else ()),
    )
    return study.result(choice, responses, tangents.run.statistics, notes, trusted)


def _observe_values(study: Study, tangents: Tangents) -> tuple[Vector, Vector]:
    if not study.values:
        return np.empty((len(tangents.times), 0)), np.empty((len(tangents.times), 0, study.variation.columns))
    states = len(study.variation.states)
    return study.observation.tangents(tangents.times, tangents.x[:, :states], tangents.u[:, :states], tangents.settings)


def _at_instants(study: Study, tangents: Tangents, jumps: int) -> dict[str, tuple[Vector, Vector, Vector]]:
    """Time, value and derivatives of the criteria whose time the motion decides."""
    states, table = len(study.variation.states), {}
    begin = Instant(study.course.start, np.array(study.variation.system.initial), study.variation.start)
    end = Instant(tangents.end.t, tangents.end.x[:states], tangents.end.u[:states])
    for k, criterion in enumerate(study.instants.criteria):
        # Marks of all event functions are numbered in one row, discontinuities first.
        marks = [Instant(m.t, m.x[:states], m.u[:states]) for m in tangents.marks if m.number == jumps + k]
        instant = study.instants.choose(k, marks, [begin, end], tangents.settings)
        value, derivatives = study.instants.derivatives(k, instant, tangents.settings)
        table[criterion.label] = (np.array([instant.t]), np.array([value]), derivatives[None])
    return table


SINGULAR = "The motion passes a singular configuration, near which derivatives lose digits."
SUSPECT = 1e-3  # growth times tolerance from which digits are lost
MEANINGLESS = 1.0
BASIS_LOST = 1e-4  # condition number of a basis of adjoint solutions times the tolerance, beyond which it is not used


def by_adjoint(study: Study, choice: Choice) -> Sensitivities:
    """Derivatives by the discrete adjoint, one motion per time at which criteria end."""
    ends = [study.end_of(criterion) for criterion in study.criteria]
    responses: dict[str, Response] = {}
    growth, statistics, seconds = 0.0, None, 0.0
    # Criteria that end at the same time share a motion and one way back; a fixed end is shared by all that have no
    # event.
    for until in dict.fromkeys(ends):
        here = [c for c, end in zip(study.criteria, ends, strict=True) if end == until]
        back = record_motion(study.routines, replace(study.course, until=until), study.discontinuities)
        values, adjoints, of_parameters = study.end_adjoints(until, back.recording.end, here, back.recording.settings)
        back.loop(len(here))  # compiled before it is timed
        begin = perf_counter()
        derivatives, at_start = back.gradients(adjoints, of_parameters)
        seconds += back.recording.run.statistics.wall_time + perf_counter() - begin
        for k, criterion in enumerate(here):
            row = np.array([until]), values[k : k + 1], derivatives[k : k + 1]
            responses[criterion.label] = study.response(criterion, *row)
        growth = max(growth, growth_of_adjoints(study.variation, at_start, adjoints, values).max(initial=0.0))
        statistics = back.recording.run.statistics
    notes, trusted = remarks(np.array([growth]), np.array([study.course.until]), study.course.rtol)
    notes = (*back.recording.run.notes, *study.notes_of_instants, *notes)
    result = study.result(choice, [responses[c.label] for c in study.criteria], statistics, notes, trusted)
    return replace(result, seconds=seconds)


def by_continuous_adjoint(study: Study, choice: Choice) -> Sensitivities:
    """Derivatives at the end by the continuous adjoint."""
    adjoint = ContinuousAdjoint(study.routines, _course_without_events(study))
    settings = study.variation.system.solver_parameters
    known = adjoint.motion.t, adjoint.motion.y, study.criteria, lambda t: settings
    values, adjoints, of_parameters = study.end_adjoints(*known)
    derivatives, at_start = adjoint.gradients(adjoints, of_parameters)
    times = np.array([study.course.until])
    responses = [study.response(c, times, values[k, None], derivatives[k, None]) for k, c in enumerate(study.criteria)]
    growth = growth_of_adjoints(study.variation, at_start, adjoints, values).max(initial=0.0)
    notes, trusted = remarks(np.array([growth]), times, study.course.rtol)
    return study.result(choice, responses, adjoint.motion.statistics, notes, trusted)


def _course_without_events(study: Study) -> Course:
    if len(study.discontinuities):
        raise UnsupportedError(
            "jumps of the state and loads that switch need the direct method, or the discrete adjoint without samples."
        )
    if study.instants.criteria:
        raise UnsupportedError(
            f"criterion '{study.instants.criteria[0].label}': events and extrema need the direct method, or the "
            "discrete adjoint without samples."
        )
    return study.course


def from_basis(study: Study, choice: Choice) -> Sensitivities:
    """Derivatives at all samples by a basis of adjoint solutions; by the direct method where that loses digits."""
    adjoint, times = ContinuousAdjoint(study.routines, _course_without_events(study)), study.course.times
    try:
        solutions = basis(adjoint)
        worst = float(solutions.conditions.max(initial=1.0))
    except SimulationError:
        worst = float("inf")
    # Written so that a condition number that is not a number counts as lost.
    if not worst * study.course.rtol < BASIS_LOST:
        text = f"the basis of adjoint solutions has condition number {worst:.1e}, too much for rtol"
        taken = by_direct(study, Choice("direct", f"{text} = {study.course.rtol:g}; the direct method took over"))
        return replace(taken, notes=(f"Adjoint over time: {taken.reason}.", *taken.notes))
    values, derivatives, settings = [], [], study.variation.system.solver_parameters
    for k, (t, x) in enumerate(zip(times, adjoint.motion.samples, strict=True)):
        at_sample, adjoints, of_parameters = study.end_adjoints(float(t), x, study.criteria, lambda t: settings)
        values.append(at_sample)
        derivatives.append(solutions.derivatives(k, adjoints, of_parameters, study.variation.initial_tangents))
    table, curves = np.array(values), np.array(derivatives)
    responses = [study.response(c, times, table[:, k], curves[:, k]) for k, c in enumerate(study.criteria)]
    note = f"Condition number of the basis of adjoint solutions: at most {worst:.1e}."
    return study.result(choice, responses, adjoint.motion.statistics, (note,), True)


def growth_of_tangents(variation: Variation, u: Vector) -> Vector:
    """Largest relative change of a state per relative change of a parameter, at each sample."""
    scales = variation.system.state_scales(np.array(variation.system.initial))
    values = np.array([parameter.scale for parameter in variation.varied])
    states = len(variation.states)
    relative = np.abs(u[:, :states]) * values / scales[:, None]
    return np.asarray(relative.max(axis=(1, 2), initial=0.0))


def growth_of_adjoints(variation: Variation, at_start: Vector, at_end: Vector, values: Vector) -> Vector:
    """Largest change of a criterion by one of the initial state, in units of that by one at the end, or of itself."""
    scales = variation.system.state_scales(np.array(variation.system.initial))
    states = len(variation.states)
    first, last = ((np.abs(w[:, :states]) * scales).max(axis=1, initial=0.0) for w in (at_start, at_end))
    sizes = np.maximum(np.maximum(np.abs(values), last), 1e-300)
    return np.asarray(first / sizes)


def remarks(growth: Vector, times: Vector, rtol: float) -> tuple[tuple[str, ...], bool]:
    """What is said about such growth, and whether the numbers can be trusted."""
    # Errors of the motion grow as tangents and adjoints do: rtol times their growth is what is lost.
    bad = np.flatnonzero(~(growth * rtol < SUSPECT))
    if not bad.size:
        return (), True
    worst = float(growth.max()) if np.all(np.isfinite(growth)) else float("inf")
    since = f"from t = {times[bad[0]]:.4g} s on "
    grown = f"small changes grow {worst:.1e} times along this motion"
    if worst * rtol < MEANINGLESS:
        return (f"{since}{grown}: about {-np.log10(worst * rtol):.0f} digits are left at rtol = {rtol:g}.",), True
    advice = "The motion is chaotic or unstable; study a shorter span, or a criterion that averages over time."
    return (f"Not to be trusted {since}: {grown}, so that errors of rtol = {rtol:g} swamp them. {advice}",), False
