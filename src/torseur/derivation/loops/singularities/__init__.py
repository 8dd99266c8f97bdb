"""Configurations where the rank drops or a driven coordinate stops."""
