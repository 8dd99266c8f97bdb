"""Sensitivity analysis: how criteria of a motion change with the parameters of a mechanism."""

from torseur.sensitivity.analysis import sensitivity
from torseur.sensitivity.criteria import Criterion
from torseur.sensitivity.results import Rank, Response, Sensitivities

__all__ = ["Criterion", "Rank", "Response", "Sensitivities", "sensitivity"]
