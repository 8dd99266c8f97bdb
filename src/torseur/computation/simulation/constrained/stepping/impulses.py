"""Impulses of contacts and friction over one step: Signorini's condition, Newton's restitution, Coulomb's cone.

With w a row in the metric of the mass matrix, along the lasting constraints, and ζ the change of speeds there,

    rate₊ = rate_free + w·ζ,   ζ = Σ w p,   0 ≤ p ⟂ rate₊ - target ≥ 0,   |p_t| ≤ μ p, equal and against what slips

Gauss and Seidel's sweeps over contacts and friction, each projected on what it may be (Jean and Moreau), until what a
sweep changes is small. It is Coulomb's cone itself, not the convex one that lifts what slides.
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import routine
from torseur.computation.simulation.constrained.stepping.polish import polish_impulses
from torseur.computation.simulation.constrained.stepping.stepping_memory import (
    CONTACTS,
    LINES,
    NR,
    PLANES,
    Stepping,
    Structure,
)
from torseur.computation.simulation.constrained.stepping.stepping_rows import (
    CLOSED,
    OPEN,
    REBOUNDS,
    friction_row,
    friction_rows,
    gather_row,
    least_rate,
    limit_now,
    product_of_rows,
    push,
    rate_change,
    start_impulses,
    whiten_row,
)

# 2⁻²⁴ is 6e-8 of the restitution.
BISECTIONS = 24  # of restitutions that would add energy
GAINED = 1e-9  # part of the work on rebounding contacts that impulses may add in all: what sweeps leave
OVERLAP = 1e-4  # part of a gap's size by which bodies are in each other for good
DIVERGED = 0.1  # change of impulses left after the last sweep, by the fastest approach, that is none of rounding
FIRST_POLISH = 2  # sweeps after which impulses are found from linear equations; again after twice as many


@routine
def choose_contacts(h: float, structure: Structure, work: Stepping) -> None:
    """Contacts that would close within the step or come near, with the least rates they may have after it.

    What closes gives back its restitution. Where the rebound would end within the step it stays; what moves apart and
    falls back within the step may come back to where it was, which takes no energy.
    """
    fastest = 0.0
    for c in range(CONTACTS):
        work.square[c] = 0.0
        fastest = max(fastest, abs(work.base[c]))
    work.taking_count = 0
    for c in range(CONTACTS):
        end = work.gaps[c] + 0.5 * h * work.base[c]
        # What rebounds is left until it touches: stopped on the way it would arrive with less than its speed.
        # Gaps are those of the middle of the step: half a step of the fastest rate is left to close them.
        near = structure.restitution[c] == 0.0 and work.gaps[c] <= 0.5 * h * fastest
        if end <= 0.0 or near:
            before = work.before[c]
            back = structure.restitution[c] * -work.middle[c]
            work.state[NR + c] = OPEN
            if end > 0.0:
                # The rate that closes the gap exactly at the end of the step, half a step after the middle.
                work.target[c] = -2.0 * work.gaps[c] / h
            elif before >= 0.0:
                work.target[c] = -before
                work.state[NR + c] = CLOSED
            # In a whole step forces take before - base from the rate: a rebound of less than half of it is over within
            # its time.
            elif 2.0 * back <= before - work.base[c] or back <= 0.0:
                work.target[c] = 0.0
                work.state[NR + c] = CLOSED
            else:
                work.target[c] = back
                work.state[NR + c] = REBOUNDS
            whiten_row(c, structure, work)
            gather_row(c, structure, work)
            if work.square[c] > 0.0:
                work.taking[work.taking_count] = c
                work.taking_count += 1
            # What closes although no impulse can act on it, or although those of the last step acted on it.
            if work.gaps[c] < -OVERLAP * structure.sizes[c] and (work.square[c] == 0.0 or work.diverging):
                work.contradictory = c + 1
        if work.square[c] == 0.0:
            work.impulses[c] = 0.0
            work.state[NR + c] = OPEN


@routine
def choose_friction(h: float, structure: Structure, work: Stepping) -> None:
    """Friction of contacts that take part and of what is always pressed, with limits by the slip at the start."""
    work.rubbing_count = 0
    for k in range(LINES + PLANES):
        row = friction_row(k)
        count = friction_rows(k)
        contact = structure.pressed_by[k]
        pressed = contact < 0
        if contact >= 0:
            pressed = work.square[contact] > 0.0
        most = 0.0
        if pressed:
            slip = 0.0
            for j in range(count):
                whiten_row(row + j, structure, work)
                most = max(most, work.square[row + j])
                # By the slip at the start: by the unknown one of the end a limit that falls with it could have several
                # solutions.
                slip += work.before[row + j] * work.before[row + j]
            work.product[k] = product_of_rows(row, structure, work) if count == 2 else 0.0
            for j in range(count):
                gather_row(row + j, structure, work)
            set_limit(h, k, math.sqrt(slip), structure, work)
        if most > 0.0:
            work.rubbing[work.rubbing_count] = k
            work.rubbing_count += 1
        else:
            for j in range(count):
                work.square[row + j] = 0.0
                work.impulses[row + j] = 0.0


@routine
def set_limit(h: float, k: int, slip: float, structure: Structure, work: Stepping) -> None:
    """The impulse that friction element k can give in a step, and its part of what presses."""
    amounts = work.amounts[5 * k :]
    part = 1.0 if slip <= structure.creep[k] else 0.0
    if amounts[4] > 0.0:
        ratio = slip / amounts[4]
        part = math.exp(-ratio * ratio)
    work.limits[k] = h * (amounts[0] + part * (amounts[2] - amounts[0]))
    work.coefficients[k] = amounts[1] + part * (amounts[3] - amounts[1])


@routine
def solve_impulses(structure: Structure, work: Stepping) -> None:
    """Impulses, with less than the restitution where all of it would add energy (Kane's paradox)."""
    sweep_impulses(1.0, structure, work)
    if gains(structure, work):
        low = 0.0
        high = 1.0
        for _ in range(BISECTIONS):
            part = 0.5 * (low + high)
            sweep_impulses(part, structure, work)
            if gains(structure, work):
                high = part
            else:
                low = part
        sweep_impulses(low, structure, work)
        work.lowered += 1
        work.part = min(work.part, low)


@routine
def gains(structure: Structure, work: Stepping) -> bool:
    """Whether impulses add energy although less could be given back: their work is done in the middle of the step."""
    rebounds = False
    added = 0.0
    size = 0.0
    for k in range(work.taking_count):
        c = work.taking[k]
        rebounds = rebounds or work.state[NR + c] == REBOUNDS
        added += work_of_row(c, structure, work)
        size += abs(work.impulses[c] * work.middle[c])
    if not rebounds:
        return False
    for m in range(work.rubbing_count):
        row = friction_row(work.rubbing[m])
        for j in range(friction_rows(work.rubbing[m])):
            if work.square[row + j] > 0.0:
                added += work_of_row(row + j, structure, work)
    return added > GAINED * size


@routine
def work_of_row(r: int, structure: Structure, work: Stepping) -> float:
    """What the impulse along a row adds to the energy."""
    return work.impulses[r] * (work.middle[r] + 0.5 * rate_change(r, structure, work))


@routine
def sweep_impulses(part: float, structure: Structure, work: Stepping) -> None:
    """Sweeps over all that takes part, until they change nothing; `part` is that of restitutions."""
    fastest = start_impulses(structure, work)
    largest = fastest
    sweeps = 0
    polish = FIRST_POLISH
    while sweeps < structure.most_sweeps and largest > structure.settled * fastest:
        if sweeps == polish:
            polish_impulses(part, structure, work)
            # Each polish costs a dense elimination: ever rarer where it does not end the sweeps.
            polish = 2 * polish
        largest = sweep_once(part, structure, work)
        sweeps += 1
    work.sweeps += sweeps
    work.diverging = largest > DIVERGED * fastest
    if largest > structure.settled * fastest:
        work.unsettled += 1
        work.left = max(work.left, largest / fastest)


@routine
def sweep_once(part: float, structure: Structure, work: Stepping) -> float:
    """One sweep over all that takes part; the largest change."""
    largest = 0.0
    for k in range(work.taking_count):
        largest = max(largest, press(work.taking[k], part, structure, work))
    for m in range(work.rubbing_count):
        k = work.rubbing[m]
        if k < LINES:
            largest = max(largest, rub_along_line(k, structure, work))
        else:
            largest = max(largest, rub_in_plane(k, structure, work))
    return largest


@routine
def press(c: int, part: float, structure: Structure, work: Stepping) -> float:
    """One contact: an impulse that is not negative; by how much it changed, in the metric."""
    # p ← max(p + missing / |w|², 0): the impulse may shrink again, but not pull.
    missing = least_rate(c, part, work) - work.base[c] - rate_change(c, structure, work)
    new = max(work.impulses[c] + missing / work.square[c], 0.0)
    change = new - work.impulses[c]
    if change != 0.0:
        work.impulses[c] = new
        push(c, change, structure, work)
    return abs(change) * math.sqrt(work.square[c])


@routine
def rub_along_line(k: int, structure: Structure, work: Stepping) -> float:
    """Friction along a line."""
    r = friction_row(k)
    limit = limit_now(k, structure, work)
    slip = work.base[r] + rate_change(r, structure, work)
    new = min(max(work.impulses[r] - slip / work.square[r], -limit), limit)
    change = new - work.impulses[r]
    if change != 0.0:
        work.impulses[r] = new
        push(r, change, structure, work)
    return abs(change) * math.sqrt(work.square[r])


@routine
def rub_in_plane(k: int, structure: Structure, work: Stepping) -> float:
    """Friction in a plane: the impulse that stops the slip where the cone allows it, else projected on the cone."""
    r = friction_row(k)
    limit = limit_now(k, structure, work)
    first = work.base[r] + rate_change(r, structure, work)
    second = work.base[r + 1] + rate_change(r + 1, structure, work)
    a = work.square[r]
    b = work.product[k]
    c = work.square[r + 1]
    determinant = a * c - b * b
    x = work.impulses[r]
    y = work.impulses[r + 1]
    inside = False
    #     [ a  b ] [Δx]     [ first  ]
    #     [ b  c ] [Δy] = - [ second ]   makes both slips vanish.
    # Nearly parallel rows have no inverse: the step by the stiffest direction serves them.
    if determinant > 1e-12 * a * c:
        new_x = x - (c * first - b * second) / determinant
        new_y = y - (a * second - b * first) / determinant
        inside = new_x * new_x + new_y * new_y <= limit * limit
        if inside:
            x = new_x
            y = new_y
    if not inside:
        # The larger eigenvalue: a step of the gradient by its inverse cannot overshoot, and the disc is convex.
        stiffest = 0.5 * (a + c + math.sqrt((a - c) * (a - c) + 4.0 * b * b))
        x -= first / stiffest
        y -= second / stiffest
        size = math.sqrt(x * x + y * y)
        if size > limit:
            x *= limit / size
            y *= limit / size
    dx = x - work.impulses[r]
    dy = y - work.impulses[r + 1]
    if a > 0.0 and dx != 0.0:
        work.impulses[r] = x
        push(r, dx, structure, work)
    if c > 0.0 and dy != 0.0:
        work.impulses[r + 1] = y
        push(r + 1, dy, structure, work)
    return math.sqrt(dx * dx * a + dy * dy * c)
