"""Drawings of a mechanism: diagram, rails, loops, stills, animation."""
