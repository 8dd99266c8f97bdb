"""Expressions to SymPy and back, exactly."""
