"""From programs and routines to code that runs: C, LLVM or Python."""

from torseur.codegen.batch import BatchKernel, compile_batch
from torseur.codegen.binding import CallbackSpec
from torseur.codegen.compiled import CompiledRoutine, bind, compile_routine
from torseur.codegen.kernel import Kernel, bake, compile_program
from torseur.codegen.sources import generate_source

__all__ = [
    "BatchKernel",
    "CallbackSpec",
    "CompiledRoutine",
    "Kernel",
    "bake",
    "bind",
    "compile_batch",
    "compile_program",
    "compile_routine",
    "generate_source",
]
