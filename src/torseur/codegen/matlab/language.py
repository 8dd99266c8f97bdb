"""How numbers and names are written in MATLAB and Octave, and the functions their libraries lack."""

from __future__ import annotations

from torseur.codegen.straight import Language, one_based

RESERVED = frozenset((
    "abs", "acos", "ans", "asin", "atan", "atan2", "break", "case", "catch", "classdef", "continue", "cos", "cosh",
    "do", "double", "e", "else", "elseif", "end", "end_try_catch", "end_unwind_protect", "endclassdef", "enddo",
    "endenumeration", "endevents", "endfor", "endfunction", "endif", "endmethods", "endparfor", "endproperties",
    "endswitch", "endwhile", "enumeration", "eps", "events", "exp", "Inf", "NaN", "false", "floor", "for", "function",
    "global", "i", "if", "inf", "j", "log", "max", "methods", "min", "nan", "nargin", "nargout", "otherwise",
    "parfor", "persistent", "pi", "properties", "real_acos", "real_asin", "real_log", "real_pow", "real_sqrt",
    "return", "sign", "sin", "sinh", "size", "spmd", "sqrt", "switch", "tan", "tanh", "true", "try", "until",
    "unwind_protect", "unwind_protect_cleanup", "where", "while", "zeros", "lanes",
))  # fmt: skip

OWN_FUNCTIONS = {
    "real_sqrt": "function y = real_sqrt(x)\n  x(x < 0) = NaN;\n  y = sqrt(x);\nend",
    "real_log": "function y = real_log(x)\n  x(x < 0) = NaN;\n  y = log(x);\nend",
    "real_asin": "function y = real_asin(x)\n  x(abs(x) > 1) = NaN;\n  y = asin(x);\nend",
    "real_acos": "function y = real_acos(x)\n  x(abs(x) > 1) = NaN;\n  y = acos(x);\nend",
    "real_pow": (
        "function y = real_pow(x, n)\n  x = x + zeros(size(n));\n  x(x < 0 & n ~= floor(n)) = NaN;\n  y = x .^ n;\nend"
    ),
    "where": (
        "function y = where(condition, a, b)\n  y = b + zeros(size(condition + a));\n"
        "  a = a + zeros(size(y));\n  chosen = condition ~= 0 & true(size(y));\n  y(chosen) = a(chosen);\nend"
    ),
}
"""Local functions that stay with the real numbers, and the choice between two values."""


def literal(value: float) -> str:
    """A number; negative ones in parentheses."""
    text = repr(float(value))
    return text if not text.startswith("-") else f"({text})"


MATLAB = Language("MATLAB", "matlab", ("%", ""), RESERVED, literal, one_based, ignore_case=True)
