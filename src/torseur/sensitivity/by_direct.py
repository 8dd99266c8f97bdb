"""Slopes by the direct method: values and integrals at samples, events and extrema, across jumps."""

from __future__ import annotations

import numpy as np

from torseur.sensitivity.choice import Choice
from torseur.sensitivity.direct import Changes, direct
from torseur.sensitivity.growth import growth_of_changes, remarks
from torseur.sensitivity.moments import Moment
from torseur.sensitivity.results import Sensitivities
from torseur.sensitivity.study import Study
from torseur.simulation.system import Vector


def by_direct(study: Study, choice: Choice) -> Sensitivities:
    """All criteria from one integration of states and changes."""
    jumps = study.discontinuities
    found = direct(study.routines, study.course, study.moments.watch(jumps), jumps)
    states = len(study.variation.states)
    values, slopes = _observed(study, found)
    table = {c.label: (found.times, values[:, k], slopes[:, k]) for k, c in enumerate(study.values)}
    for k, criterion in enumerate(study.integrals):
        table[criterion.label] = (found.times, found.x[:, states + k], found.u[:, states + k])
    table |= _at_moments(study, found, len(jumps))
    responses = [study.response(criterion, *table[criterion.label]) for criterion in study.criteria]
    notes, trusted = remarks(growth_of_changes(study.variation, found.u), found.times, study.course.rtol)
    return study.result(choice, responses, found.run.statistics, (*found.run.notes, *notes), trusted)


def _observed(study: Study, found: Changes) -> tuple[Vector, Vector]:
    if not study.values:
        return np.empty((len(found.times), 0)), np.empty((len(found.times), 0, study.variation.columns))
    states = len(study.variation.states)
    return study.observation.changes(found.times, found.x[:, :states], found.u[:, :states], found.settings)


def _at_moments(study: Study, found: Changes, jumps: int) -> dict[str, tuple[Vector, Vector, Vector]]:
    """Time, value and slopes of the criteria whose time was found along the motion."""
    states, table = len(study.variation.states), {}
    begin = Moment(study.course.start, np.array(study.variation.system.initial), study.variation.start)
    end = Moment(found.end.t, found.end.x[:states], found.end.u[:states])
    for k, criterion in enumerate(study.moments.criteria):
        marks = [Moment(m.t, m.x[:states], m.u[:states]) for m in found.marks if m.number == jumps + k]
        moment = study.moments.chosen(k, marks, [begin, end], found.settings)
        value, slopes = study.moments.slopes(k, moment, found.settings)
        table[criterion.label] = (np.array([moment.t]), np.array([value]), slopes[None])
    return table
