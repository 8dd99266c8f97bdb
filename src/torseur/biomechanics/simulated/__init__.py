"""Trials of a Human36 made by computation: for tests, for studies, and to try the tools on."""

from torseur.biomechanics.simulated.trial import simulated_markers, simulated_trial
from torseur.biomechanics.simulated.walk import Walk, walking

__all__ = ["Walk", "simulated_markers", "simulated_trial", "walking"]
