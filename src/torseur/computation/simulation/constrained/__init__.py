"""Constrained dynamics: accelerations and multipliers at a state, and states brought back on the constraints."""
