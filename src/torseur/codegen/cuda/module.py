"""A CUDA source: per function a device function of one state, and kernels over many in float and double.

Arrays are structs of arrays: entry j of state i stands at [j*n + i]. What depends on parameters only is computed once
on the host and passed by value, so that it lies in constant memory. Compiled as plain C++, the same text holds the
device functions alone: that is how they are tested without a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.codegen.cpp.module import spline_text, values_text
from torseur.codegen.cuda.language import CUDA
from torseur.codegen.cuda.scalar import FOOT, HEAD
from torseur.codegen.cuda.stages import staged
from torseur.codegen.module import PREPARED, Function, Module, commented, function_lines, module_lines
from torseur.codegen.names import Names, part
from torseur.codegen.straight import Chunk, Layout, Splines
from torseur.graph.expr import Expr
from torseur.graph.program import Program

SCALARS = {"f32": "float", "f64": "double"}
"""Suffix of a kernel's name and its scalar."""
LOAD_AHEAD = 48
"""Operations between a load and its use: enough to hide some of the latency, few enough to spare registers."""
BY_VALUE = "template <class T, int N> struct values_of { T values[N]; };\n"


def module_files(module: Module) -> dict[str, str]:
    """NAME.cuh with the functions and NAME.cu, which compiles them."""
    names = Names(CUDA.reserved)
    own = names.unique(module.name)
    functions = module.functions(names, split=True)
    splines = Splines.of(module.programs, names)
    printer = Printer(splines)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    body = [printer.function(function, module) for function in functions]
    head = "\n".join(commented(module_lines(module, CUDA), CUDA))
    inside = "\n".join([BY_VALUE, *values_text(names.unique("parameters"), module), "", *tables, *body])
    header = f"{head}\n{HEAD}\nnamespace {own} {{\n\n{inside}\n}}  // namespace {own}\n"
    kernels = "\n".join(printer.kernels(own, function) for function in functions)
    guarded = f"\n#if defined(__CUDACC__) && !defined(TORSEUR_NO_KERNELS)\n{kernels}#endif\n"
    return {f"{own}.cuh": header + guarded + FOOT, f"{own}.cu": f'#include "{own}.cuh"\n'}


def kernel_source(program: Program, suffix: str) -> tuple[str, list[str], int]:
    """A source with the kernels of one program in one scalar, their names, and the scratch values per state."""
    names = Names(CUDA.reserved)
    own, name = names.unique("kernels"), names.unique(program.name)
    splines = Splines.of([program], names)
    printer = Printer(splines)
    plan = printer.layout(program)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    inside = "\n".join([BY_VALUE, *tables, printer.templates(name, plan)])
    stages = printer.stages(name, plan)
    kernels = "\n".join(_kernel(own, stage, plan, suffix, SCALARS[suffix]) for stage in stages)
    text = f"{HEAD}\nnamespace {own} {{\n\n{inside}\n}}\n{kernels}"
    return text, [f"{own}_{stage}_{suffix}" for stage in stages], plan.slots if len(stages) > 1 else 0


def on_device(spline: str) -> str:
    """A spline of the C++ header for the device."""
    return spline.replace("constexpr double ", "TORSEUR_TABLE double ").replace("\nT ", "\nTORSEUR_DEVICE T ")


class Printer:
    """Prints device functions and kernels."""

    def __init__(self, splines: Splines) -> None:
        self.splines = splines
        self.taken = CUDA.reserved | frozenset(splines.names.values())

    def function(self, function: Function, module: Module) -> str:
        """A device function, the preparation of its parameters before it, under a description."""
        lines = commented(function_lines(function, module, CUDA), CUDA)
        parts = [self.templates(name, self.layout(program)) for name, program in function.parts]
        return "\n".join([*lines, *parts])

    def layout(self, program: Program) -> Layout:
        return staged(program, self.taken)

    def templates(self, name: str, plan: Layout) -> str:
        """One device function, or one per stage and one that calls them all."""
        if len(plan.chunks) == 1:
            return self.template(plan, plan.chunks[0], name)
        extra = ["T *TORSEUR_RESTRICT scratch"]
        stages = [self.template(plan, chunk, part(name, k), extra) for k, chunk in enumerate(plan.chunks)]
        arguments = ", ".join([*plan.arrays, "stride", "scratch"])
        calls = [f"  {part(name, k)}({arguments});" for k in range(len(plan.chunks))]
        head = f"template <class T>\nTORSEUR_DEVICE void {name}({', '.join([*parameters(plan), *extra])}) {{"
        return "\n".join([f"enum {{ {name}_scratch_size = {plan.slots} }};", *stages, head, *calls, "}", ""])

    def template(self, plan: Layout, chunk: Chunk, name: str, extra: Sequence[str] = ()) -> str:
        """A device function. Values are loaded where they are first used and results stored as they are made."""
        lines = ["template <class T>"]
        lines += [f"TORSEUR_DEVICE void {name}({', '.join([*parameters(plan), *extra])}) {{"]
        body = _Body(plan, chunk, self.splines)
        return "\n".join([*lines, *(f"  {line}" for line in body.lines()), "}", ""])

    def kernels(self, own: str, function: Function) -> str:
        """A kernel per stage and scalar, called NAME_function_f32."""
        plan = self.layout(function.evaluate)
        return "\n".join(
            _kernel(own, stage, plan, suffix, scalar)
            for suffix, scalar in SCALARS.items()
            for stage in self.stages(function.name, plan)
        )

    def stages(self, name: str, plan: Layout) -> list[str]:
        """The device functions of a program, one per stage."""
        return [name] if len(plan.chunks) == 1 else [part(name, k) for k in range(len(plan.chunks))]


