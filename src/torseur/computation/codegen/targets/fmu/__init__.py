"""A mechanism as a functional mock-up unit (FMI 2.0), for co-simulation and model exchange."""

from torseur.computation.codegen.targets.fmu.fmu_archive import write_archive
from torseur.computation.codegen.targets.fmu.fmu_model import BaseUnit, FmuModel, Variable

__all__ = ["BaseUnit", "FmuModel", "Variable", "write_archive"]
