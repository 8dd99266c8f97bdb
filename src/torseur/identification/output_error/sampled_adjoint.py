"""The gradient of a sampled cost by the discrete adjoint: one motion from sample to sample, and one way back.

The motion is taken in parts that end at the samples. Back through the steps of each part, the weights λ of the state at
a sample become weights of the state at the sample before, where h_yᵀ r is added for outputs h with weighted residual r.
Loops are as in `torseur.sensitivity`: through the accelerations solved at each stage, and the states brought back on
their constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from torseur.codegen.compiled import CompiledRoutine
from torseur.errors import UnsupportedError
from torseur.identification.arrays import Array
from torseur.sensitivity.adjoint import Backward
from torseur.sensitivity.backward import repeat_steps
from torseur.sensitivity.course import Course
from torseur.sensitivity.direct import require_done
from torseur.sensitivity.loop import routine_of, stepping
from torseur.sensitivity.preparation import prepare
from torseur.sensitivity.recording import record
from torseur.sensitivity.study import Study
from torseur.simulation import memory
from torseur.simulation.from_equations import Model

Observed = Callable[[int, Array], tuple[Array, Array]]
"""From a sample's number and state to weights of the state and of the unknowns there."""


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """A motion in parts from sample to sample, each kept so that one can go back through it."""

    study: Study
    parts: tuple[Backward, ...]

    @property
    def states(self) -> Array:
        """The state at every sample."""
        ends = [part.recording.end for part in self.parts]
        return np.array([self.study.variation.initial, *ends])

    def gradient(self, observed: Observed) -> Array:
        """Slopes of the cost by the unknowns, from the weights that samples give their states and the unknowns."""
        states = self.states
        weights, gradient = observed(len(states) - 1, states[-1])
        for k in range(len(self.parts) - 1, -1, -1):
            back, along = self.parts[k].back(weights[None, :], gradient[None, :])
            own, direct = observed(k, states[k])
            weights, gradient = back[0] + own, along[0] + direct
        return gradient + weights @ self.study.variation.initial_changes


def sampled_motion(
    model: Model,
    unknown: Sequence[str],
    times: Array,
    parameters: Mapping[str, float],
    initial: Mapping[str, float],
    rtol: float,
) -> SampledMotion:
    """The motion of a model through the samples; `unknown` names parameters ("m1") and initial values ("q1(0)")."""
    ready = prepare(model, list(unknown), parameters, initial, {}, float(times[0]))
    study = Study(ready, (), Course(float(times[0]), float(times[-1]), np.empty(0), rtol))
    if len(study.discontinuities):
        raise UnsupportedError(
            f"{ready.system.name}: its loads switch along the motion, and the adjoint of a sampled cost does not go "
            'back through that. The method "gauss_newton" follows it.'
        )
    routines, variation, course = study.routines, study.variation, study.course
    problem = course.problem(variation, False, np.empty(0), memory.KEEP_SLOPES)
    loop = stepping(routines, variation.size, routines.statics, routines.forward, course)
    repeat = partial(routine_of, repeat_steps, variation.size, routines.statics, routines.backward, course.backend)
    parts: list[Backward] = []
    ways_back: dict[tuple[int, str], CompiledRoutine] = {}
    state = variation.initial
    for start, until in zip(times[:-1].tolist(), times[1:].tolist(), strict=True):
        here = replace(problem, initial=state, start=start, until=until, max_step=until - start)
        recording = record(loop, repeat, here, course.most_bytes)
        require_done(recording.run, here, variation.system)
        parts.append(Backward(routines, replace(course, start=start, until=until), recording, ways_back))
        state = recording.end
    return SampledMotion(study, tuple(parts))
