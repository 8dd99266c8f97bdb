"""Sensitivity analysis: how criteria of a motion change with the parameters of a mechanism."""

from torseur.edges.public_names import late_names

__getattr__ = late_names(__name__, __file__)
