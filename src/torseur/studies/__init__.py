"""Studies: many motions of one mechanism over designs of its parameters, kept in a store that survives anything."""

from torseur.studies.optimisation import optimise
from torseur.studies.reading import read_study
from torseur.studies.study import SweepStudy
from torseur.studies.summary import summarise
from torseur.studies.surface import response_surface
from torseur.studies.sweep import sweep

__all__ = ["SweepStudy", "optimise", "read_study", "response_surface", "summarise", "sweep"]
