"""Small motions: equilibria, linearisation, modes, root loci, frequency response."""

from torseur.computation.linearisation.equilibrium import Steady, equilibrium, steady_motion
from torseur.computation.linearisation.frequency_response import FrequencyResponse, frequency_response
from torseur.computation.linearisation.modes import Mode
from torseur.computation.linearisation.root_locus import Crossing, RootLocus, root_locus
from torseur.computation.linearisation.small_motions import SmallMotions, linearise, linearise_along

__all__ = [
    "Crossing",
    "FrequencyResponse",
    "Mode",
    "RootLocus",
    "SmallMotions",
    "Steady",
    "equilibrium",
    "frequency_response",
    "linearise",
    "linearise_along",
    "root_locus",
    "steady_motion",
]
