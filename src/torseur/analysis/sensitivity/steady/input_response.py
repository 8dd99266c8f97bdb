"""Response of any formula to any input: a parameter, a law, a load, an equation, or a force along a coordinate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from torseur.analysis.sensitivity.criteria.motion_formulas import read_formula
from torseur.computation.linearisation.equilibrium import Steady, steady_motion
from torseur.computation.linearisation.frequency_response import (
    FrequencyResponse,
    frequency_response,
    response_per_input,
)
from torseur.computation.linearisation.operating_point import Point, kinematics_of, point_of
from torseur.computation.linearisation.small_motions import SmallMotions, small_motions
from torseur.computation.linearisation.verification import Check
from torseur.computation.simulation.model.first_order_form import system_with_accelerations
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import DrivenInput, Mechanism, driven_input


@dataclass(frozen=True, eq=False)
class InputMotions:
    """Small motions of a mechanism about a state, one of its inputs being free to move."""

    input: str
    motions: SmallMotions
    steady: Steady | None
    driven: DrivenInput | None

    @property
    def checks(self) -> list[Check]:
        """The checks of the steady state, where one was looked for, and of the linearisation."""
        return [*([self.steady.check] if self.steady is not None else []), self.motions.check]

    def response(self, output: str, frequencies: Sequence[float] | Vector) -> FrequencyResponse:
        """Complex amplitudes of an output, the name of a quantity or a formula, at angular frequencies (rad/s)."""
        read = read_formula(output, system_with_accelerations(self.motions.point.equations))
        if self.driven is None:
            return replace(
                frequency_response(self.motions, self.input, read.value, frequencies),
                output=output,
                units=(read.unit, ""),
            )
        values = response_per_input(self.motions, self.driven.coordinate.name, read.value, frequencies)
        units = (read.unit, self.driven.coordinate.unit)
        return FrequencyResponse(self.input, output, np.asarray(frequencies, dtype=float), values, units)


def input_motions(
    mechanism: Mechanism,
    input: str,
    at: Mapping[str, float] | None = None,
    *,
    moving: Collection[str] = (),
    fixed: Collection[str] = (),
    parameters: Mapping[str, float] | None = None,
    rest: bool = False,
    t: float = 0.0,
) -> InputMotions:
    """Small motions with an input, about the initial state, the equilibrium near it (`rest`) or a steady motion.

    `input` names a parameter, a law (moved as a whole), a load (made larger by a part), an equation (its right side
    moved), or a coordinate or speed along which a force acts.
    """
    known = [q.name for joint in mechanism.joints for q in joint.coordinates]
    known += [speed.name for joint in mechanism.joints for speed in joint.speeds]
    if input.removesuffix("'") in known:
        kinematics = kinematics_of(mechanism)
        if not (moving or rest):
            return InputMotions(input, small_motions(point_of(kinematics, at, parameters, None, t)), None, None)
        steady = steady_motion(kinematics, at, moving=moving, fixed=fixed, parameters=parameters, t=t)
        return InputMotions(input, steady.small_motions, steady, None)
    driven = driven_input(mechanism, input)
    kinematics = kinematics_of(driven.mechanism)
    if not (moving or rest):
        point = _hold_input(point_of(kinematics, at, parameters, None, t), driven)
        return InputMotions(input, small_motions(point), None, driven)
    held = [*fixed, driven.coordinate.name]
    steady = steady_motion(kinematics, at, moving=moving, fixed=held, parameters=parameters, t=t)
    return InputMotions(input, steady.small_motions, steady, driven)


def _hold_input(point: Point, driven: DrivenInput) -> Point:
    """The point with the force that keeps the input from moving by itself."""
    layout = point.equations.layout
    state = layout.coordinate_names.index(driven.hold.name)
    speed = layout.speed_names.index(f"{driven.coordinate.name}'")
    # Accelerations are linear in forces: two of them give the one that leaves none.
    without = point.solution[0][speed]
    y = point.y.copy()
    y[state] = 1.0
    y[state] = -without / (replace(point, y=y).solution[0][speed] - without)
    return replace(point, y=y)
