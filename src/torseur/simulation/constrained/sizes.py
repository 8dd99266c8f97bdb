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
NK: int = Static("NK")  # contacts that may close, the last of the holonomic constraints

# Settings of the solver in p, each from NP plus this on. First NV scales of moves along the speeds: 1 for angles, the
# mechanism's size for lengths. Then:
SIZES: int = Static("SIZES")  # NC squares of what each constraint usually adds to those before it, 0 if nothing; -1
# for a contact that is open, whose constraint is switched off
THICKNESS: int = Static("THICKNESS")  # depth at which a contact closes, far above rounding and far below anything else
PLAY: int = Static("PLAY")  # NC amounts that the constraints are left open by
HOLDS: int = Static("HOLDS")  # 1 when accelerations from beside a singular configuration are held, 0 when not
HELD: int = Static("HELD")  # NV accelerations, the last ones found before a singular configuration is passed
# and those of the partitioned formulation:
ROWS: int = Static("ROWS")  # NC numbers of constraints, independent ones first
ORDER: int = Static("ORDER")  # NV numbers of speeds, dependent ones first
RANK: int = Static("RANK")  # number of independent constraints
LIMIT: int = Static("LIMIT")  # largest speed of a dependent coordinate per independent one
PIVOT: int = Static("PIVOT")  # usual size of the smallest pivot


def setting_slots(speeds: int, constraints: int) -> dict[str, int]:
    """Where the settings stand."""
    thickness = speeds + constraints
    play, holds = thickness + 1, thickness + 1 + constraints
    rows = holds + 1 + speeds
    rank = rows + constraints + speeds
    of_partition = {"ROWS": rows, "ORDER": rows + constraints, "RANK": rank, "LIMIT": rank + 1, "PIVOT": rank + 2}
    own = {"SIZES": speeds, "THICKNESS": thickness, "PLAY": play, "HOLDS": holds, "HELD": holds + 1}
    return own | of_partition


dynamics = External(
    "dynamics",
    "t: float, y: Array, p: Array, u: Array, rates: Array, mass: Array, force: Array, rows: Array, gamma: Array",
)
positions = External("positions", "t: float, y: Array, p: Array, u: Array, mass: Array, rows: Array, phi: Array")
velocities = External("velocities", "t: float, y: Array, p: Array, u: Array, rows: Array, phi: Array, drift: Array")
displaced = External("displaced", "t: float, y: Array, p: Array, w: Array, q: Array")
normalised = External("normalised", "y: Array, out: Array")
