"""Numerical methods written once in a small typed subset of Python, run as Python or translated."""

from torseur.computation.codegen.routine.records import Record
from torseur.computation.codegen.routine.routine_language import (
    Array,
    External,
    IntArray,
    Kind,
    Routine,
    RoutineError,
    Static,
    flat,
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
    "Record",
    "Routine",
    "RoutineError",
    "Static",
    "flat",
    "izeros",
    "routine",
    "static_range",
    "zeros",
]
