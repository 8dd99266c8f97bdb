"""Tangents and adjoints of constrained mechanisms."""
