"""Pages of studies: sweeps with their spreads, influences and response surfaces, and optimisations."""

from torseur.presentation.report.studies.optimisation_page import write_optimisation_page
from torseur.presentation.report.studies.sweep_page import write_sweep_page

__all__ = ["write_optimisation_page", "write_sweep_page"]