def parameters(plan: Layout) -> list[str]:
    """The arguments of a device function: the arrays at the place of this state, and the step between entries."""
    inputs = len(plan.program.inputs)
    arrays = [f"{'const ' if i < inputs else ''}T *TORSEUR_RESTRICT {array}" for i, array in enumerate(plan.arrays)]
    return [*arrays, "long long stride"]


class _Body:
    """The lines of one chunk."""

    def __init__(self, plan: Layout, chunk: Chunk, splines: Splines) -> None:
        self.plan, self.chunk, self.splines = plan, chunk, splines
        self.results = plan.arrays[len(plan.program.inputs) :]
        self.here = set(chunk.operations)
        self.partner = {(node.op, node.args[0]): node for node in chunk.operations if node.op in ("sin", "cos")}
        self.known: set[Expr] = set()

    def lines(self) -> list[str]:
        """Loads, operations and stores. A load stands some operations before its first use, so that it has arrived."""
        found: list[str] = []
        operations = self.chunk.operations
        ahead = 0
        for k, node in enumerate(operations):
            while ahead < min(k + LOAD_AHEAD, len(operations)):
                found += [line for argument in operations[ahead].args for line in self.load(argument)]
                ahead += 1
            if node not in self.known:
                found += self.compute(node)
        for node in self.chunk.results:
            if node not in self.here:
                found += [*self.load(node), *self.store(node)]
        return found

    def load(self, node: Expr) -> list[str]:
        """Reads a value from outside at its first use."""
        if node in self.known:
            return []
        if node in self.chunk.inputs:
            i, j = self.chunk.inputs[node]
            array = self.plan.arrays[i]
            uniform = self.plan.program.inputs[i].name == PREPARED
            place = f"{array}[{j}]" if uniform else f"{array}[{j} * stride]"
        elif node in self.chunk.restored:
            place = f"scratch[{self.chunk.restored[node]} * stride]"
        else:
            return []
        self.known.add(node)
        return [f"const T {self.plan.names[node]} = {place};"]

    def compute(self, node: Expr) -> list[str]:
        names = self.plan.names
        other = self.partner.get(("cos" if node.op == "sin" else "sin", node.args[0])) if node.args else None
        if node.op in ("sin", "cos") and other is not None:
            self.known |= {node, other}
            sine, cosine = (node, other) if node.op == "sin" else (other, node)
            argument = CUDA.reference(node.args[0], names)
            first = f"T {names[sine]}, {names[cosine]}; sine_cosine({argument}, &{names[sine]}, &{names[cosine]});"
            return [first, *self.store(sine), *self.store(cosine)]
        self.known.add(node)
        return [f"const T {names[node]} = {CUDA.operation(node, names, self.splines)};", *self.store(node)]

    def store(self, node: Expr) -> list[str]:
        """Writes a value where it is wanted."""
        value = CUDA.reference(node, self.plan.names)
        kept = [f"scratch[{self.chunk.saved[node]} * stride] = {value};"] if node in self.chunk.saved else []
        places = [f"{self.results[i]}[{j} * stride]" for i, j in self.chunk.results.get(node, ())]
        if node.is_zero:
            return [f"TORSEUR_ZERO({place});" for place in places]
        return [*kept, *(f"{place} = {value};" for place in places)]


def _kernel(own: str, stage: str, plan: Layout, suffix: str, scalar: str) -> str:
    """A kernel over n states. What was prepared comes by value."""
    inputs, arrays = plan.program.inputs, plan.arrays
    arguments, passed = [], []
    for i, array in enumerate(arrays):
        prepared = i < len(inputs) and inputs[i].name == PREPARED
        if prepared:
            arguments.append(f"{own}::values_of<{scalar}, {max(len(inputs[i]), 1)}> {array}")
            passed.append(f"{array}.values")
        else:
            arguments.append(f"{'const ' if i < len(inputs) else ''}{scalar} *TORSEUR_RESTRICT {array}")
            passed.append(f"{array} + lane")
    passed.append("n")
    if len(plan.chunks) > 1:
        arguments.append(f"{scalar} *scratch")
        passed.append("scratch + lane")
    return f"""\
extern "C" __global__ void TORSEUR_BOUNDS {own}_{stage}_{suffix}({", ".join(arguments)}, long long n) {{
  const long long lane = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (lane < n) {own}::{stage}<{scalar}>({", ".join(passed)});
}}
"""
