# The names of this room and where they live; __init__.py imports each when first used.
from torseur.computation.functions.frameworks import TorchFunction as TorchFunction
from torseur.computation.functions.frameworks import casadi_function as casadi_function
from torseur.computation.functions.frameworks import jax_function as jax_function
from torseur.computation.functions.frameworks import torch_function as torch_function
from torseur.computation.functions.mechanism_functions import FUNCTIONS as FUNCTIONS
from torseur.computation.functions.mechanism_functions import compile_equations as compile_equations
from torseur.computation.functions.mechanism_functions import program_of as program_of
