"""Functions of a mechanism by name (mass_matrix, forward_dynamics, ...): as programs, as kernels, as sources."""

from torseur.computation.functions.casadi_functions import casadi_function
from torseur.computation.functions.mechanism_functions import FUNCTIONS, compile_equations, program_of

__all__ = ["FUNCTIONS", "casadi_function", "compile_equations", "program_of"]
