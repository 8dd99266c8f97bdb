"""Studies: many motions of one mechanism over designs of its parameters, kept in a store that survives anything."""

from torseur.analysis.studies.definition.study import SweepStudy
from torseur.analysis.studies.definition.study_file import read_study
from torseur.analysis.studies.optimisation.optimisation import Optimum, optimise
from torseur.analysis.studies.sweeps.response_surface import response_surface
from torseur.analysis.studies.sweeps.sweep import SweepRun, check_sweep, sweep
from torseur.analysis.studies.sweeps.sweep_summary import summarise

__all__ = [
    "Optimum",
    "SweepRun",
    "SweepStudy",
    "check_sweep",
    "optimise",
    "read_study",
    "response_surface",
    "summarise",
    "sweep",
]
