"""One step of Moreau and Jean's scheme, symmetric where nothing touches.

    q_m = q + h/2 q'(q, v),   q₊ = q + h q'(q_m, (v + v₊)/2)
    M(q_m) (v₊ - v) = h f(q_m, (v + v_free)/2) - h Cᵀ λ + Gᵀ p

Without contacts this is Störmer and Verlet's method, with forces of speed at the mean speed: of second order, and
energy swings about its value instead of drifting. Contacts act as impulses p in the middle configuration (impulses.py).
What rests on a contact is then moved onto it; a move that raises bodies is paid by energy that contacts have taken.
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    NQ,
    NV,
    QUATERNIONS,
    displaced,
    normalised,
)
from torseur.computation.simulation.constrained.stepping.block_factors import (
    add_lower_product,
    add_product,
    drift_to_metric,
    factor_blocks,
    force_to_metric,
    from_metric,
    keep_constraints,
    to_metric,
)
from torseur.computation.simulation.constrained.stepping.impulses import (
    choose_contacts,
    choose_friction,
    solve_impulses,
)
from torseur.computation.simulation.constrained.stepping.stepping_memory import (
    CONTACTS,
    DAMPED,
    NL,
    NR,
    SPEEDY,
    Stepping,
    Structure,
    forces,
    gaps_at,
    rates,
    smooth,
    touching,
)
from torseur.computation.simulation.constrained.stepping.stepping_rows import REBOUNDS, push, rate_change, rates_of_rows
from torseur.computation.simulation.loop.settling import constrain
from torseur.computation.simulation.model.force_laws import NU, laws

TAKEN = 0
NO_INERTIA = 1
STIFF_FORCES = 2
CONTRADICTION = 3
# Newton's method with the damping of the loads in its matrix: other forces of speed converge linearly, with the step as
# factor.
MOST_FORCES = 12  # evaluations of forces of speed in a step
FORCES_LEFT = 1e-3  # change above which they do not settle at all
FORCES_SETTLED = 1e-10  # change of speeds, by their size, after which these have settled
STILL = 1e-14  # speed, in m/s or rad/s, that rounding alone may change
MOST_CORRECTIONS = 6
NEGLIGIBLE = 1e-8  # square of a part of the impulses that forces after them may still add
MOST_SHIFTS = 60
SHIFTED = 1e-13  # part of a gap's size to which contacts are closed


@routine
def take_time_step(h: float, t: float, y: Array, p: Array, structure: Structure, work: Stepping) -> int:
    """The state at the end of the step in place of that at its start; TAKEN, or why there is none."""
    middle = zeros(NQ + NV)
    u = zeros(NU + 1)
    t_middle = t + 0.5 * h
    for i in range(NV):
        # From the order of the layout to that of the blocks, and back at the end.
        work.v[i] = y[NQ + structure.speed_of[i]]
    move_coordinates(0.5 * h, t, y, y, p, middle)
    for i in range(NV):
        middle[NQ + i] = y[NQ + i]
    if NU > 0:
        laws(t_middle, middle, p, u)
    # Once a step, in the middle: what makes the scheme symmetric, hence of second order.
    smooth(t_middle, middle, p, u, work.mass, work.damping, work.rows, work.drift, work.force)
    if not factor_blocks(h, structure, work):
        return NO_INERTIA
    drift_to_metric(structure, work)
    to_metric(structure, work, work.v, work.z)
    if not move_freely(h, t_middle, middle, p, structure, work):
        return STIFF_FORCES
    for i in range(NV):
        work.change[i] = 0.0
    if NR > 0:
        touching(t_middle, middle, p, u, work.gaps, work.entries, work.drifts, work.amounts)
        rates_of_rows(structure, work, work.v, work.before)
        rates_of_rows(structure, work, work.v_free, work.base)
        for r in range(NR):
            work.middle[r] = 0.5 * (work.before[r] + work.base[r])
        choose_contacts(h, structure, work)
        if work.contradictory > 0:
            return CONTRADICTION
        choose_friction(h, structure, work)
        if work.taking_count + work.rubbing_count > 0:
            solve_impulses(structure, work)
            if SPEEDY != 0:
                follow_impulses(h, t_middle, middle, p, structure, work)
    for i in range(NV):
        work.z_free[i] += work.change[i]
        work.z_change[i] = work.change[i]
    from_metric(structure, work, work.z_free, work.v_free)
    if NR > 0:
        rates_of_rows(structure, work, work.v_free, work.after)
        take_energy(work)
    # The middle keeps its place; with the mean of both speeds it gives the way of the whole step.
    for i in range(NV):
        middle[NQ + structure.speed_of[i]] = 0.5 * (work.v[i] + work.v_free[i])
    move_coordinates(h, t_middle, y, middle, p, y)
    for i in range(NV):
        y[NQ + structure.speed_of[i]] = work.v_free[i]
    if CONTACTS > 0 and work.taking_count > 0:
        close_contacts(t + h, y, p, structure, work)
    if NL > 0:
        # Last: moving contacts shut opens loops in second order, and loops are to close to rounding.
        constrain(t + h, y, p, middle)
        for i in range(NQ + NV):
            y[i] = middle[i]
    return TAKEN


@routine
def move_coordinates(h: float, t: float, q: Array, state: Array, p: Array, out: Array) -> None:
    """Coordinates q moved by h times their rates in a state."""
    dq = zeros(NQ)
    u = zeros(NU + 1)
    unit = zeros(NQ + NV)
    if NU > 0:
        laws(t, state, p, u)
    rates(t, state, p, u, dq)
    for i in range(NQ):
        out[i] = q[i] + h * dq[i]
    if QUATERNIONS:
        normalised(out, unit)
        for i in range(NQ):
            out[i] = unit[i]


@routine
def move_freely(h: float, t: float, middle: Array, p: Array, structure: Structure, work: Stepping) -> bool:
    """Speeds at the end of a step without contacts, with forces at the mean speed; false where these do not settle."""
    u = zeros(NU + 1)
    left = math.inf
    for i in range(NV):
        work.v_free[i] = work.v[i]
        work.z_free[i] = work.z[i]
    for count in range(MOST_FORCES):
        if count > 0:
            for i in range(NV):
                middle[NQ + structure.speed_of[i]] = 0.5 * (work.v[i] + work.v_free[i])
            if NU > 0:
                laws(t, middle, p, u)
            forces(t, middle, p, u, work.force)
        for i in range(NV):
            work.impulse[i] = h * work.force[i]
        left = free_speeds(structure, work)
        # Forces without speeds are right at once. Others are evaluated twice at least: the first was at the old speeds.
        if SPEEDY == 0 or (count > 0 and left <= FORCES_SETTLED):
            return True
    work.unforced += 1
    return left <= FORCES_LEFT


@routine
def free_speeds(structure: Structure, work: Stepping) -> float:
    """Speeds nearer to those with M (v_free - v) = impulse, by Newton's method; how far they moved, in proportion.

    The impulse becomes what is left of it: with lasting constraints, that which these take.
    """
    for i in range(NV):
        work.shifts[i] = work.v_free[i] - work.v[i]
    add_product(-1.0, structure, work, work.shifts, work.impulse)
    for i in range(NV):
        work.shifts[i] = work.impulse[i]
    force_to_metric(structure, work, work.shifts)
    for i in range(NV):
        work.z_free[i] += work.shifts[i]
        work.shifts[i] = work.v_free[i]
    keep_constraints(structure, work)
    from_metric(structure, work, work.z_free, work.v_free)
    change = 0.0
    size = STILL
    for i in range(NV):
        work.shifts[i] = work.v_free[i] - work.shifts[i]
        change = max(change, abs(work.shifts[i]))
        # Where a motion turns round, one of both is zero but for rounding.
        size = max(size, abs(work.v[i]), abs(work.v_free[i]))
    add_product(-1.0, structure, work, work.shifts, work.impulse)
    return change / size


@routine
def follow_impulses(h: float, t: float, middle: Array, p: Array, structure: Structure, work: Stepping) -> None:
    """Impulses once more, with forces of the second half of the step at the speeds that follow them.

    Without this an impact would err in energy by what inertia forces do in half a step, and so would what rolls fast.
    """
    u = zeros(NU + 1)
    for i in range(NV):
        work.force_before[i] = work.force[i]
        work.v_middle[i] = 0.5 * (work.v[i] + work.v_free[i])
        work.more[i] = 0.0
    for _ in range(MOST_CORRECTIONS):
        from_metric(structure, work, work.change, work.shifts)
        for i in range(NV):
            middle[NQ + structure.speed_of[i]] = work.v_middle[i] + work.shifts[i]
            work.step_more[i] = -work.more[i]
            work.more[i] = 0.0
        if NU > 0:
            laws(t, middle, p, u)
        forces(t, middle, p, u, work.force_after)
        for i in range(NV):
            # Half of the step lies before the impulses, with the old force, half behind them, with the new one.
            work.more[i] = 0.5 * h * (work.force_after[i] - work.force_before[i])
        if DAMPED != 0:
            # The metric follows what damping changes with impulses: it is not to be counted twice.
            add_lower_product(structure, work, work.change, work.more)
            add_product(-1.0, structure, work, work.shifts, work.more)
        if is_negligible(structure, work):
            break
        for i in range(NV):
            work.force[i] = 0.5 * (work.force_before[i] + work.force_after[i])
            work.impulse[i] = h * work.force_before[i] + work.more[i]
        free_speeds(structure, work)
        rates_of_rows(structure, work, work.v_free, work.base)
        solve_impulses(structure, work)


@routine
def is_negligible(structure: Structure, work: Stepping) -> bool:
    """Whether what forces add after impulses is little beside these."""
    for i in range(NV):
        work.step_more[i] += work.more[i]
    force_to_metric(structure, work, work.step_more)
    added = 0.0
    whole = 0.0
    for i in range(NV):
        added += work.step_more[i] * work.step_more[i]
        whole += work.change[i] * work.change[i]
    return added <= NEGLIGIBLE * whole


@routine
def take_energy(work: Stepping) -> None:
    """Adds what contacts and friction took to the bank: minus their impulses times the mean of rates about them."""
    for r in range(NR):
        if work.square[r] > 0.0:
            # Work of an impulse: times the mean of the rates before and behind it.
            work.bank -= work.impulses[r] * (work.middle[r] + 0.5 * (work.after[r] - work.base[r]))


@routine
def close_contacts(t: float, y: Array, p: Array, structure: Structure, work: Stepping) -> None:
    """Moves what rests on contacts onto them, by the smallest move in the metric of the mass matrix.

    A contact that presses is closed from either side, one that does not is only kept from overlapping.
    """
    u = zeros(NU + 1)
    if NU > 0:
        laws(t, y, p, u)
    gaps_at(t, y, p, u, work.gaps)
    for i in range(NV):
        work.change[i] = 0.0
    for k in range(work.taking_count):
        work.pushes[work.taking[k]] = 0.0
    largest = math.inf
    sweeps = 0
    while sweeps < MOST_SHIFTS and largest > SHIFTED:
        largest = 0.0
        for k in range(work.taking_count):
            c = work.taking[k]
            if work.state[NR + c] != REBOUNDS:
                missing = -work.gaps[c] - rate_change(c, structure, work)
                new = work.pushes[c] + missing / work.square[c]
                if work.impulses[c] == 0.0:
                    new = max(new, 0.0)
                push(c, new - work.pushes[c], structure, work)
                largest = max(largest, abs(new - work.pushes[c]) * work.square[c] / structure.sizes[c])
                work.pushes[c] = new
        sweeps += 1
    if sweeps > 1:
        shift_positions(t, y, p, structure, work)


@routine
def shift_positions(t: float, y: Array, p: Array, structure: Structure, work: Stepping) -> None:
    """Moves the coordinates by ζ, where the energy that this takes has been lost in contacts."""
    move = zeros(NV)
    moved = zeros(NQ + NV)
    from_metric(structure, work, work.change, work.shifts)
    raised = 0.0
    for i in range(NV):
        raised -= work.force[i] * work.shifts[i]
        move[structure.speed_of[i]] = work.shifts[i]
    if raised <= 0.0 or raised <= work.bank:
        work.bank -= raised
        displaced(t, y, p, move, moved)
        for i in range(NQ):
            y[i] = moved[i]
        if QUATERNIONS:
            normalised(y, moved)
            for i in range(NQ):
                y[i] = moved[i]
