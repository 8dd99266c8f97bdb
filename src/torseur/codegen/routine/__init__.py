"""Numerical methods written once in a small typed subset of Python, run as Python or translated."""

from torseur.codegen.routine.language import (
    Array,
    External,
    IntArray,
    Kind,
    Routine,
    RoutineError,
    Static,
    izeros,
    routine,
    static_range,
    zeros,
)

__all__ = [
    "Array",
    "External",
    "IntArray",
    "Kind",
    "Routine",
    "RoutineError",
    "Static",
    "izeros",
    "routine",
    "static_range",
    "zeros",
]
