"""Straight-line programs made ready for printing: names, order, chunks, scratch slots, and languages."""

from torseur.codegen.straight.language import Language, one_based, zero_based
from torseur.codegen.straight.layout import WHOLE, Chunk, Layout, array_names, layout
from torseur.codegen.straight.splines import Spline, Splines

__all__ = [
    "WHOLE",
    "Chunk",
    "Language",
    "Layout",
    "Spline",
    "Splines",
    "array_names",
    "layout",
    "one_based",
    "zero_based",
]
