"""Slopes by adjoint methods: back through the steps, back along the motion, and from a basis for all samples."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from torseur.errors import SimulationError, UnsupportedError
from torseur.sensitivity.adjoint import recorded
from torseur.sensitivity.by_direct import by_direct
from torseur.sensitivity.choice import Choice
from torseur.sensitivity.continuous import ContinuousAdjoint, basis
from torseur.sensitivity.course import Course
from torseur.sensitivity.growth import growth_of_weights, remarks
from torseur.sensitivity.results import Response, Sensitivities
from torseur.sensitivity.study import Study

BASIS_LOST = 1e-4  # condition number of a basis of adjoint solutions times the tolerance, beyond which it is not used


def by_adjoint(study: Study, choice: Choice) -> Sensitivities:
    """Slopes by the discrete adjoint, one motion per time at which criteria end."""
    ends = [study.end_of(criterion) for criterion in study.criteria]
    responses: dict[str, Response] = {}
    growth, statistics, seconds = 0.0, None, 0.0
    for until in dict.fromkeys(ends):
        here = [c for c, end in zip(study.criteria, ends, strict=True) if end == until]
        back = recorded(study.routines, replace(study.course, until=until), study.discontinuities)
        values, weights, of_parameters = study.end_weights(until, back.recording.end, here, back.recording.settings)
        back.loop(len(here))  # compiled before it is timed
        begin = perf_counter()
        at_start, pbar = back.back(weights, of_parameters)
        seconds += back.recording.run.statistics.wall_time + perf_counter() - begin
        slopes = pbar + at_start @ study.variation.initial_changes
        for k, criterion in enumerate(here):
            row = np.array([until]), values[k : k + 1], slopes[k : k + 1]
            responses[criterion.label] = study.response(criterion, *row)
        growth = max(growth, growth_of_weights(study.variation, at_start, weights, values).max(initial=0.0))
        statistics = back.recording.run.statistics
    notes, trusted = remarks(np.array([growth]), np.array([study.course.until]), study.course.rtol)
    notes = (*back.recording.run.notes, *notes)
    found = study.result(choice, [responses[c.label] for c in study.criteria], statistics, notes, trusted)
    return replace(found, seconds=seconds)


def by_continuous_adjoint(study: Study, choice: Choice) -> Sensitivities:
    """Slopes at the end by the continuous adjoint."""
    adjoint = ContinuousAdjoint(study.routines, _without_moments(study))
    settings = study.variation.system.solver_parameters
    known = adjoint.motion.t, adjoint.motion.y, study.criteria, lambda t: settings
    values, weights, of_parameters = study.end_weights(*known)
    slopes, at_start = adjoint.gradients(weights, of_parameters)
    times = np.array([study.course.until])
    responses = [study.response(c, times, values[k, None], slopes[k, None]) for k, c in enumerate(study.criteria)]
    growth = growth_of_weights(study.variation, at_start, weights, values).max(initial=0.0)
    notes, trusted = remarks(np.array([growth]), times, study.course.rtol)
    return study.result(choice, responses, adjoint.motion.statistics, notes, trusted)


def _without_moments(study: Study) -> Course:
    if len(study.discontinuities):
        raise UnsupportedError(
            "jumps of the state, and loads that switch, are for the direct method, or the discrete adjoint without "
            "samples."
        )
    if study.moments.criteria:
        raise UnsupportedError(
            f"criterion '{study.moments.criteria[0].label}': events and extrema are for the direct method, or the "
            "discrete adjoint without samples."
        )
    return study.course


def from_basis(study: Study, choice: Choice) -> Sensitivities:
    """Slopes at all samples by a basis of adjoint solutions; by the direct method where that loses digits."""
    adjoint, times = ContinuousAdjoint(study.routines, _without_moments(study)), study.course.times
    try:
        found = basis(adjoint)
        worst = float(found.conditions.max(initial=1.0))
    except SimulationError:
        worst = float("inf")
    if not worst * study.course.rtol < BASIS_LOST:
        text = f"the basis of adjoint solutions has condition number {worst:.1e}, too much for rtol"
        taken = by_direct(study, Choice("direct", f"{text} = {study.course.rtol:g}; the direct method took over"))
        return replace(taken, notes=(f"Adjoint over time: {taken.reason}.", *taken.notes))
    values, slopes, settings = [], [], study.variation.system.solver_parameters
    for k, (t, x) in enumerate(zip(times, adjoint.motion.samples, strict=True)):
        at_sample, weights, of_parameters = study.end_weights(float(t), x, study.criteria, lambda t: settings)
        values.append(at_sample)
        slopes.append(found.slopes(k, weights, of_parameters, study.variation.initial_changes))
    table, curves = np.array(values), np.array(slopes)
    responses = [study.response(c, times, table[:, k], curves[:, k]) for k, c in enumerate(study.criteria)]
    note = f"Condition number of the basis of adjoint solutions: at most {worst:.1e}."
    return study.result(choice, responses, adjoint.motion.statistics, (note,), True)
