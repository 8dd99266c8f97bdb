"""Functions of a mechanism for other frameworks: CasADi, PyTorch, JAX."""

from torseur.edges.public_names import late_names

__getattr__ = late_names(__name__, __file__)
