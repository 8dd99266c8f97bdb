"""What a step leaves behind: samples at the times asked for, and the step itself."""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, flat, routine
from torseur.computation.simulation.explicit.dop853 import Piece, interpolate
from torseur.computation.simulation.explicit.dop853_tableau import STAGES
from torseur.computation.simulation.explicit.runge_kutta import N
from torseur.computation.simulation.implicit.radau_memory import NS
from torseur.computation.simulation.loop.memory import KEEP_DENSE, KEEP_STAGES, KeptStep, Motion, Output
from torseur.computation.simulation.loop.settling import copy, settle
from torseur.computation.simulation.loop.step import Step


@routine
def samples_before(t: float, motion: Motion, output: Output) -> bool:
    """Whether a sample is asked for before time t."""
    return output.sample < output.sample_count and (output.times[output.sample] - t) * motion.direction < 0.0


@routine
def write_samples(t: float, motion: Motion, p: Array, step: Step, output: Output) -> None:
    """States at the times asked for up to the end of the step, time t."""
    while samples_before(t, motion, output):
        time = output.times[output.sample]
        interpolate(time, step.piece, step.y_stage)
        settle(time, step.y_stage, p, output.samples[output.sample])
        output.sample += 1
    write_samples_at(t, step.y_next, output)


@routine
def write_samples_at(t: float, state: Array, output: Output) -> None:
    """The state itself, for samples asked for at this very time."""
    while output.sample < output.sample_count and output.times[output.sample] == t:
        copy(state, output.samples[output.sample], N)
        output.sample += 1


@routine
def write_row(h: float, motion: Motion, y: Array, step: Step, output: Output) -> None:
    """Keeps the step: its piece of motion, or its start with or without its stages."""
    if output.keep == KEEP_DENSE:
        write_piece(step.piece, Piece.view(output.rows[output.row * (2 + 8 * N) :]))
    else:
        with_stages = output.keep == KEEP_STAGES
        width = 2 + (1 + STAGES) * N if with_stages else 2 + N
        kept = KeptStep.view(output.rows[output.row * width :])
        if with_stages:
            write_stages(step, kept)
        kept.time[0] = motion.time
        kept.length[0] = h
        copy(y, kept.y, N)
    output.row += 1


@routine
def write_piece(piece: Piece, kept: Piece) -> None:
    kept.time = piece.time
    kept.length = piece.length
    copy(piece.state, kept.state, N)
    copy(flat(piece.coefficients), flat(kept.coefficients), 7 * N)


@routine
def write_stages(step: Step, kept: KeptStep) -> None:
    """The derivatives of an explicit step; of an implicit one, that at its start and then its stages."""
    if NS == 0:
        copy(flat(step.k), flat(kept.k), STAGES * N)
    else:
        copy(step.k[0], kept.k[0], N)
        copy(flat(step.newton.z), flat(kept.k[1:]), NS * N)
