"""Kernels: what is launched over n states, and sources with one of them each for compiling at run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.program import Program
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.sources.source_module import PREPARED
from torseur.computation.codegen.straight_line import Chunk, Splines
from torseur.computation.codegen.targets.cpp.cpp_module import spline_text
from torseur.computation.codegen.targets.cuda.cuda_scalar import CUDA, HEAD
from torseur.computation.codegen.targets.cuda.device_functions import Printer, arrays_of, stage_names
from torseur.computation.codegen.targets.cuda.stages.cuda_stages import FEW, FEW_DOUBLES, Plan
from torseur.computation.codegen.targets.cuda.stages.register_spilling import Spilling, plan_spilling

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
    shared_bytes: int = 0

    def within(self, registers: int, shared_bytes: int) -> KernelSource:
        """The source for threads with so many registers and bytes of shared memory: this one, whatever they are."""
        return self

    def spills(self, registers: int, shared_bytes: int) -> bool:
        """Whether it would use that shared memory."""
        return False


class StageSource:
    """One stage of a program, as a source for threads with any number of registers."""

    def __init__(self, program: Program, printer: Printer, suffix: str, stage: int, tables: Sequence[str]) -> None:
        self.printer, self.plan, self.suffix, self.tables = printer, printer.plan(program), suffix, tables
        self.stage = stage
        self.name = stage_names(program.name, self.plan)[stage]
        self.operations = self.plan.operations[stage]
        self._spillings: dict[tuple[int, int], Spilling] = {}

    def within(self, registers: int, shared_bytes: int) -> KernelSource:
        """The source for threads with so many registers and bytes of shared memory."""
        places = self.spilling(registers, shared_bytes)
        inside = "\n".join([BY_VALUE, *self.tables, self.printer.stage(self.plan, self.stage, self.name, places)])
        kernel = kernel_text("kernels", self.name, self.stage, self.plan, self.suffix)
        text = f"{HEAD}\nnamespace kernels {{\n\n{inside}\n}}\n{kernel}"
        return KernelSource(text, f"kernels_{self.name}_{self.suffix}", self.operations, self._size * places.slots)

    def spills(self, registers: int, shared_bytes: int) -> bool:
        """Whether threads with so many registers would use that shared memory."""
        return self.spilling(registers, shared_bytes).slots > 0

    def spilling(self, registers: int, shared_bytes: int) -> Spilling:
        """What waits in shared memory."""
        if not shared_bytes:
            return Spilling()
        key = registers, shared_bytes
        if key not in self._spillings:
            room, most = registers - RESERVED, shared_bytes // self._size
            self._spillings[key] = plan_spilling(self._chunk.operations, room, self._weights, most)
        return self._spillings[key]

    @property
    def _chunk(self) -> Chunk:
        return self.plan.layout.chunks[self.stage]

    @cached_property
    def _size(self) -> int:
        """Bytes of a spilled value."""
        return BYTES[SCALARS[self.suffix][self.plan.spill_scalar(self.stage) == "F"]]

    @cached_property
    def _weights(self) -> dict[Expr, int]:
        return register_weights(self.plan, self.stage, self.suffix)


def kernel_sources(program: Program, suffix: str) -> tuple[list[StageSource], int]:
    """The stages of a program in one scalar, and the scratch values per state."""
    names = Names(CUDA.reserved)
    names.unique("kernels")
    own = replace(program, name=names.unique(program.name))
    splines = Splines.of([own], names)
    printer = Printer(splines, FEW_DOUBLES if suffix == "f64" else FEW)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    plan = printer.plan(own)
    return [StageSource(own, printer, suffix, k, tables) for k in range(plan.stages)], plan.scratch


def register_weights(plan: Plan, stage: int, suffix: str) -> dict[Expr, int]:
    """How many registers values take, where it is not one; fine ones that are read coarse too are there twice."""
    scalar, fine = SCALARS[suffix]
    program = plan.layout.program
    if scalar == "double":
        # Registers have 32 bits.
        return dict.fromkeys([*program.operations, *(node for group in program.inputs for node in group.nodes)], 2)
    if fine == scalar:
        return {}
    exact = plan.fine[stage]
    read_coarse = {a for node in plan.layout.chunks[stage].operations if node not in exact for a in node.args}
    # The double (two registers) and its float beside it.
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
