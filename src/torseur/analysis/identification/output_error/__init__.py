"""Output-error identification: parameters with which the simulated motion is the recorded one."""

from torseur.analysis.identification.output_error.fit_motion import MotionEstimate, Recording, fit_motion

__all__ = ["MotionEstimate", "Recording", "fit_motion"]
