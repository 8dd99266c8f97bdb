"""Compile-time numbers of a constrained system, its programs, and where the settings of the solver stand.

The array `p` of a constrained system holds the parameters of the model first, then what the solver needs to know
beside them, so that everything that stays constant along a motion travels in one array.
"""

from __future__ import annotations

from torseur.codegen.routine import External, Static

NQ: int = Static("NQ")  # coordinates
NV: int = Static("NV")  # speeds
NC: int = Static("NC")  # constraints, holonomic ones first
NH: int = Static("NH")  # holonomic constraints
NP: int = Static("NP")  # parameters of the model
PLAIN: int = Static("PLAIN")  # 1 when the rates of the coordinates are the speeds themselves
QUATERNIONS: int = Static("QUATERNIONS")  # 1 when some coordinates form unit quaternions
MASSLESS: int = Static("MASSLESS")  # 1 when the mass matrix is singular without the constraints

# Settings of the solver in p, from slot NP on:
#   NV scales of displacements along the speeds: 1 for angles, the mechanism's size for lengths
#   NC numbers of the constraints in the order in which the partitioned formulation uses them, independent ones first
#   NV numbers of the speeds in its order, dependent ones first
#   1 number of independent constraints

dynamics = External(
    "dynamics", "t: float, y: Array, p: Array, rates: Array, mass: Array, force: Array, rows: Array, gamma: Array"
)
positions = External("positions", "t: float, y: Array, p: Array, mass: Array, rows: Array, phi: Array")
velocities = External("velocities", "t: float, y: Array, p: Array, rows: Array, phi: Array, drift: Array")
displaced = External("displaced", "t: float, y: Array, p: Array, w: Array, q: Array")
normalised = External("normalised", "y: Array, out: Array")
