"""From programs and routines to code that runs: C, LLVM or Python."""

from torseur.computation.codegen.kernels.batch_kernel import BatchKernel, compile_batch
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine, bind, compile_routine
from torseur.computation.codegen.kernels.kernel import Kernel, bake, compile_program
from torseur.computation.codegen.kernels.program_binding import CallbackSpec
from torseur.computation.codegen.sources.generate_files import generate_source

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
