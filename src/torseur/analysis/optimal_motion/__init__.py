"""Motions of least effort or time by direct collocation and shooting."""

from torseur.analysis.optimal_motion.optimal_motion import OptimalMotion, PlannedMotion

__all__ = ["OptimalMotion", "PlannedMotion"]
