"""Functions of a mechanism for other frameworks: CasADi, PyTorch, JAX."""

from torseur.computation.functions.frameworks.casadi_functions import casadi_function
from torseur.computation.functions.frameworks.jax_functions import jax_function
from torseur.computation.functions.frameworks.torch_functions import TorchFunction, torch_function

__all__ = ["TorchFunction", "casadi_function", "jax_function", "torch_function"]
