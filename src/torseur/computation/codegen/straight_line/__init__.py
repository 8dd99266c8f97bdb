"""Straight-line programs made ready for printing: names, order, chunks, scratch slots, and languages."""

from torseur.computation.codegen.straight_line.chunks import (
    CHUNK,
    SCHEDULED,
    WHOLE,
    Chunk,
    Layout,
    arrange_chunks,
    array_names,
    layout,
    pair_sines,
)
from torseur.computation.codegen.straight_line.scheduling import fewest_live, most_live, read_values, result_orders
from torseur.computation.codegen.straight_line.target_language import Language, Spline, Splines, one_based, zero_based

__all__ = [
    "CHUNK",
    "SCHEDULED",
    "WHOLE",
    "Chunk",
    "Language",
    "Layout",
    "Spline",
    "Splines",
    "arrange_chunks",
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
