"""Compile-time numbers of a constrained system, its programs, and where the settings of the solver stand.

The array `p` of a constrained system holds the parameters of the model first, then what the solver needs to know
beside them, so that everything that stays constant along a motion travels in one array.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from torseur.computation.codegen.routine import Array, External, Record, Static

NQ: int = Static("NQ")  # coordinates
NV: int = Static("NV")  # speeds
NC: int = Static("NC")  # constraints, holonomic ones first
NH: int = Static("NH")  # holonomic constraints
NP: int = Static("NP")  # parameters of the model
PLAIN: int = Static("PLAIN")  # 1 when the rates of the coordinates are the speeds themselves
QUATERNIONS: int = Static("QUATERNIONS")  # 1 when some coordinates form unit quaternions
MASSLESS: int = Static("MASSLESS")  # 1 when the mass matrix is singular without the constraints
NK: int = Static("NK")  # contacts that may close, the last of the holonomic constraints
NE1: int = Static("NE1")  # elements of dry friction along a line; their rows are the last but 2 NE2
NE2: int = Static("NE2")  # elements of dry friction in a plane, two rows each, the last of all
NT: int = Static("NT")  # rows of dry friction, NE1 + 2 NE2
PRESSED: int = Static("PRESSED")  # 1 when some friction depends on multipliers
RECURSIVE: int = Static("RECURSIVE")  # 1 when bodies and loops are eliminated one after the other, M and C never formed
MV: int = Static("MV")  # speeds, rows of M: 0 where it is not formed
MC: int = Static("MC")  # constraints, rows of C: 0 where it is not formed
NFACTORS: int = Static(
    "NFACTORS"
)  # numbers that the elimination of bodies and loops leaves, 0 where M and C are formed

Rows: TypeAlias = Annotated[Array, MC, MV]


class Settings(Record):
    """Settings of the solver: they stand in p, behind the NP parameters of the model."""

    scales: Annotated[Array, NV]  # of moves along the speeds: 1 for angles, the mechanism's size for lengths
    sizes: Annotated[Array, NC]  # squares of what each constraint usually adds to those before it, 0 if nothing; -1
    # for a contact that is open, whose constraint is switched off
    sliding: Annotated[Array, NT]  # directions of friction that slides, 0 for what sticks or has nothing to rub on
    creep: Annotated[Array, NE1 + NE2]  # speeds below which friction counts as at rest
    grip: Annotated[Array, min(NK + NT, 1)]  # force by which a contact may pull before it opens
    thickness: Annotated[Array, NK]  # depth at which each contact closes
    play: Annotated[Array, NC]  # amounts that the constraints are left open by
    slack: Annotated[Array, NC]  # amounts beyond which a constraint that others imply contradicts them
    holds: float  # 1 when accelerations from beside a singular configuration are held, 0 when not
    held: Annotated[Array, NV]  # accelerations, the last ones before a singular configuration is passed

    # Of the partitioned formulation; other systems have no room for these.
    rows: Annotated[Array, NC]  # numbers of constraints, independent ones first
    order: Annotated[Array, NV]  # numbers of speeds, dependent ones first
    rank: float  # number of independent constraints
    limit: float  # largest speed of a dependent coordinate per independent one
    pivot: float  # usual size of the smallest pivot


class Factors(Record):
    """M, C and γ of M v' + Cᵀ λ = f, C v' = γ; then in their place M = L Lᵀ and C L⁻ᵀ = R Q (see factors.py)."""

    mass: Annotated[Array, MV, MV]  # M, lower triangle; then L
    rows: Rows  # C, a row per constraint; then Q
    r: Annotated[Array, MC, MC]  # R
    gamma: Annotated[Array, NC]  # γ
    values: Annotated[Array, NFACTORS]  # what `solved` needs where M and C are never formed
    friction: Annotated[Array, NT]  # multipliers of what slides
    stiffening: float  # how much sliding friction reduces what presses it: 1 for none, 0 in Painlevé's case
    distance: Annotated[Array, 2]  # there from a singular configuration; smallest part of a row left as its pivot


dynamics = External(
    "dynamics", "t: float, y: Array, p: Array, u: Array, rates: Array, force: Array, factors: Factors", Factors
)
positions = External("positions", "t: float, y: Array, p: Array, u: Array, phi: Array, factors: Factors", Factors)
velocities = External("velocities", "t: float, y: Array, p: Array, u: Array, rows: Array, phi: Array, drift: Array")
eliminated = External(
    "eliminated",
    "t: float, y: Array, p: Array, u: Array, sizes: Array, least: float, rates: Array, force: Array, gamma: Array, "
    "factors: Array, distance: Array",
)
closing = External(
    "closing",
    "t: float, y: Array, p: Array, u: Array, sizes: Array, least: float, phi: Array, factors: Array, distance: Array",
)
levels = External(
    "levels", "t: float, y: Array, p: Array, u: Array, scales: Array, phi: Array, slip: Array, reach: Array"
)
solved = External("solved", "factors: Array, force: Array, gamma: Array, a: Array, l: Array")
solved_beside = External("solved_beside", "factors: Array, force: Array, gamma: Array, held: Array, a: Array")
unsolved = External(
    "unsolved",
    "factors: Array, force: Array, gamma: Array, a: Array, l: Array, force_left: Array, gamma_left: Array",
)
displaced = External("displaced", "t: float, y: Array, p: Array, w: Array, q: Array")
normalised = External("normalised", "y: Array, out: Array")
