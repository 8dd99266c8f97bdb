"""Robots changed after their file was read."""
