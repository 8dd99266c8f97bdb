"""Steps that end where the equations switch at a time known before: see computation/simulation/events/time_switches.py.

    ──────────┤ t - gap   t   t + gap ├──────────

A step ends just before the switch and the next begins just behind it, so that no stage of either sees the equations of
the other side, however the condition is written (t < T or t <= T) and rounded. The gap is a few units in the last
place of time; the state crosses it along its derivatives.
"""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, External, Static, routine, zeros
from torseur.computation.simulation.explicit.runge_kutta import N, rhs
from torseur.computation.simulation.loop.memory import Motion

SWITCHES: int = Static("SWITCHES", 0)  # 1 when the equations switch at known times

GAP = 2.0**-49

next_switch = External("next_switch", "t: float, direction: float, p: Array, ahead: Array")


@routine
def gap_at(t: float, motion: Motion) -> float:
    """Half the time that is left out at a switch."""
    return GAP * max(abs(t), abs(motion.t_end))


@routine
def look_ahead(motion: Motion, p: Array) -> None:
    """Sets the time at which no step may go on: just before the next switch, or the end of the time span."""
    motion.t_stop = motion.t_end
    if SWITCHES:
        ahead = zeros(1)
        # The switch that lies just behind is past, whatever rounding makes of its time.
        t = motion.time + motion.direction * gap_at(motion.time, motion)
        next_switch(t, motion.direction, p, ahead)
        left = abs(motion.t_end - t)
        if ahead[0] < left:
            gap = gap_at(t + motion.direction * ahead[0], motion)
            if ahead[0] + 4.0 * gap < left:
                motion.t_stop = t + motion.direction * max(ahead[0] - gap, gap)


@routine
def is_at_switch(motion: Motion) -> bool:
    """Whether the present time is that of a switch."""
    return SWITCHES != 0 and motion.time == motion.t_stop and motion.time != motion.t_end


@routine
def cross_switch(motion: Motion, y: Array, p: Array, dy: Array) -> None:
    """Goes on just behind a switch; dy is the derivative before it, and then the one behind it."""
    gap = motion.direction * gap_at(motion.time, motion)
    for i in range(N):
        y[i] += gap * dy[i]
    motion.time += 2.0 * gap
    rhs(motion.time, y, p, dy)
    for i in range(N):
        y[i] += gap * dy[i]
    motion.evaluations += 1
    look_ahead(motion, p)
