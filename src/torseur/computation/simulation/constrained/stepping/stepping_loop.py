"""The motion in time steps as one routine, which Python enters and leaves like the loop of the other methods."""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, External, Static, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import NQ, NV
from torseur.computation.simulation.constrained.stepping.block_factors import dot_of, force_to_metric
from torseur.computation.simulation.constrained.stepping.stepping_memory import (
    CONTACTS,
    LINES,
    MULTIPLIERS,
    NB,
    NL,
    NR,
    PLANES,
    Stepping,
    Structure,
)
from torseur.computation.simulation.constrained.stepping.stepping_rows import (
    CLOSED,
    OPEN,
    REBOUNDS,
    SLIDING,
    STUCK,
    friction_row,
    friction_rows,
    limit_now,
)
from torseur.computation.simulation.constrained.stepping.time_step import NO_INERTIA, TAKEN, take_time_step
from torseur.computation.simulation.events.event_search import NG, is_wanted, side_of
from torseur.computation.simulation.events.landing import write_mark
from torseur.computation.simulation.loop.memory import (
    DONE,
    NONFINITE,
    PAUSED,
    STEP_TOO_SMALL,
    STOPPED,
    Events,
    Motion,
    Output,
)
from torseur.computation.simulation.loop.record import write_samples_at
from torseur.computation.simulation.model.force_laws import NU, laws

NZ: int = Static("NZ")  # number of outputs
NF: int = Static("NF")  # event functions that are formulas
SOLVED: int = Static("SOLVED")  # 1 when these need accelerations or multipliers

stepped_events = External("stepped_events", "t: float, y: Array, p: Array, u: Array, a: Array, l: Array, g: Array")
python_events = External("python_events", "t: float, y: Array, p: Array, g: Array")
stepped_outputs = External("stepped_outputs", "t: float, y: Array, p: Array, u: Array, a: Array, l: Array, z: Array")

WHOLE = 1e-9  # part of a step by which the last one before a sample may be longer
WITHIN = 1e-9  # part of its limit by which friction that sticks stays below
LEAVING = 1e-9  # part of a gap's size that opens within a step where a contact opens


@routine
def step_through(
    motion: Motion, y: Array, p: Array, output: Output, watched: Events, structure: Structure, work: Stepping
) -> int:
    """Moves the state y to the end of the time span, or as far as it can; the answer tells which."""
    solution = zeros(NV + MULTIPLIERS + 1)
    if motion.steps == 0:
        write_samples_at(motion.time, y, output)
        if NG > 0 and SOLVED == 0:
            read_sides(motion.time, y, p, solution, watched)
    while motion.time != motion.t_end:
        if motion.attempts >= motion.pause_at or watched.mark + NG + CONTACTS + LINES + PLANES > watched.mark_room:
            return PAUSED
        stop = next_stop(motion, output)
        # As many equal steps as reach the next sample, no longer than the longest. Without the margin rounding would
        # split a span of exactly one step into two.
        count = math.floor((stop - motion.time) / structure.longest * (1.0 - WHOLE)) + 1.0
        h = (stop - motion.time) / count
        motion.attempts += 1
        taken = take_time_step(h, motion.time, y, p, structure, work)
        if taken != TAKEN:
            return NONFINITE if taken == NO_INERTIA else STEP_TOO_SMALL
        for i in range(NQ + NV):
            if not math.isfinite(y[i]):
                motion.worst = i
                return NONFINITE
        first = motion.steps == 0
        motion.steps += 1
        # Set, not added: samples are met to the last bit.
        motion.time = stop if count == 1.0 else motion.time + h
        solution_of_step(h, structure, work, solution)
        keep_solution(first, motion.time, y, output, solution, work)
        note_changes(h, motion.time, y, structure, work, watched)
        if NG > 0 and mark_crossings(motion.time, y, p, solution, watched):
            return STOPPED
    return DONE


@routine
def next_stop(motion: Motion, output: Output) -> float:
    """The next sample, or the end."""
    stop = motion.t_end
    if output.sample < output.sample_count:
        stop = min(stop, output.times[output.sample])
    return stop


@routine
def keep_solution(first: bool, t: float, y: Array, output: Output, solution: Array, work: Stepping) -> None:
    """Samples with accelerations and multipliers of the step that ends there; the first step serves its start too."""
    if first:
        for k in range(output.sample):
            for i in range(NV + MULTIPLIERS):
                work.solved[k * (NV + MULTIPLIERS) + i] = solution[i]
    begin = output.sample
    write_samples_at(t, y, output)
    for k in range(begin, output.sample):
        for i in range(NV + MULTIPLIERS):
            work.solved[k * (NV + MULTIPLIERS) + i] = solution[i]


@routine
def solution_of_step(h: float, structure: Structure, work: Stepping, solution: Array) -> None:
    """Mean accelerations and multipliers of a step, in the order of the layout and of the constraints."""
    for i in range(NV):
        solution[structure.speed_of[i]] = (work.v_free[i] - work.v[i]) / h
    for r in range(NR):
        solution[NV + structure.row_of[r]] = -work.impulses[r] / h if work.square[r] > 0.0 else 0.0
    if NL > 0:
        lasting_multipliers(h, structure, work, solution)


