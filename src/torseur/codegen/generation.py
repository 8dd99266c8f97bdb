"""Sources of a module of functions in the language a user asks for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from torseur.codegen.module import Module
from torseur.errors import UnsupportedError, unknown_name

TARGETS = {
    "c": "torseur.codegen.c.module",
    "cpp": "torseur.codegen.cpp.module",
    "fortran": "torseur.codegen.fortran.module",
    "python": "torseur.codegen.python.module",
    "cuda": "torseur.codegen.cuda.module",
    "jax": "torseur.codegen.jax.module",
    "matlab": "torseur.codegen.matlab.module",
}
"""The module that prints for each target; its `module_files` does."""


def generate_files(module: Module, target: str, batch: bool = False) -> dict[str, str]:
    """The files of a target by their path in the folder they belong in. All text is ASCII.

    With `batch`, C gets functions over many states at once too.
    """
    if target not in TARGETS:
        raise UnsupportedError(unknown_name("target", target, TARGETS))
    if batch and target != "c":
        raise UnsupportedError(f"target '{target}' has no functions over batches of states; target 'c' has.")
    printer = import_module(TARGETS[target])
    print_files: Callable[[Module], dict[str, str]] = printer.module_files
    return print_files(module) | (printer.batch_files(module) if batch else {})
