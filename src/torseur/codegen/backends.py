"""Which backend runs a request: LLVM where it is installed, else the C compiler, else Python.

LLVM comes first because it compiles in this process in a third of gcc's time, and up to some thousand operations its
code is as fast. On a program of 12 000 operations gcc's was 17 % faster: ask for backend='c' where that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Protocol

from torseur.codegen.library import Library, Shape
from torseur.codegen.linking import LinkedUnit
from torseur.errors import CompilationError, unknown_name
from torseur.graph.program import Program

BACKENDS = ("auto", "python", "c", "llvm")


class Target(Protocol):
    """A language that units are printed in, and the compiler behind it."""

    def unit_source(self, linked: LinkedUnit, symbol: str) -> str: ...

    def programs_source(self, programs: Mapping[str, Program]) -> str: ...

    def build(self, source: str, shape: Shape) -> Library: ...


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
    if name == "c":
        from torseur.codegen.c.target import CTarget

        return CTarget()
    from torseur.codegen.llvm.target import LLVMTarget

    return LLVMTarget()


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
    from torseur.codegen.c.compiler import find_compiler

    return find_compiler() is not None
