"""Closed loops and constraints: closure equations, assembly, rank, mobility, redundancy."""

from torseur.edges.public_names import late_names

__getattr__ = late_names(__name__, __file__)
