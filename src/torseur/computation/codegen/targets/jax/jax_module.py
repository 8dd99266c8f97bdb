"""A Python module of JAX functions: they can be traced, vectorised and differentiated by JAX.

JAX spells its functions as NumPy does. Numbers are as precise as the arrays that come in: for double precision, set
`jax.config.update("jax_enable_x64", True)` before. What depends on parameters only is computed in the same function;
`jax.jit` with the parameters as constants computes it once.
"""

from __future__ import annotations

from dataclasses import replace

from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.codegen.targets.python.python_module import NUMPY, print_functions

JAX = replace(NUMPY, name="Python (JAX)")


def module_files(module: Module) -> dict[str, str]:
    """NAME.py."""
    return print_functions(module, JAX, "jax.numpy")
