"""Mechanisms as functional mock-up units."""

from torseur.simulation.fmu.model import fmu_model, write_fmu

__all__ = ["fmu_model", "write_fmu"]
