"""Accelerations under constraints, by articulated bodies with loops."""
