"""What compiled code leaves behind: nothing but the code. Measured by the C library and the garbage collector."""

from __future__ import annotations

import ctypes
import gc
import sys

import pytest

from torseur.computation.codegen.kernels.compiled_routine import compile_routine
from torseur.computation.codegen.kernels.machine_code import Shape
from torseur.computation.codegen.routine import Array, routine
from torseur.computation.codegen.routine.nodes import Function

SOURCE = """
define double @scaled(double %x) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = phi double [ %x, %entry ], [ %c, %loop ]
  %b = fmul double %a, {factor!r}
  %c = fadd double %b, {term!r}
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, 5
  br i1 %more, label %loop, label %done
done:
  ret double %c
}}
"""
MOST = 1500  # bytes per compilation; passes that are not given back take 7,600 to 30,000, and numbers stay besides


class _Usage(ctypes.Structure):
    names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    _fields_ = [(name, ctypes.c_size_t) for name in names]


def in_use() -> int:
    """Bytes that the C library has given out."""
    measure = getattr(ctypes.CDLL(None), "mallinfo2", None) if sys.platform == "linux" else None
    if measure is None:
        pytest.skip("only glibc 2.33 or later tells how much memory is in use")
    measure.restype = _Usage
    gc.collect()
    usage = measure()
    return int(usage.uordblks + usage.hblkhd)


@pytest.mark.slow
@pytest.mark.parametrize("shape", list(Shape))
def test_compilations_leave_nothing_in_llvm(shape):
    from torseur.computation.codegen.targets.llvm.llvm_compiler import _compile

    def compile_some(first: int) -> None:
        for k in range(first, first + 40):
            _compile(SOURCE.format(factor=1.0 + k / 1024, term=k / 4096 + 0.25), shape)

    compile_some(0)
    before = in_use()
    compile_some(40)
    assert in_use() - before < 40 * MOST


@routine
def doubled(x: Array, y: Array) -> None:
    for i in range(3):
        y[i] = 2.0 * x[i]


@pytest.mark.slow
def test_a_compiled_routine_does_not_keep_its_translation():
    def functions() -> int:
        gc.collect()
        return sum(isinstance(one, Function) for one in gc.get_objects())

    before = functions()
    compiled = compile_routine(doubled, backend="llvm")
    assert callable(compiled) and functions() == before
