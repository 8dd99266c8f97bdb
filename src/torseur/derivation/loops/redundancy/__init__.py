"""Constraints that others impose already."""
