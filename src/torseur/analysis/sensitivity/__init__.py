"""Sensitivity analysis: how criteria of a motion change with the parameters of a mechanism."""

from torseur.analysis.sensitivity.events.jumps import Jump
from torseur.analysis.sensitivity.results.sensitivities import Rank, Response, Sensitivities
from torseur.analysis.sensitivity.results.sensitivity_surface import Surface, sensitivity_surface
from torseur.analysis.sensitivity.sensitivity_analysis import sensitivity
from torseur.computation.simulation.model.criterion import Criterion

__all__ = ["Criterion", "Jump", "Rank", "Response", "Sensitivities", "Surface", "sensitivity", "sensitivity_surface"]