@routine
def lasting_multipliers(h: float, structure: Structure, work: Stepping, solution: Array) -> None:
    """λ of h Cᵀ λ = (what forces leave) + (what contacts push) - (what moved): R⁻ᵀ Q of it in the metric."""
    x = zeros(NV)
    for i in range(NV):
        x[i] = work.impulse[i]
    for r in range(NR):
        if work.square[r] > 0.0:
            for e in range(structure.first_entry[r], structure.first_entry[r + 1]):
                x[structure.column[e]] += work.entries[e] * work.impulses[r]
    force_to_metric(structure, work, x)
    for i in range(NV):
        x[i] -= work.z_change[i]
    for b in range(NB):
        first = structure.first_speed[b]
        n = structure.first_speed[b + 1] - first
        begin = structure.first_row[b]
        count = structure.first_row[b + 1] - begin
        rows = work.rows[structure.rows_at[b] :]
        triangle = work.r[structure.r_at[b] :]
        drift = work.drift[begin:]
        for c in range(count):
            drift[c] = dot_of(n, rows[c * n :], x[first:])
        for c in range(count - 1, -1, -1):
            value = drift[c] * triangle[c * count + c]
            drift[c] = value
            for j in range(c):
                drift[j] -= triangle[c * count + j] * value
            solution[NV + structure.lasting_of[begin + c]] = value / h


@routine
def note_changes(h: float, t: float, y: Array, structure: Structure, work: Stepping, watched: Events) -> None:
    """Counts what closed and opened, stuck and slid, and writes it down as events while there is room for them."""
    for c in range(CONTACTS):
        new = work.state[NR + c]
        if new != OPEN and work.impulses[c] == 0.0 and 0.5 * h * work.after[c] > LEAVING * structure.sizes[c]:
            new = OPEN
        if new != OPEN and (work.state[c] == OPEN or new == REBOUNDS):
            note(2 * c, t, y, work, watched)
        if new == OPEN and work.state[c] == CLOSED:
            note(2 * c + 1, t, y, work, watched)
        # What rebounds has left again by the end of the step.
        work.state[c] = CLOSED if new == CLOSED else OPEN
    for k in range(LINES + PLANES):
        new = friction_state(k, structure, work)
        if new != OPEN and new != work.state[CONTACTS + k]:
            note(2 * (CONTACTS + k) + new - 1, t, y, work, watched)
        work.state[CONTACTS + k] = new


@routine
def friction_state(k: int, structure: Structure, work: Stepping) -> int:
    """Whether a friction element sticks or slides; OPEN where nothing presses it."""
    row = friction_row(k)
    force = 0.0
    slip = 0.0
    part = False
    for j in range(friction_rows(k)):
        part = part or work.square[row + j] > 0.0
        force += work.impulses[row + j] * work.impulses[row + j]
        slip += work.after[row + j] * work.after[row + j]
    if not part:
        return OPEN
    limit = limit_now(k, structure, work)
    if limit == 0.0:
        return OPEN
    if math.sqrt(force) < limit * (1.0 - WITHIN) or math.sqrt(slip) <= structure.creep[k]:
        return STUCK
    return SLIDING


@routine
def note(change: int, t: float, y: Array, work: Stepping, watched: Events) -> None:
    """Counts a change, and writes it down behind the events of the user."""
    work.counts[change] += 1
    if work.marks_left > 0:
        work.marks_left -= 1
        write_mark(t, NG + change, y, watched)


@routine
def event_values(t: float, y: Array, p: Array, solution: Array, g: Array) -> None:
    """Event functions at the end of a step: formulas, then Python functions."""
    u = zeros(NU + 1)
    if NU > 0:
        laws(t, y, p, u)
    if NF > 0:
        stepped_events(t, y, p, u, solution, solution[NV:], g)
    if NG > NF:
        python_events(t, y, p, g[NF:])


@routine
def read_sides(t: float, y: Array, p: Array, solution: Array, watched: Events) -> None:
    """Sides of event functions at the start; those of accelerations and multipliers are read after the first step."""
    g = zeros(NG + 1)
    event_values(t, y, p, solution, g)
    for i in range(NG):
        watched.sides[i] = side_of(g[i])


@routine
def mark_crossings(t: float, y: Array, p: Array, solution: Array, watched: Events) -> bool:
    """Writes events whose function changed sign within the step, at its end; true when one of them stops the motion."""
    g = zeros(NG + 1)
    event_values(t, y, p, solution, g)
    stops = False
    for i in range(NG):
        side = side_of(g[i])
        passed = watched.sides[i] != 0 and watched.sides[i] != side and is_wanted(watched.directions[i], side)
        watched.sides[i] = side
        if passed:
            watched.limits[i] -= 1
            write_mark(t, i, y, watched)
            stops = stops or watched.limits[i] == 0
    return stops


@routine
def outputs_along_steps(rows: int, times: Array, states: Array, p: Array, solved: Array, out: Array) -> None:
    """The outputs at each sample, one row each."""
    u = zeros(NU + 1)
    for row in range(rows):
        y = states[row * (NQ + NV) :]
        solution = solved[row * (NV + MULTIPLIERS) :]
        if NU > 0:
            laws(times[row], y, p, u)
        stepped_outputs(times[row], y, p, u, solution, solution[NV:], out[row * NZ :])
