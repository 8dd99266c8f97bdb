"""A CUDA source: per function a device function of one state, and kernels over many in float and double.

Arrays are structs of arrays: entry j of state i stands at [j*n + i]. What depends on parameters only is computed once
on the host and passed by value, so that it lies in constant memory. Compiled as plain C++, the same text holds the
device functions alone: that is how they are tested without a GPU.
"""

from __future__ import annotations

from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.sources.source_module import (
    Function,
    Module,
    comment_lines,
    function_lines,
    module_lines,
)
from torseur.computation.codegen.straight_line import Splines
from torseur.computation.codegen.targets.cpp.cpp_module import spline_text, values_text
from torseur.computation.codegen.targets.cuda.cuda_entries import BY_VALUE, SCALARS, kernels_text, on_device
from torseur.computation.codegen.targets.cuda.cuda_scalar import CUDA, FOOT, HEAD
from torseur.computation.codegen.targets.cuda.device_functions import Printer


def module_files(module: Module) -> dict[str, str]:
    """NAME.cuh with the functions and NAME.cu, which compiles them."""
    names = Names(CUDA.reserved)
    own = names.unique(module.name)
    functions = module.functions(names, split=True)
    splines = Splines.of(module.programs, names)
    printer = Printer(splines)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    body = [_function(function, module, printer) for function in functions]
    head = "\n".join(comment_lines(module_lines(module, CUDA), CUDA))
    inside = "\n".join([BY_VALUE, *values_text(names.unique("parameters"), module), "", *tables, *body])
    header = f"{head}\n{HEAD}\nnamespace {own} {{\n\n{inside}\n}}  // namespace {own}\n"
    plans = [(function.name, printer.plan(function.evaluate)) for function in functions]
    launched = "\n".join(kernels_text(own, name, plan, suffix) for name, plan in plans for suffix in SCALARS)
    guarded = f"\n#if defined(__CUDACC__) && !defined(TORSEUR_NO_KERNELS)\n{launched}#endif\n"
    return {f"{own}.cuh": header + guarded + FOOT, f"{own}.cu": f'#include "{own}.cuh"\n'}


def _function(function: Function, module: Module, printer: Printer) -> str:
    """A device function, the preparation of its parameters before it, under a description."""
    lines = comment_lines(function_lines(function, module, CUDA), CUDA)
    parts = [printer.templates(name, printer.plan(program)) for name, program in function.parts]
    return "\n".join([*lines, *parts])
