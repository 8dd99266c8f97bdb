"""Which backend runs a request: the C compiler when there is one, else LLVM, else Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Protocol

from torseur.codegen.library import Library
from torseur.codegen.linking import LinkedUnit
from torseur.errors import CompilationError, unknown_name
from torseur.graph.program import Program

BACKENDS = ("auto", "python", "c", "llvm")


class Target(Protocol):
    """A language that units are printed in, and the compiler behind it."""

    def unit_source(self, linked: LinkedUnit, symbol: str) -> str: ...

    def programs_source(self, programs: Mapping[str, Program]) -> str: ...

    def build(self, source: str) -> Library: ...


def choose_backend(name: str) -> str:
    """The backend a name stands for on this machine; one that is missing is refused."""
    if name not in BACKENDS:
        raise CompilationError(unknown_name("backend", name, BACKENDS))
    has_c, has_llvm = _has_c(), find_spec("llvmlite") is not None
    if name == "auto":
        return "c" if has_c else "llvm" if has_llvm else "python"
    if name == "c" and not has_c:
        raise CompilationError("there is no C compiler: none of $CC, gcc, clang, cc is on PATH. Use backend='llvm'.")
    if name == "llvm" and not has_llvm:
        raise CompilationError("llvmlite is not installed. Use backend='c' or backend='python'.")
    return name


def target(name: str) -> Target:
    """The target of a compiled backend."""
    if name == "c":
        from torseur.codegen.c.target import CTarget

        return CTarget()
    from torseur.codegen.llvm.target import LLVMTarget

    return LLVMTarget()


def build_library(name: str, may_change: bool, source: Callable[[Target], str]) -> Library:
    """The loaded code; when the choice was ours and the C compiler fails, LLVM takes over."""
    chosen = target(name)
    try:
        return chosen.build(source(chosen))
    except CompilationError:
        if not (may_change and name == "c" and find_spec("llvmlite") is not None):
            raise
    other = target("llvm")
    return other.build(source(other))


def _has_c() -> bool:
    from torseur.codegen.c.compiler import find_compiler

    return find_compiler() is not None
