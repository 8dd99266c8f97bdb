"""How numbers, types and names are written in C."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torseur.computation.codegen.routine.routine_language import Kind

TYPES = {
    Kind.FLOAT: "double",
    Kind.INT: "int64_t",
    Kind.BOOL: "bool",
    Kind.ARRAY: "double *",
    Kind.INT_ARRAY: "int64_t *",
    Kind.NONE: "void",
}

RESERVED = frozenset(
    (
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "bool",
        "true",
        "false",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "NULL",
        "INFINITY",
        "NAN",
        "HUGE_VAL",
        "asm",
        "typeof",
        "main",
        "memset",
        "memcpy",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "expm1",
        "log",
        "log1p",
        "log10",
        "fabs",
        "floor",
        "copysign",
        "pow",
        "hypot",
        "isfinite",
        "isnan",
        "sincos",
        "context",
        "ctx",
        "int_abs",
        "int_min",
        "int_max",
        "float_min",
        "float_max",
        "floor_div",
        "floor_mod",
        "complex",
        "linux",
        "unix",
        "i386",
        "scratch",
        "M_E",
        "M_LOG2E",
        "M_LOG10E",
        "M_LN2",
        "M_LN10",
        "M_PI",
        "M_PI_2",
        "M_PI_4",
        "M_1_PI",
        "M_2_PI",
        "M_2_SQRTPI",
        "M_SQRT2",
        "M_SQRT1_2",
        "MAXFLOAT",
        "MATH_ERRNO",
        "FP_NAN",
        "FP_INFINITE",
        "FP_ZERO",
        "FP_NORMAL",
        "FP_SUBNORMAL",
        "FP_ILOGB0",
        "FP_ILOGBNAN",
        "angles",
        "sines",
        "sines_of",
        "lanes",
        "lane_bits",
        "lanes_turn",
        "lanes_load",
        "lanes_store",
        "LANES",
        "TORSEUR_EXPORT",
        "TORSEUR_INLINE",
        "TORSEUR_NOINLINE",
        "TORSEUR_PIECE",
        "TORSEUR_RESTRICT",
    )
)


def double(value: float) -> str:
    """A literal that reads back as the same number; negative ones in parentheses."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(float(value))
    return text if not text.startswith("-") else f"({text})"


def integer(value: int) -> str:
    text = f"{value}" if abs(value) < 1 << 31 else f"INT64_C({value})"
    return text if value >= 0 else f"({text})"


def parameter_list(arrays: Sequence[str], inputs: int) -> list[str]:
    """The parameters of a function of arrays, inputs first."""
    return [f"{'const ' if i < inputs else ''}double *restrict {array}" for i, array in enumerate(arrays)]
