"""Functions of a mechanism by name (mass_matrix, forward_dynamics, ...): as programs, as kernels, as sources."""

from torseur.edges.public_names import late_names

__getattr__ = late_names(__name__, __file__)
