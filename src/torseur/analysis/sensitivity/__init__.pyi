# The names of this room and where they live; __init__.py imports each when first used.
from torseur.analysis.sensitivity.events.jumps import Jump as Jump
from torseur.analysis.sensitivity.results.sensitivities import Rank as Rank
from torseur.analysis.sensitivity.results.sensitivities import Response as Response
from torseur.analysis.sensitivity.results.sensitivities import Sensitivities as Sensitivities
from torseur.analysis.sensitivity.results.sensitivity_surface import Surface as Surface
from torseur.analysis.sensitivity.results.sensitivity_surface import sensitivity_surface as sensitivity_surface
from torseur.analysis.sensitivity.sensitivity_analysis import sensitivity as sensitivity
from torseur.computation.simulation.model.criterion import Criterion as Criterion
