"""Rollouts without a GPU."""

from simulation.emulation import emulated  # noqa: F401
