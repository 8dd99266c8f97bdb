"""The C target: prints units and programs as C and hands them to the system's compiler."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.codegen.c.compiler import find_compiler
from torseur.codegen.c.unit import programs_source, unit_source
from torseur.codegen.library import Library, Shape
from torseur.codegen.linking import LinkedUnit
from torseur.errors import CompilationError
from torseur.graph.program import Program


class CTarget:
    """C through gcc, clang or cc."""

    def unit_source(self, linked: LinkedUnit, symbol: str) -> str:
        return unit_source(linked, symbol)

    def programs_source(self, programs: Mapping[str, Program]) -> str:
        return programs_source(programs)

    def build(self, source: str, shape: Shape) -> Library:
        compiler = find_compiler()
        if compiler is None:
            raise CompilationError("there is no C compiler on PATH.")
        return compiler.build(source, shape)
