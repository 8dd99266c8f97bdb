"""The LLVM target: prints units and programs as assembly and compiles them in this process."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.codegen.library import Library, Shape
from torseur.codegen.linking import LinkedUnit
from torseur.codegen.llvm.compiler import build
from torseur.codegen.llvm.unit import programs_source, unit_source
from torseur.graph.program import Program


class LLVMTarget:
    """LLVM through llvmlite."""

    def unit_source(self, linked: LinkedUnit, symbol: str) -> str:
        return unit_source(linked, symbol)

    def programs_source(self, programs: Mapping[str, Program]) -> str:
        return programs_source(programs)

    def build(self, source: str, shape: Shape) -> Library:
        return build(source, shape)
