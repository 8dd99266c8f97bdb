"""Which backend runs a request: LLVM where it is installed, else the C compiler, else Python.

LLVM comes first because it compiles in this process in a third of gcc's time, and up to some thousand operations its
code is as fast. On a program of 12 000 operations gcc's was 17 % faster: ask for backend='c' where that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.kernels.linking import LinkedUnit
from torseur.computation.codegen.kernels.machine_code import Library, Shape
from torseur.errors import CompilationError, unknown_name

BACKENDS = ("auto", "python", "c", "llvm")


@dataclass(frozen=True)
class Target:
    """A language that units and programs are printed in, and the compiler behind it."""

    unit_source: Callable[[LinkedUnit, str], str]
    programs_source: Callable[[Mapping[str, Program]], str]
    build: Callable[[str, Shape], Library]


# Why LLVM before the C compiler: docs/decisions/0007-llvm-before-the-c-compiler.md.
def choose_backend(name: str) -> str:
    """The backend a name stands for on this machine; one that is missing is refused."""
    if name not in BACKENDS:
        raise CompilationError(unknown_name("backend", name, BACKENDS))
    if name == "auto":
        return "llvm" if _has_llvm() else "c" if _has_c() else "python"
    if name == "c" and not _has_c():
        raise CompilationError("there is no C compiler: none of $CC, gcc, clang, cc is on PATH. Use backend='llvm'.")
    if name == "llvm" and not _has_llvm():
        raise CompilationError("llvmlite is not installed. Use backend='c' or backend='python'.")
    return name


def target(name: str) -> Target:
    """The target of a compiled backend."""
    # Imported here: a process pays for the printers and compilers that it uses only.
    if name == "c":
        from torseur.computation.codegen.targets.c import c_compiler, c_unit

        return Target(c_unit.unit_source, c_unit.programs_source, c_compiler.build)
    from torseur.computation.codegen.targets.llvm import llvm_compiler, llvm_unit

    return Target(llvm_unit.unit_source, llvm_unit.programs_source, llvm_compiler.build)


def build_library(name: str, may_change: bool, shape: Shape, source: Callable[[Target], str]) -> Library:
    """The loaded code; when the choice was ours and LLVM fails, the C compiler takes over."""
    chosen = target(name)
    try:
        return chosen.build(source(chosen), shape)
    except CompilationError:
        if not (may_change and name == "llvm" and _has_c()):
            raise
    other = target("c")
    return other.build(source(other), shape)


def _has_llvm() -> bool:
    return find_spec("llvmlite") is not None


def _has_c() -> bool:
    from torseur.computation.codegen.targets.c.c_compiler import find_compiler

    return find_compiler() is not None
