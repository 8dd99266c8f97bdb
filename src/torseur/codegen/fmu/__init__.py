"""A mechanism as a functional mock-up unit (FMI 2.0), for co-simulation and model exchange."""

from torseur.codegen.fmu.archive import write_archive
from torseur.codegen.fmu.model import BaseUnit, FmuModel, Variable

__all__ = ["BaseUnit", "FmuModel", "Variable", "write_archive"]
