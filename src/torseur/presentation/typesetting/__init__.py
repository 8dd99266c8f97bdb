"""Expressions of the graph made readable: few terms, each with its origin, and lines of named intermediates."""
