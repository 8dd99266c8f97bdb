"""What became of contacts and friction in a time step, read from the working memory that the step leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.analysis.sensitivity.direct.step_equations import StepEquations
from torseur.computation.simulation.constrained.stepping.stepping_memory import Stepping, Structure
from torseur.computation.simulation.constrained.stepping.stepping_rows import OPEN, REBOUNDS
from torseur.computation.simulation.model.system import Vector

# Approaches, in units of what forces change of them in a step, above which something is hit: less is the rate that what
# rests takes up within a step.
HIT = 2.0
AT_LIMIT = 1e-9  # part of its limit below which friction sticks
RESTS, SENT_BACK, SHUT_AT_END, BOUNCES = range(4)  # rows offered of a contact, in their order


@dataclass(frozen=True, eq=False)
class Outcome:
    """Contacts that press with their rows, friction elements that act and whether they slide, and numbers of these.

    `struck` are the contacts that are hit in the step; `rates` are those of all rows half way, before that, and
    `slips` those at its start. `turned` are elements along a line whose slip passes or comes to zero, `begun` those
    that stuck before and slide. `middle` are speeds half way without contacts, where they do not follow from others.
    """

    contacts: dict[int, int]
    friction: dict[int, bool]
    side: Vector
    rests: Vector
    impulses: Vector
    struck: tuple[int, ...]
    turned: tuple[int, ...]
    begun: tuple[int, ...]
    rates: Vector
    slips: Vector
    limits: Vector
    sizes: Vector
    middle: Vector | None

    @property
    def takes_part(self) -> bool:
        """Whether anything pushes in the step."""
        return bool(self.contacts or self.friction)

    @property
    def happens(self) -> bool:
        """Whether something happens at an instant within the step."""
        return bool(self.struck or self.turned)

    @property
    def resting(self) -> list[int]:
        """Contacts that are still closed at the end."""
        return [c for c, kind in self.contacts.items() if kind != BOUNCES]


def outcome_of(equations: StepEquations, structure: Structure, work: Stepping, last: Outcome | None) -> Outcome:
    """The outcome of the step that was taken just now; `last` is that of the one before."""
    resting_before = last.resting if last is not None else []
    slid = last.friction if last is not None else {}
    count, rows = len(equations.stepping.contacts), len(equations.stepping.rows)
    taking = [int(c) for c in work.taking[: work.taking_count] if work.impulses[c] > 0.0]
    contacts = {c: _row_of(int(work.state[rows + c]), float(work.before[c])) for c in taking}
    struck = []
    for c in taking:
        gained = abs(work.base[c] - work.before[c])
        if (c not in resting_before or contacts[c] == BOUNCES) and -work.before[c] > HIT * gained:
            struck.append(c)
    elements = equations.stepping.friction
    side, rests, friction, limits = [], np.zeros(len(elements)), {}, np.zeros(len(elements))
    turned, begun = [], []
    rubbing = {int(k) for k in work.rubbing[: work.rubbing_count]}
    for k, element in enumerate(elements):
        own = slice(equations.first_row(k), equations.first_row(k) + len(element.rows))
        force, slip = work.impulses[own], float(np.linalg.norm(work.after[own]))
        if len(element.rows) == 1:
            side.append(float(np.sign(force[0])))
        rests[k] = float(np.linalg.norm(work.before[own]) <= structure.creep[k])
        limit = float(work.limits[k])
        if structure.pressed_by[k] >= 0:
            limit += float(work.coefficients[k] * work.impulses[structure.pressed_by[k]])
        limits[k] = limit
        if k in rubbing and limit > 0.0:
            friction[k] = bool(np.linalg.norm(force) >= limit * (1.0 - AT_LIMIT) and slip > 0.0)
        if k not in friction or structure.pressed_by[k] in struck:
            continue
        before, after = float(work.before[own][0]), float(work.after[own][0])
        is_over = before * after < 0.0 or not friction[k]
        if len(element.rows) == 1 and slid.get(k, False) and abs(before) > structure.creep[k] and is_over:
            turned.append(k)
        if friction[k] and not slid.get(k, True):
            begun.append(k)
    middle = None
    if equations.stepping.statics["SPEEDY"] and (work.taking_count or rubbing):
        middle = np.empty(len(equations.speeds))
        middle[structure.speed_of[: len(middle)]] = work.v_middle[: len(middle)]
    impulses = np.array(work.impulses[:rows])
    return Outcome(
        contacts, friction, np.array(side), rests, impulses, tuple(struck), tuple(turned), tuple(begun),
        np.array(work.middle[:rows]), np.array(work.before[:rows]), limits, np.array(structure.sizes[:count]), middle,
    )  # fmt: skip


def _row_of(state: int, before: float) -> int:
    """Which of the rows that are offered holds for a contact that presses (see choose_contacts in impulses.py)."""
    if state == OPEN:
        return SHUT_AT_END
    if state == REBOUNDS:
        return BOUNCES
    return SENT_BACK if before >= 0.0 else RESTS
