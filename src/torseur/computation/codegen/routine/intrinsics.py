"""Scalar functions of the routine language: one row per function, with its value and its type.

A row's name is also its spelling in C; the LLVM target maps the same names to intrinsics and libm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torseur.computation.codegen.routine.routine_language import Kind


@dataclass(frozen=True)
class IntrinsicRow:
    """A function of floats: its name, its Python value (used to fold constants) and the type of its result."""

    name: str
    value: Callable[..., Any]
    arity: int = 1
    returns: Kind = Kind.FLOAT


_ROWS = (
    *(
        IntrinsicRow(name, getattr(math, name))
        for name in (
            "sqrt",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "exp",
            "expm1",
            "log",
            "log1p",
            "log10",
            "fabs",
        )
    ),
    *(IntrinsicRow(name, getattr(math, name), arity=2) for name in ("atan2", "copysign", "pow", "hypot")),
    IntrinsicRow("floor", math.floor, returns=Kind.INT),
    IntrinsicRow("isfinite", math.isfinite, returns=Kind.BOOL),
    IntrinsicRow("isnan", math.isnan, returns=Kind.BOOL),
)

# By the function object itself: `math.sin`, `from math import sin` and another name for it all mean the same row.
BY_FUNCTION: dict[Any, IntrinsicRow] = {row.value: row for row in _ROWS}
BY_NAME: dict[str, IntrinsicRow] = {row.name: row for row in _ROWS}
