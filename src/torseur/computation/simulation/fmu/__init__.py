"""Mechanisms as functional mock-up units."""

from torseur.computation.simulation.fmu.fmu_export import fmu_model, write_fmu

__all__ = ["fmu_model", "write_fmu"]
