"""Criteria: formulas over a motion, observed at instants, events and extrema."""
