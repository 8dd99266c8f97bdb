"""Kernels: what is launched over n states, and sources with one of them each for compiling at run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.codegen.cpp.module import spline_text
from torseur.codegen.cuda.device import Printer, arrays_of, fine_nodes, stage_names
from torseur.codegen.cuda.language import CUDA
from torseur.codegen.cuda.parking import Parking, parking
from torseur.codegen.cuda.scalar import HEAD
from torseur.codegen.cuda.stages import Plan
from torseur.codegen.module import PREPARED
from torseur.codegen.names import Names
from torseur.codegen.straight import Chunk, Splines
from torseur.graph.expr import Expr
from torseur.graph.program import Program

SCALARS = {"f32": ("float", "float"), "f64": ("double", "double"), "mixed": ("float", "double")}
"""Suffix of a kernel's name and its scalars T and F."""
BYTES = {"float": 4, "double": 8}
BY_VALUE = "template <class T, int N> struct values_of { T values[N]; };\n"
RESERVED = 27
"""Registers that a thread needs besides its values: addresses, and what arrives before it is used."""


@dataclass(frozen=True)
class KernelSource:
    """A source with one kernel, how many operations that does, and the bytes of shared memory that a thread needs."""

    text: str
    name: str
    operations: int
    parked: int = 0

    def within(self, registers: int, parked: int) -> KernelSource:
        """The source for threads with so many registers and bytes of shared memory: this one, whatever they are."""
        return self

    def parks(self, registers: int, parked: int) -> bool:
        """Whether it would use that shared memory."""
        return False


class StageSource:
    """One stage of a program, as a source for threads with any number of registers."""

    def __init__(self, program: Program, printer: Printer, suffix: str, stage: int, tables: Sequence[str]) -> None:
        self.printer, self.plan, self.suffix, self.tables = printer, printer.plan(program), suffix, tables
        self.stage = stage
        self.name = stage_names(program.name, self.plan)[stage]
        self.operations = self.plan.operations[stage]
        self._parking: dict[tuple[int, int], Parking] = {}

    def within(self, registers: int, parked: int) -> KernelSource:
        """The source for threads with so many registers and bytes of shared memory."""
        places = self.parking(registers, parked)
        inside = "\n".join([BY_VALUE, *self.tables, self.printer.stage(self.plan, self.stage, self.name, places)])
        kernel = kernel_text("kernels", self.name, self.stage, self.plan, self.suffix)
        text = f"{HEAD}\nnamespace kernels {{\n\n{inside}\n}}\n{kernel}"
        return KernelSource(text, f"kernels_{self.name}_{self.suffix}", self.operations, self._size * places.slots)

    def parks(self, registers: int, parked: int) -> bool:
        """Whether threads with so many registers would use that shared memory."""
        return self.parking(registers, parked).slots > 0

    def parking(self, registers: int, parked: int) -> Parking:
        """What waits in shared memory."""
        if not parked:
            return Parking()
        key = registers, parked
        if key not in self._parking:
            order = self.plan.layout.chunks[self.stage].operations
            self._parking[key] = parking(order, registers - RESERVED, self._weights, parked // self._size)
        return self._parking[key]

    @property
    def _size(self) -> int:
        return BYTES[SCALARS[self.suffix][1]]

    @cached_property
    def _weights(self) -> dict[Expr, int]:
        return register_weights(self.plan, self.suffix)


def kernel_sources(program: Program, suffix: str) -> tuple[list[StageSource], int]:
    """The stages of a program in one scalar, and the scratch values per state."""
    names = Names(CUDA.reserved)
    names.unique("kernels")
    own = replace(program, name=names.unique(program.name))
    splines = Splines.of([own], names)
    printer = Printer(splines)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    plan = printer.plan(own)
    return [StageSource(own, printer, suffix, k, tables) for k in range(plan.stages)], plan.scratch


def register_weights(plan: Plan, suffix: str) -> dict[Expr, int]:
    """How many registers values take, where it is not one; fine ones that are read coarse too are there twice."""
    scalar, fine = SCALARS[suffix]
    program = plan.layout.program
    if scalar == "double":
        return dict.fromkeys([*program.operations, *(node for group in program.inputs for node in group.nodes)], 2)
    if fine == scalar:
        return {}
    exact = fine_nodes(program)
    read_coarse = {a for node in program.operations if node not in exact for a in node.args}
    return {node: 3 if node in read_coarse else 2 for node in exact}


def on_device(spline: str) -> str:
    """A spline of the C++ header for the device."""
    return spline.replace("constexpr double ", "TORSEUR_TABLE double ").replace("\nT ", "\nTORSEUR_DEVICE T ")


def kernels_text(own: str, name: str, plan: Plan, suffix: str) -> str:
    """A kernel per stage, called OWN_name_f32."""
    stages = stage_names(name, plan)
    return "\n".join(kernel_text(own, stage, k, plan, suffix) for k, stage in enumerate(stages))


def kernel_text(own: str, name: str, stage: int, plan: Plan, suffix: str) -> str:
    """A kernel over n states."""
    scalar, fine = SCALARS[suffix]
    arguments, passed = _arguments(own, plan, suffix)
    return f"""\
extern "C" __global__ void TORSEUR_BOUNDS {own}_{name}_{suffix}({", ".join(arguments)}, unsigned n) {{
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) {own}::{name}<{scalar}, {fine}>({", ".join([*passed, stride(plan, stage), *scratch_of(plan)])});
}}
"""


def stride(plan: Plan, stage: int) -> str:
    """The step between entries, as a value of the thread where more is stored than loaded.

    Loads of q, v and tau share their products with a uniform step, and the compiler sees it.
    """
    return "stride_of(n, lane)" if _more_stores(plan.layout.chunks[stage]) > 0 else "n"


def scratch_of(plan: Plan) -> list[str]:
    return ["scratch + lane"] if plan.scratch else []


def _more_stores(chunk: Chunk) -> int:
    stores = sum(len(places) for node, places in chunk.results.items() if not node.is_zero) + len(chunk.saved)
    return stores - len(chunk.inputs) - len(chunk.restored)


def _arguments(own: str, plan: Plan, suffix: str) -> tuple[list[str], list[str]]:
    """The parameters of a kernel, and what it passes on for a state. What was prepared comes by value."""
    scalar, fine = SCALARS[suffix]
    inputs = plan.layout.program.inputs
    arguments, passed = [], []
    for i, array in enumerate(arrays_of(plan)):
        if i < len(inputs) and inputs[i].name == PREPARED:
            arguments.append(f"{own}::values_of<{fine}, {max(len(inputs[i]), 1)}> {array}")
            passed.append(f"{array}.values")
        else:
            arguments.append(f"{'const ' if i < len(inputs) else ''}{scalar} *TORSEUR_RESTRICT {array}")
            passed.append(f"{array} + lane")
    return arguments + ([f"{fine} *scratch"] if plan.scratch else []), passed
