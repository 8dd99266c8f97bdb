"""Straight-line programs made ready for printing: names, order, chunks and scratch slots."""

from torseur.codegen.straight.layout import Chunk, Layout, layout

__all__ = ["Chunk", "Layout", "layout"]
