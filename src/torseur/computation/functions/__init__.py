"""Functions of a mechanism by name (mass_matrix, forward_dynamics, ...): as programs, as kernels, as sources."""

from torseur.computation.functions.mechanism_functions import FUNCTIONS, compile_equations, program_of

__all__ = ["FUNCTIONS", "compile_equations", "program_of"]
