"""Formulas of a text: names, dimensions, functions, vectors and places."""
