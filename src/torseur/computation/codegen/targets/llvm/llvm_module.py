"""What a module of LLVM needs beside its functions: declarations, helper functions and constant tables."""

from __future__ import annotations

from torseur.computation.codegen.routine.routine_language import Kind
from torseur.computation.codegen.targets.llvm.llvm_spelling import ALIAS_METADATA, MATH, TYPES, double

PURE = "nounwind willreturn memory(none)"
"""Said of the C library's functions: like -fno-math-errno, it lets sine and cosine of one argument be fused."""

# Python's // and % round towards minus infinity and sdiv towards zero:   q = sdiv a, b;  q - 1 where q·b != a and the
# signs of a and b differ. Division by zero is undefined in LLVM; here it gives 0, as in C's helpers of the same names.
_HELPERS = {
    "int_abs": """
define internal i64 @int_abs(i64 %a) alwaysinline nounwind {
  %n = icmp slt i64 %a, 0
  %m = sub i64 0, %a
  %r = select i1 %n, i64 %m, i64 %a
  ret i64 %r
}""",
    "floor_div": """
define internal i64 @floor_div(i64 %a, i64 %b) alwaysinline nounwind {
  %z = icmp eq i64 %b, 0
  br i1 %z, label %zero, label %divide
zero:
  ret i64 0
divide:
  %q = sdiv i64 %a, %b
  %p = mul i64 %q, %b
  %inexact = icmp ne i64 %p, %a
  %x = xor i64 %a, %b
  %opposite = icmp slt i64 %x, 0
  %down = and i1 %inexact, %opposite
  %d = zext i1 %down to i64
  %r = sub i64 %q, %d
  ret i64 %r
}""",
    "floor_mod": """
define internal i64 @floor_mod(i64 %a, i64 %b) alwaysinline nounwind {
  %q = call i64 @floor_div(i64 %a, i64 %b)
  %p = mul i64 %q, %b
  %z = icmp eq i64 %b, 0
  %d = sub i64 %a, %p
  %r = select i1 %z, i64 0, i64 %d
  ret i64 %r
}""",
    "torseur_sign": """
define internal double @torseur_sign(double %a) alwaysinline nounwind {
  %p = fcmp ogt double %a, 0.0
  %n = fcmp olt double %a, 0.0
  %x = uitofp i1 %p to double
  %y = uitofp i1 %n to double
  %r = fsub double %x, %y
  ret double %r
}""",
    "torseur_min": """
define internal double @torseur_min(double %a, double %b) alwaysinline nounwind {
  %c = fcmp ole double %a, %b
  %r = select i1 %c, double %a, double %b
  ret double %r
}""",
    "torseur_max": """
define internal double @torseur_max(double %a, double %b) alwaysinline nounwind {
  %c = fcmp oge double %a, %b
  %r = select i1 %c, double %a, double %b
  ret double %r
}""",
    "torseur_where": """
define internal double @torseur_where(double %c, double %a, double %b) alwaysinline nounwind {
  %t = fcmp une double %c, 0.0
  %r = select i1 %t, double %a, double %b
  ret double %r
}""",
}


class Declarations:
    """Collects, once each, what the functions of a module refer to."""

    def __init__(self) -> None:
        self._declared: dict[str, None] = {}
        self._helpers: dict[str, None] = {}
        self._tables: dict[tuple[tuple[float, ...], Kind], str] = {}

    def declare(self, line: str) -> None:
        self._declared[line] = None

    def helper(self, name: str) -> str:
        """The name of a helper function, which is then defined in the module."""
        # a % b = a - b · (a // b).
        if name == "floor_mod":
            self._helpers["floor_div"] = None
        self._helpers[name] = None
        return name

    def math(self, name: str, arity: int) -> str:
        """The symbol of a function of floats, declared."""
        symbol = MATH.get(name, name)
        self.declare(f"declare double @{symbol}({', '.join(['double'] * arity)}) {PURE}")
        return symbol

    def declare_call(self, symbol: str, arity: int) -> None:
        """Provides whatever function an operation's spelling calls."""
        if symbol in _HELPERS:
            self.helper(symbol)
        else:
            self.declare(f"declare double @{symbol}({', '.join(['double'] * arity)}) {PURE}")

    def table(self, entries: tuple[float, ...], kind: Kind) -> str:
        return self._tables.setdefault((entries, kind), f"@table_{len(self._tables)}")

    def text(self) -> str:
        """Everything collected, to stand in the module beside its functions."""
        tables = [_table(name, entries, kind) for (entries, kind), name in self._tables.items()]
        return "\n".join([*tables, *self._declared, *(_HELPERS[name] for name in self._helpers), "", ALIAS_METADATA])


def _table(name: str, entries: tuple[float, ...], kind: Kind) -> str:
    type_ = TYPES[kind]
    numbers = ", ".join(f"{type_} {double(e) if kind is Kind.FLOAT else int(e)}" for e in entries)
    return f"{name} = private unnamed_addr constant [{len(entries)} x {type_}] [{numbers}], align 8"
