"""Straight-line programs made ready for printing: names, order, chunks, scratch slots, and languages."""

from torseur.codegen.straight.language import Language, one_based, zero_based
from torseur.codegen.straight.layout import WHOLE, Chunk, Layout, layout
from torseur.codegen.straight.splines import Spline, Splines

__all__ = ["WHOLE", "Chunk", "Language", "Layout", "Spline", "Splines", "layout", "one_based", "zero_based"]
