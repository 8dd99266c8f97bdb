"""Straight-line programs made ready for printing: names, order, chunks, scratch slots, and languages."""

from torseur.codegen.straight.language import Language, one_based, zero_based
from torseur.codegen.straight.layout import (
    CHUNK,
    SCHEDULED,
    WHOLE,
    Chunk,
    Layout,
    arranged,
    array_names,
    layout,
    pair_sines,
)
from torseur.codegen.straight.scheduling import fewest_live, most_live, read_values, result_orders
from torseur.codegen.straight.splines import Spline, Splines

__all__ = [
    "CHUNK",
    "SCHEDULED",
    "WHOLE",
    "Chunk",
    "Language",
    "Layout",
    "Spline",
    "Splines",
    "arranged",
    "array_names",
    "fewest_live",
    "layout",
    "most_live",
    "one_based",
    "pair_sines",
    "read_values",
    "result_orders",
    "zero_based",
]
