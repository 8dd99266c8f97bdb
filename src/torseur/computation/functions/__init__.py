"""Functions of a mechanism by name (mass_matrix, forward_dynamics, ...): as programs, as kernels, as sources."""

from torseur.computation.functions.frameworks import TorchFunction, casadi_function, jax_function, torch_function
from torseur.computation.functions.mechanism_functions import FUNCTIONS, compile_equations, program_of

__all__ = [
    "FUNCTIONS",
    "TorchFunction",
    "casadi_function",
    "compile_equations",
    "jax_function",
    "program_of",
    "torch_function",
]
