"""Sensitivity studies: those of Sandel (2007), and one on a closed-loop suspension.

Each module computes what its page in docs/ shows: oscillator, double_pendulum, vehicle, suspension.
"""
