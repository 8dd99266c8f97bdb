"""What time steps work on: tables of the mechanism's structure, and their working memory.

Speeds that masses or lasting constraints couple form a block; blocks are coupled by contacts and friction alone. All
arrays of speeds here stand in the order of the blocks.
"""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, External, IntArray, Record, Static

NB: int = Static("NB")  # blocks
NR: int = Static("NR")  # rows of contacts, then of friction
NL: int = Static("NL")  # lasting constraints
CONTACTS: int = Static("CONTACTS")
LINES: int = Static("LINES")  # friction elements along a line
PLANES: int = Static("PLANES")  # friction elements in a plane, two rows each
MULTIPLIERS: int = Static("MULTIPLIERS")  # of all constraints, contacts and friction
DAMPED: int = Static("DAMPED")  # 1 when loads depend on speeds
SPEEDY: int = Static("SPEEDY")  # 1 when forces depend on speeds

smooth = External(
    "smooth",
    "t: float, y: Array, p: Array, u: Array, mass: Array, damping: Array, rows: Array, drift: Array, force: Array",
)
forces = External("forces", "t: float, y: Array, p: Array, u: Array, force: Array")
rates = External("rates", "t: float, y: Array, p: Array, u: Array, rates: Array")
touching = External(
    "touching", "t: float, y: Array, p: Array, u: Array, gaps: Array, entries: Array, drifts: Array, amounts: Array"
)
gaps_at = External("gaps_at", "t: float, y: Array, p: Array, u: Array, gaps: Array")


class Structure(Record):
    """Tables that stay as they are along a motion."""

    longest: float  # step
    settled: float  # part of the fastest approach by which impulses may still change when sweeps end
    most_sweeps: int

    first_speed: IntArray  # of each block, and the number of all
    first_row: IntArray  # among lasting constraints, of each block, and the number of all
    mass_at: IntArray  # where the block's square of M begins
    rows_at: IntArray  # where its lasting rows begin
    r_at: IntArray  # where their triangle R begins
    speed_of: IntArray  # number of a speed in the layout
    lasting_of: IntArray  # number of a lasting constraint among all constraints
    row_of: IntArray  # the same for rows of contacts and friction

    first_entry: IntArray  # of each row of contacts and friction, and the number of all
    column: IntArray  # speed of each entry
    first_block: IntArray  # of each row, in the list of blocks it touches, and the number of all
    blocks: IntArray  # that list
    row_at: IntArray  # where each row begins in the metric of the mass matrix
    pressed_by: IntArray  # contact that presses a friction element, -1 for none

    restitution: Array  # of each contact
    sizes: Array  # lengths by which each gap is judged
    creep: Array  # slips that count as none, of each friction element


class Stepping(Record):
    """Working memory of a step, and what is remembered from one to the next."""

    mass: Array  # M, lower triangles in the squares of the blocks
    damping: Array  # minus the symmetric part of the derivative of loads by speeds, likewise
    lower: Array  # L of M + h/2 D, with inverses on the diagonal
    rows: Array  # of lasting constraints, then Q
    r: Array  # R, with inverses on the diagonal
    drift: Array
    force: Array
    impulse: Array  # of forces in a step, beyond what moves the free speeds: that of lasting constraints
    force_before: Array  # that before impulses
    force_after: Array
    more: Array  # what forces add after impulses, as an impulse
    step_more: Array  # the same beyond the last estimate
    entries: Array  # of the rows of contacts and friction
    white: Array  # the same in the metric, along lasting constraints
    white_column: IntArray  # speed of each of its entries that is not zero
    white_count: IntArray  # how many of these each row has
    product: Array  # of both rows of each friction element in a plane
    drifts: Array
    gaps: Array
    amounts: Array  # force, coefficient, breakaway, static and Stribeck speed of each friction element

    v: Array  # speeds at the start of a step
    z: Array  # the same in the metric, Lᵀ v
    v_middle: Array  # in the middle of a step, before an impact there
    v_free: Array  # at its end without contacts
    z_free: Array
    change: Array  # by impulses, in the metric
    z_change: Array  # the same when positions have been shifted
    before: Array  # rate of each row at the start of the step
    middle: Array  # half way between, where impulses act
    base: Array  # at its end without contacts
    after: Array
    target: Array  # least rate of each contact at its end; of one that rebounds, that behind the impulse
    square: Array  # of each row, 0 for rows that take no part
    impulses: Array  # kept as a guess for the next step
    shifts: Array  # of positions, along the speeds
    pushes: Array  # of contacts on positions
    limits: Array  # of each friction element, apart from what presses it
    coefficients: Array

    matrix: Array  # of the linear equations of impulses
    residual: Array
    unknown: IntArray  # rows of these
    slides: IntArray  # 1 for friction elements at their limit
    taking: IntArray  # contacts that take part
    rubbing: IntArray  # friction elements that take part
    state: IntArray  # of each contact, then of each friction element
    counts: IntArray  # of its changes: closed and opened, stuck and slid
    solved: Array  # accelerations and multipliers at each sample

    taking_count: int
    rubbing_count: int
    unknown_count: int
    marks_left: int  # changes that are still written down as events
    sweeps: int  # in all
    unsettled: int  # steps whose impulses still changed after the last sweep
    unforced: int  # steps whose forces of speed did not settle
    lowered: int  # steps that gave back less than their restitution
    part: float  # of restitutions that is given back
    left: float  # largest change left of impulses, in units of the fastest approach
    diverging: bool  # impulses of the last step did not settle at all
    contradictory: int  # a contact that nothing keeps shut, counted from 1; 0 for none
    bank: float  # energy that contacts have taken so far
