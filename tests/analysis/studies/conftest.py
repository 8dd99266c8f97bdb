"""Rollouts without a GPU."""

from computation.simulation.emulation import emulated  # noqa: F401
