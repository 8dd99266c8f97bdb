"""How numbers, types and names are written in LLVM's assembly language."""

from __future__ import annotations

import struct

from torseur.computation.codegen.routine.routine_language import Kind

TYPES = {
    Kind.FLOAT: "double",
    Kind.INT: "i64",
    Kind.BOOL: "i1",
    Kind.ARRAY: "ptr",
    Kind.INT_ARRAY: "ptr",
    Kind.NONE: "void",
}
ABI_TYPES = {**TYPES, Kind.BOOL: "i64"}
"""Types at the border to C and Python, where a boolean is a whole word."""

ZEROS = {Kind.FLOAT: "0.0", Kind.INT: "0", Kind.BOOL: "false", Kind.ARRAY: "null", Kind.INT_ARRAY: "null"}
# Not `nnan ninf`: integrators look for NaN to refuse a step (docs/decisions/0026-no-finite-math-only.md). Not
# `reassoc`: sums keep the order in which they are written, so that only fused operations round otherwise than Python.
FLAGS = "contract nsz"
"""Freedom given to floating-point operations: fused multiply-add, no signed zeros. NaN keeps its meaning."""

# Type-based alias analysis: without it each store of a state would make LLVM load again the pointers and counters of
# the loop around it.
ALIAS_CLASS = {
    Kind.FLOAT: "!tbaa !1",
    Kind.INT: "!tbaa !2",
    Kind.ARRAY: "!tbaa !3",
    Kind.INT_ARRAY: "!tbaa !3",
    Kind.BOOL: "!tbaa !2",
}
"""Numbers, whole numbers and pointers never share memory."""

ALIAS_METADATA = """\
!0 = !{!"torseur"}
!1 = !{!4, !4, i64 0}
!2 = !{!5, !5, i64 0}
!3 = !{!6, !6, i64 0}
!4 = !{!"float", !0}
!5 = !{!"int", !0}
!6 = !{!"pointer", !0}
"""

MATH = {"sqrt": "llvm.sqrt.f64", "fabs": "llvm.fabs.f64", "floor": "llvm.floor.f64", "copysign": "llvm.copysign.f64"}
"""Functions that are machine instructions; every other one is called in the C library by its own name."""


def double(value: float) -> str:
    """A literal with every bit of the number."""
    # Decimal literals are refused by LLVM unless they are exact.
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
