"""What a step leaves behind: samples at the times asked for, and the step itself."""

from __future__ import annotations

from torseur.codegen.routine import Array, IntArray, routine
from torseur.simulation.dop853 import PIECE_LENGTH, PIECE_STATE, PIECE_TIME, N, interpolate
from torseur.simulation.memory import DIRECTION, KEEP, KEEP_DENSE, KEEP_SLOPES, ROW, SAMPLE, SAMPLES, TIME
from torseur.simulation.settling import copy, settle
from torseur.simulation.step import PIECE, Y_NEXT, Y_STAGE
from torseur.simulation.tableau import STAGES


@routine
def samples_before(t: float, clock: Array, count: IntArray, times: Array) -> bool:
    """Whether a sample is asked for before time t."""
    return count[SAMPLE] < count[SAMPLES] and (times[count[SAMPLE]] - t) * clock[DIRECTION] < 0.0


@routine
def write_samples(t: float, clock: Array, count: IntArray, p: Array, work: Array, times: Array, samples: Array) -> None:
    """States at the times asked for up to the end of the step, time t."""
    piece = work[PIECE * N :]
    while samples_before(t, clock, count, times):
        time = times[count[SAMPLE]]
        interpolate((time - piece[PIECE_TIME]) / piece[PIECE_LENGTH], piece, work[Y_STAGE * N :])
        settle(time, work[Y_STAGE * N :], p, samples[count[SAMPLE] * N :])
        count[SAMPLE] += 1
    write_samples_at(t, work[Y_NEXT * N :], count, times, samples)


@routine
def write_samples_at(t: float, state: Array, count: IntArray, times: Array, samples: Array) -> None:
    """The state itself, for samples asked for at this very time."""
    while count[SAMPLE] < count[SAMPLES] and times[count[SAMPLE]] == t:
        copy(state, samples[count[SAMPLE] * N :], N)
        count[SAMPLE] += 1


@routine
def write_row(h: float, clock: Array, count: IntArray, y: Array, work: Array, rows: Array) -> None:
    """Keeps the step: its piece of motion, or its start with or without the slopes of its stages."""
    if count[KEEP] == KEEP_DENSE:
        copy(work[PIECE * N :], rows[count[ROW] * (PIECE_STATE + 8 * N) :], PIECE_STATE + 8 * N)
    else:
        with_slopes = count[KEEP] == KEEP_SLOPES
        width = PIECE_STATE + (1 + STAGES) * N if with_slopes else PIECE_STATE + N
        row = rows[count[ROW] * width :]
        if with_slopes:
            copy(work, row[PIECE_STATE + N :], STAGES * N)
        row[PIECE_TIME] = clock[TIME]
        row[PIECE_LENGTH] = h
        copy(y, row[PIECE_STATE:], N)
    count[ROW] += 1
