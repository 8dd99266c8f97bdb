"""A CUDA source: per function a device function of one state, and kernels over many in float and double.

Arrays are structs of arrays: entry j of state i stands at [j*n + i]. What depends on parameters only is computed once
on the host and passed by value, so that it lies in constant memory. Compiled as plain C++, the same text holds the
device functions alone: that is how they are tested without a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.codegen.cpp.module import spline_text, values_text
from torseur.codegen.cuda.device import Printer, arrays_of, stage_names
from torseur.codegen.cuda.language import CUDA
from torseur.codegen.cuda.scalar import FOOT, HEAD
from torseur.codegen.cuda.stages import Plan
from torseur.codegen.module import PREPARED, Function, Module, commented, function_lines, module_lines
from torseur.codegen.names import Names
from torseur.codegen.straight import Splines
from torseur.graph.program import Program

SCALARS = {"f32": ("float", "float"), "f64": ("double", "double"), "mixed": ("float", "double")}
"""Suffix of a kernel's name and its scalars T and F."""
BY_VALUE = "template <class T, int N> struct values_of { T values[N]; };\n"


def module_files(module: Module) -> dict[str, str]:
    """NAME.cuh with the functions and NAME.cu, which compiles them."""
    names = Names(CUDA.reserved)
    own = names.unique(module.name)
    functions = module.functions(names, split=True)
    splines = Splines.of(module.programs, names)
    printer = Printer(splines)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    body = [_function(function, module, printer) for function in functions]
    head = "\n".join(commented(module_lines(module, CUDA), CUDA))
    inside = "\n".join([BY_VALUE, *values_text(names.unique("parameters"), module), "", *tables, *body])
    header = f"{head}\n{HEAD}\nnamespace {own} {{\n\n{inside}\n}}  // namespace {own}\n"
    plans = [(function.name, printer.plan(function.evaluate)) for function in functions]
    launched = "\n".join(kernels(own, name, plan, suffix) for name, plan in plans for suffix in SCALARS)
    guarded = f"\n#if defined(__CUDACC__) && !defined(TORSEUR_NO_KERNELS)\n{launched}#endif\n"
    return {f"{own}.cuh": header + guarded + FOOT, f"{own}.cu": f'#include "{own}.cuh"\n'}


@dataclass(frozen=True)
class KernelSource:
    """A source with one kernel, the kernel's name, and how many operations it does."""

    text: str
    name: str
    operations: int


def kernel_sources(program: Program, suffix: str) -> tuple[list[KernelSource], int]:
    """The stages of a program in one scalar, each a source of its own, and the scratch values per state."""
    names = Names(CUDA.reserved)
    own, name = names.unique("kernels"), names.unique(program.name)
    splines = Splines.of([program], names)
    printer = Printer(splines)
    plan = printer.plan(program)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    bodies = [printer.templates(name, plan)] if plan.stages == 1 else printer.stages(name, plan)
    sources = []
    for stage, body, operations in zip(stage_names(name, plan), bodies, plan.operations, strict=True):
        inside = "\n".join([BY_VALUE, *tables, body])
        text = f"{HEAD}\nnamespace {own} {{\n\n{inside}\n}}\n{_kernel(own, stage, plan, suffix)}"
        sources.append(KernelSource(text, f"{own}_{stage}_{suffix}", operations))
    return sources, plan.scratch


def _function(function: Function, module: Module, printer: Printer) -> str:
    """A device function, the preparation of its parameters before it, under a description."""
    lines = commented(function_lines(function, module, CUDA), CUDA)
    parts = [printer.templates(name, printer.plan(program)) for name, program in function.parts]
    return "\n".join([*lines, *parts])


def on_device(spline: str) -> str:
    """A spline of the C++ header for the device."""
    return spline.replace("constexpr double ", "TORSEUR_TABLE double ").replace("\nT ", "\nTORSEUR_DEVICE T ")


def kernels(own: str, name: str, plan: Plan, suffix: str) -> str:
    """A kernel per stage, called OWN_name_f32."""
    return "\n".join(_kernel(own, stage, plan, suffix) for stage in stage_names(name, plan))


def _kernel(own: str, stage: str, plan: Plan, suffix: str) -> str:
    """A kernel over n states. What was prepared comes by value."""
    scalar, fine = SCALARS[suffix]
    inputs, arrays = plan.layout.program.inputs, arrays_of(plan)
    arguments, passed = [], []
    for i, array in enumerate(arrays):
        prepared = i < len(inputs) and inputs[i].name == PREPARED
        if prepared:
            arguments.append(f"{own}::values_of<{fine}, {max(len(inputs[i]), 1)}> {array}")
            passed.append(f"{array}.values")
        else:
            arguments.append(f"{'const ' if i < len(inputs) else ''}{scalar} *TORSEUR_RESTRICT {array}")
            passed.append(f"{array} + lane")
    passed.append("n")
    if plan.stages > 1:
        arguments.append(f"{fine} *scratch")
        passed.append("scratch + lane")
    return f"""\
extern "C" __global__ void TORSEUR_BOUNDS {own}_{stage}_{suffix}({", ".join(arguments)}, long long n) {{
  const long long lane = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (lane < n) {own}::{stage}<{scalar}, {fine}>({", ".join(passed)});
}}
"""
