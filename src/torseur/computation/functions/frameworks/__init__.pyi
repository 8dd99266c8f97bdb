# The names of this room and where they live; __init__.py imports each when first used.
from torseur.computation.functions.frameworks.casadi_functions import casadi_function as casadi_function
from torseur.computation.functions.frameworks.jax_functions import jax_function as jax_function
from torseur.computation.functions.frameworks.torch_functions import TorchFunction as TorchFunction
from torseur.computation.functions.frameworks.torch_functions import torch_function as torch_function
