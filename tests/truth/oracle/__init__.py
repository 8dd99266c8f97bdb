"""An oracle of multibody motion in maximal coordinates, from Newton and Euler alone; README.md tells its parts."""

from truth.oracle.derivatives import measured, motion_derivatives
from truth.oracle.dynamics import dynamics, kinetic_energy, reaction, second_rates
from truth.oracle.motion import motion
from truth.oracle.start import assembled, start_state, with_speeds
from truth.oracle.state import Model, State
from truth.oracle.switches import switching_motion

__all__ = [
    "Model", "State", "assembled", "dynamics", "kinetic_energy", "measured", "motion", "motion_derivatives", "reaction",
    "second_rates", "start_state", "switching_motion", "with_speeds",
]  # fmt: skip
