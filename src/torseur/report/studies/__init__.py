"""Pages of studies: sweeps with their spreads, influences and response surfaces, and optimisations."""

from torseur.report.studies.optimisation import write_optimisation_page
from torseur.report.studies.sweep import write_sweep_page

__all__ = ["write_optimisation_page", "write_sweep_page"]
